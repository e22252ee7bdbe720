"""Who reads what whom wrote in shared and tensor memory, found by running the body's accesses in program order.

The order of the text holds whatever tokens say, so buffers of all versions of Triton are treated alike. Slots of rings
are followed by their indices, iteration by iteration, until the pattern is steady: a copy into slot (i + 2) mod 3 is
read two iterations later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from core.graph.model import Space
from core.ir.body import Body
from core.ir.constants import Constants
from core.ir.model import Operation, Value
from core.ir.types import MemDescType
from core.ir.views import is_buffer_view, is_part, slot_indices, viewed

_WARM_UP = 3  # iterations until what is carried directly has come around
_DEEPEST_RING = 16  # slots; deeper rings are followed as far as that


class Access(Enum):
    """WRITE begins a new value of the buffer, UPDATE changes the one that is there."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Event:
    """An access of an operation to a buffer. `accumulates`: the flag that makes a WRITE an UPDATE, if there is one."""

    operation: Operation
    buffer: Value
    access: Access
    accumulates: Value | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """`reader`, through `buffer`, takes what `writer` left there `distance` iterations before."""

    writer: Operation
    reader: Operation
    buffer: Value
    distance: int
    update: bool


@dataclass(frozen=True, slots=True)
class Reuse:
    """`writer` overwrites what `reader` of `distance` iterations before had to read."""

    reader: Operation
    writer: Operation
    distance: int


@dataclass(frozen=True, slots=True)
class Memory:
    """The steady pattern. `untouched`: reads of buffers that the loop never writes, with the buffer as allocated.
    `places`: the buffer as allocated and the slot of each access in the last iteration that was run."""

    flows: tuple[Flow, ...]
    reuses: tuple[Reuse, ...]
    untouched: tuple[tuple[Event, Value], ...]
    places: Mapping[Event, tuple[Value, tuple[int | None, ...]]]


@dataclass(frozen=True, slots=True)
class _Place:
    """A buffer: as allocated, in which iteration (None: before the loop), and the slot of it (None: not known)."""

    root: Value
    iteration: int | None
    slot: tuple[int | None, ...]
    is_part: bool


_Step = tuple[int, Event, Access, _Place]


def follow(body: Body, events: Sequence[Event], constants: Constants) -> Memory:
    """The memory dependences of the events, which are in program order."""
    iterations = _iterations(body, events)
    steps: list[_Step] = []
    for iteration in range(iterations):
        for event in events:
            place = _place(body, constants, event.buffer, iteration)
            access = event.access
            if access is Access.WRITE and (place.is_part or _accumulates(event, constants, iteration)):
                access = Access.UPDATE
            steps.append((iteration, event, access, place))
    unknown = {place.root for _, _, _, place in steps if None in place.slot}
    run = _Run(body, first_steady=iterations // 2, single_slot=_single_slots(body, steps, unknown))
    for iteration, event, access, place in steps:
        run.step(iteration, event, access, (place.root, place.iteration, () if place.root in unknown else place.slot))
    written = {place.root for _, _, access, place in steps if access is not Access.READ}
    untouched = {
        event: place.root for _, event, access, place in steps if access is Access.READ and place.root not in written
    }
    places = {event: (place.root, place.slot) for _, event, _, place in steps}
    return Memory(tuple(run.flows), tuple(run.reuses), tuple(untouched.items()), places)


_Key = tuple[Value, int | None, tuple[int | None, ...]]


class _Run:
    """The state of all buffers while the accesses run."""

    def __init__(self, body: Body, first_steady: int, single_slot: set[Value]) -> None:
        self.flows: dict[Flow, None] = {}
        self.reuses: dict[Reuse, None] = {}
        self._first_steady = first_steady
        self._single_slot = single_slot
        self._written: dict[_Key, tuple[Operation, int]] = {}
        self._read: dict[_Key, list[tuple[Operation, int]]] = {}

    def step(self, iteration: int, event: Event, access: Access, key: _Key) -> None:
        """Runs one access."""
        steady = iteration >= self._first_steady
        if access is not Access.WRITE and key in self._written and steady:
            writer, written = self._written[key]
            update = access is Access.UPDATE
            self.flows[Flow(writer, event.operation, event.buffer, iteration - written, update)] = None
        if access is Access.READ:
            self._read.setdefault(key, []).append((event.operation, iteration))
            return
        readers = self._read.pop(key, [])
        if steady and key[0] in self._single_slot:
            for reader, read in readers:
                if reader is not event.operation:
                    self.reuses[Reuse(reader, event.operation, iteration - read)] = None
        self._written[key] = (event.operation, iteration)


def _iterations(body: Body, events: Sequence[Event]) -> int:
    """Enough iterations for every ring to come around twice, half of which are warm-up."""
    slots = 1
    for event in events:
        type_ = body.type(event.buffer)
        root = _root_type(body, event.buffer)
        if isinstance(type_, MemDescType) and root is not None and len(root.shape) > len(type_.shape):
            slots = max(slots, min(root.shape[0], _DEEPEST_RING))
    return 2 * (_WARM_UP + 2 * slots)


def _root_type(body: Body, buffer: Value) -> MemDescType | None:
    seen: set[Value] = set()
    while buffer not in seen:
        seen.add(buffer)
        op = buffer.producer
        if buffer in body.carried:
            buffer = body.initial(buffer)
        elif op is not None and is_buffer_view(op):
            buffer = viewed(op, buffer)
    type_ = body.type(buffer)
    return type_ if isinstance(type_, MemDescType) else None


def _place(body: Body, constants: Constants, buffer: Value, iteration: int) -> _Place:
    """Where a buffer value of an iteration lies."""
    slot: list[int | None] = []
    part = False
    while True:
        op = buffer.producer
        if buffer in body.carried and iteration == 0:
            buffer = body.initial(buffer)
        elif buffer in body.carried:
            iteration, buffer = iteration - 1, body.next(buffer)
        elif op is not None and is_buffer_view(op):
            slot += [constants.value(index, iteration) for index in slot_indices(op)]
            part = part or is_part(op)
            buffer = viewed(op, buffer)
        else:
            return _Place(buffer, iteration if body.has(buffer) else None, tuple(slot), part)


def _accumulates(event: Event, constants: Constants, iteration: int) -> bool:
    """Whether a write adds to what is there; so it is if the flag is not known."""
    return event.accumulates is not None and constants.value(event.accumulates, iteration) != 0


def _single_slots(body: Body, steps: Sequence[_Step], unknown: set[Value]) -> set[Value]:
    """Buffers of shared memory from before the loop that are one tile: using it again has to wait for its readers.
    Slots of a ring and buffers of the body are renamed: how many there are is for the schedule to decide."""
    slots: dict[Value, set[tuple[int | None, ...]]] = {}
    for _, _, _, place in steps:
        slots.setdefault(place.root, set()).add(place.slot)
    return {
        root
        for root, used in slots.items()
        if len(used) == 1 and root not in unknown and not body.has(root) and _is_shared(body, root)
    }


def _is_shared(body: Body, root: Value) -> bool:
    tile = body.tile(root)
    return tile is not None and tile.space is Space.SHARED
