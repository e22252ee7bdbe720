"""Nested loops of a project: innermost first, each by its own schedule, one answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import main
from core.diagnostics import InputError
from core.graph.model import Space
from core.project.document import project_document
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.check import check
from core.schedule.read import load_schedule

TTGIR = Path(__file__).parents[2] / "data" / "ttgir"
TRIPS = 8


def write_project(folder: Path, target: str, schedules: str) -> Path:
    text = TTGIR / f"gemm_persistent_{target}_m128n128k64-f16_v39_pre.ttgir"
    (folder / "project.yaml").write_text(
        f"schema: twill.project/1\nname: persistent\ninput: {{ttgir: {text.as_posix()}, loop: 0}}\n"
        "groups:\n- {kind: load, warps: 1, count: 1, variable_latency: true}\n- {kind: compute, warps: 4, count: 2}\n"
        f"solve: {{objective: [ii]}}\n{schedules}"
    )
    return folder


SCHEDULES = (
    f"schedules:\n  steps: {{file: out/steps.yaml, loop: 1, trip_count: {TRIPS}}}\n"
    "  tiles: {file: out/tiles.yaml, loop: 0}\nactive: tiles\n"
)


def test_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        open_project(load_project(write_project(tmp_path, "sm90", "")))
    fault = caught.value.diagnostics[0]
    assert fault.code == "not-schedulable" and "schedule that one first" in fault.message
    assert fault.hint is not None and "loop: 1, trip_count: N" in fault.hint


def test_the_outer_loop_waits_for_the_inner_ones_schedule(tmp_path: Path) -> None:
    project = load_project(write_project(tmp_path, "sm90", SCHEDULES))
    with pytest.raises(InputError, match="no schedule") as caught:
        open_project(project.for_schedule("tiles"))
    assert caught.value.diagnostics[0].line == 9


def test_an_illegal_inner_schedule_is_refused(tmp_path: Path) -> None:
    project = load_project(write_project(tmp_path, "sm90", SCHEDULES))
    (tmp_path / "out").mkdir()
    ops = "".join(
        f"  {op}: {{start: 0, group: g}}\n" for op in ("descriptor_load.0", "descriptor_load.1", "warp_group_dot.0")
    )
    (tmp_path / "out" / "steps.yaml").write_text(
        f"schema: twill.schedule/1\nii: 512\ngroups: {{g: {{kind: compute, grant: 240}}}}\nops:\n{ops}"
    )
    with pytest.raises(InputError, match="inner loop's schedule is not legal"):
        open_project(project.for_schedule("tiles"))


@pytest.mark.parametrize(("target", "space"), [("sm90", Space.REGISTERS), ("sm100", Space.TENSOR)])
def test_both_loops_in_one_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, space: Space
) -> None:
    folder = write_project(tmp_path, target, SCHEDULES)
    assert main(["solve", str(folder), "--json", "-o", str(folder / "out")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "optimal" and answer["violations"] == []
    steps, tiles = answer["loops"]["steps"], answer["loops"]["tiles"]
    assert steps["trip_count"] == TRIPS and steps["schedule"]["groups"] == tiles["schedule"]["groups"]
    # Nothing of the next tile's steps overlaps this one's: they take as long as the units are busy, at least.
    assert tiles["ii"] >= (TRIPS - 1) * steps["ii"] + max(512 if target == "sm90" else 256, 1)
    project = load_project(folder).for_schedule("tiles")
    opened = open_project(project)
    assert opened.graph.ops["for.0"].result.space is space
    assert opened.graph.ops["for.0"].latency == (TRIPS - 1) * steps["ii"] + steps["length"]
    schedule = load_schedule(folder / "out" / "tiles.yaml", opened.graph)
    assert check(opened.graph, schedule).legal
    assert main(["check", str(folder)]) == 0
    assert main(["export", str(folder), "--format", "ttgir", "-o", str(tmp_path / "annotated.ttgir")]) == 0


def test_the_trip_count_is_saved(tmp_path: Path) -> None:
    project = load_project(write_project(tmp_path, "sm90", SCHEDULES))
    written = project_document(project, tmp_path)["schedules"]
    assert written["steps"] == {"file": "out/steps.yaml", "loop": 1, "trip_count": TRIPS}


def test_no_sub_tiles_around_a_loop(tmp_path: Path) -> None:
    project = load_project(write_project(tmp_path, "sm90", SCHEDULES + "transform: {subtile: {axis: m, parts: 2}}\n"))
    with pytest.raises(InputError, match="loops inside cannot be split"):
        open_project(project)
