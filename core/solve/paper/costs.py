"""What an op costs in the paper, which has one number of cycles an op: the rows of its reservation table."""

from __future__ import annotations

from core.graph.model import Op


def busy_cycles(op: Op) -> int:
    """The end of the op's last reservation, or its issue time if it uses no unit."""
    return max((block.offset + block.duration for block in op.blocks), default=op.issue_cycles)


def completion_cycles(op: Op) -> int:
    """Until the op is complete: its result is there, its units are free, and the cycle of its start is over.

    L counts to here.
    """
    return max(op.latency, *(block.offset + block.duration for block in op.blocks), 1)
