"""The shared tiles of a kernel by what fills them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.export.roles.model import Ring
from core.ir.model import Operation, Value


@dataclass(frozen=True, slots=True)
class SharedTiles:
    """All rings: those of scheduled loops by the operation that fills them, TMA loads and hand-offs outside of them,
    and by role and allocation the tiles that each role stores for itself."""

    in_loops: Mapping[Operation, Ring]
    loads: Mapping[Operation, Ring]
    hand_offs: Mapping[Value, Ring]
    own: Mapping[tuple[str, Operation], Ring]
