"""The same loop under other conditions, as pure edits of its graph: other groups, other limits, rules left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from core.graph.model import Dependence, DependenceKind, Graph, InOrderIssue, Limits, Op, RegisterFile, Space
from core.schedule.report import Family

_UNLIMITED = 1 << 40
"""Bytes, columns or register words that no loop needs."""

_ANY_GRANT = 1 << 16
"""Registers per thread that no schedule grants."""


def with_group_counts(graph: Graph, counts: Mapping[str, int]) -> Graph:
    """Other numbers of groups for some kinds. Raises KeyError for a kind that the graph has not."""
    for kind in counts:
        graph.group_kind(kind)
    groups = tuple(replace(group, count=counts.get(group.kind, group.count)) for group in graph.groups)
    return replace(graph, groups=groups)


def with_register_limit(graph: Graph, registers: int) -> Graph:
    """At most so many registers per thread."""
    file = replace(graph.machine.registers, max_per_thread=registers)
    return replace(graph, machine=replace(graph.machine, registers=file))


def with_register_overhead(graph: Graph, registers: int) -> Graph:
    """At least so many registers per thread kept back beside values, on groups that keep any."""
    file = graph.machine.registers
    file = replace(file, overhead=max(file.overhead, registers))
    return replace(graph, machine=replace(graph.machine, registers=file))


def with_hand_off(graph: Graph, cycles: int) -> Graph:
    """Every register value takes so many cycles to another group."""

    def price(op: Op) -> Op:
        return replace(op, hand_off_cycles=cycles) if op.result.space is Space.REGISTERS else op

    return _with_ops(graph, price)


def with_ring_depth(graph: Graph, op: str, depth: int) -> Graph:
    """At most so many slots, 1 or more, for the ring of a value in shared memory.

    The value of a later iteration takes the slot over: its start waits until the readers of the one `depth` iterations
    before are done with it. That is a dependence from each reader back to the op.

    Raises KeyError if there is no such op, ValueError if its value is not in shared memory, or if a reader takes the
    value of more than `depth` iterations before: that dependence would have a distance below 0.
    """
    if graph.ops[op].result.space is not Space.SHARED:
        raise ValueError(f"the value of '{op}' is not in shared memory")
    readers = [d for d in graph.dependences if d.source == op and d.kind is DependenceKind.FLOW]
    if depth < max((reader.distance for reader in readers), default=1):
        raise ValueError(f"'{op}' is read more than {depth} iterations later")
    anti = DependenceKind.ANTI
    back = [Dependence(d.target, op, d.release, depth - d.distance, anti) for d in readers]
    if not readers:
        back = [Dependence(op, op, graph.ops[op].latency, depth, anti)]
    return replace(graph, dependences=(*graph.dependences, *back))


def with_costs(graph: Graph, op: str, latency: int | None = None, issue_cycles: int | None = None) -> Graph:
    """Other costs of one op (None: as they are). Dependences that have what a file may leave out (the latency of their
    op; the release of a reader by its issue cycles or latency) follow it. Raises KeyError if there is no such op."""
    old = graph.ops[op]
    new = replace(
        old,
        latency=old.latency if latency is None else latency,
        issue_cycles=old.issue_cycles if issue_cycles is None else issue_cycles,
    )

    def follow(dependence: Dependence) -> Dependence:
        if dependence.source == op and dependence.latency == old.latency:
            dependence = replace(dependence, latency=new.latency)
        if dependence.target == op and dependence.release == _default_release(old):
            dependence = replace(dependence, release=_default_release(new))
        return dependence

    dependences = tuple(follow(dependence) for dependence in graph.dependences)
    return replace(graph, ops={**graph.ops, op: new}, dependences=dependences)


def _default_release(reader: Op) -> int:
    """What a graph file means by a release that it leaves out."""
    return reader.latency if reader.asynchronous else reader.issue_cycles


def without_family(graph: Graph, family: Family) -> Graph:
    """A graph on which the family's rule always holds; all other rules say what they said.

    `shared_memory`: the capacity is left out; a ring that a schedule states too shallow is still wrong.
    Raises ValueError for `dependence` and `variable_latency`: other rules rest on what these two fix.
    """
    if family not in _RELAXATIONS:
        raise ValueError(f"the rule '{family.value}' cannot be left out")
    return _RELAXATIONS[family](graph)


def _without_unit(graph: Graph) -> Graph:
    return _with_ops(graph, lambda op: replace(op, blocks=()))


def _without_issue(graph: Graph) -> Graph:
    return replace(graph, rules=replace(graph.rules, in_order_issue=InOrderIssue.OFF))


def _without_registers(graph: Graph) -> Graph:
    def free(op: Op) -> Op:
        in_registers = op.result.space is Space.REGISTERS
        return replace(op, result=replace(op.result, amount=0)) if in_registers else op

    file = RegisterFile(file_words=_UNLIMITED, max_per_thread=_ANY_GRANT)
    return _with_machine(_with_ops(graph, free), lambda machine: replace(machine, registers=file))


def _without_shared_memory(graph: Graph) -> Graph:
    return _with_machine(graph, lambda machine: replace(machine, shared_memory_bytes=_UNLIMITED))


def _without_tensor_memory(graph: Graph) -> Graph:
    return _with_machine(graph, lambda machine: replace(machine, tensor_memory_columns=_UNLIMITED))


def _without_groups(graph: Graph) -> Graph:
    groups = tuple(replace(group, count=len(graph.ops)) for group in graph.groups)
    return replace(_with_ops(graph, lambda op: replace(op, needs_warps=0)), groups=groups)


def _without_role(graph: Graph) -> Graph:
    return replace(graph, rules=replace(graph.rules, isolate_matrix_issue=False, allow_hand_off=True))


def _without_pin(graph: Graph) -> Graph:
    return replace(graph, pins={})


def _with_ops(graph: Graph, edit: Callable[[Op], Op]) -> Graph:
    return replace(graph, ops={name: edit(op) for name, op in graph.ops.items()})


def _with_machine(graph: Graph, edit: Callable[[Limits], Limits]) -> Graph:
    return replace(graph, machine=edit(graph.machine))


_RELAXATIONS: dict[Family, Callable[[Graph], Graph]] = {
    Family.UNIT: _without_unit,
    Family.ISSUE: _without_issue,
    Family.REGISTERS: _without_registers,
    Family.SHARED_MEMORY: _without_shared_memory,
    Family.TENSOR_MEMORY: _without_tensor_memory,
    Family.GROUPS: _without_groups,
    Family.ROLE: _without_role,
    Family.PIN: _without_pin,
}

REMOVABLE: tuple[Family, ...] = tuple(_RELAXATIONS)
"""The families that can be left out."""
