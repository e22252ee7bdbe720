"""Repairs random drags on every attention project: how long the check and the repair take, and what comes out.

    python -m tests.bench.repair [--drags N] [--effort-s S] [PROJECT,SCHEDULE ...]

A drag puts one op elsewhere on a group that may hold it, as the window does; only drops that the judge refuses are
counted, since no other is repaired.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.graph.model import Graph
from core.project.load import load_project
from core.resources import data_folder
from core.schedule.check import Judge
from core.schedule.edits import move_op
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from core.schedule.windows import windows
from core.solve.events import Verdict
from core.solve.repair.repair import repair
from core.solve.repair.request import Place, Repaired, RepairRequest
from tests.bench.report import RESULTS, environment, project_graphs, table, write
from twill_gui.document.dropping import EFFORT_S

FILE = RESULTS / "repair.md"
WINDOW = "## In the window"
"""Heading of the part that another measurement writes."""

HEAD = (
    "project, schedule",
    "ops",
    "check ms",
    "wall s",
    "95 %",
    "CPU s",
    "95 %",
    "ops moved",
    "fewest proved",
    "least movement proved",
    "later",
    "impossible",
    "no answer",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One repair, and the seconds that the check of the drop and the repair took."""

    check_s: float
    wall_s: float
    cpu_s: float
    found: Repaired


def main() -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drags", type=int, default=200)
    parser.add_argument("--effort-s", type=float, default=EFFORT_S, help="of work on a drag; left out: the window's")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    rows: list[list[object]] = []
    for name, graph in project_graphs():
        if name in arguments.names or (not arguments.names and name.startswith("attention")):
            folder, entry = name.split(", ")
            project = load_project(data_folder("projects") / folder)
            schedule = load_schedule(project.schedules[entry].file, graph)
            rows.append(row(name, graph, list(measured(graph, schedule, arguments.drags, arguments.effort_s))))
            print(*rows[-1], sep="\t", flush=True)
            if not arguments.names:
                save(rows, arguments.drags, arguments.effort_s)


def save(rows: list[list[object]], drag_count: int, effort_s: float) -> None:
    """Writes the rows that there are, before what `window_repair` has measured."""
    words = (
        f"{environment()} {drag_count} random drags of each schedule that the judge refuses, with the effort of the "
        f"window ({effort_s:g} s of work). Medians, and 95th percentiles in the columns after them. {load()} Every "
        "repaired schedule has passed the judge, with the dragged op where it was put (whole intervals later in the "
        "cases of column *later*); *impossible* is proved, *no answer* is not. *proved*: of the repaired ones, those "
        "for which nothing moves fewer ops, and nothing that moves as few less far."
    )
    _, heading, window = written().partition(WINDOW)
    rest = [heading + window.rstrip()] if heading else []
    write(FILE, "# Repair after a drag", words, table(HEAD, rows), *rest)


def written() -> str:
    """What is in the file."""
    return FILE.read_text(encoding="utf-8") if FILE.exists() else ""


def load() -> str:
    """What else the computer did, which wall-clock seconds suffer from."""
    return f"Load average at the end: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores."


def drags(graph: Graph, schedule: Schedule, count: int) -> Iterator[tuple[str, Place]]:
    """Illegal drops: cycles 1 to II away, small distances as often as large ones; three of four on the op's group."""
    chance = random.Random(1)
    judge = Judge(graph)
    while count:
        op = chance.choice(list(graph.ops))
        distance = chance.choice((-1, 1)) * round(schedule.ii ** chance.random())
        place = schedule.ops[op]
        lanes = [group for group, window in windows(graph, schedule, op).items() if not window.refusals]
        group = place.group if chance.random() < 0.75 or not lanes else chance.choice(lanes)
        if place.start + distance < 0:
            continue
        if not judge.check(move_op(schedule, op, place.start + distance, group)).legal:
            yield op, Place(place.start + distance, group)
            count -= 1


def measured(graph: Graph, schedule: Schedule, count: int, effort_s: float) -> Iterator[Measured]:
    """Repairs each drag, and checks what comes out."""
    judge = Judge(graph)
    for op, place in drags(graph, schedule, count):
        dropped = move_op(schedule, op, place.start, place.group)
        began = time.perf_counter()
        judge.check(dropped)
        check_s = time.perf_counter() - began
        began, cpu = time.perf_counter(), time.process_time()
        found = repair(RepairRequest(graph, schedule, {op: place}, may_rotate=True, effort_s=effort_s))
        wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        if found.schedule is not None:
            there = found.schedule.ops[op]
            kept = there.start == place.start + found.later * schedule.ii and there.group == place.group
            if not kept or not judge.check(found.schedule).legal:
                raise SystemExit(f"{op} at {place.start} on {place.group}: the repair is wrong")
        yield Measured(check_s, wall_s, cpu_s, found)


def row(name: str, graph: Graph, all_of: Sequence[Measured]) -> list[object]:
    """One line of the table."""
    found = [one.found for one in all_of if one.found.verdict is Verdict.FEASIBLE]
    verdicts = [one.found.verdict for one in all_of]
    wall, cpu = [one.wall_s for one in all_of], [one.cpu_s for one in all_of]
    return [
        name,
        len(graph.ops),
        f"{1000 * part([one.check_s for one in all_of], 0.5):.2f}",
        f"{part(wall, 0.5):.2f}",
        f"{part(wall, 0.95):.2f}",
        f"{part(cpu, 0.5):.2f}",
        f"{part(cpu, 0.95):.2f}",
        f"{part([one.count.value for one in found], 0.5):g}",
        f"{sum(one.count.proved for one in found)} of {len(found)}",
        f"{sum(one.count.proved and one.movement.proved for one in found)} of {len(found)}",
        sum(one.later > 0 for one in found),
        verdicts.count(Verdict.INFEASIBLE),
        verdicts.count(Verdict.UNKNOWN),
    ]


def part(values: Sequence[float], share: float) -> float:
    """The value below which this share of them is."""
    ordered = sorted(values) or [0.0]
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    main()
