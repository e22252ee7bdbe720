"""Roles as warps of a block: whole warp groups first, then the smaller roles packed into warp groups of four warps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.export.roles.model import Role
from core.export.roles.places import ScheduledLoop
from core.graph.model import GroupKind, Pool, RegisterFile
from core.ir.model import Module
from core.schedule.check_registers import THREADS_PER_WARP, WARP_GROUP, launch_words
from core.schedule.metrics import used_groups

ONLY_ROLE = "compute"
"""The role of a kernel without scheduled loops."""

THREADS = THREADS_PER_WARP * WARP_GROUP


def place_roles(module: Module, loops: Sequence[ScheduledLoop]) -> tuple[dict[str, Role], tuple[int, ...]]:
    """The roles by name, without statements, and the registers per thread of every warp group of the block; none for a
    single role, which takes what it likes.

    As the judge packs them: roles of fewer than four warps in the order of their names, each into the warp group begun
    last if it still has room. What the register file has beyond the grants is shared among the roles of whole warp
    groups: what they do outside of the scheduled loops counts in no grant, nor do the addresses of loads by pointers.
    """
    found = _used(loops)
    if not found:
        warps = int(module.attributes.get("ttg.num-warps", "4").split()[0])
        return {ONLY_ROLE: Role(ONLY_ROLE, ONLY_ROLE, warps, 0, 0, 1, (), ())}, ()
    whole = [name for name, (kind, _) in found.items() if kind.warps >= WARP_GROUP]
    small = sorted(name for name, (kind, _) in found.items() if kind.warps < WARP_GROUP)
    grants: list[int] = []
    first: dict[str, int] = {}
    for name in whole:
        kind, grant = found[name]
        first[name] = len(grants) * THREADS
        grants += [grant] * -(-kind.warps // WARP_GROUP)
    room = 0
    for name in small:
        kind, grant = found[name]
        if kind.warps > room:
            grants.append(grant)
            room = WARP_GROUP
        first[name] = len(grants) * THREADS - room * THREADS_PER_WARP
        grants[-1] = max(grants[-1], grant)
        room -= kind.warps
    roles = {
        name: Role(name, kind.kind, kind.warps, first[name], grant, 1 + number, (), ())
        for number, (name, (kind, grant)) in enumerate(found.items())
    }
    if len(roles) == 1:
        return roles, ()
    sharing = sum(-(-found[name][0].warps // WARP_GROUP) for name in whole)
    return roles, _raised(grants, sharing, loops[0].graph.machine.registers)


def _raised(grants: Sequence[int], sharing: int, file: RegisterFile) -> tuple[int, ...]:
    """The grants, with what a launch of so many warp groups leaves over given to the first `sharing` ones."""
    if file.pool is not Pool.WARPGROUP or not sharing:
        return tuple(grants)
    over = launch_words(len(grants), file.file_words, file.granularity) // THREADS - sum(grants)
    share = max(0, over) // sharing
    most = file.max_per_thread // file.granularity * file.granularity
    raised = [
        min(most, (grant + share) // file.granularity * file.granularity) if at < sharing else grant
        for at, grant in enumerate(grants)
    ]
    return tuple(max(grant, more) for grant, more in zip(grants, raised, strict=True))


def main_role(roles: Mapping[str, Role], loops: Sequence[ScheduledLoop]) -> str:
    """The role of effects that belong to no other: the first of the largest that wait for nothing of variable
    latency."""
    variable = _variable(loops)
    steady = [role for role in roles.values() if role.kind not in variable] or list(roles.values())
    return max(steady, key=lambda role: role.warps).name


def loader(roles: Mapping[str, Role], loops: Sequence[ScheduledLoop]) -> str | None:
    """The role of TMA loads outside of the loops: the first for ops of variable latency, if there is one."""
    variable = _variable(loops)
    return next((role.name for role in roles.values() if role.kind in variable), None)


def _variable(loops: Sequence[ScheduledLoop]) -> set[str]:
    return {kind.kind for scheduled in loops for kind in scheduled.graph.groups if kind.variable_latency}


def _used(loops: Sequence[ScheduledLoop]) -> dict[str, tuple[GroupKind, int]]:
    found: dict[str, tuple[GroupKind, int]] = {}
    for scheduled in loops:
        for name in used_groups(scheduled.schedule):
            group = scheduled.schedule.groups[name]
            kind, grant = scheduled.graph.group_kind(group.kind), group.grant
            found[name] = (kind, max(grant, found[name][1]) if name in found else grant)
    return found
