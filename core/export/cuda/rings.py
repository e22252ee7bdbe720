"""The text of rings: their shared memory, barriers, cursors and views."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.export.cuda.elements import ElementError, memory_type
from core.export.cuda.encodings import MmaShared, SharedEncoding, SwizzledShared
from core.export.cuda.holds import View, default_encoding, view_bytes, view_type
from core.export.cuda.names import identifier
from core.export.cuda.text import KernelText
from core.export.roles.model import (
    ArriveFree,
    ArriveFull,
    Issue,
    Put,
    Ring,
    RingKind,
    Slot,
    Source,
    Statement,
    Take,
    Target,
    WaitFree,
    WaitFull,
)
from core.export.roles.walk import walk
from core.ir.model import Operation
from core.ir.types import MemDescType, ScalarType, TensorType, parse_type

_LEAST_ALIGNMENT = 128  # of a bulk copy's tile
_OFFSETS = re.compile(r"\[([-\d, ]+)\]")

Side = Literal["full", "free"]


@dataclass(frozen=True, slots=True)
class RingText:
    """A ring. `element`, `shape`, `encoding`: of the tile in a slot; `bytes`: of a slot."""

    ring: Ring
    element: str
    shape: tuple[int, ...]
    encoding: SharedEncoding

    @property
    def name(self) -> str:
        """Its name in the text."""
        return identifier(self.ring.name)

    @property
    def bytes(self) -> int:
        """Bytes of a slot."""
        return view_bytes(self.element, self.shape, self.encoding)

    @property
    def alignment(self) -> int:
        """Bytes: TMA and the tensor core read a swizzle's pattern of 8 lines from the address."""
        return (
            max(_LEAST_ALIGNMENT, 8 * self.encoding.swizzle)
            if isinstance(self.encoding, MmaShared)
            else _LEAST_ALIGNMENT
        )

    def has_barrier(self, side: Side) -> bool:
        """Whether somebody arrives there."""
        return self.ring.kind is not RingKind.OWN and self._count(side) > 0

    def arrivals(self, side: Side) -> str:
        """How many arrivals complete a phase of the barrier: of warps, if these arrive by `tw::bar_arrive`."""
        of_warps = side == "free" or self.ring.kind is RingKind.THREADS
        return f"tw::arrivals({self._count(side)})" if of_warps else str(self._count(side))

    def _count(self, side: Side) -> int:
        return self.ring.full_count if side == "full" else self.ring.free_count

    def barrier(self, side: Side, slot: str) -> str:
        """The mbarrier of a slot."""
        return f"s.{self.name}_{side}[{'0' if self.ring.depth == 1 else slot}]"

    def cursor(self, side: Side, *, waits: bool) -> str:
        """The name of a role's cursor for one barrier of the ring, and what it does there."""
        return f"{'wait' if waits else 'arrive'}_{self.name}_{side}"

    def place(self, writes: bool) -> str:
        """The variable that holds the slot that a role waited for last, to write it or to read it."""
        return f"{'fill' if writes else 'read'}_{self.name}"

    def scalar(self, at: str) -> str:
        """The number in a slot."""
        return f"*reinterpret_cast<{memory_type(self.element)}*>(s.{self.name}[{at}])"

    def view(self, at: str, via: Sequence[Operation]) -> View:
        """The tile in a slot, seen through views. Raises ElementError for a view that has no text."""
        text = f"{view_type(self.element, self.shape, self.encoding)}{{s.{self.name}[{at}]}}"
        shape, transposed = self.shape, _is_transposed(self.encoding)
        for op in via:
            if op.name == "ttg.memdesc_trans" and len(shape) == 2:
                text, shape, transposed = f"{text}.trans()", shape[::-1], not transposed
            elif op.name == "ttg.memdesc_subslice" and len(shape) == 2 and isinstance(self.encoding, MmaShared):
                text, shape = self._part(text, shape, op)
            else:
                raise ElementError(f"the view {op.name}")
        return View(text, self.element, shape, transposed)

    @staticmethod
    def _part(text: str, shape: tuple[int, ...], op: Operation) -> tuple[str, tuple[int, ...]]:
        """Rows or columns of a tile. Raises ElementError for a part of both."""
        of, offsets = parse_type(op.results[0].type), _OFFSETS.search(op.text_arguments)
        if not isinstance(of, MemDescType) or offsets is None:
            raise ElementError(f"the view {op.name}")
        rows, columns = (int(number) for number in offsets[1].split(","))
        if of.shape[1] == shape[1]:
            return f"{text}.part_rows<{rows}, {of.shape[0]}>()", of.shape
        if of.shape[0] == shape[0]:
            return f"{text}.part_cols<{columns}, {of.shape[1]}>()", of.shape
        raise ElementError("a part of the rows and columns of a tile")


def ring_text(kernel: KernelText, ring: Ring) -> RingText:
    """The tile of a ring: a shared tile's own layout, that of a descriptor, or plain rows. Raises ElementError."""
    match kernel.type(ring.value):
        case MemDescType(shape=shape, element=element, encoding=encoding):
            return RingText(ring, element, shape, kernel.shared(encoding))
        case TensorType(shape=shape, element=element) if ring.kind is RingKind.TMA:
            return RingText(ring, element, shape, default_encoding(element, shape))
        case TensorType(shape=shape, element=element):
            return RingText(ring, element, shape, SwizzledShared(1, 1, 1, tuple(reversed(range(len(shape))))))
        case ScalarType(name=element):
            return RingText(ring, element, (), SwizzledShared(1, 1, 1, ()))
        case _:
            raise ElementError(f"a ring of {ring.value.type}")


def _is_transposed(encoding: SharedEncoding) -> bool:
    return encoding.transposed if isinstance(encoding, MmaShared) else encoding.order == (0, 1)


def uses_rings(statements: Sequence[Statement]) -> bool:
    """Whether the statements wait for, give back, read or write slots."""
    for statement in walk(statements):
        match statement:
            case WaitFull() | WaitFree() | ArriveFull() | ArriveFree() | Put() | Take():
                return True
            case Issue(reads=reads, writes=writes) if any(isinstance(place, Slot) for place in (*reads, *writes)):
                return True
            case _:
                pass
    return False


def slots_used(statements: Sequence[Statement]) -> dict[tuple[str, bool], int]:
    """How far behind slots are used, by ring and whether they are written."""
    found: dict[tuple[str, bool], int] = {}
    for statement in walk(statements):
        pairs: list[tuple[Source | Target | None, bool]] = []
        match statement:
            case Issue(reads=reads, writes=writes):
                pairs = [*((read, False) for read in reads), *((write, True) for write in writes)]
            case Put(target=target):
                pairs = [(target, True)]
            case Take(source=source):
                pairs = [(source, False)]
            case WaitFull(ring=ring):
                found.setdefault((ring, False), 0)
            case WaitFree(ring=ring):
                found.setdefault((ring, True), 0)
            case _:
                pass
        for place, writes in pairs:
            if isinstance(place, Slot):
                key = (place.ring, writes)
                found[key] = max(place.behind, found.get(key, 0))
    return found


def cursors(statements: Sequence[Statement], rings: Mapping[str, RingText]) -> set[tuple[str, int]]:
    """Names and sizes of the cursors that the statements move."""
    found: set[tuple[str, int]] = set()
    for statement in walk(statements):
        match statement:
            case WaitFull(ring=name):
                found.add((rings[name].cursor("full", waits=True), rings[name].ring.depth))
            case WaitFree(ring=name):
                found.add((rings[name].cursor("free", waits=True), rings[name].ring.depth))
            case Issue(writes=writes):
                own = (rings[place.ring] for place in writes if isinstance(place, Slot))
                found |= {
                    (ring.cursor("free", waits=True), ring.ring.depth)
                    for ring in own
                    if ring.ring.kind is RingKind.OWN and ring.ring.depth > 1
                }
            case ArriveFull(ring=name) if rings[name].ring.kind is not RingKind.OWN:
                found.add((rings[name].cursor("full", waits=False), rings[name].ring.depth))
            case ArriveFree(ring=name) if rings[name].ring.kind is not RingKind.OWN:
                found.add((rings[name].cursor("free", waits=False), rings[name].ring.depth))
            case _:
                pass
    return found
