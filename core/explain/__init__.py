"""Why not: reasons, in the user's words, for what has no schedule, and what would have to change.

`core.explain.question` makes questions, `core.explain.explain` answers them.
"""
