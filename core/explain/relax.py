"""A graph without some of its named constraints: pure edits that exclude no schedule that was legal before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from core.explain.constraints import Constraint, Topic, issuing_ops
from core.graph.model import Dependence, DependenceKind, Graph, InOrderIssue, Op, Pool, RegisterFile, Space
from core.schedule.check_registers import THREADS_PER_WARP, VARIABLE_LATENCY_LEAST_GRANT, WARP_GROUP
from core.schedule.variations import with_group_counts, with_hand_off, with_register_limit

_UNLIMITED = 1 << 40
"""Register words that no loop needs."""

_ANY_GRANT = 1 << 16
"""Registers per thread that no schedule grants."""


def relaxed(graph: Graph, dropped: Iterable[Constraint]) -> Graph:
    """The graph without these of its named constraints.

    Every schedule that was legal stays so, with one reservation: without VARIABLE_LATENCY the groups for such ops
    become like the others, which keep registers back, so their grants may have to grow. The register file grows by as
    much, but the limit per thread does not.
    """
    by_topic: defaultdict[Topic, list[Constraint]] = defaultdict(list)
    for constraint in dropped:
        by_topic[constraint.topic].append(constraint)
    result = graph
    for topic, edit in _EDITS.items():
        if topic in by_topic:
            result = edit(result, by_topic[topic])
    if by_topic.keys() >= {Topic.REGISTER_LIMIT, Topic.REGISTER_FILE}:
        # Nothing counts registers any more: say so, which makes the models small.
        result = _with_register_file(_without_amounts(result, Space.REGISTERS), RegisterFile(_UNLIMITED, _ANY_GRANT))
    return result


def _without_dependences(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    """A value that loses its last reader takes nothing: unread, it would be held for its op's whole latency."""
    gone = {dependence for constraint in dropped for dependence in constraint.dependences}
    kept = tuple(d for d in graph.dependences if d not in gone)
    orphans = _read(graph.dependences) - _read(kept)
    result = replace(graph, dependences=kept)
    return _with_ops(result, lambda op: replace(op, result=replace(op.result, amount=0)) if op.id in orphans else op)


def _read(dependences: Iterable[Dependence]) -> set[str]:
    return {d.source for d in dependences if d.kind is DependenceKind.FLOW}


def _without_units(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    units = _subjects(dropped)
    return _with_ops(graph, lambda op: replace(op, blocks=tuple(b for b in op.blocks if b.unit not in units)))


def _without_issue(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    free = {op.id for constraint in dropped for op in issuing_ops(graph, constraint)}
    if all(op.id in free for op in graph.ops.values() if op.issue_cycles):
        return replace(graph, rules=replace(graph.rules, in_order_issue=InOrderIssue.OFF))
    return _with_ops(graph, lambda op: replace(op, issue_cycles=0) if op.id in free else op)


def _without_register_limit(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    return with_register_limit(graph, _ANY_GRANT)


def _without_register_file(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    return _with_register_file(graph, replace(graph.machine.registers, file_words=_UNLIMITED, pool=Pool.FLAT))


def _without_shared_memory(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    free = _with_ops(_without_amounts(graph, Space.SHARED), lambda op: replace(op, hand_off_bytes=0))
    return replace(free, machine=replace(free.machine, fixed_shared_bytes=0))


def _without_tensor_memory(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    return _without_amounts(graph, Space.TENSOR)


def _without_hand_off_time(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    return with_hand_off(graph, 0)


def _with_hand_offs(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    return replace(graph, rules=replace(graph.rules, allow_hand_off=True))


def _without_matrix_role(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    return replace(graph, rules=replace(graph.rules, isolate_matrix_issue=False))


def _without_variable_latency(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    kinds = [kind for kind in graph.groups if kind.variable_latency]
    cost = _kept_back_anew(graph)
    file = graph.machine.registers
    threads = sum(THREADS_PER_WARP * kind.warps * kind.count for kind in kinds)
    if file.pool is Pool.WARPGROUP:
        # The pool is a limit per warp group, times all of them.
        threads = (
            THREADS_PER_WARP * WARP_GROUP * sum(-(-kind.warps // WARP_GROUP) * kind.count for kind in graph.groups)
        )
    alike = tuple(replace(kind, variable_latency=False) for kind in graph.groups)
    result = _with_ops(replace(graph, groups=alike), lambda op: replace(op, variable_latency=False))
    return _with_register_file(result, replace(file, file_words=file.file_words + threads * cost))


def _kept_back_anew(graph: Graph) -> int:
    """By how much the grant of a group for variable latency grows if it keeps registers back like the others."""
    file = graph.machine.registers
    ops = graph.ops
    touched = any(
        ops[d.source].result.space is Space.REGISTERS
        and (ops[d.source].variable_latency or ops[d.target].variable_latency)
        for d in graph.dependences
        if d.kind is DependenceKind.FLOW
    )
    more = file.overhead if touched else max(0, file.overhead - VARIABLE_LATENCY_LEAST_GRANT)
    return -(-more // file.granularity) * file.granularity


def _without_group_counts(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    return with_group_counts(graph, dict.fromkeys(_subjects(dropped), len(graph.ops)))


def _without_warps(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    return _with_ops(graph, lambda op: replace(op, needs_warps=0))


def _without_pins(graph: Graph, dropped: Collection[Constraint]) -> Graph:
    ops = _subjects(dropped)
    return replace(graph, pins={op: pin for op, pin in graph.pins.items() if op not in ops})


def _without_amounts(graph: Graph, space: Space) -> Graph:
    def free(op: Op) -> Op:
        return replace(op, result=replace(op.result, amount=0)) if op.result.space is space else op

    return _with_ops(graph, free)


def _subjects(constraints: Iterable[Constraint]) -> set[str]:
    return {constraint.subject for constraint in constraints}


def _with_ops(graph: Graph, edit: Callable[[Op], Op]) -> Graph:
    return replace(graph, ops={name: edit(op) for name, op in graph.ops.items()})


def _with_register_file(graph: Graph, file: RegisterFile) -> Graph:
    return replace(graph, machine=replace(graph.machine, registers=file))


# In this order: ISSUE tells groups by variable latency, whose cost in registers depends on the number of groups.
_EDITS: dict[Topic, Callable[[Graph, Collection[Constraint]], Graph]] = {
    Topic.DEPENDENCES: _without_dependences,
    Topic.UNIT: _without_units,
    Topic.ISSUE: _without_issue,
    Topic.REGISTER_LIMIT: _without_register_limit,
    Topic.REGISTER_FILE: _without_register_file,
    Topic.SHARED_MEMORY: _without_shared_memory,
    Topic.TENSOR_MEMORY: _without_tensor_memory,
    Topic.VARIABLE_LATENCY: _without_variable_latency,
    Topic.GROUP_COUNT: _without_group_counts,
    Topic.HAND_OFF_TIME: _without_hand_off_time,
    Topic.NO_HAND_OFF: _with_hand_offs,
    Topic.MATRIX_ROLE: _without_matrix_role,
    Topic.WARPS: _without_warps,
    Topic.PIN: _without_pins,
}
