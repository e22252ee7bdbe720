"""The ten rules by simulation: many iterations run cycle by cycle and everything in use is counted.

Written from the text of the format, for tests only: slow, without modulo arithmetic, and sharing nothing with the
judge but the values of the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.graph.model import DependenceKind, Graph, InOrderIssue, Op, Pool, Space
from core.schedule.model import Schedule

Fact = tuple[str, str]


@dataclass
class Finding:
    """Broken facts as (family, subject) and the most in use of everything."""

    broken: set[Fact] = field(default_factory=set)
    registers: dict[str, int] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    shared_memory: int = 0
    tensor_memory: int = 0


class Simulation:
    """Iterations -margin to margin; the cycles [0, II) lie in the middle and see the steady state."""

    def __init__(self, graph: Graph, schedule: Schedule) -> None:
        self.graph, self.schedule, self.ii = graph, schedule, schedule.ii
        longest = max(
            [place.start + place.delay for place in schedule.ops.values()]
            + [op.latency + op.hand_off_cycles + op.issue_cycles for op in graph.ops.values()]
            + [block.offset + block.duration for op in graph.ops.values() for block in op.blocks]
            + [d.release + self.ii * d.distance for d in graph.dependences]
        )
        self.iterations = range(-3 * longest // self.ii - 4, 3 * longest // self.ii + 5)
        self.cycles = range(self.ii)
        self.finding = Finding()

    def run(self) -> Finding:
        self.dependences()
        self.units()
        self.issue()
        self.registers()
        self.shared_memory()
        self.tensor_memory()
        self.placement()
        return self.finding

    def broken(self, family: str, subject: str) -> None:
        self.finding.broken.add((family, subject))

    def group(self, op: str) -> str:
        return self.schedule.ops[op].group

    def issue_time(self, op: str, iteration: int) -> int:
        return self.schedule.ops[op].start + iteration * self.ii

    def unit_time(self, op: str, iteration: int) -> int:
        return self.issue_time(op, iteration) + self.schedule.ops[op].delay

    def used_groups(self) -> list[str]:
        return sorted({place.group for place in self.schedule.ops.values()})

    def group_kind(self, group: str):
        return self.graph.group_kind(self.schedule.groups[group].kind)

    def reads(self, value: str) -> list:
        return [d for d in self.graph.dependences if d.source == value and d.kind is DependenceKind.FLOW]

    def crosses(self, op: Op) -> bool:
        outside = [d for d in self.reads(op.id) if self.group(d.target) != self.group(op.id)]
        return op.result.space is Space.REGISTERS and bool(outside)

    def dependences(self) -> None:
        for d in self.graph.dependences:
            source = self.graph.ops[d.source]
            wait = d.latency
            in_registers = source.result.space is Space.REGISTERS and d.kind is DependenceKind.FLOW
            if in_registers and self.group(d.source) != self.group(d.target):
                wait += source.hand_off_cycles
            if self.issue_time(d.target, d.distance) < self.unit_time(d.source, 0) + wait:
                self.broken("dependence", f"{d.source} {d.target}")

    def units(self) -> None:
        for unit, capacity in self.graph.machine.units.items():
            most = 0
            for cycle in self.cycles:
                busy = 0
                for op in self.graph.ops.values():
                    for block in op.blocks:
                        for iteration in self.iterations:
                            begin = self.unit_time(op.id, iteration) + block.offset
                            if block.unit == unit and begin <= cycle < begin + block.duration:
                                busy += block.amount
                most = max(most, busy)
            self.finding.units[unit] = most
            if most > capacity:
                self.broken("unit", unit)

    def issue(self) -> None:
        mode = self.graph.rules.in_order_issue
        waits = {d.target for d in self.graph.dependences if d.blocking and self.graph.ops[d.source].asynchronous}
        for cycle in self.cycles:
            for group in self.used_groups():
                at_issue = [
                    op.id
                    for op in self.graph.ops.values()
                    for iteration in self.iterations
                    if self.group(op.id) == group
                    and self.issue_time(op.id, iteration) <= cycle < self.issue_time(op.id, iteration) + op.issue_cycles
                ]
                counts = mode is InOrderIssue.STRONG or (mode is InOrderIssue.WEAK and waits & set(at_issue))
                if counts and len(at_issue) > 1:
                    self.broken("issue", group)

    def holdings(self, op: Op, iteration: int) -> list[tuple[str, int, int]]:
        """(group, from, to) for what threads hold of this iteration's register value."""
        born = self.issue_time(op.id, iteration)
        done = self.unit_time(op.id, iteration) + op.latency
        held: list[tuple[str, int, int]] = []
        ends: list[int] = []
        for d in self.reads(op.id):
            use = self.issue_time(d.target, iteration + d.distance)
            free = self.unit_time(d.target, iteration + d.distance) + d.release
            if self.group(d.target) == self.group(op.id):
                ends.append(free)
            else:
                held.append((self.group(d.target), use, free))
        if self.crosses(op):
            ends.append(done + op.hand_off_cycles)
        if not self.reads(op.id):
            ends.append(done)
        return [*held, (self.group(op.id), born, max(ends))]

    def registers(self) -> None:
        file = self.graph.machine.registers
        for group in self.used_groups():
            kind, grant = self.group_kind(group), self.schedule.groups[group].grant
            overhead = 0 if kind.variable_latency else file.overhead
            most = 0
            for cycle in self.cycles:
                live = overhead
                for op in self.graph.ops.values():
                    if op.result.space is Space.REGISTERS:
                        for iteration in self.iterations:
                            for where, begin, end in self.holdings(op, iteration):
                                if where == group and begin <= cycle < end:
                                    live += op.result.amount
                most = max(most, live)
            self.finding.registers[group] = most
            bad_grant = (
                grant % file.granularity or grant > file.max_per_thread or (kind.variable_latency and grant < 24)
            )
            if most > grant or bad_grant:
                self.broken("registers", group)
        if self.words_granted() > self.words_available():
            self.broken("registers", "register file")

    def packs(self) -> list[list[str]]:
        """Groups of fewer than four warps, side by side in warp groups of four, in the order of their names."""
        packs: list[list[str]] = []
        for group in self.used_groups():
            warps = self.group_kind(group).warps
            if warps < 4:
                if packs and sum(self.group_kind(g).warps for g in packs[-1]) + warps <= 4:
                    packs[-1].append(group)
                else:
                    packs.append([group])
        return packs

    def words_granted(self) -> int:
        grants = {group: self.schedule.groups[group].grant for group in self.used_groups()}
        if self.graph.machine.registers.pool is Pool.FLAT:
            return sum(32 * self.group_kind(group).warps * grant for group, grant in grants.items())
        large = sum(32 * self.group_kind(g).warps * grants[g] for g in grants if self.group_kind(g).warps >= 4)
        return large + sum(128 * max(grants[group] for group in pack) for pack in self.packs())

    def words_available(self) -> int:
        file = self.graph.machine.registers
        if file.pool is Pool.FLAT:
            return file.file_words
        count = len(self.packs()) + sum(self.group_kind(g).warps // 4 for g in self.used_groups())
        fitting = [r for r in range(0, 256, file.granularity) if r * 128 * count <= file.file_words]
        return 128 * count * max(fitting)

    def shared_memory(self) -> None:
        total = self.graph.machine.fixed_shared_bytes
        for op in self.graph.ops.values():
            reads = self.reads(op.id)
            if op.result.space is Space.SHARED:
                ends = [self.unit_time(d.target, d.distance) + d.release for d in reads]
                length = max(ends or [self.unit_time(op.id, 0) + op.latency]) - self.issue_time(op.id, 0)
                depth = self.schedule.rings.get(op.id, self.slots_for(length))
                if depth < self.slots_for(length):
                    self.broken("shared_memory", op.id)
                total += depth * op.result.amount
            elif self.crosses(op):
                outside = [d for d in reads if self.group(d.target) != self.group(op.id)]
                last = max(self.unit_time(d.target, d.distance) + d.release for d in outside)
                total += self.slots_for(last - self.issue_time(op.id, 0)) * op.hand_off_bytes
        self.finding.shared_memory = total
        if total > self.graph.machine.shared_memory_bytes:
            self.broken("shared_memory", "shared memory")

    def slots_for(self, length: int) -> int:
        """The fewest slots, one new value per II, that let each value live so long."""
        slots = 1
        while slots * self.ii < length:
            slots += 1
        return slots

    def tensor_memory(self) -> None:
        for cycle in self.cycles:
            columns = 0
            for op in self.graph.ops.values():
                for iteration in self.iterations:
                    if op.result.space is Space.TENSOR:
                        reads = self.reads(op.id)
                        ends = [self.unit_time(d.target, iteration + d.distance) + d.release for d in reads]
                        end = max(ends or [self.unit_time(op.id, iteration) + op.latency])
                        if self.issue_time(op.id, iteration) <= cycle < end:
                            columns += op.result.amount
            self.finding.tensor_memory = max(self.finding.tensor_memory, columns)
        if self.finding.tensor_memory > self.graph.machine.tensor_memory_columns:
            self.broken("tensor_memory", "tensor memory")

    def placement(self) -> None:
        for kind in self.graph.groups:
            if sum(self.schedule.groups[g].kind == kind.kind for g in self.used_groups()) > kind.count:
                self.broken("groups", kind.kind)
        for name, op in self.graph.ops.items():
            group = self.group(name)
            if op.variable_latency != self.group_kind(group).variable_latency:
                self.broken("variable_latency", group)
            if op.needs_warps > self.group_kind(group).warps:
                self.broken("groups", group)
            if self.crosses(op) and not self.graph.rules.allow_hand_off:
                self.broken("role", group)
            if op.matrix and self.graph.rules.isolate_matrix_issue:
                for other in self.graph.ops.values():
                    synchronous = not other.matrix and not other.asynchronous and other.issue_cycles > 0
                    if synchronous and self.group(other.id) == group:
                        self.broken("role", group)
        for name, pin in self.graph.pins.items():
            place = self.schedule.ops[name]
            if pin.start not in (None, place.start) or pin.group not in (None, place.group):
                self.broken("pin", name)


def simulate(graph: Graph, schedule: Schedule) -> Finding:
    """What is broken and how much is in use."""
    return Simulation(graph, schedule).run()
