"""The role program: per warp group (role) of a kernel the statements that it runs, and what they share.

A view of it is the CUDA text, another the simulation, another the sheet for hand lowering. It covers a whole function:
operations before, in and behind the scheduled loops. How to turn it into text:

- One branch per `Role`, its `storages` declared first (`Tile<...> name;` or a scalar, by the type of `Storage.value`),
  then its `statements` in order. Every other name in `Issue.writes` is local: declare it where it is written
  (`const auto name = ...`); such names are unique within their role, and in a loop they are read before any storage
  that they are made from is written again.
- `Issue` runs one operation of the text: `reads` has one entry per operand, `writes` one per result. An issue of a
  matrix op is fence, instruction, commit: one open group more. Its accumulator, if it has one, is in the storage that
  it writes: `reads[2]` names the same, or is None if it starts from zero.
- Values move between storages only by `Move`; iter_args are no variables of their own.
- Tiles in shared memory are slots of a `Ring`. `Slot.behind` counts back from the slot that this role waited for last:
  slot index = (waits so far - 1 - behind) % depth, parity of the waits by the usual cursor, one per (ring, role). `via`
  are the views (`memdesc_trans`, ...) between the ring's tile and the operand, outermost last. Releases and arrivals
  go in order: a second cursor counts them.
- A ring of kind OWN has no barriers: its one role meets (`GroupSync`) instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from core.ir.model import Loop, Module, Operation, Value


class Base(Enum):
    """What an iteration number is counted from: FIRST from 0, STEADY from the counter t of the loop at hand, LAST from
    the trip count n."""

    FIRST = "first"
    STEADY = "steady"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Instance:
    """The iteration (0 is the first) that an issue belongs to: base + offset."""

    base: Base
    offset: int = 0


class RingKind(Enum):
    """Who fills a slot.

    TMA: one thread issues a copy that counts bytes on the full barrier. THREADS: all threads of the producer store to
    it (fence, then one arrival per warp). CP_ASYNC: all threads copy asynchronously, each arrives when its copies land.
    OWN: filled and read by one role, which synchronises its own threads; no barriers.
    """

    TMA = "tma"
    THREADS = "threads"
    CP_ASYNC = "cp_async"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Ring:
    """`depth` slots of `slot_bytes` in shared memory for the tile `value` (of a memdesc type, or the register tensor
    that a hand-off carries).

    `full_count`, `free_count`: arrivals that complete a phase of its two barriers. A TMA producer arrives once and
    expects `slot_bytes`. `why` says which edge of the schedule the ring is.
    """

    name: str
    value: Value
    depth: int
    slot_bytes: int
    kind: RingKind
    producer: str
    consumers: tuple[str, ...]
    full_count: int
    free_count: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """Roles that take turns on a unit, in this order. `barriers`: the named barrier that each waits at; `threads`: how
    many meet there (those of the waiting role and of the one that passes)."""

    name: str
    roles: tuple[str, ...]
    barriers: tuple[int, ...]
    threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Storage:
    """A variable of a role: the registers of one copy of a value, or of several values, one after another, of the same
    type. `value` gives the type."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Register:
    """Operand: a storage of the role, or a local name written before."""

    name: str


@dataclass(frozen=True, slots=True)
class Slot:
    """Operand or result: a slot of a ring; see the module on `behind` and `via`."""

    ring: str
    behind: int = 0
    via: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    """Operand: an argument of the function."""

    value: Value


@dataclass(frozen=True, slots=True)
class Induction:
    """Operand: the induction variable of `loop` at that instance: lower bound + instance * step."""

    loop: Loop
    instance: Instance


Source = Register | Slot | Argument | Induction
"""What an operand reads."""

Target = Register | Slot
"""What a result is written to."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Runs `operation` for one instance (None: outside scheduled loops). `op`: the op of the graph that it stands for.
    A None in `reads` is an operand that nothing needs, in `writes` a result that nobody reads."""

    operation: Operation
    reads: tuple[Source | None, ...]
    writes: tuple[Target | None, ...] = ()
    instance: Instance | None = None
    op: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """Copies a value: initial values of iter_args, results of a loop, accumulators that cannot be updated in place."""

    target: Register
    source: Source


@dataclass(frozen=True, slots=True)
class Put:
    """Stores a register tile into a slot: a hand-off to other roles. Followed by `ArriveFull`."""

    target: Slot
    source: Register


@dataclass(frozen=True, slots=True)
class Take:
    """Loads a register tile from a slot, as the value of the storage (a layout of this role)."""

    target: Register
    source: Slot


@dataclass(frozen=True, slots=True)
class WaitFull:
    """The consumer waits until the next slot is full."""

    ring: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class WaitFree:
    """The producer waits until the next slot is free (for TMA, then it expects the bytes)."""

    ring: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ArriveFull:
    """The producer's threads hand over the slot waited for (THREADS: fence and arrive; CP_ASYNC: arrive when the copies
    have landed). TMA rings have none: the bytes complete the phase."""

    ring: str


@dataclass(frozen=True, slots=True)
class ArriveFree:
    """The consumer gives back its oldest slot: each warp's first thread arrives after its warp has met."""

    ring: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class MmaWait:
    """Waits until at most `pending` groups of matrix ops are open."""

    pending: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Pin:
    """No use of these storages moves above this point."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupSync:
    """The threads of the role meet; `fence`: what they stored is visible to TMA and the tensor core then."""

    fence: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class StoreWait:
    """Waits until at most `pending` TMA stores of this role still read their shared tile."""

    pending: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class TurnWait:
    """Waits for this role's turn."""

    turn: str


@dataclass(frozen=True, slots=True)
class TurnPass:
    """Passes the turn to the next role. One stands at the start of the last role, for the first."""

    turn: str


@dataclass(frozen=True, slots=True)
class For:
    """A loop in program order; `body` runs for t = 0, 1, ... Carried values are storages: moves before and in it."""

    loop: Loop
    bounds: tuple[Source, Source, Source]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class While:
    """`before` sets `condition`; while it is true `body` runs."""

    operation: Operation
    before: tuple[Statement, ...]
    condition: Source
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    """One side runs; results are moved to their storages at its end."""

    operation: Operation
    condition: Source
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A scheduled loop on one role, for trip count n.

    n < `least` (>= `stages`): `short[min(n, len(short) - 1)]` runs and nothing else; a single list may hold a `For`
    over the same loop. Else `prologue`, which holds the first `stages` iterations; then `steady` for t = stages,
    stages + unroll, ... as long as t + unroll <= n; then `tails[(n - stages) % unroll]`, which holds the iterations
    left and the epilogue. In a tail all instances are counted from n or 0. Initial values of what is carried are set
    in `prologue` and `short`.
    """

    loop: Loop
    bounds: tuple[Source, Source, Source]
    least: int
    stages: int
    unroll: int
    short: tuple[tuple[Statement, ...], ...]
    prologue: tuple[Statement, ...]
    steady: tuple[Statement, ...]
    tails: tuple[tuple[Statement, ...], ...]


Statement = (
    Issue
    | Move
    | Put
    | Take
    | WaitFull
    | WaitFree
    | ArriveFull
    | ArriveFree
    | MmaWait
    | Pin
    | GroupSync
    | StoreWait
    | TurnWait
    | TurnPass
    | For
    | While
    | If
    | Pipeline
)


@dataclass(frozen=True, slots=True)
class Role:
    """A warp group of the schedule. `kind` as in the graph; `first_thread`, `warps` in the block; `grant`: registers
    per thread; `barrier`: its own named barrier."""

    name: str
    kind: str
    warps: int
    first_thread: int
    grant: int
    barrier: int
    storages: tuple[Storage, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class RoleProgram:
    """A whole kernel. `threads`: of the block, those of idle warps included; `grants`: registers per thread of every
    four warps in order, at least the largest of their roles; () where the compiler chooses."""

    module: Module
    function: Operation
    threads: int
    roles: tuple[Role, ...]
    rings: Mapping[str, Ring]
    turns: Mapping[str, Turn] = field(default_factory=dict[str, Turn])
    grants: tuple[int, ...] = ()

    def role(self, name: str) -> Role:
        """The role of that name. Raises KeyError."""
        for role in self.roles:
            if role.name == name:
                return role
        raise KeyError(name)
