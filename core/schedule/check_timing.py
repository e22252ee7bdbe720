"""The judge's rules about time: dependence, unit, issue, pin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.graph.model import Block, Dependence, DependenceKind, InOrderIssue, Space
from core.schedule.circle import Step, Stretch, meets, peak, profile, stretches_above
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule
from core.schedule.report import Family, Violation
from core.schedule.wording import counted, distinct, iterations, listed, slots_text, verb


def required_gap(index: GraphIndex, dependence: Dependence, source_group: str, target_group: str) -> int:
    """Cycles from the source's start on its unit to the target's start: latency, and the hand-off if a register
    value crosses groups."""
    source = index.graph.ops[dependence.source]
    crosses = (
        source_group != target_group
        and dependence.kind is DependenceKind.FLOW
        and source.result.space is Space.REGISTERS
    )
    return dependence.latency + (source.hand_off_cycles if crosses else 0)


def check_dependences(index: GraphIndex, schedule: Schedule) -> Iterator[Violation]:
    """Rule 1."""
    places = schedule.ops
    for dependence in index.graph.dependences:
        source, target = places[dependence.source], places[dependence.target]
        required = required_gap(index, dependence, source.group, target.group)
        available = target.start + schedule.ii * dependence.distance - source.start - source.delay
        if available < required:
            yield _late(dependence, required, available, target.start, required > dependence.latency)


def _late(dependence: Dependence, required: int, available: int, at: int, handed_off: bool) -> Violation:
    source, target = dependence.source, dependence.target
    carried = f" of {iterations(dependence.distance)} before" if dependence.distance else ""
    with_hand_off = ", hand-off included," if handed_off else ""
    return Violation(
        Family.DEPENDENCE,
        (source, target),
        at,
        required,
        available,
        f"{target} must start {counted(required, 'cycle')} after {source}{carried}{with_hand_off} and has {available}: "
        f"needs +{counted(required - available, 'cycle')}",
    )


def check_units(index: GraphIndex, schedule: Schedule) -> tuple[list[Violation], dict[str, int]]:
    """Rule 2, one violation per stretch of slots; with the peak use of each unit."""
    blocks: dict[str, list[tuple[str, Block]]] = {unit: [] for unit in index.graph.machine.units}
    for op in index.graph.ops.values():
        for block in op.blocks:
            blocks[block.unit].append((op.id, block))
    violations: list[Violation] = []
    peaks: dict[str, int] = {}
    for unit, capacity in index.graph.machine.units.items():
        ranges = [(name, *_busy(schedule, name, block), block.amount) for name, block in blocks[unit]]
        steps = profile(((begin, end, amount) for _, begin, end, amount in ranges), schedule.ii)
        peaks[unit] = peak(steps).level
        if peaks[unit] > capacity:
            violations += crowded(unit, capacity, ranges, steps, schedule.ii)
    return violations, peaks


def crowded(
    unit: str, capacity: int, ranges: Sequence[tuple[str, int, int, int]], steps: Sequence[Step], ii: int
) -> Iterator[Violation]:
    """A violation for each stretch of slots at which ops ask for more of a unit than it has. `ranges`: (op, begin, end,
    amount); `steps`: their profile."""
    for stretch in stretches_above(steps, capacity, ii):
        ops = distinct(name for name, begin, end, _ in ranges if meets(begin, end, stretch, ii))
        slots = slots_text(stretch, ii)
        message = f"{listed(ops)} {verb(ops, 'need')} {stretch.peak} of {unit} {slots}, it has {capacity}"
        yield Violation(Family.UNIT, ops, stretch.at, stretch.peak, capacity, message, unit)


def _busy(schedule: Schedule, op: str, block: Block) -> tuple[int, int]:
    placement = schedule.ops[op]
    begin = placement.start + placement.delay + block.offset
    return begin, begin + block.duration


def check_issue(index: GraphIndex, schedule: Schedule) -> Iterator[Violation]:
    """Rule 3, one violation per group and stretch of slots."""
    mode = index.graph.rules.in_order_issue
    if mode is InOrderIssue.OFF:
        return
    by_group: dict[str, list[tuple[str, int, int]]] = {}
    for op in index.graph.ops.values():
        placement = schedule.ops[op.id]
        issued = (op.id, placement.start, placement.start + op.issue_cycles)
        by_group.setdefault(placement.group, []).append(issued)
    for group, issued in by_group.items():
        for stretch in _issue_stretches(index, issued, schedule.ii, mode):
            ops = distinct(name for name, begin, end in issued if meets(begin, end, stretch, schedule.ii))
            message = f"group {group} issues one op at a time, {_clash(ops, index.waiting, mode)} "
            message += slots_text(stretch, schedule.ii)
            yield Violation(Family.ISSUE, ops, stretch.at, stretch.peak, 1, message, group)


def _issue_stretches(
    index: GraphIndex, issued: Sequence[tuple[str, int, int]], ii: int, mode: InOrderIssue
) -> list[Stretch]:
    """Where ops issue together; in weak mode only at slots that a waiting op covers."""
    if mode is InOrderIssue.STRONG:
        return stretches_above(profile(((begin, end, 1) for _, begin, end in issued), ii), 1, ii)
    # An op that waits weighs more than all ops together, so one limit asks both questions: is one of them there,
    # and is anyone with it.
    weight = sum(-(-(end - begin) // ii) for _, begin, end in issued) + 1
    weights = ((begin, end, weight if name in index.waiting else 1) for name, begin, end in issued)
    found = stretches_above(profile(weights, ii), weight, ii)
    return [Stretch(s.first, s.last, s.peak // weight + s.peak % weight, s.at) for s in found]


def _clash(ops: Sequence[str], waiting: frozenset[str], mode: InOrderIssue) -> str:
    if len(ops) == 1:
        return f"{ops[0]} of one iteration still issues when the next one does,"
    if mode is InOrderIssue.STRONG:
        return f"{listed(ops)} issue together"
    waits = [name for name in ops if name in waiting]
    return f"{listed(ops)} issue together, though {listed(waits)} {verb(waits, 'wait')} for an asynchronous op,"


def check_pins(index: GraphIndex, schedule: Schedule) -> Iterator[Violation]:
    """Rule 10."""
    for name, pin in index.graph.pins.items():
        placement = schedule.ops[name]
        if pin.start is not None and placement.start != pin.start:
            message = f"{name} is pinned to start at cycle {pin.start} and starts at {placement.start}"
            yield Violation(Family.PIN, (name,), placement.start, pin.start, placement.start, message)
        if pin.group is not None and placement.group != pin.group:
            message = f"{name} is pinned to group {pin.group} and is on {placement.group}"
            yield Violation(Family.PIN, (name,), None, None, None, message, pin.group)
