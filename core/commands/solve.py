"""`twill solve`: the least initiation interval with a proof, and a schedule that attains it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from core.commands.answers import Answer, ExitCode, UsageError, answer_each, writing
from core.commands.compile import nvcc_or_refusal
from core.commands.fit import Fit, Found, SolveWith, solve_to_fit
from core.commands.inputs import kernel_project, open_input
from core.commands.kernel import kernel_document, kernel_text
from core.commands.outputs import kernel_folder, require_output, schedule_files
from core.commands.solution import solution_document, solution_text
from core.commands.solve_options import group_counts, read_objective, solve_options
from core.commands.stopping import stopped_by_interrupt
from core.diagnostics import Diagnostic
from core.graph.model import Graph
from core.project.model import Project
from core.project.opened import OpenProject, open_project
from core.project.record import save_optima, save_solution
from core.schedule.model import Schedule
from core.schedule.report import Family
from core.schedule.variations import REMOVABLE, with_group_counts, with_register_limit, without_family
from core.solve.events import Event, Level, LevelProved, Progress, SolveOptions, SolveResult, Status, Step
from core.solve.kernel import KernelResult, Solver, solve_kernel, solve_nest
from core.toolchain.nvcc import Nvcc

_CODES = {
    Status.OPTIMAL: ExitCode.ANSWERED,
    Status.FEASIBLE: ExitCode.ANSWERED,
    Status.INFEASIBLE: ExitCode.NEGATIVE,
    Status.UNKNOWN: ExitCode.NO_ANSWER,
}


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for every input: 0 optimal or feasible, 1 infeasible, 4 unknown. Ctrl+C brings the best so far of the
    input that is being solved, and leaves the others out."""
    families = [_family(word) for word in arguments.without]
    objective = read_objective(arguments)
    outputs = schedule_files(arguments.inputs, arguments.output, numbered=arguments.best is not None)

    def answer(name: str) -> Answer:
        if stopped():
            raise KeyboardInterrupt
        nvcc = _compiler(arguments)
        kernel = kernel_project(name, arguments)
        if kernel is not None:
            return _answer_kernel(name, kernel, arguments, families, objective, nvcc, solver)
        opened = open_input(name, arguments)
        graph = _varied(opened.graph, arguments, families)
        options = solve_options(opened.project, arguments, objective)
        file = outputs.get(name)
        if file is not None:
            require_output(file, opened.project)

        def solve(solver: Solver, options: SolveOptions) -> Found:
            return Found({"": opened}, {"": graph}, KernelResult({"": solver(graph, options)}))

        found, fit = _found(name, solve, solver, options, nvcc)
        result = found.result.results[""]
        document = solution_document(graph, result)
        files: Sequence[Path] = ()
        if file is not None and result.schedule is not None:
            with writing(file):
                files = save_optima(result, options, file, _conditions(arguments, fit))
            document["schedule_file"] = file.as_posix()
            if result.schedules:
                document["schedule_files"] = [file.as_posix() for file in files]
        text = solution_text(graph, result, files)
        return _with_fit({"input": name, **document}, text, _CODES[result.status], opened.diagnostics, fit)

    with stopped_by_interrupt() as stopped:
        solver = partial(_solve, stopped)
        return answer_each(arguments.inputs, answer, arguments.json)


def _answer_kernel(
    name: str,
    project: Project,
    arguments: argparse.Namespace,
    families: list[Family],
    objective: tuple[Level, ...] | None,
    nvcc: Nvcc | None,
    with_solver: Solver,
) -> Answer:
    """The answer for a kernel of several loops, innermost first."""
    options = solve_options(project, arguments, objective)
    folder = kernel_folder(name, arguments.inputs, arguments.output)
    if folder is not None:
        for loop in project.kernel_schedules:
            require_output(folder / f"{loop}.yaml", project)
    first, *around = project.kernel_levels

    def solve(solver: Solver, options: SolveOptions) -> Found:
        opened: dict[str, OpenProject] = {}

        def graphs_of(loops: Sequence[str], inner: Mapping[str, Schedule]) -> dict[str, Graph]:
            opened.update({loop: open_project(project.for_schedule(loop), inner=inner) for loop in loops})
            return {loop: _varied(opened[loop].graph, arguments, families) for loop in loops}

        graphs = graphs_of(first, {})
        if not around:
            return Found(opened, graphs, solve_kernel(graphs, options, solver))
        graphs, result = solve_nest(graphs, lambda inner: graphs_of(around[0], inner), options, solver)
        return Found(opened, graphs, result)

    found, fit = _found(name, solve, with_solver, options, nvcc)
    result = found.result
    files: dict[str, Path] = {}
    for loop, one in result.results.items():
        if folder is not None and one.schedule is not None:
            files[loop] = folder / f"{loop}.yaml"
            with writing(files[loop]):
                save_solution(one, options, files[loop], _conditions(arguments, fit))
    diagnostics = tuple(dict.fromkeys(d for loop in found.opened.values() for d in loop.diagnostics))
    trips = {loop: entry.trip_count for loop, entry in project.schedules.items() if entry.trip_count is not None}
    document = {"input": name, **kernel_document(found.graphs, result, files, trips)}
    text = kernel_text(found.graphs, result, files)
    return _with_fit(document, text, _CODES[result.status], diagnostics, fit)


def _found(
    name: str, solve: SolveWith, solver: Solver, options: SolveOptions, nvcc: Nvcc | None
) -> tuple[Found, Fit | None]:
    """The answer; with a compiler one that it builds cleanly."""
    if nvcc is None:
        return solve(solver, options), None
    return solve_to_fit(name, solve, solver, options, nvcc, time.monotonic)


def _with_fit(
    document: dict[str, Any], text: str, code: ExitCode, diagnostics: tuple[Diagnostic, ...], fit: Fit | None
) -> Answer:
    if fit is None:
        return Answer(document, text, code, diagnostics)
    return Answer({**document, "fit": fit.as_json()}, f"{text}\n{fit.text()}", code, diagnostics)


def _compiler(arguments: argparse.Namespace) -> Nvcc | None:
    """The one of `--fit`. Raises UsageError and MissingToolError."""
    if arguments.fit is None:
        return None
    if arguments.best is not None and arguments.best > 1:
        raise UsageError("--fit builds one schedule: it does not go with --best")
    if Family.REGISTERS.value in arguments.without:
        raise UsageError("--fit keeps registers back: it does not go with --without registers")
    return nvcc_or_refusal()


def _solve(stopped: Callable[[], bool], graph: Graph, options: SolveOptions) -> SolveResult:
    from core.solve.solve import answer  # OR-Tools takes a while to load: only for those who solve

    return answer(graph, options, _tell if sys.stderr.isatty() else _ignore, stopped)


def _ignore(event: Event) -> None:
    """Nobody is watching."""


def _tell(event: Event) -> None:
    """A line for the person who waits."""
    if isinstance(event, Step):
        entry = event.entry
        print(f"  II {entry.ii}: {entry.verdict.value} ({entry.by}, {entry.seconds:.1f} s)", file=sys.stderr)
    elif isinstance(event, LevelProved):
        level = event.level
        print(f"  {level.name.value}: {level.value}, {event.seconds:.1f} s", file=sys.stderr)
    elif isinstance(event, Progress):
        print(f"  {event.message}, {event.seconds:.1f} s", file=sys.stderr)


def _varied(graph: Graph, arguments: argparse.Namespace, families: list[Family]) -> Graph:
    graph = with_group_counts(graph, group_counts(arguments, graph))
    if arguments.registers is not None:
        graph = with_register_limit(graph, arguments.registers)
    for family in families:
        graph = without_family(graph, family)
    return graph


def _conditions(arguments: argparse.Namespace, fit: Fit | None) -> dict[str, Any]:
    """What the options change of the project's own graph, for the record, and what was built."""
    given = {
        "groups": dict(arguments.groups),
        "registers": arguments.registers,
        "without": arguments.without,
        "fit": None if fit is None else fit.as_json(),
    }
    return {key: value for key, value in given.items() if value}


def _family(word: str) -> Family:
    for family in REMOVABLE:
        if family.value == word:
            return family
    raise UsageError(f"--without: '{word}' is not one of {', '.join(family.value for family in REMOVABLE)}")
