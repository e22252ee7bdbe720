"""Turns: where the schedule gives several groups windows of their own on the tensor core, in a fixed rotation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.export.roles.loop_role import Item, LoopRole


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """A role's part in a rotation.

    `waits_before`, `passes_behind`: the items around its windows, as many of one as of the other. `wraps`: a window
    begins in one iteration and ends in the next, so that it is the role's turn when the loop begins. `lead`, `trail`:
    turns that it passes on at once before and behind the loop, so that all roles have equally many.
    """

    turn: str
    waits_before: frozenset[Item]
    passes_behind: frozenset[Item]
    wraps: bool = False
    lead: int = 0
    trail: int = 0


@dataclass(frozen=True, slots=True)
class Rotation:
    """The roles in the order of their windows, and each one's plan."""

    roles: tuple[str, ...]
    plans: Mapping[str, TurnPlan]


def rotation(name: str, roles: Sequence[LoopRole]) -> Rotation | None:
    """The rotation of the roles of one loop; None if fewer than two have matrix ops, or if their windows follow one
    another in no fixed rotation."""
    issues = [
        (item.start % role.plan.ii, role, item)
        for role in roles
        for item in role.items
        if any(role.plan.is_matrix(operation) for operation in item.operations)
    ]
    issues.sort(key=lambda issue: issue[0])
    members = {role.role for _, role, _ in issues}
    if len(members) < 2:
        return None
    runs: list[tuple[LoopRole, list[Item]]] = []
    for _, role, item in issues:
        if runs and runs[-1][0] is role:
            runs[-1][1].append(item)
        else:
            runs.append((role, [item]))
    if runs[0][0] is runs[-1][0]:
        role, items = runs.pop()
        runs[0] = (role, [*items, *runs[0][1]])
    order = tuple(role.role for role, _ in runs[: len(members)])
    if len(runs) % len(members) or any(role.role != order[at % len(order)] for at, (role, _) in enumerate(runs)):
        return None
    rounds = len(runs) // len(members)
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    wraps: dict[str, bool] = {}
    for role in dict.fromkeys(role for role, _ in runs):
        own = [items for other, items in runs if other is role]
        before = sum(items[-1].start % role.plan.ii < role.cut for items in own)  # of the cycle that it begins in
        wraps[role.role] = any(items[0].order > items[-1].order for items in own)
        first[role.role] = role.first_stage * rounds + before
        last[role.role] = first[role.role] + role.stages * rounds + wraps[role.role]
    plans: dict[str, TurnPlan] = {}
    for role in dict.fromkeys(role for role, _ in runs):
        own = [items for other, items in runs if other is role]
        plans[role.role] = TurnPlan(
            name,
            frozenset(items[0] for items in own),
            frozenset(items[-1] for items in own),
            wraps=wraps[role.role],
            lead=first[role.role] - min(first.values()),
            trail=max(last.values()) - last[role.role],
        )
    return Rotation(order, plans)
