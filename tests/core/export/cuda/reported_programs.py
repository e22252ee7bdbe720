"""The programs of which racecheck reported hazards on an H200 (tests/bench/results/racecheck.md), as they are now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mock_runs import ROOT, SAMPLES

from core.export.roles.build import scheduled_program
from core.export.roles.model import Ring, RingKind, RoleProgram
from core.export.roles.places import ScheduledLoop
from core.graph.model import GroupKind
from core.machine.build import build_graph
from core.machine.load import find_machine
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.read import load_schedule
from core.solve.events import Level, SolveOptions
from core.solve.solve import solve

DATA = ROOT / "tests" / "data" / "cuda"


@dataclass(frozen=True)
class Reported:
    """A file, its groups (or a schedule that is kept), sizes of a call whose loop needs every slot several times, and
    how many rings hand over register tiles; `own`: rings of several slots that one role fills and reads."""

    file: Path
    groups: tuple[GroupKind, ...]
    sizes: dict[str, int]
    hand_offs: int
    own: int = 0
    schedule: Path | None = None


LOADS = GroupKind("load", 1, 1, variable_latency=True)
TWO = GroupKind("compute", 4, 2)
REPORTED = {
    "attention": Reported(
        DATA / "fa_fwd_sm90_d64m64n64-f16-full_v39_pre.ttgir", (LOADS, TWO), {"d": 64, "m": 64, "n": 256}, 4
    ),
    "softmax": Reported(
        SAMPLES / "softmax_rows_sm90_m4n512-f16_v39_pre.ttgir",
        (TWO,),
        {"m": 4, "n": 3000},
        2,
        schedule=DATA / "softmax_two_groups.yaml",
    ),
    "product with 8-bit weights": Reported(
        SAMPLES / "gemm_w8_sm90_m64n128k64-bf16_v39_pre.ttgir",
        (GroupKind("load", 4, 1, variable_latency=True), GroupKind("compute", 4, 1)),
        {"m": 64, "n": 128, "k": 256},
        1,
        own=1,
    ),
}


@cache
def program_of(name: str) -> RoleProgram:
    """Its role program."""
    one = REPORTED[name]
    opened = open_project(load_project(one.file, "h100"))
    assert opened.tiles is not None
    if one.schedule is not None:
        schedule = load_schedule(one.schedule, opened.graph)
        return scheduled_program([ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)])
    graph = build_graph(opened.tiles, find_machine("h100", Path()), one.groups).graph
    solved = solve(graph, SolveOptions(objective=(Level.II,), limit_s=60.0))
    assert solved.schedule is not None
    return scheduled_program([ScheduledLoop(opened.tiles, graph, solved.schedule)])


def hand_offs(program: RoleProgram) -> list[Ring]:
    """The rings that one role stores to and another loads from."""
    return [
        ring for ring in program.rings.values() if ring.kind is RingKind.THREADS and ring.producer not in ring.consumers
    ]
