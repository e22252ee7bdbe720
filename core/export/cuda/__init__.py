"""CUDA C++ for Hopper from a role program: text that calls one fixed runtime header.

Lowest first: `layouts`, `elements`, `holds` (what a value is in the text), `scalar` (one element), the lowerings of
tile ops, `statements` (a role), `kernel` (a file), `host`, `batch`, `folder`.
"""
