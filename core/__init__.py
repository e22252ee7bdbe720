"""Twill Explorer's library: TTGIR and machine files in, proved schedules out. No Qt, no threads, no global state."""
