"""The shared memory of a block: slots of rings, scratch memory of the roles, barriers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.export.cuda.rings import RingText

ALIGNMENT = 1024
"""Bytes, of the whole and of scratch memory: tiles with the widest swizzle may lie there."""

_BARRIER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Area:
    """A member of the struct: `size` bytes, or so many slots of them."""

    name: str
    size: int
    alignment: int
    slots: int | None = None

    @property
    def declarator(self) -> str:
        """Its name and dimensions in C++."""
        return f"{self.name}[{self.size}]" if self.slots is None else f"{self.name}[{self.slots}][{self.size}]"


class SharedMemory:
    """The struct of a block, widest alignment first. `scratch`: bytes by role; `late_scratch`: of what may lie where
    the rings were, which begins at `late` bytes from the start; `operands`: bytes of the roles' own operands of matrix
    ops, by area."""

    def __init__(
        self,
        rings: Iterable[RingText],
        scratch: Mapping[str, int],
        late_scratch: Mapping[str, int],
        operands: Mapping[str, int],
    ) -> None:
        self.rings = sorted(rings, key=lambda ring: -ring.alignment)
        areas = [Area(ring.name, ring.bytes, ring.alignment, ring.ring.depth) for ring in self.rings]
        tiles = _end(areas)
        self.late: dict[str, int] = {}
        end = 0
        for role, size in late_scratch.items():
            self.late[role] = end
            end += -(-size // ALIGNMENT) * ALIGNMENT
        if end > tiles:
            areas.append(Area("beyond_rings", end - tiles, 1))
        own = {f"scratch_{role}": size for role, size in scratch.items()}
        areas += [Area(name, size, ALIGNMENT) for name, size in (own | dict(operands)).items()]
        self.areas = areas
        barriers = sum(ring.ring.depth for ring in self.rings for side in ("full", "free") if ring.has_barrier(side))
        whole = -(-_end(areas) // _BARRIER_BYTES) * _BARRIER_BYTES + _BARRIER_BYTES * barriers
        # the struct is as long as a multiple of its alignment
        widest = max((area.alignment for area in areas), default=_BARRIER_BYTES)
        self.bytes = max(ALIGNMENT, -(-whole // widest) * widest)


def _end(areas: Iterable[Area]) -> int:
    """The bytes of members one after another."""
    end = 0
    for area in areas:
        end = -(-end // area.alignment) * area.alignment + area.size * (area.slots or 1)
    return end
