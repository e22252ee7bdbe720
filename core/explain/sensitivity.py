"""By how much each cost may change before the least II does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.explain.answer import Highlight, Sensitivity
from core.explain.clock import Clock
from core.explain.prober import Prober
from core.graph.model import Graph, Op, Space
from core.schedule.variations import with_costs
from core.schedule.wording import listed, verb
from core.solve.events import Verdict

GROWTH = 2
"""A cost is tried up to so many times what it is."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A number that ops of one kind have in common, as a machine description gives it. `what` names it, `meaning` says
    it of the ops; `with_value` is the graph with another."""

    what: str
    ops: tuple[str, ...]
    old: int
    meaning: str
    with_value: Callable[[int], Graph]
    unit: str | None = None


def costs(graph: Graph) -> Iterator[Cost]:
    """All costs above 0: cycles on each unit, latencies, issue cycles and hand-offs, in this order."""
    for unit in graph.machine.units:
        for ops, old in _alike(graph, partial(_cycles_on, unit)):
            meaning = f"{verb(ops, 'take')} {unit} for {{}} cycles"
            yield Cost(f"cycles on {unit}", ops, old, meaning, partial(_with_duration, graph, unit, ops), unit)
    for ops, old in _alike(graph, lambda op: op.latency):
        yield Cost(
            "latency", ops, old, f"{verb(ops, 'have')} a latency of {{}} cycles", partial(_with_latency, graph, ops)
        )
    for ops, old in _alike(graph, lambda op: op.issue_cycles):
        yield Cost(
            "issue cycles", ops, old, f"{verb(ops, 'take')} {{}} cycles to issue", partial(_with_issue, graph, ops)
        )
    for ops, old in _alike(graph, lambda op: op.hand_off_cycles if op.result.space is Space.REGISTERS else 0):
        meaning = f"{verb(ops, 'take')} {{}} cycles to another group"
        yield Cost("hand-off", ops, old, meaning, partial(_with_hand_off, graph, ops))


def sensitivities(graph: Graph, least_ii: int, prober: Prober, below: Prober, clock: Clock) -> Iterator[Sensitivity]:
    """For each cost how far it may fall, and grow up to `GROWTH` times, while `least_ii` stays the least.

    `prober` is at the least II, `below` at one less: what they know already saves questions. Costs that may take any
    such value are left out, and those for which the clock leaves no time.
    """
    for cost in costs(graph):
        if not clock.left():
            return
        most, most_proved = _most(cost, prober, clock)
        least, least_proved = _least(cost, below, clock) if least_ii > 1 else (None, True)
        if most is None and least is None and most_proved and least_proved:
            continue
        yield Sensitivity(
            cost.what,
            cost.ops,
            cost.old,
            least,
            most,
            least_proved and most_proved,
            _sentence(cost, least_ii, least, most, least_proved and most_proved),
            Highlight(cost.ops, units=(cost.unit,) if cost.unit is not None else ()),
        )


def _most(cost: Cost, prober: Prober, clock: Clock) -> tuple[int | None, bool]:
    """The greatest value at which the interval is known to stay possible, None beyond all that is tried; and whether it
    is the greatest."""
    limit = GROWTH * cost.old
    verdict = prober.verdict(cost.with_value(limit), clock)
    if verdict is Verdict.FEASIBLE:
        return None, True
    if verdict is Verdict.UNKNOWN:
        limit += 1
    possible, impossible = prober.boundary(cost.with_value, cost.old, limit, clock)
    return possible, impossible - possible == 1 and impossible <= GROWTH * cost.old


def _least(cost: Cost, below: Prober, clock: Clock) -> tuple[int | None, bool]:
    """The least value at which an interval of one cycle less is known to stay impossible, None if 0 is one; and whether
    it is the least."""
    verdict = below.verdict(cost.with_value(0), clock)
    if verdict is Verdict.INFEASIBLE:
        return None, True
    if verdict is Verdict.UNKNOWN:
        return cost.old, False
    possible, impossible = below.boundary(cost.with_value, 0, cost.old, clock)
    return impossible, impossible - possible == 1


def _sentence(cost: Cost, ii: int, least: int | None, most: int | None, proved: bool) -> str:
    what = f"{listed(list(cost.ops))} {cost.meaning.format(cost.old)}"
    if not proved:
        low, high = least or 0, GROWTH * cost.old if most is None else most
        known = "that alone is known" if low == high else f"any number from {low} to {high} does too"
        return f"{what}, with which II {ii} is the least: {known}"
    smaller = [] if least is None else [f"with {least - 1} II {ii - 1} is possible"]
    greater = [] if most is None else [f"with {most + 1} II {ii} is no longer possible"]
    return f"{what}: {', '.join([*smaller, *greater])}"


def _alike(graph: Graph, value: Callable[[Op], int]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Ops of one kind with one value above 0, in the order of the text."""
    found: dict[tuple[str, int], list[str]] = {}
    for op in graph.ops.values():
        if value(op):
            found.setdefault((op.kind, value(op)), []).append(op.id)
    for (_, old), ops in found.items():
        yield tuple(ops), old


def _cycles_on(unit: str, op: Op) -> int:
    """For how long an op of one block takes the unit; of several blocks there is no single number."""
    found = [block.duration for block in op.blocks if block.unit == unit]
    return found[0] if len(found) == 1 else 0


def _with_latency(graph: Graph, ops: Sequence[str], cycles: int) -> Graph:
    for op in ops:
        graph = with_costs(graph, op, latency=cycles)
    return graph


def _with_issue(graph: Graph, ops: Sequence[str], cycles: int) -> Graph:
    for op in ops:
        graph = with_costs(graph, op, issue_cycles=cycles)
    return graph


def _with_duration(graph: Graph, unit: str, ops: Sequence[str], cycles: int) -> Graph:
    def edit(op: Op) -> Op:
        blocks = tuple(replace(b, duration=cycles) if b.unit == unit else b for b in op.blocks)
        return replace(op, blocks=blocks)

    return replace(graph, ops={name: edit(op) if name in ops else op for name, op in graph.ops.items()})


def _with_hand_off(graph: Graph, ops: Sequence[str], cycles: int) -> Graph:
    changed = {op: replace(graph.ops[op], hand_off_cycles=cycles) for op in ops}
    return replace(graph, ops={**graph.ops, **changed})


def by_room(sensitivity: Sensitivity) -> float:
    """Sorts what the least II depends on most closely first: the least relative change that matters."""
    rooms = [abs(end - sensitivity.old) for end in (sensitivity.least, sensitivity.most) if end is not None]
    return min(rooms, default=sensitivity.old) / sensitivity.old
