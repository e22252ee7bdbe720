"""Numbers of a graph that may be changed so that more becomes possible, each as an axis of steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from core.explain.answer import NOTHING, Highlight
from core.explain.constraints import Constraint, Topic, may_hold
from core.graph.model import Graph, Op, Space
from core.schedule.check import check
from core.schedule.check_registers import ADDRESSABLE_PER_THREAD
from core.schedule.metrics import used_groups
from core.schedule.model import Schedule
from core.schedule.variations import with_costs, with_group_counts, with_register_limit
from core.schedule.wording import distinct

_MEMORY = 1 << 30
"""Bytes or columns that no loop needs."""

_REGISTERS = 1 << 16
"""Registers a thread that no loop needs."""


@dataclass(frozen=True, slots=True)
class Axis:
    """`old` is what is there; after k of `steps` steps it is `value(k)` and the graph `apply(k)`. More steps never
    exclude a schedule.

    `enough(schedule)`: steps that a schedule found on the way needs, None if that is not known. `first`: the step to
    try first. `what`, `subject` and `highlight` are those of `Relaxation`; `change` says a value in words, `never`
    that no value is enough.
    """

    what: str
    subject: str | None
    old: int
    steps: int
    value: Callable[[int], int]
    apply: Callable[[int], Graph]
    change: str
    never: str
    enough: Callable[[Schedule], int] | None = None
    first: int | None = None
    highlight: Highlight = NOTHING


def axis_of(graph: Graph, constraint: Constraint, ii: int, addressable: bool = True) -> Axis | None:
    """The number behind a named constraint; None if it is a rule without one, or a number of the machine that nobody
    can change. `addressable`: no more registers a thread than an instruction can name."""
    match constraint.topic:
        case Topic.UNIT:
            return _unit(graph, constraint.subject, ii)
        case Topic.REGISTER_LIMIT:
            return _registers(graph, ADDRESSABLE_PER_THREAD if addressable else _REGISTERS)
        case Topic.SHARED_MEMORY:
            return _shared_memory(graph)
        case Topic.TENSOR_MEMORY:
            return _tensor_memory(graph)
        case Topic.GROUP_COUNT:
            return _groups(graph, constraint.subject)
        case Topic.HAND_OFF_TIME:
            return _hand_off(graph)
        case _:
            return None


def _unit(graph: Graph, unit: str, ii: int) -> Axis:
    old = graph.machine.units[unit]
    blocks = [block for op in graph.ops.values() for block in op.blocks if block.unit == unit]
    most = sum(block.amount * -(-block.duration // ii) for block in blocks)

    def apply(k: int) -> Graph:
        return replace(graph, machine=replace(graph.machine, units={**graph.machine.units, unit: old + k}))

    def enough(schedule: Schedule) -> int:
        return check(graph, schedule).peaks.units[unit] - old

    steps, change = max(0, most - old), "{1} with capacity {0}"
    never = f"no capacity of {unit} is enough"
    lit = Highlight(units=(unit,))
    return Axis("capacity", unit, old, steps, lambda k: old + k, apply, change, never, enough, highlight=lit)


def _registers(graph: Graph, most: int) -> Axis:
    file = graph.machine.registers
    base = file.max_per_thread // file.granularity
    steps = max(0, most // file.granularity - base)

    def value(k: int) -> int:
        return (base + k) * file.granularity

    def enough(schedule: Schedule) -> int:
        return max(schedule.groups[name].grant for name in used_groups(schedule)) // file.granularity - base

    return Axis(
        "register limit",
        None,
        file.max_per_thread,
        steps,
        value,
        lambda k: with_register_limit(graph, value(k)),
        "{} registers a thread",
        f"even {value(steps)} registers a thread are not enough",
        enough,
        highlight=_held(graph, Space.REGISTERS),
    )


def _shared_memory(graph: Graph) -> Axis:
    machine, ops = graph.machine, graph.ops.values()
    amounts = [op.result.amount if op.result.space is Space.SHARED else op.hand_off_bytes for op in ops]
    step = math.gcd(*amounts) or 1
    base = (machine.shared_memory_bytes - machine.fixed_shared_bytes) // step

    def value(k: int) -> int:
        return machine.fixed_shared_bytes + (base + k) * step

    def apply(k: int) -> Graph:
        return replace(graph, machine=replace(machine, shared_memory_bytes=value(k)))

    def enough(schedule: Schedule) -> int:
        return (check(graph, schedule).peaks.shared_memory - value(0)) // step

    old = machine.shared_memory_bytes
    change, never = "{} bytes of shared memory", "no amount of shared memory is enough"
    lit = _held(graph, Space.SHARED)
    return Axis("shared memory", None, old, _MEMORY // step, value, apply, change, never, enough, highlight=lit)


def _tensor_memory(graph: Graph) -> Axis:
    old = graph.machine.tensor_memory_columns
    step = math.gcd(*(op.result.amount for op in graph.ops.values() if op.result.space is Space.TENSOR)) or 1
    base = old // step

    def value(k: int) -> int:
        return (base + k) * step

    def apply(k: int) -> Graph:
        return replace(graph, machine=replace(graph.machine, tensor_memory_columns=value(k)))

    def enough(schedule: Schedule) -> int:
        return check(graph, schedule).peaks.tensor_memory // step - base

    change, never = "{} columns of tensor memory", "no amount of tensor memory is enough"
    lit = _held(graph, Space.TENSOR)
    return Axis("tensor memory", None, old, _MEMORY // step, value, apply, change, never, enough, highlight=lit)


def _groups(graph: Graph, name: str) -> Axis:
    kind = graph.group_kind(name)
    fitting = sum(may_hold(kind, op) for op in graph.ops.values())

    def enough(schedule: Schedule) -> int:
        return sum(schedule.groups[group].kind == name for group in used_groups(schedule)) - kind.count

    return Axis(
        "groups",
        name,
        kind.count,
        max(0, fitting - kind.count),
        lambda k: kind.count + k,
        lambda k: with_group_counts(graph, {name: kind.count + k}),
        "{1} groups: {0}",
        f"no number of {name} groups is enough",
        enough,
        1,
        Highlight(groups=(name,)),
    )


def _hand_off(graph: Graph) -> Axis:
    old = max(op.hand_off_cycles for op in graph.ops.values() if op.result.space is Space.REGISTERS)

    def apply(k: int) -> Graph:
        return _with_ops(graph, lambda op: replace(op, hand_off_cycles=min(op.hand_off_cycles, old - k)))

    return Axis(
        "hand-off",
        None,
        old,
        old,
        lambda k: old - k,
        apply,
        "hand-offs of at most {} cycles",
        "even hand-offs that take no time are not enough",
        highlight=_held(graph, Space.REGISTERS),
    )


def queue_axis(graph: Graph, ii: int) -> Axis | None:
    """How long asynchronous ops may wait in their unit's queue; None if there are no such ops."""
    queued = [op for op in graph.ops.values() if op.asynchronous and op.blocks]
    if not queued:
        return None
    old = min(op.queue for op in queued)

    def apply(k: int) -> Graph:
        def wait(op: Op) -> Op:
            return replace(op, queue=max(op.queue, old + k)) if op.asynchronous and op.blocks else op

        return _with_ops(graph, wait)

    def enough(schedule: Schedule) -> int:
        return max(schedule.ops[op.id].delay for op in queued) - old

    change = "queues in which asynchronous ops wait up to {} cycles for their unit"
    never = "no queue is enough"
    lit = Highlight(tuple(op.id for op in queued), units=distinct(b.unit for op in queued for b in op.blocks))
    return Axis("queue", None, old, max(0, ii - old), lambda k: old + k, apply, change, never, enough, highlight=lit)


def latency_axes(graph: Graph, ops: Iterable[str]) -> Iterator[Axis]:
    """The latencies of these ops, down to 0."""
    for name in ops:
        old = graph.ops[name].latency
        yield Axis(
            "latency",
            name,
            old,
            old,
            partial(_less, old),
            partial(_with_latency, graph, name, old),
            "a latency of {0} cycles for {1}",
            f"no latency of {name} is enough",
            highlight=Highlight((name,)),
        )


def _less(old: int, k: int) -> int:
    return old - k


def _with_latency(graph: Graph, op: str, old: int, k: int) -> Graph:
    return with_costs(graph, op, latency=old - k)


def _held(graph: Graph, space: Space) -> Highlight:
    """The ops whose values are there."""
    return Highlight(tuple(op.id for op in graph.ops.values() if op.result.space is space))


def _with_ops(graph: Graph, edit: Callable[[Op], Op]) -> Graph:
    return replace(graph, ops={name: edit(op) for name, op in graph.ops.items()})
