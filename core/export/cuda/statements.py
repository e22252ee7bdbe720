"""A role of a role program as C++: its variables, then its statements in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.export.cuda import matrix_ops, memory_ops, tile_ops
from core.export.cuda.context import Context, Lowerings, RoleText, Vectors, element_of
from core.export.cuda.elements import ElementError, cpp_type
from core.export.cuda.holds import DescriptorMap, Held, Scalar, Tile, View
from core.export.cuda.maps import descriptor_map
from core.export.cuda.names import Names
from core.export.cuda.rings import RingText
from core.export.cuda.scalar import is_elementwise
from core.export.cuda.text import KernelText, Lines
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
    Pin,
    Pipeline,
    Put,
    Register,
    RingKind,
    Role,
    RoleProgram,
    Slot,
    Source,
    Statement,
    StoreWait,
    Take,
    Target,
    TurnPass,
    TurnWait,
    WaitFree,
    WaitFull,
    While,
)
from core.ir.model import Loop, Operation, Value
from core.ir.types import TensorType

_LOWERINGS: Lowerings = {**tile_ops.LOWERINGS, **memory_ops.LOWERINGS, **matrix_ops.LOWERINGS}
_DESCRIPTOR_MAKERS = ("tt.make_tensor_descriptor", "ttng.reinterpret_tensor_descriptor")
_STORES = ("tt.descriptor_store", "tt.experimental_descriptor_store", "tt.descriptor_reduce")
_DESCRIPTOR_LOADS = ("tt.descriptor_load", "tt.experimental_descriptor_load")


class RoleWriter:
    """Writes one role. `rings`: the text of all rings of the program."""

    def __init__(
        self, kernel: KernelText, program: RoleProgram, role: Role, rings: dict[str, RingText], vectors: Vectors
    ) -> None:
        self.kernel, self.program, self.role, self.rings = kernel, program, role, rings
        self.text = RoleText(kernel, role.name, role.warps, Lines(1), Names(), vectors)
        self._storages: set[str] = set()
        self._held: dict[str, Held] = {}
        self._loops: dict[Loop, tuple[str, str, str, str, str]] = {}  # lower, step, counter, trips, type
        self._behind = {
            (ring, writes): max(0, *behind) for (ring, writes), behind in _slots_used(role.statements).items()
        }

    def write(self) -> list[str]:
        """The lines of the role's body."""
        lines = self.text.lines
        lines.add(f"constexpr tw::Group<{self.role.first_thread}, {self.role.warps}, {self.role.barrier}> g{{}};")
        lines.add("(void)g;")
        self._declare_cursors()
        for storage in self.role.storages:
            self._declare(storage.name, storage.value, storage=True)
        self._statements(self.role.statements)
        if any(True for _ in _issues(self.role.statements, _STORES)):
            lines.add("if (tw::elected(g)) tw::tma_store_wait<0>();")
        return lines.lines

    # ---- names and values

    def _declare(self, name: str, value: Value, *, storage: bool) -> Held:
        held = self._new(name, value)
        if storage:
            self._storages.add(name)
        self._held[name] = held
        if isinstance(held, Tile):
            self.text.declare(held)
        elif isinstance(held, Scalar) and storage:
            self.text.lines.add(f"{cpp_type(held.element)} {held.text}{{}};")
        return held

    def _new(self, name: str, value: Value) -> Held:
        """A variable for a value. Raises ElementError."""
        type_ = self.kernel.type(value)
        element = element_of(self.kernel, value)
        cpp_type(element)
        text = self.text.names.fresh(name)
        if isinstance(type_, TensorType):
            return Tile(text, element, self.kernel.layout(type_.encoding, type_.shape, self.role.warps))
        return Scalar(text, element)

    def _source(self, source: Source | None, value: Value | None = None) -> Held | None:
        match source:
            case None:
                return None
            case Register(name=name):
                return self._held.get(name)
            case Slot():
                return self._view(source, writes=False)
            case Argument(value=argument):
                return self._argument(argument)
            case Induction(loop=loop, instance=instance):
                return self._induction(loop, instance)

    def _argument(self, value: Value) -> Held:
        if value in self.kernel.arguments:
            return Scalar(f"p.{self.kernel.arguments[value]}", element_of(self.kernel, value))
        return descriptor_map(self.kernel, value)

    def _view(self, slot: Slot, *, writes: bool) -> View:
        ring = self.rings[slot.ring]
        behind = self._behind.get((slot.ring, writes), 0)
        at = "0" if ring.ring.depth == 1 else f"{ring.place(writes)}[{slot.behind}]" if behind else ring.place(writes)
        return ring.view(at, slot.via)

    def _induction(self, loop: Loop, instance: Instance) -> Scalar:
        lower, step, counter, trips, kind = self._loops[loop]
        base = {Base.FIRST: "", Base.STEADY: counter, Base.LAST: trips}[instance.base]
        offset = instance.offset
        if not base:
            number = str(offset)
        else:
            number = base if offset == 0 else f"({base} {'+' if offset > 0 else '-'} {abs(offset)})"
        element = element_of(self.kernel, loop.induction) if loop.induction is not None else "i32"
        return Scalar(f"{kind}({lower} + {kind}({number}) * {step})", element)

    # ---- statements

    def _statements(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: Statement) -> None:
        lines = self.text.lines
        match statement:
            case Issue():
                self._issue(statement)
            case Move(target=target, source=source):
                self._move(target, self._source(source))
            case Put(target=target, source=source):
                self._put(target, source)
            case Take(target=target, source=source):
                self._take(target, source)
            case WaitFull(ring=ring):
                self._wait(self.rings[ring], writes=False)
            case WaitFree(ring=ring):
                self._wait(self.rings[ring], writes=True)
            case ArriveFull(ring=ring):
                self._arrive(self.rings[ring], full=True)
            case ArriveFree(ring=ring):
                self._arrive(self.rings[ring], full=False)
            case MmaWait(pending=pending):
                lines.add(f"tw::mma_wait<{pending}>();")
            case Pin(names=names):
                for name in names:
                    if isinstance(held := self._held.get(name), Tile):
                        lines.add(f"tw::pin({held.text});")
            case GroupSync(fence=fence):
                if fence:
                    lines.add("tw::async_fence();")
                lines.add("tw::group_sync(g);")
            case StoreWait(pending=pending):
                lines.add(f"if (tw::elected(g)) tw::tma_store_wait<{pending}>();")
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

    def _turn(self, name: str, step: int) -> tuple[int, int]:
        turn = self.program.turns[name]
        at = (turn.roles.index(self.role.name) + step) % len(turn.roles)
        return turn.barriers[at], turn.threads[at]

    def _move(self, target: Register, source: Held | None) -> None:
        held = self._held[target.name]
        if isinstance(held, Tile) and isinstance(source, Tile):
            self.text.move(held, source)
        elif isinstance(source, Scalar):
            self.text.lines.add(f"{held.text} = {source.text};")

    # ---- rings

    def _declare_cursors(self) -> None:
        for (name, writes), behind in self._behind.items():
            ring = self.rings[name]
            if ring.ring.depth > 1:
                size = f"[{behind + 1}]" if behind else ""
                self.text.lines.add(f"int {ring.place(writes)}{size} = {'{}' if behind else '0'};")
        for cursor, depth in sorted(_cursors(self.role.statements, self.rings)):
            self.text.lines.add(f"tw::Cursor<{depth}> {cursor};")

    def _wait(self, ring: RingText, *, writes: bool) -> None:
        lines, cursor = self.text.lines, ring.cursor("free" if writes else "full", waits=True)
        if ring.ring.kind is not RingKind.OWN:
            parity = f"{cursor}.parity ^ 1" if writes else f"{cursor}.parity"
            bar = ring.barrier("free" if writes else "full", f"{cursor}.slot")
            lines.add(f"tw::bar_wait({bar}, {parity});")
        if ring.ring.depth > 1:
            place, behind = ring.place(writes), self._behind.get((ring.ring.name, writes), 0)
            for index in range(behind, 0, -1):
                lines.add(f"{place}[{index}] = {place}[{index - 1}];")
            lines.add(f"{place}{'[0]' if behind else ''} = {cursor}.slot;")
        lines.add(f"{cursor}.next();")
        if ring.ring.kind is RingKind.CP_ASYNC and not writes:
            lines.add("tw::async_fence();")

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
        held, view = self._held[source.name], self._view(target, writes=True)
        if not isinstance(held, Tile):
            raise ElementError("a hand-off of a scalar")
        self.text.lines.add(f"tw::smem_store(g, {view.text}, {held.text});")

    def _take(self, target: Register, source: Slot) -> None:
        held = self._held.get(target.name) or self._declare(
            target.name, _in_registers(self.rings[source.ring].ring.value), storage=False
        )
        self.text.lines.add(f"tw::smem_load(g, {held.text}, {self._view(source, writes=False).text});")

    # ---- operations

    def _issue(self, issue: Issue) -> None:
        op = issue.operation
        if op.name in _DESCRIPTOR_MAKERS:
            self._descriptor(issue)
            return
        operands = [self._source(source, value) for source, value in zip(issue.reads, op.operands, strict=True)]
        slot = next((write for write in issue.writes if isinstance(write, Slot)), None)
        if slot is not None:
            self._fill(issue, operands, slot)
            return
        if self._keeps_layout(op, issue, operands):
            return
        results, fresh = self._results(op, issue.writes)
        context = Context(self.text, op, operands, results, fresh)
        before = len(self.text.lines.lines)
        try:
            self._lowering(op)(context)
        except ElementError as problem:
            del self.text.lines.lines[before:]
            self._hole(context, str(problem))

    def _lowering(self, op: Operation):
        if op.name in _LOWERINGS:
            return _LOWERINGS[op.name]
        if is_elementwise(op):
            return tile_ops.elementwise
        raise ElementError("no such operation here")

    def _results(self, op: Operation, writes: Sequence[Target | None]) -> tuple[list[Held | None], frozenset[int]]:
        results: list[Held | None] = []
        fresh: set[int] = set()
        for index, (write, value) in enumerate(zip(writes, op.results, strict=False)):
            if not isinstance(write, Register) or value not in self.kernel.users:
                results.append(None)
            elif write.name in self._storages:
                results.append(self._held[write.name])
            else:
                results.append(self._declare(write.name, value, storage=False))
                if isinstance(results[-1], Scalar):
                    fresh.add(index)
        return results, frozenset(fresh)

    def _keeps_layout(self, op: Operation, issue: Issue, operands: Sequence[Held | None]) -> bool:
        """Whether the result of a layout conversion can be the operand itself, since who takes it stores it to shared
        memory, which any layout may do."""
        if op.name != "ttg.convert_layout" or not isinstance(source := issue.reads[0], Register):
            return False
        users = self.kernel.users.get(op.results[0], [])
        write = issue.writes[0]
        if source.name in self._storages or not isinstance(write, Register) or write.name in self._storages:
            return False
        if not users or any(user.name not in (*_STORES, "ttg.local_alloc", "ttg.local_store") for user in users):
            return False
        held = operands[0]
        if held is None:
            return False
        self._held[write.name] = held
        return True

    def _hole(self, context: Context, reason: str) -> None:
        lines, parameters, arguments = self.text.lines, list[str](), list[str]()
        for index, held in enumerate(context.results):
            if held is not None:
                parameters.append(f"{context.parameter(held, True)}r{index}")
                arguments.append(held.text)
                if index in context.fresh and isinstance(held, Scalar):
                    lines.add(f"{cpp_type(held.element)} {held.text}{{}};")
        for index, held in enumerate(context.operands):
            if held is not None:
                parameters.append(f"{context.parameter(held, False)}x{index}")
                arguments.append(f"{held.text}.base" if isinstance(held, View) else held.text)
        function = self.kernel.hole(context.operation, reason, parameters)
        lines.add(f"{function}({', '.join(arguments)});")

    def _descriptor(self, issue: Issue) -> None:
        """The host makes it; the name stands for its tensor map."""
        for write, value in zip(issue.writes, issue.operation.results, strict=True):
            if isinstance(write, Register):
                self._held[write.name] = descriptor_map(self.kernel, value)

    def _fill(self, issue: Issue, operands: Sequence[Held | None], slot: Slot) -> None:
        """An operation whose result is a slot of a ring."""
        op, ring, lines = issue.operation, self.rings[slot.ring], self.text.lines
        view = self._view(slot, writes=True)
        if op.name in _DESCRIPTOR_LOADS:
            source = operands[0]
            if not isinstance(source, DescriptorMap):
                raise ElementError("a descriptor that the host does not make")
            at = "0" if ring.ring.depth == 1 else view.text.partition("[")[2].partition("]")[0]
            bar = ring.barrier("full", at)
            coordinates = ", ".join(held.text for held in operands[1:] if isinstance(held, Scalar))
            with lines.block("if (tw::elected(g)) {"):
                lines.add(f"tw::bar_expect({bar}, {ring.bytes});")
                lines.add(f"tw::tma_load({bar}, {view.text}, {source.text}, {coordinates});")
        elif op.name == "tt.load":
            self._fill_by_pointers(issue, operands, view)
        else:
            tile = operands[0]
            if not isinstance(tile, Tile):
                raise ElementError("a shared tile of no register tile")
            lines.add(f"tw::smem_store(g, {view.text}, {tile.text});")

    def _fill_by_pointers(self, issue: Issue, operands: Sequence[Held | None], view: View) -> None:
        pointers, *masks = [held for held in operands if isinstance(held, Tile)]
        vector = self.text.vectors(issue.operation, pointers.layout)
        mask = f", {self.text.converted(masks[0], pointers.layout).text}" if masks else ""
        self.text.lines.add(f"tw::cp_async<{vector}>(g, {view.text}, {pointers.text}{mask});")

    # ---- control flow

    def _enter_loop(self, loop: Loop, bounds: tuple[Source, Source, Source]) -> tuple[str, str]:
        """Declares bounds, counter and trip count; returns the counter's and the trip count's names."""
        names, lines = self.text.names, self.text.lines
        element = element_of(self.kernel, loop.bounds[0])
        kind = cpp_type(element)
        lower, upper, step = (names.fresh(name) for name in ("lower", "upper", "step"))
        for name, source in zip((lower, upper, step), bounds, strict=True):
            held = self._source(source)
            if not isinstance(held, Scalar):
                raise ElementError("a loop bound that is no scalar")
            lines.add(f"const {kind} {name} = {held.text};")
        counter, trips = names.fresh("t"), names.fresh("n")
        lines.add(f"const int {trips} = {upper} > {lower} ? int(({upper} - {lower} - 1) / {step}) + 1 : 0;")
        self._loops[loop] = (lower, step, counter, trips, kind)
        return counter, trips

    def _body(self, statements: Sequence[Statement]) -> None:
        """The body of a loop: a store of the iteration before may still read scratch memory."""
        self.text.stored = self.text.stored or any(True for _ in _issues(statements, _STORES))
        self._statements(statements)

    def _for(self, statement: For) -> None:
        lines = self.text.lines
        with lines.block("{"):
            counter, trips = self._enter_loop(statement.loop, statement.bounds)
            with lines.block(f"for (int {counter} = 0; {counter} < {trips}; {counter}++) {{"):
                self._body(statement.body)

    def _while(self, statement: While) -> None:
        with self.text.lines.block("for (;;) {"):
            self._body(statement.before)
            condition = self._source(statement.condition)
            if not isinstance(condition, Scalar):
                raise ElementError("a condition that is no scalar")
            self.text.lines.add(f"if (!{condition.text}) break;")
            self._statements(statement.body)

    def _if(self, statement: If) -> None:
        condition, lines, stored = self._source(statement.condition), self.text.lines, self.text.stored
        if not isinstance(condition, Scalar):
            raise ElementError("a condition that is no scalar")
        with lines.block(f"if ({condition.text}) {{"):
            self._statements(statement.then)
        after_then, self.text.stored = self.text.stored, stored
        if statement.otherwise:
            with lines.block("else {"):
                self._statements(statement.otherwise)
        self.text.stored = self.text.stored or after_then

    def _pipeline(self, statement: Pipeline) -> None:
        lines = self.text.lines
        stages, unroll = statement.stages, statement.unroll
        with lines.block("{"):
            counter, trips = self._enter_loop(statement.loop, statement.bounds)
            for count, short in enumerate(statement.short):
                last = count == len(statement.short) - 1
                test = f"{trips} < {statement.least}" if last else f"{trips} == {count}"
                with lines.block(f"{'else ' if count else ''}if ({test}) {{"):
                    self._body(short)
            with lines.block("else {" if statement.short else "{"):
                self._body(statement.prologue)
                lines.add(f"int {counter} = {stages};")
                with lines.block(f"for (; {counter} + {unroll} <= {trips}; {counter} += {unroll}) {{"):
                    self._body(statement.steady)
                for rest, tail in enumerate(statement.tails):
                    if len(statement.tails) == 1:
                        opening = "{"
                    else:
                        last = rest == len(statement.tails) - 1
                        test = "" if last else f"if ({trips} - {counter} == {rest}) "
                        opening = f"{'else ' if rest else ''}{test}{{"
                    with lines.block(opening):
                        self._body(tail)


def _in_registers(value: Value) -> Value:
    """The register tile of a ring: what a load put into it, or what is handed over."""
    op = value.producer
    return op.operands[0] if op is not None and op.name == "ttg.local_alloc" else value


def nested(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The lists of statements inside a statement."""
    match statement:
        case For(body=body):
            return (body,)
        case While(before=before, body=body):
            return (before, body)
        case If(then=then, otherwise=otherwise):
            return (then, otherwise)
        case Pipeline(short=short, prologue=prologue, steady=steady, tails=tails):
            return (*short, prologue, steady, *tails)
        case _:
            return ()


def every(statements: Sequence[Statement]) -> Iterator[Statement]:
    """All statements, those inside others too."""
    for statement in statements:
        yield statement
        for inner in nested(statement):
            yield from every(inner)


def _issues(statements: Sequence[Statement], names: Sequence[str]) -> Iterator[Issue]:
    for statement in every(statements):
        if isinstance(statement, Issue) and statement.operation.name in names:
            yield statement


def _slots_used(statements: Sequence[Statement]) -> dict[tuple[str, bool], list[int]]:
    """How far behind slots are used, by ring and whether they are written."""
    found: dict[tuple[str, bool], list[int]] = {}
    for statement in every(statements):
        pairs: list[tuple[Source | Target | None, bool]] = []
        match statement:
            case Issue(reads=reads, writes=writes):
                pairs = [*((read, False) for read in reads), *((write, True) for write in writes)]
            case Put(target=target):
                pairs = [(target, True)]
            case Take(source=source):
                pairs = [(source, False)]
            case WaitFull(ring=ring):
                found.setdefault((ring, False), [0])
            case WaitFree(ring=ring):
                found.setdefault((ring, True), [0])
            case _:
                pass
        for place, writes in pairs:
            if isinstance(place, Slot):
                found.setdefault((place.ring, writes), [0]).append(place.behind)
    return found


def _cursors(statements: Sequence[Statement], rings: dict[str, RingText]) -> set[tuple[str, int]]:
    """Names and sizes of the cursors that the statements move."""
    found: set[tuple[str, int]] = set()
    for statement in every(statements):
        match statement:
            case WaitFull(ring=name):
                found.add((rings[name].cursor("full", waits=True), rings[name].ring.depth))
            case WaitFree(ring=name):
                found.add((rings[name].cursor("free", waits=True), rings[name].ring.depth))
            case ArriveFull(ring=name) if rings[name].ring.kind is not RingKind.OWN:
                found.add((rings[name].cursor("full", waits=False), rings[name].ring.depth))
            case ArriveFree(ring=name) if rings[name].ring.kind is not RingKind.OWN:
                found.add((rings[name].cursor("free", waits=False), rings[name].ring.depth))
            case _:
                pass
    return found
