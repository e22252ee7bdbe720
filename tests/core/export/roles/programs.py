"""Role programs for tests: of the sample projects, and of kernels of the corpus with schedules solved here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from core.diagnostics import InputError
from core.export.roles.build import build_roles, function_of
from core.export.roles.model import Pipeline, Role, RoleProgram, Statement
from core.export.roles.places import ScheduledLoop
from core.ir.source import load_module
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.read import load_schedule
from core.solve.events import Level, SolveOptions
from core.solve.solve import solve

CORPUS = Path(__file__).parents[3] / "data" / "ttgir"

Edit = Callable[[tuple[Statement, ...]], Sequence[Statement]]


@cache
def sample_loop(folder: str, name: str = "main") -> ScheduledLoop:
    """The loop of a sample project with one of its schedules."""
    project = load_project(data_folder("projects") / folder).for_schedule(name)
    opened = open_project(project)
    assert opened.tiles is not None
    schedule = load_schedule(project.schedules[name].file, opened.graph)
    return ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)


@cache
def sample(folder: str, name: str = "main") -> RoleProgram:
    """The role program of a sample project."""
    loop = sample_loop(folder, name)
    function = function_of(loop.tiles.module, [loop])
    assert function is not None
    return build_roles(loop.tiles.module, function, [loop])


@cache
def solved_loops(stem: str, limit_s: float = 20.0) -> tuple[ScheduledLoop, ...]:
    """All loops of a kernel of the corpus that can be scheduled, each with a solved schedule."""
    file = CORPUS / f"{stem}.ttgir"
    found: list[ScheduledLoop] = []
    for loop in load_module(file).loops:
        try:
            opened = open_project(load_project(file, None, loop.index))
        except InputError:
            continue
        options = SolveOptions(objective=(Level.II, Level.GROUPS, Level.HAND_OFFS), limit_s=limit_s)
        schedule = solve(opened.graph, options).schedule
        if schedule is not None and opened.tiles is not None:
            found.append(ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion))
    return tuple(found)


@cache
def solved(stem: str, limit_s: float = 20.0) -> RoleProgram:
    """The role program of a kernel of the corpus."""
    loops = solved_loops(stem, limit_s)
    module = loops[0].tiles.module if loops else load_module(CORPUS / f"{stem}.ttgir")
    function = function_of(module, loops)
    assert function is not None
    return build_roles(module, function, loops)


def edited(program: RoleProgram, role: str, edit: Edit) -> RoleProgram:
    """The program with every list of statements of a role's loop changed."""
    roles = tuple(_edited(one, edit) if one.name == role else one for one in program.roles)
    return replace(program, roles=roles)


def _edited(role: Role, edit: Edit) -> Role:
    statements: list[Statement] = []
    for statement in role.statements:
        if isinstance(statement, Pipeline):
            statement = replace(
                statement,
                short=tuple(tuple(edit(part)) for part in statement.short),
                prologue=tuple(edit(statement.prologue)),
                steady=tuple(edit(statement.steady)),
                tails=tuple(tuple(edit(part)) for part in statement.tails),
            )
        statements.append(statement)
    return replace(role, statements=tuple(statements))


def pipeline(program: RoleProgram, role: str) -> Pipeline:
    """The scheduled loop of a role that has one."""
    return next(one for one in program.role(role).statements if isinstance(one, Pipeline))
