"""Lower bounds on II from time alone: unit blocks, recurrences, issue, and groups that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.graph.model import Graph, InOrderIssue, Op
from core.schedule.certificate import Certificate
from core.schedule.check_groups import keeps_group_busy
from core.schedule.index import GraphIndex
from core.schedule.paths import Arc, CriticalCycle
from core.schedule.placement import GroupChoice
from core.schedule.report import Family
from core.schedule.wording import counted, distinct, iterations, largest, listed


@dataclass(frozen=True, slots=True)
class Load:
    """`work` cycles per iteration that must share `places` at a time: II >= ceil(work / places).

    Without places no II is enough. `parts` are the ops with their cycles.
    """

    family: Family
    subject: str
    work: int
    places: int
    parts: tuple[tuple[str, int], ...]

    @property
    def least_ii(self) -> int | None:
        """The least II that holds the work; None if none does."""
        if not self.places:
            return None if self.work else 0
        return -(-self.work // self.places)

    def certificate(self, ii: int) -> Certificate | None:
        """Why `ii` is too small, if it is."""
        available = self.places * ii
        if self.work <= available:
            return None
        what = "is busy" if self.family is Family.UNIT else "must issue for"
        places = f"{self.places} x {ii}" if self.places != 1 else f"{ii}"
        sentence = (
            f"{self.subject} {what} {counted(self.work, 'cycle')} in each iteration ({largest(self.parts)}), "
            f"an interval of {counted(ii, 'cycle')} has {places}"
        )
        ops = tuple(name for name, _ in self.parts)
        return Certificate(self.family, self.subject, self.work, available, ops, sentence)


def unit_loads(graph: Graph) -> Iterator[Load]:
    """Rule 2. Besides the area (amount times cycles in the capacity): blocks of at least an amount a fit only
    floor(capacity / a) at a time."""
    for unit, capacity in graph.machine.units.items():
        blocks = [(op.id, b) for op in graph.ops.values() for b in op.blocks if b.unit == unit and b.duration]
        yield _unit_load(unit, capacity, [(name, b.amount * b.duration) for name, b in blocks])
        for amount in sorted({b.amount for _, b in blocks if b.amount > 1}):
            cycles = [(name, b.duration) for name, b in blocks if b.amount >= amount]
            yield _unit_load(unit, capacity // amount, cycles)


def _unit_load(unit: str, places: int, parts: list[tuple[str, int]]) -> Load:
    return Load(Family.UNIT, unit, sum(work for _, work in parts), places, _by_op(parts))


def issue_loads(index: GraphIndex, choice: GroupChoice) -> Iterator[Load]:
    """Rule 3: ops that need a kind of group, and at least so many warps, share the issue time of those groups; weak:
    only ops that wait exclude one another. A single op's issue time is bounded by II as well."""
    mode = index.graph.rules.in_order_issue
    if mode is InOrderIssue.OFF:
        return
    ops = [op for op in index.graph.ops.values() if op.issue_cycles]
    for op in ops:
        if mode is InOrderIssue.STRONG or op.id in index.waiting:
            yield Load(Family.ISSUE, op.id, op.issue_cycles, 1, ((op.id, op.issue_cycles),))
    if mode is InOrderIssue.WEAK:
        ops = [op for op in ops if op.id in index.waiting]
    for share in group_shares(index.graph, choice, ops):
        parts = [(op.id, op.issue_cycles) for op in share.ops]
        work = sum(cycles for _, cycles in parts)
        yield Load(Family.ISSUE, share.subject, work, share.count, _by_op(parts))


@dataclass(frozen=True, slots=True)
class GroupShare:
    """Ops that only certain groups may hold: those for (or not for) variable latency of at least `warps` warps, of
    which there are `count`."""

    subject: str
    variable_latency: bool
    warps: int
    count: int
    ops: tuple[Op, ...]


def group_shares(graph: Graph, choice: GroupChoice, ops: list[Op]) -> Iterator[GroupShare]:
    """The shares that bound what `ops` ask of their groups, for each number of warps that some of them need."""
    for variable_latency in (False, True):
        of_kind = [op for op in ops if op.variable_latency == variable_latency and choice.kinds(op.id)]
        for warps in sorted({op.needs_warps for op in of_kind}):
            kinds = [k for k in graph.groups if k.variable_latency == variable_latency and k.warps >= warps]
            asking = tuple(op for op in of_kind if op.needs_warps >= warps)
            count = sum(kind.count for kind in kinds)
            names = listed([f"{kind.count} {kind.kind}" for kind in kinds if kind.count])
            subject = f"{names} {'group' if count == 1 else 'groups'}"
            yield GroupShare(subject, variable_latency, warps, count, asking)


def dependence_arcs(index: GraphIndex, choice: GroupChoice) -> list[Arc]:
    """The dependences as difference constraints in the order of `graph.dependences`; nodes number the ops in their
    order. Hand-off cycles count where no schedule avoids them."""
    ops, numbers = index.graph.ops, index.numbers
    return [
        Arc(
            numbers[d.source],
            numbers[d.target],
            d.latency + (ops[d.source].hand_off_cycles if choice.crosses_always(d) else 0),
            d.distance,
        )
        for d in index.graph.dependences
    ]


def recurrence_certificate(graph: Graph, cycle: CriticalCycle, ii: int) -> Certificate | None:
    """Why `ii` is too small for a recurrence, if it is."""
    available = cycle.distance * ii
    if cycle.latency <= available:
        return None
    ops = tuple(graph.dependences[index].source for index in cycle.arcs)
    around = " -> ".join((*ops, ops[0]))
    if cycle.distance:
        trip = iterations(cycle.distance)
        sentence = f"the recurrence {around} takes {counted(cycle.latency, 'cycle')} in {trip} and has {available}"
    else:
        sentence = f"{around} takes {counted(cycle.latency, 'cycle')} and closes within one iteration"
    return Certificate(Family.DEPENDENCE, "recurrence", cycle.latency, available, ops, sentence)


def missing_groups(graph: Graph, choice: GroupChoice) -> Iterator[Certificate]:
    """What no II can repair: ops that no group may hold, roles that need one more group, forbidden hand-offs."""
    for op in graph.ops.values():
        if not choice.kinds(op.id):
            yield _homeless(graph, op)
    if graph.rules.isolate_matrix_issue:
        yield from _roles_without_groups(graph)
    if not graph.rules.allow_hand_off:
        for d in graph.dependences:
            if choice.crosses_always(d):
                sentence = f"no value may cross groups, and no group may hold both {d.source} and {d.target}"
                yield Certificate(Family.ROLE, d.source, 1, 0, (d.source, d.target), sentence)


def _homeless(graph: Graph, op: Op) -> Certificate:
    warps = [k.warps for k in graph.groups if k.count and k.variable_latency == op.variable_latency]
    if warps:
        sentence = f"{op.id} needs {counted(op.needs_warps, 'warp')}, the largest group it may be on has {max(warps)}"
        return Certificate(Family.GROUPS, op.id, op.needs_warps, max(warps), (op.id,), sentence)
    what = "variable latency" if op.variable_latency else "no variable latency"
    sentence = f"{op.id} has {what}, and there is no group for such ops"
    return Certificate(Family.VARIABLE_LATENCY, op.id, 1, 0, (op.id,), sentence)


def _roles_without_groups(graph: Graph) -> Iterator[Certificate]:
    for variable_latency in (False, True):
        ops = [op for op in graph.ops.values() if op.variable_latency == variable_latency]
        matrix = [op.id for op in ops if op.matrix]
        compute = [op.id for op in ops if keeps_group_busy(op)]
        count = sum(k.count for k in graph.groups if k.variable_latency == variable_latency)
        if matrix and compute and count < 2:
            sentence = (
                f"matrix ops ({listed(matrix)}) and synchronous ones ({listed(compute)}) may not share a group, "
                f"and there {'is' if count == 1 else 'are'} {count}"
            )
            yield Certificate(Family.ROLE, "groups", 2, count, (*matrix, *compute), sentence)


def _by_op(parts: list[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    names = distinct(name for name, _ in parts)
    summed = [(name, sum(work for other, work in parts if other == name)) for name in names]
    return tuple(sorted(summed, key=lambda part: -part[1]))
