"""The judge's rules about who may be where: variable latency, groups, role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.graph.model import Op
from core.schedule.index import GraphIndex
from core.schedule.liveness import Liveness
from core.schedule.model import Schedule
from core.schedule.report import Family, Violation
from core.schedule.wording import counted, distinct, listed, verb


def check_variable_latency(index: GraphIndex, schedule: Schedule) -> Iterator[Violation]:
    """Rule 7."""
    for op in index.graph.ops.values():
        group = schedule.ops[op.id].group
        apart = index.kinds[schedule.groups[group].kind].variable_latency
        if op.variable_latency and not apart:
            message = f"{op.id} has variable latency and is on group {group}, which is not for such ops"
        elif apart and not op.variable_latency:
            message = f"group {group} is for ops of variable latency only, and {op.id} has none"
        else:
            continue
        yield Violation(Family.VARIABLE_LATENCY, (op.id,), None, None, None, message, group)


def check_groups(index: GraphIndex, schedule: Schedule) -> Iterator[Violation]:
    """Rule 8."""
    used: dict[str, list[str]] = {}
    members: dict[str, list[str]] = {}
    for op in index.graph.ops.values():
        group = schedule.ops[op.id].group
        kind = index.kinds[schedule.groups[group].kind]
        if group not in members:
            used.setdefault(kind.kind, []).append(group)
        members.setdefault(group, []).append(op.id)
        if op.needs_warps > kind.warps:
            message = f"{op.id} needs {counted(op.needs_warps, 'warp')}, group {group} has {kind.warps}"
            yield Violation(Family.GROUPS, (op.id,), None, op.needs_warps, kind.warps, message, group)
    for kind, groups in used.items():
        count = index.kinds[kind].count
        if len(groups) > count:
            message = f"{len(groups)} groups of kind {kind} are used ({listed(groups)}), there are {count}"
            ops = distinct(name for group in groups for name in members[group])
            yield Violation(Family.GROUPS, ops, None, len(groups), count, message, kind)


def check_roles(index: GraphIndex, schedule: Schedule, live: Liveness) -> Iterator[Violation]:
    """Rule 9: one violation per mixed group, one per value that crosses though none may."""
    if index.graph.rules.isolate_matrix_issue:
        matrix = _by_group((op for op in index.graph.ops.values() if op.matrix), schedule)
        compute = _by_group((op for op in index.graph.ops.values() if keeps_group_busy(op)), schedule)
        for group in matrix:
            if group in compute:
                message = (
                    f"group {group} issues matrix ops ({listed(matrix[group])}) and may not run synchronous ones "
                    f"beside them ({listed(compute[group])})"
                )
                ops = (*matrix[group], *compute[group])
                yield Violation(Family.ROLE, ops, None, None, None, message, group)
    if not index.graph.rules.allow_hand_off:
        for value in live.hand_offs:
            home = schedule.ops[value].group
            readers = distinct(
                dependence.target
                for dependence in index.readers[value]
                if schedule.ops[dependence.target].group != home
            )
            elsewhere = distinct(schedule.ops[reader].group for reader in readers)
            message = (
                f"no value may cross groups, but {listed(readers)} on {listed(elsewhere)} {verb(readers, 'read')} "
                f"{value} of group {home}"
            )
            yield Violation(Family.ROLE, (value, *readers), None, len(readers), 0, message, home)


def keeps_group_busy(op: Op) -> bool:
    """A synchronous op that is no matrix op and takes issue time: what may not share a group with matrix issue."""
    return not op.matrix and not op.asynchronous and op.issue_cycles > 0


def _by_group(ops: Iterable[Op], schedule: Schedule) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for op in ops:
        groups.setdefault(schedule.ops[op.id].group, []).append(op.id)
    return groups
