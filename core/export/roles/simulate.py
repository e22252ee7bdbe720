"""Runs a role program without data: who waits for whom, what every operand really holds, what is read too early.

Each storage and slot holds the name of the value that was put there. Every operand is compared with what the text says
it is (`Meaning`). Matrix ops are under way until a wait, copies until the simulation lets them land.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeGuard

from core.export.roles.faults import FaultFoundError, FaultKind, Issued, Run
from core.export.roles.meaning import Iterations, Meaning, Token
from core.export.roles.model import (
    Argument,
    ArriveFree,
    ArriveFull,
    Base,
    For,
    GroupSync,
    If,
    Induction,
    Instance,
    Issue,
    MmaWait,
    Move,
    Pipeline,
    Put,
    Register,
    Role,
    RoleProgram,
    Slot,
    Source,
    Statement,
    StoreWait,
    Take,
    TurnPass,
    TurnWait,
    WaitFree,
    WaitFull,
    While,
)
from core.export.roles.places import STORES
from core.export.roles.shared_state import SharedState, SlotName
from core.ir.model import Loop, Operation, Value
from core.ir.vocabulary import MATRIX_OPS

Work = Generator[Callable[[], bool], None, None]
"""A role at work: between statements it yields what it waits for."""

Bases = Mapping[Base, int]
"""The iterations that instances are counted from."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A matrix op under way."""

    writes: str
    reads: frozenset[str]
    slots: tuple[SlotName, ...]


@dataclass(slots=True)
class _RoleState:
    """A role: its storages, the groups under way, whether a store still reads its staging tile, the iterations of the
    loops around, and what it waits for."""

    role: Role
    values: dict[str, Token | None] = field(default_factory=dict[str, "Token | None"])
    groups: list[_Group] = field(default_factory=list[_Group])
    stores: int = 0
    iterations: dict[int, int] = field(default_factory=dict[int, int])
    waits_for: str = ""

    @property
    def name(self) -> str:
        return self.role.name

    def busy(self) -> set[SlotName]:
        """Slots that matrix ops are reading."""
        return {slot for group in self.groups for slot in group.slots}


def simulate(program: RoleProgram, trips: Mapping[int, int] | int, seed: int = 0) -> Run:
    """Runs the program with these trip counts: of all loops, or by loop index (else 1).

    Roles advance, and copies land, in an order drawn from `seed`; so is the side that each branch takes. The run ends
    at the first fault. Raises ValueError for a program with a loop whose end its body decides.
    """
    return _Simulation(program, trips, Random(seed)).run()


class _Simulation:
    def __init__(self, program: RoleProgram, trips: Mapping[int, int] | int, random: Random) -> None:
        self._trips, self._random = trips, random
        loops = {loop.operation: loop for loop in program.module.loops}
        self._meaning = Meaning(loops, self._trip_count, self._taken)
        self._sides: dict[tuple[Operation, Iterations], bool] = {}
        self._shared = SharedState(program)
        self._roles = [_RoleState(role) for role in program.roles]
        self._issued: list[Issued] = []

    def run(self) -> Run:
        """The whole run."""
        try:
            self._interleave()
        except FaultFoundError as found:
            return Run((found.fault,), tuple(self._issued))
        return Run((), tuple(self._issued))

    def _interleave(self) -> None:
        working = {state.name: self._work(state, state.role.statements, {}) for state in self._roles}
        waiting: dict[str, Callable[[], bool]] = {}
        landing = self._shared.landing
        while working:
            ready = [name for name in working if name not in waiting or waiting[name]()]
            if not ready and not landing:
                stuck = [state for state in self._roles if state.name in working]
                what = "; ".join(f"{state.name} waits for {state.waits_for}" for state in stuck)
                raise FaultFoundError(FaultKind.DEADLOCK, stuck[0].name, what)
            chosen = self._random.randrange(len(ready) + len(landing))
            if chosen >= len(ready):
                landing.pop(chosen - len(ready))()
                continue
            name = ready[chosen]
            following = next(working[name], None)
            if following is None:
                del working[name]
            else:
                waiting[name] = following
        for land in landing:
            land()
        self._shared.check_end()
        for state in self._roles:
            if state.groups or state.stores:
                raise FaultFoundError(FaultKind.RACE, state.name, "it ends with matrix ops or stores under way")

    def _trip_count(self, loop: Loop) -> int:
        return self._trips if isinstance(self._trips, int) else self._trips.get(loop.index, 1)

    def _taken(self, branch: Operation, iterations: Iterations) -> bool:
        key = (branch, iterations)
        if key not in self._sides:
            self._sides[key] = self._random.random() < 0.5
        return self._sides[key]

    def _work(self, state: _RoleState, statements: Sequence[Statement], bases: Bases) -> Work:
        """Runs statements one after another; behind each another role may go on."""
        for statement in statements:
            match statement:
                case For(loop=loop, body=body):
                    for iteration in range(self._trip_count(loop)):
                        state.iterations[loop.index] = iteration
                        yield from self._work(state, body, {Base.STEADY: iteration})
                    state.iterations.pop(loop.index, None)
                case If(operation=branch, then=then, otherwise=otherwise):
                    side = self._taken(branch, self._meaning.within(branch, state.iterations))
                    yield from self._work(state, then if side else otherwise, bases)
                case While():
                    raise ValueError("a loop whose end its body decides has no trip count to simulate")
                case Pipeline():
                    yield from self._pipeline(state, statement)
                case WaitFull() | WaitFree() | TurnWait():
                    yield from self._wait(state, statement)
                case _:
                    self._step(state, statement, bases)
            yield _always

    def _pipeline(self, state: _RoleState, pipeline: Pipeline) -> Work:
        trips = self._trip_count(pipeline.loop)
        bases = {Base.FIRST: 0, Base.LAST: trips}
        if trips < pipeline.least:
            yield from self._work(state, pipeline.short[min(trips, len(pipeline.short) - 1)], bases)
            return
        yield from self._work(state, pipeline.prologue, bases)
        at = pipeline.stages
        while at + pipeline.unroll <= trips:
            yield from self._work(state, pipeline.steady, {**bases, Base.STEADY: at})
            at += pipeline.unroll
        yield from self._work(state, pipeline.tails[trips - at], bases)

    def _wait(self, state: _RoleState, statement: WaitFull | WaitFree | TurnWait) -> Work:
        role = state.name
        if isinstance(statement, TurnWait):
            turn = self._shared.turns[statement.turn]
            state.waits_for = f"its turn {statement.turn}"
            yield lambda: turn.pending[role] > 0
            turn.pending[role] -= 1
            return
        ring = self._shared.rings[statement.ring]
        full = isinstance(statement, WaitFull)
        waits = ring.full_waits if full else ring.free_waits
        at, parity = ring.turn_of(waits[role])
        barrier = ring.full[at] if full else ring.free[at]
        state.waits_for = f"{'full' if full else 'free'} {statement.ring}[{at}]"
        yield lambda: barrier.passes(parity if full else 1 - parity)
        waits[role] += 1

    def _step(self, state: _RoleState, statement: Statement, bases: Bases) -> None:
        shared = self._shared
        match statement:
            case ArriveFull(ring=ring):
                shared.hand_over(state.name, ring)
            case ArriveFree(ring=ring):
                shared.release(state.role, ring, state.busy())
            case TurnPass(turn=turn):
                shared.pass_turn(state.name, turn)
            case MmaWait(pending=pending):
                done = state.groups[: max(0, len(state.groups) - pending)]
                del state.groups[: len(done)]
                for slot in {slot for group in done for slot in group.slots}:
                    shared.read_by_matrix(slot)
            case GroupSync(fence=fence):
                shared.meet(state.name, fence=fence)
            case StoreWait(pending=pending):
                state.stores = min(state.stores, pending)
            case Move(target=target, source=source):
                self._write(state, target.name, self._held(state, source))
            case Put(target=target, source=source):
                shared.fill(state.name, target, self._held(state, source), state.busy())
            case Take(target=target, source=source):
                self._write(state, target.name, shared.read(state.name, source, matrix=False))
            case Issue():
                self._issue(state, statement, bases)
            case _:
                pass

    def _issue(self, state: _RoleState, issue: Issue, bases: Bases) -> None:
        operation = issue.operation
        iterations = self._iterations(state, issue, bases)
        matrix = operation.name in MATRIX_OPS
        chained = issue.writes[0].name if matrix and isinstance(issue.writes[0], Register) else ""
        for value, source in zip(operation.operands, issue.reads, strict=True):
            if source is not None:
                found = self._found(state, value, source, iterations, chained, bases)
                expected = self._meaning.token(value, iterations)
                if found != expected:
                    message = f"{operation.name} reads {found} where {expected} is meant"
                    raise FaultFoundError(FaultKind.VALUE, state.name, message)
        if operation.name in STORES:
            if state.stores:
                message = f"{operation.name} fills a staging tile that is still read"
                raise FaultFoundError(FaultKind.RACE, state.name, message)
            state.stores += 1
        for result, target in zip(operation.results, issue.writes, strict=False):
            token = self._meaning.token(result, iterations)
            if isinstance(target, Slot):
                self._shared.fill(state.name, target, token, state.busy())
            elif target is not None:
                self._write(state, target.name, token, chained)
        if matrix:
            slots = ((slot.ring, self._shared.read_index(state.name, slot)) for slot in issue.reads if _is_slot(slot))
            reads = frozenset(source.name for source in issue.reads if isinstance(source, Register))
            state.groups.append(_Group(chained, reads - {chained}, tuple(slots)))

    def _iterations(self, state: _RoleState, issue: Issue, bases: Bases) -> dict[int, int]:
        """The iterations that an issue belongs to; those of a scheduled loop are noted."""
        iterations = dict(state.iterations)
        around = self._meaning.around(issue.operation)
        if issue.instance is not None and around:
            loop = around[-1]
            number = _number(issue.instance, bases)
            if not 0 <= number < self._trip_count(loop):
                message = f"{issue.operation.name} is issued for iteration {number}"
                raise FaultFoundError(FaultKind.VALUE, state.name, message)
            iterations[loop.index] = number
            self._issued.append(Issued(state.name, issue.op, issue.operation, number))
        return iterations

    def _found(
        self,
        state: _RoleState,
        value: Value,
        source: Source,
        iterations: Mapping[int, int],
        chained: str,
        bases: Bases,
    ) -> Token | None:
        """What an operand really is."""
        if isinstance(source, Slot):
            return self._shared.read(state.name, source, matrix=bool(chained))
        if isinstance(source, Induction):
            around = self._meaning.within(source.loop.operation, iterations)
            at = (source.loop.index, _number(source.instance, bases))
            return Token(source.loop.induction or value, (*around, at))
        return self._held(state, source, chained)

    def _held(self, state: _RoleState, source: Source, chained: str = "") -> Token | None:
        """What a register operand or an argument holds; `chained`: the storage that the reading matrix op adds to."""
        if isinstance(source, Argument):
            return self._meaning.token(source.value, {})
        if not isinstance(source, Register):
            raise FaultFoundError(FaultKind.VALUE, state.name, "only registers are copied")
        if any(group.writes == source.name for group in state.groups) and source.name != chained:
            message = f"{source.name} is read while a matrix op writes it"
            raise FaultFoundError(FaultKind.RACE, state.name, message)
        return state.values.get(source.name)

    def _write(self, state: _RoleState, name: str, token: Token | None, chained: str = "") -> None:
        for group in state.groups:
            if name in group.reads or (name == group.writes and name != chained):
                message = f"{name} is written while a matrix op uses it"
                raise FaultFoundError(FaultKind.RACE, state.name, message)
        state.values[name] = token


def _number(instance: Instance, bases: Bases) -> int:
    return bases[instance.base] + instance.offset


def _is_slot(source: Source | None) -> TypeGuard[Slot]:
    return isinstance(source, Slot)


def _always() -> bool:
    return True
