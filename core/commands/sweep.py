"""`twill sweep`: the least II at every combination of values, solved in parallel, and taken up again from a file."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from core.commands.answers import Answer, ExitCode, UsageError, answer_each, table, writing
from core.commands.crash import crash_note
from core.commands.inputs import chosen_project
from core.commands.solve_options import read_objective, solve_options
from core.files import write_atomically
from core.solve.events import SolveOptions, Status
from core.sweep.axes import parse_axes
from core.sweep.cluster import cluster_workers
from core.sweep.outcome import Outcome
from core.sweep.plot import plot_svg
from core.sweep.points import Point, sweep_points
from core.sweep.results import ResultsFile
from core.sweep.rows import FIELDS, Row, cells, csv_text
from core.sweep.run import solve_points
from core.sweep.setting import AxisError, label
from core.sweep.workers import Submit, local_workers

_FORMATS = (".csv", ".svg")


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for the input: 0 if every point is decided, 4 if one is not within the limit, 130 if interrupted."""
    objective = read_objective(arguments)
    output = None if arguments.output is None else _output(arguments.output)
    if arguments.cluster is not None and arguments.workers is not None:
        raise UsageError("--workers: a cluster has its own")

    def answer(name: str) -> Answer:
        project = chosen_project(name, arguments)
        options = solve_options(project, arguments, objective)
        try:
            axes = parse_axes(arguments.over)
            points, diagnostics = sweep_points(project, axes, options)
        except AxisError as fault:
            raise UsageError(f"--over: {fault}") from None
        results = None if arguments.resume is None else ResultsFile(Path(arguments.resume))
        rows, code = _solve(points, options, results, arguments)
        keys = [axis.key for axis in axes]
        lines = [table((*keys, *FIELDS), [cells(row) for row in rows])]
        if output is not None:
            content = csv_text(keys, rows) if output.suffix == ".csv" else plot_svg(project.name, keys, rows)
            with writing(output):
                write_atomically(output, content)
            lines.append(f"written: {output.as_posix()}")
        return Answer([row.as_json() for row in rows], "\n".join(lines), code, diagnostics)

    with _terminated_as_interrupted():
        return answer_each(arguments.inputs, answer, arguments.json)


def _output(written: str) -> Path:
    path = Path(written)
    if path.suffix not in _FORMATS:
        raise UsageError(f"-o: the name of the file ends in {' or '.join(_FORMATS)}, not as '{written}' does")
    return path


@contextmanager
def _terminated_as_interrupted() -> Generator[None]:
    """A request to terminate, as batch systems send it, keeps what is done just as Ctrl+C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _solve(
    points: Sequence[Point], options: SolveOptions, results: ResultsFile | None, arguments: argparse.Namespace
) -> tuple[list[Row], ExitCode]:
    """The rows of the points that are done, in the order of the points, and what that means for the exit code."""
    rows: dict[str, Row] = {}
    pending: list[Point] = []
    for point in points:
        known = None if results is None else results.answer(point)
        if known is None:
            pending.append(point)
        else:
            rows[label(point.values)] = Row(point.values, known)
    if rows:
        _tell(f"{len(rows)} of {len(points)} points are answered in {arguments.resume}")
    code = ExitCode.ANSWERED
    try:
        if pending:
            _solve_pending(pending, options, results, arguments, rows)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
        _tell(f"interrupted: {len(rows)} of {len(points)} points are done")
    done = [rows[name] for name in (label(point.values) for point in points) if name in rows]
    return done, max(code, *map(_code, done), ExitCode.ANSWERED)


def _solve_pending(
    points: Sequence[Point],
    options: SolveOptions,
    results: ResultsFile | None,
    arguments: argparse.Namespace,
    rows: dict[str, Row],
) -> None:
    """Adds the rows as they come, and tells the person who waits."""
    with _workers(arguments, len(points)) as submit:
        for number, (point, outcome) in enumerate(solve_points(points, options, submit), 1):
            name = label(point.values)
            if isinstance(outcome, Outcome):
                if results is not None:
                    with writing(Path(arguments.resume)):
                        results.add(point, outcome)
                rows[name] = Row(point.values, outcome)
                found = outcome.status.value if outcome.ii is None else f"{outcome.status.value}, II {outcome.ii}"
                _tell(f"{number}/{len(points)} {name}: {found} ({outcome.seconds:.1f} s)")
            else:
                rows[name] = Row(point.values, None)
                _tell(f"{number}/{len(points)} {name}: {_fault_words(outcome)}")


def _fault_words(fault: Exception) -> str:
    if isinstance(fault, BrokenExecutor):
        return "a worker process has died"
    return crash_note(fault)


def _code(row: Row) -> ExitCode:
    if row.outcome is None:
        return ExitCode.INTERNAL
    return ExitCode.NO_ANSWER if row.outcome.status is Status.UNKNOWN else ExitCode.ANSWERED


@contextmanager
def _workers(arguments: argparse.Namespace, points: int) -> Generator[Submit]:
    with ExitStack() as stack:
        if arguments.cluster is None:
            count = min(arguments.workers or _cores(), points)
            yield stack.enter_context(local_workers(count))
            return
        try:
            submit = stack.enter_context(cluster_workers(arguments.cluster))
        except (OSError, ValueError) as fault:
            raise UsageError(f"--cluster: no Dask scheduler answers at '{arguments.cluster}': {fault}") from None
        yield submit


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
