"""Rings and turns while a role program is simulated: phases and parities as the hardware has them, slots, copies that
have not landed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from core.export.roles.faults import FaultFoundError, FaultKind
from core.export.roles.meaning import Token
from core.export.roles.model import Ring, RingKind, Role, RoleProgram, Slot, Turn

SlotName = tuple[str, int]
"""A slot by its ring's name and its number."""


@dataclass(slots=True)
class Phases:
    """An mbarrier: a phase is complete when `count` arrivals have come. A wait names only the parity of a phase."""

    count: int
    arrived: int = 0
    complete: int = 0

    def arrive(self, arrivals: int) -> None:
        """So many arrivals; what is too many goes to the next phase."""
        self.arrived += arrivals
        while self.count and self.arrived >= self.count:
            self.arrived -= self.count
            self.complete += 1

    def passes(self, parity: int) -> bool:
        """Whether a wait for the phase of that parity returns."""
        return self.complete % 2 != parity


@dataclass(slots=True)
class Content:
    """A slot: the tile in it, None until it lands. `handed`: its producer has arrived. `visible`: to the tensor core;
    `met`: the threads of the role that stored or read it have met since. `readers`: consumers that have not given it
    back."""

    token: Token | None = None
    landing: bool = False
    handed: bool = False
    visible: bool = True
    met: bool = True
    readers: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class RingState:
    """A ring's barriers and slots, and what each role has done with it."""

    ring: Ring
    full: list[Phases]
    free: list[Phases]
    slots: list[Content]
    full_waits: Counter[str] = field(default_factory=Counter[str])
    free_waits: Counter[str] = field(default_factory=Counter[str])
    released: Counter[str] = field(default_factory=Counter[str])
    filled: int = 0

    def turn_of(self, waits: int) -> tuple[int, int]:
        """Slot and parity of the wait after so many."""
        return waits % self.ring.depth, waits // self.ring.depth % 2


@dataclass(slots=True)
class TurnState:
    """A turn: by role the passes that it has not waited for yet."""

    turn: Turn
    pending: Counter[str] = field(default_factory=Counter[str])

    def following(self, role: str) -> str:
        """Whose turn is next."""
        roles = self.turn.roles
        return roles[(roles.index(role) + 1) % len(roles)]


class SharedState:
    """All rings and turns of a program. `landing`: copies under way, each to be called once when it lands."""

    def __init__(self, program: RoleProgram) -> None:
        self.rings = {name: _state(ring) for name, ring in program.rings.items()}
        self.turns = {name: TurnState(turn) for name, turn in program.turns.items()}
        self.landing: list[Callable[[], None]] = []

    def read_index(self, role: str, slot: Slot) -> int:
        """The number of the slot that an operand means."""
        ring = self.rings[slot.ring]
        waits = ring.filled if ring.ring.kind is RingKind.OWN else ring.full_waits[role]
        return (waits - 1 - slot.behind) % ring.ring.depth

    def read(self, role: str, slot: Slot, *, matrix: bool) -> Token | None:
        """What the slot holds; a fault if it may not be read now."""
        ring = self.rings[slot.ring]
        content = ring.slots[self.read_index(role, slot)]
        if content.landing:
            raise FaultFoundError(FaultKind.RACE, role, f"{slot.ring} is read before it is full")
        if (matrix and not content.visible) or (ring.ring.kind is RingKind.OWN and not content.met and not matrix):
            raise FaultFoundError(FaultKind.RACE, role, f"{slot.ring} is read without a fence behind the stores")
        if ring.ring.kind is not RingKind.OWN and role not in content.readers:
            raise FaultFoundError(FaultKind.RACE, role, f"{slot.ring} is read after it was given back")
        if not matrix:
            content.met = False
        return content.token

    def fill(self, role: str, slot: Slot, token: Token | None, busy: Collection[SlotName]) -> None:
        """A tile goes into the producer's slot; `busy`: slots that matrix ops of the role are reading."""
        ring = self.rings[slot.ring]
        kind = ring.ring.kind
        waits = ring.filled + 1 if kind is RingKind.OWN else ring.free_waits[role]
        at = (waits - 1) % ring.ring.depth
        content = ring.slots[at]
        ring.filled += 1
        if kind is RingKind.OWN:
            if (slot.ring, at) in busy:
                raise FaultFoundError(FaultKind.OVERWRITE, role, f"{slot.ring}[{at}] is filled while it is read")
            if not content.met:
                raise FaultFoundError(
                    FaultKind.RACE, role, f"{slot.ring}[{at}] is filled before all warps have read it"
                )
            ring.slots[at] = Content(token, visible=False, met=False)
            return
        if waits != ring.filled:
            raise FaultFoundError(FaultKind.OVERWRITE, role, f"{slot.ring} is filled without waiting for its slot")
        if content.readers or content.landing:
            who = ", ".join(sorted(content.readers)) or "the copy"
            message = f"{slot.ring}[{at}] is filled again before {who} is done with it"
            raise FaultFoundError(FaultKind.OVERWRITE, role, message)
        lands = kind in (RingKind.TMA, RingKind.CP_ASYNC)
        filled = Content(None if lands else token, lands, handed=kind is RingKind.TMA, readers=set(ring.ring.consumers))
        ring.slots[at] = filled
        if lands:

            def land() -> None:
                filled.token, filled.landing = token, False
                if filled.handed:
                    ring.full[at].arrive(ring.ring.full_count)

            self.landing.append(land)

    def hand_over(self, role: str, name: str) -> None:
        """The producer arrives for the slot that it filled last."""
        ring = self.rings[name]
        at = (ring.free_waits[role] - 1) % ring.ring.depth
        content = ring.slots[at]
        if content.handed:
            raise FaultFoundError(FaultKind.BARRIER, role, f"{name}[{at}] is handed over twice")
        content.handed = True
        if not content.landing:
            ring.full[at].arrive(ring.ring.full_count)

    def release(self, role: Role, name: str, busy: Collection[SlotName]) -> None:
        """A consumer gives back its oldest slot."""
        ring = self.rings[name]
        count = ring.released[role.name]
        if count >= ring.full_waits[role.name]:
            raise FaultFoundError(FaultKind.BARRIER, role.name, f"{name} is given back before it was waited for")
        at = count % ring.ring.depth
        if (name, at) in busy:
            raise FaultFoundError(FaultKind.RACE, role.name, f"{name}[{at}] is given back while a matrix op reads it")
        ring.released[role.name] += 1
        ring.slots[at].readers.discard(role.name)
        ring.free[at].arrive(role.warps)

    def read_by_matrix(self, slot: SlotName) -> None:
        """A matrix op that read the slot is complete on each warp for itself."""
        name, at = slot
        self.rings[name].slots[at].met = False

    def meet(self, role: str, *, fence: bool) -> None:
        """The threads of a role meet."""
        for ring in self.rings.values():
            if ring.ring.kind is RingKind.OWN and ring.ring.producer == role:
                for content in ring.slots:
                    content.met = True
                    content.visible = content.visible or fence

    def pass_turn(self, role: str, name: str) -> None:
        """A role passes its turn on."""
        state = self.turns[name]
        following = state.following(role)
        state.pending[following] += 1
        if state.pending[following] > 1:
            raise FaultFoundError(FaultKind.BARRIER, role, f"{name} is passed to {following} twice")

    def check_end(self) -> None:
        """Whether every tile was taken and given back, and the turns come out even."""
        for name, ring in self.rings.items():
            if ring.ring.kind is RingKind.OWN:
                continue
            for role in ring.ring.consumers:
                waits, released = ring.full_waits[role], ring.released[role]
                if not waits == released == ring.filled:
                    message = f"{name}: {ring.filled} tiles, {waits} waited for, {released} given back"
                    raise FaultFoundError(FaultKind.BARRIER, role, message)
        for name, state in self.turns.items():
            first = state.turn.roles[0]
            if +state.pending != Counter({first: 1}):
                raise FaultFoundError(FaultKind.BARRIER, first, f"{name}: waits and passes do not come out even")


def _state(ring: Ring) -> RingState:
    slots = range(ring.depth)
    return RingState(
        ring,
        [Phases(ring.full_count) for _ in slots],
        [Phases(ring.free_count) for _ in slots],
        [Content() for _ in slots],
    )
