"""Whether the paper's system has a solution, by trying everything: its families straight from their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from core.graph.model import Dependence, DependenceKind, Graph, InOrderIssue, Op, Space


@dataclass(frozen=True)
class Program:
    """The straight-line program of n = ceil(L / II) copies, by starts of copy 0."""

    graph: Graph
    ii: int
    length: int
    starts: Mapping[str, int]

    @property
    def copies(self) -> int:
        return -(-self.length // self.ii)

    @property
    def cycles(self) -> range:
        return range((self.copies - 1) * self.ii + self.length)

    def start(self, op: str, copy: int) -> int:
        return self.starts[op] + copy * self.ii

    def pairs(self, edge: Dependence) -> Iterator[tuple[int, int]]:
        """Instances of an edge's ends that are both in the program."""
        return ((copy, copy + edge.distance) for copy in range(self.copies - edge.distance))

    def respects(self, edge: Dependence, delay: int) -> bool:
        return all(self.start(edge.target, v) >= self.start(edge.source, u) + delay for u, v in self.pairs(edge))

    def within_capacity(self, unit: str, capacity: int) -> bool:
        return all(
            sum(
                block.amount
                for op in self.graph.ops.values()
                for block in op.blocks
                for copy in range(self.copies)
                if block.unit == unit and 0 <= t - self.start(op.id, copy) - block.offset < block.duration
            )
            <= capacity
            for t in self.cycles
        )

    def live(self, op: Op, copy: int) -> range:
        readers = [e for e in self.graph.dependences if e.source == op.id and e.kind is DependenceKind.FLOW]
        ends = [self.start(e.target, copy + e.distance) + e.release for e in readers if copy + e.distance < self.copies]
        if copy == self.copies - 1 and any(e.distance for e in readers):
            ends.append(len(self.cycles))
        return range(self.start(op.id, copy), max(ends, default=0))

    def amounts(self, ops: list[Op]) -> list[int]:
        """What the results of the ops take, by cycle."""
        ranges = [(self.live(op, copy), op.result.amount) for op in ops for copy in range(self.copies)]
        return [sum(amount for held, amount in ranges if t in held) for t in self.cycles]


def cycles(op: Op) -> int:
    """Until the op is complete."""
    return max([1, op.latency, *(block.offset + block.duration for block in op.blocks)])


def in_flight(op: Op) -> int:
    """The rows of the op's reservation table."""
    return max((block.offset + block.duration for block in op.blocks), default=op.issue_cycles)


def satisfiable(graph: Graph, ii: int, length: int) -> bool:
    """Whether some starts and warp groups satisfy every family."""
    windows = [range(length - cycles(op) + 1) for op in graph.ops.values()]
    programs = (Program(graph, ii, length, dict(zip(graph.ops, starts, strict=True))) for starts in product(*windows))
    choices = list(_group_choices(graph))
    return any(_spills_and_registers(p, groups) for p in programs if _schedulable(p) for groups in choices)


def _schedulable(program: Program) -> bool:
    """Dependence, capacity, and memory capacity."""
    graph, machine = program.graph, program.graph.machine
    if not all(program.respects(edge, edge.latency) for edge in graph.dependences):
        return False
    if not all(program.within_capacity(unit, capacity) for unit, capacity in machine.units.items()):
        return False
    sizes = {
        Space.SHARED: machine.shared_memory_bytes - machine.fixed_shared_bytes,
        Space.TENSOR: machine.tensor_memory_columns,
    }
    return all(
        max(program.amounts([op for op in graph.ops.values() if op.result.space is space])) <= size
        for space, size in sizes.items()
    )


def _group_choices(graph: Graph) -> Iterator[dict[str, int]]:
    """Warp uniqueness and variable latency: group 0, the largest with variable latency, holds just such ops."""
    loading = max((kind.warps for kind in graph.groups if kind.variable_latency and kind.count), default=None)
    plain = [kind.warps for kind in graph.groups if not kind.variable_latency for _ in range(kind.count)]
    allowed = [
        ([0] if loading is not None and op.needs_warps <= loading else [])
        if op.variable_latency
        else [w for w, warps in enumerate(plain, start=1) if op.needs_warps <= warps]
        for op in graph.ops.values()
    ]
    return (dict(zip(graph.ops, groups, strict=True)) for groups in product(*allowed))


def _spills_and_registers(program: Program, groups: Mapping[str, int]) -> bool:
    """Cross-warp spills, register limit, and concurrency."""
    graph, file = program.graph, program.graph.machine.registers
    for edge in graph.dependences:
        source = graph.ops[edge.source]
        in_registers = edge.kind is DependenceKind.FLOW and source.result.space is Space.REGISTERS
        if in_registers and groups[edge.source] != groups[edge.target]:
            hand_off = edge.latency + source.hand_off_cycles
            if not graph.rules.allow_hand_off or not program.respects(edge, hand_off):
                return False
    for w in set(groups.values()):
        held = [op for op in graph.ops.values() if op.result.space is Space.REGISTERS and groups[op.id] == w]
        if max(program.amounts(held)) > file.max_per_thread - (file.overhead if w else 0):
            return False
    return graph.rules.in_order_issue is InOrderIssue.OFF or _waits_alone(program, groups)


def _waits_alone(program: Program, groups: Mapping[str, int]) -> bool:
    graph = program.graph
    waiting = {d.target for d in graph.dependences if d.blocking and graph.ops[d.source].asynchronous}
    return not any(
        0 <= program.start(waiter, i) - program.start(op.id, j) < in_flight(op)
        for waiter in waiting
        for op in graph.ops.values()
        if op.id != waiter and groups[op.id] == groups[waiter]
        for i in range(program.copies)
        for j in range(program.copies)
    )
