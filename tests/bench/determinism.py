"""Solves every project many times, and cancels solves at random moments: equal bytes, no process and no half result?

    python -m tests.bench.determinism [--runs 20] [--cancels 100] [--only NAME ...] [--resume] [--out FILE]

Every run is a process of its own, with its own hash seed. Half of the cancelled ones are a command line that gets an
interrupt, half a solver process as the window starts it, that is told to stop. `--resume` goes on with
a run that was interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from core.graph.model import Graph
from core.project.load import load_project
from core.project.model import Project
from core.project.opened import open_project
from core.project.record import record_file
from core.resources import data_folder
from core.schedule.check import check
from core.schedule.read import load_schedule
from core.schedule.write import dump_schedule
from core.solve.events import Done
from core.solve.worker import work
from tests.bench.report import RESULTS, UNFINISHED, Kept, environment, table, write

HEAD = ("project", "schedules", "runs", "different", "as kept in the project", "seconds of a run")
CANCEL_HEAD = (
    "what",
    "cancelled",
    "ended before",
    "processes left",
    "half results",
    "longest until it ended",
)
NOTES = (
    "Different: how many different contents the schedule files of a run have, taken together (1: every run wrote the "
    "same bytes). As kept: whether these are the bytes in the project's folder. Half results: "
    "a temporary file, a schedule without its record, one that is not legal, or a solver process that ends without its "
    "last event. Moments are random within the seconds of a whole run, the start of the interpreter included."
)
LIMIT_S = "1800"
"""Seconds for a run, so that no clock ends it on a machine that does other work too."""
PATIENCE_S = 60.0
MOST_TRIES = 4
"""For each solve that is to be cancelled, as some have ended before."""


def main() -> None:
    """Runs all and writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="of each project")
    parser.add_argument("--cancels", type=int, default=100, help="at random moments, over all projects")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="projects whose name begins so")
    parser.add_argument("--out", type=Path, default=RESULTS / "determinism.md")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted")
    options = parser.parse_args()
    kept = Kept(UNFINISHED / "determinism.jsonl", options.resume)
    projects = [
        load_project(folder)
        for folder in sorted(path for path in data_folder("projects").iterdir() if path.is_dir())
        if not options.only or folder.name.startswith(tuple(options.only))
    ]
    rows: list[list[str]] = []
    lasts: dict[str, float] = {}
    for project in projects:
        folder = folder_of(project).name
        runs = [one_run(kept, project, number) for number in range(options.runs)]
        seconds = [run["wall_s"] for run in runs]
        lasts[folder] = min(seconds)
        contents = {run["digest"] for run in runs}
        same = "yes" if contents == {digest([entry.file for entry in project.schedules.values()])} else "no"
        row = [folder, str(len(project.schedules)), str(len(runs)), str(len(contents)), same]
        rows.append([*row, f"{min(seconds):.1f} to {max(seconds):.1f}"])
        print(*rows[-1], sep="\t", flush=True)
    cancelled = [
        cancel_all(kept, "command line", options.cancels // 2, projects, lasts),
        cancel_all(kept, "solver process", options.cancels - options.cancels // 2, projects, lasts),
    ]
    write(
        options.out,
        "# The same schedule in every run",
        environment(),
        table(HEAD, rows),
        "## Cancelled at random moments",
        table(CANCEL_HEAD, cancelled),
        NOTES,
    )


def targets(project: Project) -> list[str | None]:
    """What `twill solve` is asked for: each schedule; None: all loops of a kernel together."""
    kernel = project.kernel_schedules
    return ([None] if kernel else []) + [name for name in project.schedules if name not in kernel]


def label(project: Project, name: str | None) -> str:
    """The target's name in the tables."""
    folder = folder_of(project).name
    return f"{folder}, {name or 'all loops'}"


def folder_of(project: Project) -> Path:
    """Where the project's file is."""
    assert project.file is not None, "it was loaded"
    return project.file.parent


def command(project: Project, name: str | None, out: Path) -> list[str]:
    """The command line that solves the target into a folder."""
    words = [sys.executable, "-m", "core.cli", "solve", str(folder_of(project))]
    words += ["--schedule", name, "-o", str(out / f"{name}.yaml")] if name else ["-o", f"{out}{os.sep}"]
    return words


def written(out: Path) -> list[Path]:
    """The schedules in a folder."""
    return [file for file in sorted(out.glob("*.yaml")) if not file.name.endswith(".record.yaml")]


def digest(files: list[Path]) -> str:
    """Of the files' names and bytes."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.name.encode() + b"\0" + (file.read_bytes() if file.exists() else b"") + b"\0")
    return total.hexdigest()[:16]


def one_run(kept: Kept, project: Project, number: int) -> dict[str, Any]:
    """The run of this number, of all schedules of the project: kept, or now."""
    folder = folder_of(project).name
    key = f"run {number} of {folder}"
    known = kept.get(key)
    if known is not None:
        return known
    words = [sys.executable, "-m", "tests.bench.projects", "--only", folder, "--limit-s", LIMIT_S, "--into"]
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        environ = {**os.environ, "PYTHONHASHSEED": str(number)}
        done = subprocess.run([*words, out], stdout=subprocess.DEVNULL, env=environ)
        record = {"digest": digest(written(Path(out))), "wall_s": time.perf_counter() - began}
    if done.returncode != 0:
        raise SystemExit(f"{folder}: exit code {done.returncode}")
    return kept.put(key, record)


def cancel_all(kept: Kept, what: str, times: int, projects: list[Project], lasts: dict[str, float]) -> list[str]:
    """Cancels the projects in turn; the row of the table."""
    moments = random.Random(1)
    all_targets = [(project, name) for project in projects for name in targets(project)]
    found: Counter[str] = Counter()
    longest = 0.0
    number = 0
    while found["cancelled"] < times and number < MOST_TRIES * times:
        project, name = all_targets[number % len(all_targets)]
        after_s = moments.uniform(0, lasts[folder_of(project).name])
        key = f"cancel {what} {number}"
        one = kept.get(key)
        if one is None:
            cancel = cancel_command if what == "command line" else cancel_worker
            one = kept.put(key, {"what": label(project, name), "after_s": after_s, **cancel(project, name, after_s)})
            print(*one.values(), sep="\t", flush=True)
        found.update({name: int(one[name]) for name in ("before", "left", "half")}, cancelled=int(not one["before"]))
        longest = max(longest, one["ending_s"])
        number += 1
    counts = (str(found[name]) for name in ("cancelled", "before", "left", "half"))
    return [what, *counts, f"{longest:.2f} s"]


def cancel_command(project: Project, name: str | None, after_s: float) -> dict[str, Any]:
    """Interrupts `twill solve`: had it ended before, is a process of it left, does it leave a half result?"""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        process = subprocess.Popen(
            command(project, name, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(after_s)
        before = process.poll() is not None
        began = time.perf_counter()
        if not before:
            process.send_signal(signal.SIGINT)
        left = not ends(process)
        ending_s = time.perf_counter() - began
        half = out.exists() and not is_whole(project, out, sorted(out.iterdir()))
    return {"before": before, "left": left, "half": half, "ending_s": ending_s}


def ends(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process and all that it started are gone in time; what is not is killed."""
    try:
        process.wait(PATIENCE_S)
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return True  # nobody is left in its group
    except subprocess.TimeoutExpired:
        pass
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return False


def is_whole(project: Project, out: Path, files: list[Path]) -> bool:
    """Whether there are only legal schedules with their records."""
    schedules = written(out)
    if set(files) != {*schedules, *map(record_file, schedules)}:
        return False
    for file in schedules:
        graph = open_project(project.for_schedule(file.stem)).graph
        if not check(graph, load_schedule(file, graph)).legal:
            return False
    return True


def cancel_worker(project: Project, name: str | None, after_s: float) -> dict[str, Any]:
    """Tells a solver process to stop: had it ended before, is it left, what was its last event?"""
    chosen = project.for_schedule(name or project.kernel_schedules[0])
    graph = open_project(chosen).graph
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, graph, chosen.solve))
    process.start()
    there.close()
    time.sleep(after_s)
    before = not process.is_alive()
    began = time.perf_counter()
    if not before:
        try:
            here.send("stop")
        except OSError:
            before = True
    last: object = None
    try:
        while here.poll(PATIENCE_S):
            last = here.recv()
    except (EOFError, ConnectionResetError):  # the latter where it ended with the wish to stop unread
        pass
    process.join(PATIENCE_S)
    left = process.is_alive()
    if left:
        process.kill()
        process.join()
    half = not isinstance(last, Done) or not is_legal(graph, last)
    return {"before": before, "left": left, "half": half, "ending_s": time.perf_counter() - began}


def is_legal(graph: Graph, last: Done) -> bool:
    """Whether the best so far, if there is one, is a whole schedule."""
    schedule = last.result.schedule
    return schedule is None or (check(graph, schedule).legal and bool(dump_schedule(schedule)))


if __name__ == "__main__":
    main()
