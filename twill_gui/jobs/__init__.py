"""Solver jobs: a pool thread that supervises a spawned solver process."""
