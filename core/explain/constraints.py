"""Named constraints: what can be left out of a graph and said in the user's words.

A named constraint stands for a part of the rules that a user can change or argue about: one unit, the registers a
thread may have, the dependences, one pin. A set of them which alone excludes an initiation interval is a reason why
the whole graph has no schedule there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from core.graph.model import Dependence, Graph, GroupKind, InOrderIssue, Op, Space
from core.schedule.check_groups import keeps_group_busy
from core.schedule.report import Family


class Topic(Enum):
    """What a named constraint is about.

    REGISTER_LIMIT: registers per thread; REGISTER_FILE: what all groups together are granted. MATRIX_ROLE: matrix
    issue shares no group with synchronous ops. NO_HAND_OFF: no value crosses groups; HAND_OFF_TIME: one that does
    takes time. WARPS: ops need groups of enough warps.
    """

    DEPENDENCES = "dependences"
    UNIT = "unit"
    ISSUE = "issue"
    REGISTER_LIMIT = "register limit"
    REGISTER_FILE = "register file"
    SHARED_MEMORY = "shared memory"
    TENSOR_MEMORY = "tensor memory"
    GROUP_COUNT = "group count"
    VARIABLE_LATENCY = "variable latency"
    WARPS = "warps"
    HAND_OFF_TIME = "hand-off time"
    NO_HAND_OFF = "no hand-off"
    MATRIX_ROLE = "matrix role"
    PIN = "pin"

    @property
    def family(self) -> Family:
        """The rule of the model that it belongs to."""
        return _FAMILIES[self]


_FAMILIES = {
    Topic.DEPENDENCES: Family.DEPENDENCE,
    Topic.UNIT: Family.UNIT,
    Topic.ISSUE: Family.ISSUE,
    Topic.REGISTER_LIMIT: Family.REGISTERS,
    Topic.REGISTER_FILE: Family.REGISTERS,
    Topic.SHARED_MEMORY: Family.SHARED_MEMORY,
    Topic.TENSOR_MEMORY: Family.TENSOR_MEMORY,
    Topic.GROUP_COUNT: Family.GROUPS,
    Topic.VARIABLE_LATENCY: Family.VARIABLE_LATENCY,
    Topic.WARPS: Family.GROUPS,
    Topic.HAND_OFF_TIME: Family.DEPENDENCE,
    Topic.NO_HAND_OFF: Family.ROLE,
    Topic.MATRIX_ROLE: Family.ROLE,
    Topic.PIN: Family.PIN,
}


@dataclass(frozen=True, slots=True)
class Constraint:
    """One named constraint.

    `subject`: the unit, the group kind or the pinned op; for ISSUE which groups; empty where there is only one.
    `dependences`: those that a DEPENDENCES constraint stands for.
    """

    topic: Topic
    subject: str = ""
    dependences: tuple[Dependence, ...] = ()

    @property
    def atoms(self) -> tuple[Constraint, ...]:
        """The smallest constraints that it consists of: one for each dependence, else itself."""
        if len(self.dependences) < 2:
            return (self,)
        return tuple(Constraint(self.topic, dependences=(d,)) for d in self.dependences)


FOR_VARIABLE_LATENCY = "variable latency"
FOR_OTHERS = "others"
"""Subjects of ISSUE: the groups for ops of variable latency, and the others. Without a subject: all groups."""


def atoms(constraints: Iterable[Constraint]) -> frozenset[Constraint]:
    """The smallest constraints of which these consist."""
    return frozenset(atom for constraint in constraints for atom in constraint.atoms)


def part_of(constraint: Constraint, among: Collection[Constraint]) -> Constraint | None:
    """What is left of the constraint with only those of its atoms; None: nothing."""
    left = tuple(atom for atom in constraint.atoms if atom in among)
    if len(left) == len(constraint.atoms):
        return constraint
    return replace(constraint, dependences=tuple(d for atom in left for d in atom.dependences)) if left else None


def named_constraints(graph: Graph, asked: Collection[str] = ()) -> tuple[Constraint, ...]:
    """All that a schedule of the graph must keep, so divided that nothing is in two of them; what is most often part
    of a reason comes first.

    `asked`: ops whose pins are the question itself and are never left out. What remains without all of them: every op
    is on one group, of enough warps, and starts at cycle 0 or later.
    """
    return tuple(_all(graph, asked))


def _all(graph: Graph, asked: Collection[str]) -> Iterator[Constraint]:
    ops = graph.ops.values()
    spaces = {op.result.space for op in ops}
    has_variable_latency = any(kind.variable_latency for kind in graph.groups)
    # A group for variable latency is granted registers even if it holds no value.
    counts_registers = Space.REGISTERS in spaces or has_variable_latency
    if graph.dependences:
        distinct = tuple(dict.fromkeys(graph.dependences))  # one that a file has twice is one reason
        yield Constraint(Topic.DEPENDENCES, dependences=distinct)
    if counts_registers:
        yield Constraint(Topic.REGISTER_LIMIT)
    for kind in sorted(graph.groups, key=lambda kind: kind.variable_latency):
        yield Constraint(Topic.GROUP_COUNT, kind.kind)
    for unit in graph.machine.units:
        if any(block.unit == unit for op in ops for block in op.blocks):
            yield Constraint(Topic.UNIT, unit)
    yield from _issue(graph)
    if Space.TENSOR in spaces:
        yield Constraint(Topic.TENSOR_MEMORY)
    if graph.machine.fixed_shared_bytes or Space.SHARED in spaces or any(op.hand_off_bytes for op in ops):
        yield Constraint(Topic.SHARED_MEMORY)
    if has_variable_latency or any(op.variable_latency for op in ops):
        yield Constraint(Topic.VARIABLE_LATENCY)
    if not graph.rules.allow_hand_off:
        yield Constraint(Topic.NO_HAND_OFF)
    if graph.rules.isolate_matrix_issue and any(op.matrix for op in ops) and any(keeps_group_busy(op) for op in ops):
        yield Constraint(Topic.MATRIX_ROLE)
    if any(op.hand_off_cycles and op.result.space is Space.REGISTERS for op in ops):
        yield Constraint(Topic.HAND_OFF_TIME)
    if counts_registers:
        yield Constraint(Topic.REGISTER_FILE)
    if any(not any(may_hold(kind, op) for kind in graph.groups) for op in ops):
        yield Constraint(Topic.WARPS)
    yield from (Constraint(Topic.PIN, op) for op in graph.pins if op not in asked)


def may_hold(kind: GroupKind, op: Op) -> bool:
    """Whether a group of the kind may hold the op, by variable latency and warps."""
    return kind.variable_latency == op.variable_latency and kind.warps >= op.needs_warps


def _issue(graph: Graph) -> Iterator[Constraint]:
    if graph.rules.in_order_issue is InOrderIssue.OFF:
        return
    classes = {op.variable_latency for op in graph.ops.values() if op.issue_cycles}
    if len(classes) == 2 and not graph.rules.isolate_matrix_issue:
        yield Constraint(Topic.ISSUE, FOR_OTHERS)
        yield Constraint(Topic.ISSUE, FOR_VARIABLE_LATENCY)
    elif classes:
        # Rule `role` asks for issue cycles too: with it, they cannot be taken from some ops only.
        yield Constraint(Topic.ISSUE)


def issuing_ops(graph: Graph, constraint: Constraint) -> tuple[Op, ...]:
    """The ops that an ISSUE constraint of the graph speaks of."""
    ops = [op for op in graph.ops.values() if op.issue_cycles]
    if not constraint.subject:
        return tuple(ops)
    return tuple(op for op in ops if op.variable_latency == (constraint.subject == FOR_VARIABLE_LATENCY))
