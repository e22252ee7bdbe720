"""A role of a role program as C++: its variables, then its statements in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.export.cuda import tile_ops
from core.export.cuda.compact import compact_layouts
from core.export.cuda.context import RoleText, Vectors
from core.export.cuda.deferred import DeferredSum, register_of
from core.export.cuda.elements import cpp_type
from core.export.cuda.holds import Held, Scalar, Tile
from core.export.cuda.issues import TMA_STORES, write_issue
from core.export.cuda.marks import mark_numbers
from core.export.cuda.names import Names
from core.export.cuda.options import PLACES, Options
from core.export.cuda.repeated import repeated_layouts
from core.export.cuda.rings import RingText, cursors, slots_used, uses_rings
from core.export.cuda.shared_operands import shared_operands
from core.export.cuda.text import KernelText, Lines
from core.export.cuda.variables import Variables
from core.export.roles.model import (
    ArriveFree,
    ArriveFull,
    For,
    GroupSync,
    If,
    Issue,
    MmaWait,
    Move,
    Pin,
    Pipeline,
    Put,
    Register,
    RingKind,
    Role,
    RoleProgram,
    Slot,
    Statement,
    StoreWait,
    Take,
    TurnPass,
    TurnWait,
    WaitFree,
    WaitFull,
    While,
)
from core.export.roles.walk import parts, walk
from core.ir.model import Loop, Value


class RoleWriter:
    """Writes one role. `rings`: the text of all rings of the program; `sums`: those that may stay in parts."""

    def __init__(
        self,
        kernel: KernelText,
        program: RoleProgram,
        role: Role,
        rings: Mapping[str, RingText],
        vectors: Vectors,
        options: Options,
        sums: Sequence[DeferredSum] = (),
        *,
        reuse_rings: bool = False,
        operands_in_shared: bool = True,
    ) -> None:
        self.role, self._program, self._options, self._reuse_rings = role, program, options, reuse_rings
        self._sums = list(_sums_of(role.statements, sums))
        self._inside: list[Loop] = []
        self._marks = mark_numbers(program)
        deferred = frozenset(each.reduction for total, _ in self._sums for each in total.row())
        self.text = RoleText(kernel, role.name, role.warps, Lines(1), Names(), vectors, deferred)
        in_shared = shared_operands(kernel, role.statements, role.warps) if operands_in_shared else frozenset[Value]()
        behind = slots_used(role.statements)
        layouts = {**repeated_layouts(kernel, role), **compact_layouts(kernel, role)}
        self._variables = Variables(self.text, rings, behind, in_shared, layouts)

    @property
    def sums(self) -> list[DeferredSum]:
        """The sums that stay in parts on this role."""
        return [each for total, _ in self._sums for each in total.row()]

    def write(self) -> list[str]:
        """The lines of the role's body: what lasts for all programs, then one program, or one after another."""
        lines = self.text.lines
        lines.add(f"constexpr tw::Group<{self.role.first_thread}, {self.role.warps}, {self.role.barrier}> g{{}};")
        lines.add("(void)g;")
        lines.add(f"TW_MARKS(p, {self._program.roles.index(self.role)});")
        self._declare_cursors()
        statements = list(self.role.statements)
        while statements and isinstance(statements[0], TurnPass):
            self._statement(statements.pop(0))
        if self._options.persistent:
            with lines.block("for (int tile = tw::program_id<0>(); tile < p.tiles; tile += tw::num_programs<0>()) {"):
                self._one_program(statements)
        else:
            self._one_program(statements)
        if _has_stores(self.role.statements):
            lines.add("if (tw::elected(g)) tw::tma_store_wait<0>();")
        return lines.lines

    def _one_program(self, statements: Sequence[Statement]) -> None:
        self._find_place()
        for storage in self.role.storages:
            self._variables.declare(storage.name, storage.value, storage=True)
        if self._options.persistent:
            self._repeated(statements)
            return
        last = max((index for index, each in enumerate(statements) if uses_rings([each])), default=-1) + 1
        self._statements(statements[:last])
        if self._reuse_rings:
            self._meet_all()
        self._statements(statements[last:])

    def _meet_all(self) -> None:
        """All roles are done with their rings here, and scratch memory may lie there."""
        threads = 32 * sum(role.warps for role in self._program.roles)
        self.text.lines.add(f"tw::named_sync({all_roles_barrier(self._program)}, {threads});")
        self.text.late, self.text.stored = True, False

    def _find_place(self) -> None:
        """The program's place in the grid of the text, as far as the role asks for it."""
        axes = {
            each.operation.text_arguments.strip()
            for each in walk(self.role.statements)
            if isinstance(each, Issue) and each.operation.name == "tt.get_program_id"
        }
        lines, in_a_row = self.text.lines, self._options.in_a_row
        if axes and in_a_row and not self._options.persistent:
            lines.add("const int tile = tw::program_id<0>();")
        for number, (axis, text) in enumerate(PLACES[self._options.order].items()):
            if axis in axes:
                lines.add(f"const int pid{number} = {text if in_a_row else f'tw::program_id<{number}>()'};")

    # ---- statements

    def _statements(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self._statement(statement)
            if isinstance(statement, For | Pipeline) and statement.loop not in self._inside:
                self._put_together(statement.loop)

    def _put_together(self, loop: Loop) -> None:
        """Behind a loop: the sums that it left in parts."""
        for total, name in self._sums:
            held = self._variables.held.get(name)
            if total.loop is loop and isinstance(held, Tile):
                source = self._variables.like(total.reduction.operands[0])
                tile_ops.put_together(self.text, total.reduction, held, source)

    def _repeated(self, statements: Sequence[Statement]) -> None:
        """The body of a loop: a store of the iteration before may still read scratch memory."""
        self.text.stored = self.text.stored or _has_stores(statements)
        self._statements(statements)

    def _statement(self, statement: Statement) -> None:
        lines, rings = self.text.lines, self._variables.rings
        match statement:
            case Issue():
                for slot in statement.writes:
                    if isinstance(slot, Slot) and rings[slot.ring].ring.kind is RingKind.OWN:
                        self._next_own(rings[slot.ring])
                self._issue(statement)
            case Move(target=target, source=source):
                self._move(target, self._variables.source(source))
            case Put(target=target, source=source):
                self._put(target, source)
            case Take(target=target, source=source):
                self._take(target, source)
            case WaitFull(ring=ring):
                self._wait(rings[ring], writes=False)
            case WaitFree(ring=ring):
                self._wait(rings[ring], writes=True)
            case ArriveFull(ring=ring):
                self._arrive(rings[ring], full=True)
            case ArriveFree(ring=ring):
                self._arrive(rings[ring], full=False)
            case MmaWait(pending=pending):
                lines.add(f"tw::mma_wait<{pending}>();")
            case Pin(names=names):
                for name in names:
                    if isinstance(held := self._variables.held.get(name), Tile):
                        lines.add(f"tw::pin({held.text});")
            case GroupSync(fence=fence):
                if fence:
                    lines.add("tw::async_fence();")
                lines.add("tw::group_sync(g);")
            case StoreWait():
                pass  # the scratch memory that stores read has waits of its own
            case TurnWait(turn=turn):
                barrier, threads = self._turn(turn, 0)
                lines.add(f"tw::named_sync({barrier}, {threads});")
            case TurnPass(turn=turn):
                barrier, threads = self._turn(turn, 1)
                lines.add(f"tw::named_arrive({barrier}, {threads});")
            case For():
                self._for(statement)
            case While():
                self._while(statement)
            case If():
                self._if(statement)
            case Pipeline():
                self._pipeline(statement)

    def _issue(self, issue: Issue) -> None:
        """An operation, between its marks if it is one of a scheduled loop."""
        at = self._variables.iteration(issue.instance) if issue.instance is not None else None
        number = None if at is None else self._marks.get((at[0].index, issue.op or ""))
        if at is None or number is None:
            write_issue(self._variables, issue)
            return
        self.text.lines.add(f"TW_BEGIN({number}, {at[1]});")
        write_issue(self._variables, issue)
        self.text.lines.add("TW_END();")

    def _turn(self, name: str, step: int) -> tuple[int, int]:
        turn = self._program.turns[name]
        at = (turn.roles.index(self.role.name) + step) % len(turn.roles)
        return turn.barriers[at], turn.threads[at]

    def _move(self, target: Register, source: Held | None) -> None:
        held = self._variables.held[target.name]
        if isinstance(held, Tile) and isinstance(source, Tile):
            self.text.move(held, source)
        elif isinstance(source, Scalar):
            self.text.lines.add(f"{held.text} = {source.text};")

    # ---- rings

    def _declare_cursors(self) -> None:
        for (name, writes), behind in self._variables.behind.items():
            ring = self._variables.rings[name]
            if ring.ring.depth > 1:
                size = f"[{behind + 1}]" if behind else ""
                self.text.lines.add(f"int {ring.place(writes)}{size} = {'{}' if behind else '0'};")
        for cursor, depth in sorted(cursors(self.role.statements, self._variables.rings)):
            self.text.lines.add(f"tw::Cursor<{depth}> {cursor};")

    def _wait(self, ring: RingText, *, writes: bool) -> None:
        lines, cursor = self.text.lines, ring.cursor("free" if writes else "full", waits=True)
        if ring.ring.kind is not RingKind.OWN:
            parity = f"{cursor}.parity ^ 1" if writes else f"{cursor}.parity"
            bar = ring.barrier("free" if writes else "full", f"{cursor}.slot")
            lines.add(f"tw::bar_wait({bar}, {parity});")
        self._take_slot(ring, cursor, writes=writes)
        lines.add(f"{cursor}.next();")
        if ring.ring.kind is RingKind.CP_ASYNC and not writes:
            lines.add("tw::async_fence();")

    def _take_slot(self, ring: RingText, cursor: str, *, writes: bool) -> None:
        """The cursor's slot is the newest one that the role writes or reads."""
        if ring.ring.depth == 1 or (ring.ring.name, writes) not in self._variables.behind:
            return
        place, behind = ring.place(writes), self._variables.behind[ring.ring.name, writes]
        for index in range(behind, 0, -1):
            self.text.lines.add(f"{place}[{index}] = {place}[{index - 1}];")
        self.text.lines.add(f"{place}{'[0]' if behind else ''} = {cursor}.slot;")

    def _next_own(self, ring: RingText) -> None:
        """The role fills the next slot of a ring of its own, which it reads too; nobody waits for it."""
        if ring.ring.depth > 1:
            cursor = ring.cursor("free", waits=True)
            self._take_slot(ring, cursor, writes=True)
            self._take_slot(ring, cursor, writes=False)
            self.text.lines.add(f"{cursor}.next();")

    def _arrive(self, ring: RingText, *, full: bool) -> None:
        if ring.ring.kind is RingKind.OWN:
            return
        lines, cursor = self.text.lines, ring.cursor("full" if full else "free", waits=False)
        bar = ring.barrier("full" if full else "free", f"{cursor}.slot")
        if full and ring.ring.kind is RingKind.CP_ASYNC:
            lines.add(f"tw::cp_async_arrive(g, {bar});")
        else:
            if full:
                lines.add("tw::async_fence();")
            lines.add(f"tw::bar_arrive(g, {bar});")
        lines.add(f"{cursor}.next();")

    def _put(self, target: Slot, source: Register) -> None:
        held, lines = self._variables.held[source.name], self.text.lines
        if isinstance(held, Scalar):
            place = self._variables.place(target, writes=True)
            lines.add(f"if (tw::elected(g)) {self._variables.rings[target.ring].scalar(place)} = {held.text};")
        else:
            lines.add(f"tw::smem_store(g, {self._variables.view(target, writes=True).text}, {held.text});")

    def _take(self, target: Register, source: Slot) -> None:
        ring, lines, held = self._variables.rings[source.ring], self.text.lines, self._variables.held.get(target.name)
        if not ring.shape:
            place = self._variables.place(source, writes=False)
            held = held or self._variables.declare(target.name, ring.ring.value)
            kind = "" if target.name in self._variables.storages else f"const {cpp_type(ring.element)} "
            lines.add(f"{kind}{held.text} = {ring.scalar(place)};")
            return
        held = held or self._variables.declare(target.name, _in_registers(ring.ring.value))
        lines.add(f"tw::smem_load(g, {held.text}, {self._variables.view(source, writes=False).text});")

    # ---- control flow

    def _for(self, statement: For) -> None:
        lines = self.text.lines
        with lines.block("{"):
            counter = self._variables.enter(statement.loop, statement.bounds)
            name = counter.name
            with lines.block(f"for (int {name} = 0; {name} < {counter.trips}; {name}++) {{"):
                self._repeated(statement.body)
            self._variables.leave(statement.loop)

    def _while(self, statement: While) -> None:
        with self.text.lines.block("for (;;) {"):
            self._repeated(statement.before)
            condition = self._variables.scalar(statement.condition, "a condition")
            self.text.lines.add(f"if (!{condition.text}) break;")
            self._statements(statement.body)

    def _if(self, statement: If) -> None:
        condition = self._variables.scalar(statement.condition, "a condition")
        lines, stored = self.text.lines, self.text.stored
        with lines.block(f"if ({condition.text}) {{"):
            self._statements(statement.then)
        after_then, self.text.stored = self.text.stored, stored
        if statement.otherwise:
            with lines.block("else {"):
                self._statements(statement.otherwise)
        self.text.stored = self.text.stored or after_then

    def _pipeline(self, statement: Pipeline) -> None:
        lines, unroll = self.text.lines, statement.unroll
        with lines.block("{"):
            counter = self._variables.enter(statement.loop, statement.bounds)
            name, trips = counter.name, counter.trips
            if statement.least:
                self._inside.append(statement.loop)  # what runs the few iterations may be a loop itself
                with lines.block(f"if ({trips} < {statement.least}) {{"):
                    self._one_of(trips, statement.short)
                self._inside.pop()
            with lines.block("else {" if statement.least else "{"):
                self._repeated(statement.prologue)
                lines.add(f"int {name} = {statement.stages};")
                with lines.block(f"for (; {name} + {unroll} <= {trips}; {name} += {unroll}) {{"):
                    self._repeated(statement.steady)
                self._one_of(f"{trips} - {name}", statement.tails)
            self._variables.leave(statement.loop)

    def _one_of(self, count: str, choices: Sequence[Sequence[Statement]]) -> None:
        """The choice of that number; the last one for all that are greater."""
        for number, choice in enumerate(choices):
            test = f"if ({count} == {number}) " if number < len(choices) - 1 else ""
            with self.text.lines.block(f"{'else ' if number else ''}{test}{{"):
                self._repeated(choice)


def all_roles_barrier(program: RoleProgram) -> int:
    """The first named barrier that nobody else meets at."""
    used = [role.barrier for role in program.roles]
    used += [barrier for turn in program.turns.values() for barrier in turn.barriers]
    return 1 + max(used)


def _has_stores(statements: Sequence[Statement]) -> bool:
    return any(isinstance(each, Issue) and each.operation.name in TMA_STORES for each in walk(statements))


def _sums_of(statements: Sequence[Statement], sums: Sequence[DeferredSum]) -> Iterator[tuple[DeferredSum, str]]:
    """The sums of the loops of a role, with the names under which it reads them behind the loop."""
    for place, statement in enumerate(statements):
        if isinstance(statement, For | Pipeline):
            for total in sums:
                name = register_of(total.result, list(walk(statements[place + 1 :])))
                if total.loop is statement.loop and name is not None:
                    yield total, name
        for inner in parts(statement):
            yield from _sums_of(inner, sums)


def _in_registers(value: Value) -> Value:
    """The register tile of a ring: what a load put into it, or what is handed over."""
    op = value.producer
    return op.operands[0] if op is not None and op.name == "ttg.local_alloc" else value
