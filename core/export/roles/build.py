"""From a function and the schedules of its loops to its role program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.diagnostics import error
from core.export.roles.block import THREADS, loader, main_role, place_roles
from core.export.roles.demand import Demand
from core.export.roles.loop_role import LoopRole
from core.export.roles.model import Register, Role, RoleProgram, Statement, Turn, TurnPass
from core.export.roles.names import Names
from core.export.roles.pipeline import PipelineWriter
from core.export.roles.places import LoopPlan, ScheduledLoop
from core.export.roles.rings import RingMaker
from core.export.roles.shared_tiles import SharedTiles
from core.export.roles.split import split_function
from core.export.roles.split_places import SplitPlaces
from core.export.roles.straight import RoleWriter
from core.export.roles.turns import Rotation, rotation
from core.ir.model import Module, Operation, Value
from core.schedule.check_registers import THREADS_PER_WARP, WARP_GROUP

LAST_BARRIER = 15
"""The greatest number of a named barrier; 0 is that of the whole block."""


def build_roles(module: Module, function: Operation, loops: Sequence[ScheduledLoop] = ()) -> RoleProgram:
    """The role program of `function` with these loops scheduled, all others in the order of the text.

    The loops may have been read from the same text into another module. Raises InputError for what no role program
    covers.
    """
    roles, grants = place_roles(module, loops)
    given = {name: grants[role.first_thread // THREADS] for name, role in roles.items()} if grants else {}
    module, function, plans = _plans(module, function, loops, given)
    demand = Demand(module, function, plans, main_role(roles, loops), loader(roles, loops))
    demand.settle()
    tiles = RingMaker(module, demand, roles).tiles()
    for key, loop_role in demand.loop_roles.items():
        demand.loop_roles[key] = _well_begun(loop_role, tiles)
    rotations = _rotations(demand)
    turns = _turns(module, rotations, roles)
    least = {op: _least(demand, tiles, op, rotations.get(op)) for op in plans}
    written: list[Role] = []
    for name, role in roles.items():
        plan = {op: found.plans[name] for op, found in rotations.items() if name in found.plans}
        writer = RoleWriter(name, demand, tiles, plan, least)
        statements: list[Statement] = [TurnPass(turn.name) for turn in turns.values() if turn.roles[-1] == name]
        statements += writer.write()
        written.append(replace(role, storages=tuple(writer.storages), statements=tuple(statements)))
    every = (tiles.in_loops, tiles.loads, tiles.hand_offs, tiles.own)
    rings = {ring.name: ring for kind in every for ring in kind.values()}
    warps = sum(role.warps for role in written)
    threads = len(grants) * WARP_GROUP * THREADS_PER_WARP or warps * THREADS_PER_WARP
    return RoleProgram(module, function, threads, tuple(written), rings, turns, grants)


def _plans(
    module: Module, function: Operation, loops: Sequence[ScheduledLoop], given: Mapping[str, int]
) -> tuple[Module, Operation, dict[Operation, LoopPlan]]:
    """The loops' plans, in a module where what the schedules split is split."""
    here = [(scheduled, _here(module, scheduled)) for scheduled in loops]
    places = SplitPlaces(module, function, here)
    if places.parts == 1:
        plans = (LoopPlan(module, module.loops[one.tiles.loop.index], one, given=given) for one in loops)
        return module, function, {plan.operation: plan for plan in plans}
    split = split_function(module, function, places)
    found: dict[Operation, LoopPlan] = {}
    for scheduled, own in here:
        keys = [(old, part) for old in own for part in (None, *range(places.parts))]
        copies = {(old, part): split.copies[own[old], part] for old, part in keys if (own[old], part) in split.copies}
        loop = split.module.loops[scheduled.tiles.loop.index]
        found[loop.operation] = LoopPlan(split.module, loop, scheduled, copies, given)
    return split.module, split.function, found


def _here(module: Module, scheduled: ScheduledLoop) -> dict[Operation, Operation]:
    """The operations of a loop in this module, by those of the text that was scheduled."""
    loop = module.loops[scheduled.tiles.loop.index]
    return dict(zip(scheduled.tiles.loop.operation.walk(), loop.operation.walk(), strict=True))


def scheduled_program(loops: Sequence[ScheduledLoop]) -> RoleProgram:
    """The role program of the function that holds these loops, at least one. Raises InputError."""
    module = loops[0].tiles.module
    function = function_of(module, loops)
    if function is None:
        raise error("cannot-export", "the loops are in no function or in several", file=module.file)
    return build_roles(module, function, loops)


def function_of(module: Module, loops: Sequence[ScheduledLoop] = ()) -> Operation | None:
    """The function that holds the scheduled loops; without loops the first of the module."""
    functions = [op for op in module.operation.walk() if op.name in ("tt.func", "func.func")]
    wanted = {module.loops[scheduled.tiles.loop.index].operation for scheduled in loops}
    return next((function for function in functions if wanted <= set(function.walk())), None)


def _rotations(demand: Demand) -> dict[Operation, Rotation]:
    """The rotation of each scheduled loop that has one."""
    found: dict[Operation, Rotation] = {}
    for op in demand.plans:
        roles = [loop_role for (loop, _), loop_role in demand.loop_roles.items() if loop is op]
        one = rotation(f"tensor_core_{len(found)}", roles)
        if one is not None:
            found[op] = one
    return found


def _well_begun(loop_role: LoopRole, tiles: SharedTiles) -> LoopRole:
    """The role with the body of its loop begun where fewest matrix ops have to be waited for early, and then where
    little is kept for the next round: the assembler moves nothing from one round into another."""

    def early(role: LoopRole) -> int:
        return PipelineWriter(role, Names(), tiles.in_loops, _anything, None).early_waits()

    return min(map(loop_role.begun_at, loop_role.cuts), key=lambda role: (early(role), role.carried_registers))


def _anything(value: Value, via: tuple[Operation, ...]) -> Register:
    """Some operand for a value from before a loop, where it does not matter which."""
    del via
    return Register(value.name)


def _least(demand: Demand, tiles: SharedTiles, op: Operation, found: Rotation | None) -> int:
    """The least trip count for which every role of a loop has its whole prologue."""
    return max(
        PipelineWriter(
            loop_role, Names(), tiles.in_loops, _anything, found.plans.get(role) if found is not None else None
        ).peeled()
        for (loop, role), loop_role in demand.loop_roles.items()
        if loop is op
    )


def _turns(module: Module, rotations: Mapping[Operation, Rotation], roles: Mapping[str, Role]) -> dict[str, Turn]:
    turns: dict[str, Turn] = {}
    barrier = 1 + len(roles)
    for found in rotations.values():
        name = next(iter(found.plans.values())).turn
        passing = (found.roles[-1], *found.roles[:-1])
        threads = tuple(
            (roles[one].warps + roles[other].warps) * THREADS_PER_WARP
            for one, other in zip(found.roles, passing, strict=True)
        )
        turns[name] = Turn(name, found.roles, tuple(range(barrier, barrier + len(threads))), threads)
        barrier += len(threads)
    if barrier - 1 > LAST_BARRIER:
        raise error("cannot-export", "the roles need more named barriers than there are", file=module.file)
    return turns
