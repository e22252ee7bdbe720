"""What a click on a line makes of the selection."""

from __future__ import annotations


def chosen(selection: frozenset[str], ops: frozenset[str], toggle: bool) -> frozenset[str]:
    """The ops of the line; with `toggle` the selection without them if it has them all, else with them."""
    if not toggle:
        return ops
    return selection - ops if ops <= selection else selection | ops
