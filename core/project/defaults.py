"""What a project leaves open, by the target of the text: the machine, and the groups a schedule may use."""

from __future__ import annotations

from core.graph.model import GroupKind

MACHINES = {"cuda:90": "h100", "cuda:100": "b200"}
"""The machine for a module's target."""

_LOAD = GroupKind("load", 1, 1, variable_latency=True)

_HOPPER = (_LOAD, GroupKind("compute", 4, 2))
"""One warp for TMA loads, and two warp groups that take turns on the tensor core."""

_BLACKWELL = (_LOAD, GroupKind("matrix", 1, 1), GroupKind("compute", 4, 3))
"""As on Hopper, with one warp that issues matrix ops and a third group for what is between them."""


def default_groups(tensor_memory_columns: int) -> tuple[GroupKind, ...]:
    """The groups where a project names none: a matrix group where matrix ops are issued by one warp, which is so on
    machines with tensor memory."""
    return _BLACKWELL if tensor_memory_columns else _HOPPER
