"""An inner loop as one block of the loop around it, with the schedule that it has.

Every group of the inner loop is held from the block's start until it has issued the last iteration, with the registers
it needs at most; every unit that it uses is held until its last use, as much of it as the steady state takes at most,
and so is the memory. What the loop reads is handed to all its groups, to those for loads only if it is a scalar, of
which addresses are made. Nothing else runs on these groups meanwhile, and inner loops do not overlap: what is found is
legal, but a kernel whose loads run ahead into the next tile may be faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.graph.model import Block, Dependence, DependenceKind, Graph, Op, Pin, Result, Space
from core.schedule.check import check
from core.schedule.circle import peak, profile
from core.schedule.liveness import LiveRange, live_ranges
from core.schedule.metrics import trip_cost, used_groups
from core.schedule.model import Schedule


def nest(
    outer: Graph, op: str, inner: Graph, schedule: Schedule, iterations: int, results: Sequence[str] = ()
) -> Graph:
    """The outer graph whose op `op` is `iterations` >= 1 trips of the inner loop by its schedule, which is legal.

    `results`: inner ops whose register values the inner loop hands out; they must be on one group, else ValueError. The
    op itself is on that group (without results: on one that has a matrix op, else any) and keeps its
    own result. Beside it and with it start `OP.GROUP` on every group, and `OP.shared` and `OP.tensor` for what the
    inner loop keeps there. All of them are pinned to their groups.
    """
    return _Nest(outer, op, inner, schedule, iterations, results).graph()


class _Nest:
    def __init__(
        self, outer: Graph, op: str, inner: Graph, schedule: Schedule, iterations: int, results: Sequence[str]
    ) -> None:
        self._outer, self._inner, self._schedule = outer, inner, schedule
        self._op = outer.ops[op]
        self._before_last = (iterations - 1) * schedule.ii
        self._total = trip_cost(inner, schedule, iterations).total
        self._first = min(place.start for place in schedule.ops.values())
        self._groups: dict[str, list[Op]] = {name: [] for name in used_groups(schedule)}
        for name, place in schedule.ops.items():
            self._groups[place.group].append(inner.ops[name])
        self._results = frozenset(results)
        self._home = self._home_of(results)
        self._peaks = check(inner, schedule).peaks

    def graph(self) -> Graph:
        """The composed graph."""
        main, parts = self._main(), list(self._parts())
        ops: dict[str, Op] = {}
        for name, op in self._outer.ops.items():
            ops |= {name: main, **{part.id: part for part, _ in parts}} if name == main.id else {name: op}
        pins: dict[str, Pin] = {main.id: Pin(group=self._home)} | {part.id: Pin(group=group) for part, group in parts}
        together = [
            Dependence(source, target, 0, kind=DependenceKind.ORDER)
            for part, _ in parts
            for source, target in ((main.id, part.id), (part.id, main.id))
        ]
        dependences = [moved for d in self._outer.dependences for moved in self._moved(d, ops)]
        return replace(self._outer, ops=ops, dependences=(*dependences, *together), pins={**self._outer.pins, **pins})

    def _home_of(self, results: Sequence[str]) -> str:
        homes = {self._schedule.ops[op].group for op in results if self._inner.ops[op].result.space is Space.REGISTERS}
        if len(homes) > 1:
            raise ValueError(f"the loop hands out values of several groups ({', '.join(sorted(homes))})")
        matrix = [name for name, ops in self._groups.items() if any(op.matrix for op in ops)]
        steady = [name for name, ops in self._groups.items() if not ops[0].variable_latency]
        return next(iter([*homes, *matrix, *steady, *self._groups]))

    def _moved(self, d: Dependence, ops: Mapping[str, Op]) -> Iterator[Dependence]:
        """Who waits for the block waits until its last iteration is complete; what it reads goes to all its groups."""
        yield replace(d, latency=self._total) if d.source == self._op.id else d
        read = self._outer.ops[d.source].result
        if d.target == self._op.id and d.kind is DependenceKind.FLOW and read.space is Space.REGISTERS:
            for group in self._groups:
                part = ops.get(f"{self._op.id}.{group}")
                if part is not None and group != self._home and (read.amount <= 1 or not part.variable_latency):
                    yield replace(d, target=part.id)

    def _main(self) -> Op:
        kind = self._inner.group_kind(self._schedule.groups[self._home].kind)
        return replace(
            self._op,
            needs_warps=kind.warps,
            variable_latency=kind.variable_latency,
            latency=self._total,
            matrix=any(op.matrix for op in self._groups[self._home]),
            issue_cycles=self._issued(self._home),
            blocks=tuple(self._blocks()),
        )

    def _parts(self) -> Iterator[tuple[Op, str]]:
        """What the other groups and the memories are held for, with the group that each is on."""
        own = self._op.result
        for name, ops in self._groups.items():
            at_home = name == self._home
            registers = self._registers(name)
            if not at_home or registers:
                yield (
                    replace(
                        self._held(name, Space.REGISTERS, registers, name),
                        matrix=not at_home and any(op.matrix for op in ops),
                        issue_cycles=0 if at_home else self._issued(name),
                    ),
                    name,
                )
        shared = self._peaks.shared_memory - self._outer.machine.fixed_shared_bytes
        tensor = self._peaks.tensor_memory - (own.amount if own.space is Space.TENSOR else 0)
        for space, amount in ((Space.SHARED, shared), (Space.TENSOR, tensor)):
            if amount > 0:
                yield self._held(space.value, space, amount, self._home), self._home

    def _registers(self, group: str) -> int:
        """The most registers that the group's values take, but for one copy of what the block itself hands out."""
        ranges = [
            (live.begin + self._schedule.ii if self._is_result(live) else live.begin, live.end, live.amount)
            for live in live_ranges(self._inner, self._schedule).registers[group]
        ]
        return peak(profile(ranges, self._schedule.ii)).level

    def _is_result(self, live: LiveRange) -> bool:
        return live.reader is None and live.value in self._results and self._op.result.space is Space.REGISTERS

    def _held(self, suffix: str, space: Space, amount: int, group: str) -> Op:
        """An op without cycles that holds something until the last iteration is complete."""
        kind = self._inner.group_kind(self._schedule.groups[group].kind)
        return Op(
            id=f"{self._op.id}.{suffix}",
            kind=self._op.kind,
            needs_warps=kind.warps,
            variable_latency=kind.variable_latency,
            latency=self._total,
            result=Result(space, amount),
            line=self._op.line,
        )

    def _issued(self, group: str) -> int:
        """From the block's start to the end of the group's last issue."""
        ends = [self._schedule.ops[op.id].start + op.issue_cycles for op in self._groups[group]]
        return max(ends) - self._first + self._before_last

    def _blocks(self) -> Iterator[Block]:
        """Each unit that the inner loop uses, from the block's start to the last use of it."""
        busy: dict[str, list[tuple[int, int, int]]] = {}
        for op in self._inner.ops.values():
            place = self._schedule.ops[op.id]
            for block in op.blocks:
                begin = place.start + place.delay + block.offset
                busy.setdefault(block.unit, []).append((begin, begin + block.duration, block.amount))
        for unit, ranges in busy.items():
            end = max(end for _, end, _ in ranges) - self._first + self._before_last
            yield Block(unit, 0, end, peak(profile(ranges, self._schedule.ii)).level)
