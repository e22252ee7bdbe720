"""The ready projects leave the program: their annotated text is read by Triton, and by us as the same schedule."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from triton_oracle import parse_with_triton

from core.export.trace import chrome_trace
from core.export.ttgir import annotated_ttgir, read_annotations
from core.ir.parser import parse_module
from core.project.load import load_project
from core.project.model import InputKind
from core.project.opened import OpenProject, open_project
from core.resources import data_folder
from core.schedule.model import Schedule
from core.schedule.read import load_schedule

PROJECTS = {
    folder.name: load_project(folder) for folder in sorted(data_folder("projects").iterdir()) if folder.is_dir()
}
ALL = [(folder, name) for folder, project in PROJECTS.items() for name in project.schedules]
WITH_TEXT = [(folder, name) for folder, name in ALL if PROJECTS[folder].input.kind is InputKind.TTGIR]


def load(folder: str, name: str) -> tuple[OpenProject, Schedule]:
    project = PROJECTS[folder].for_schedule(name)
    opened = open_project(project)
    return opened, load_schedule(project.schedules[name].file, opened.graph)


@pytest.mark.parametrize(("folder", "name"), WITH_TEXT)
def test_the_annotated_text_gives_the_same_graph_and_schedule(folder: str, name: str, tmp_path: Path) -> None:
    opened, schedule = load(folder, name)
    assert opened.tiles is not None
    text = annotated_ttgir(opened.tiles, schedule, opened.fusion)
    file = tmp_path / "annotated.ttgir"
    file.write_text(text, encoding="utf-8")
    project = opened.project
    again = open_project(replace(project, input=replace(project.input, path=file)))
    assert again.module is not None and again.loop is not None
    assert again.graph == opened.graph
    assert read_annotations(again.module, again.loop) == schedule


@pytest.mark.parametrize(("folder", "name"), WITH_TEXT)
def test_triton_reads_the_annotated_text(folder: str, name: str, tmp_path: Path) -> None:
    opened, schedule = load(folder, name)
    assert opened.tiles is not None and opened.module is not None
    file = tmp_path / "annotated.ttgir"
    file.write_text(annotated_ttgir(opened.tiles, schedule, opened.fusion), encoding="utf-8")
    printed = parse_module(parse_with_triton(file, opened.module.target), "printed")
    assert read_annotations(printed, printed.loops[opened.project.input.loop or 0]) == schedule


@pytest.mark.parametrize(("folder", "name"), ALL)
def test_no_slices_of_a_trace_lane_overlap(folder: str, name: str) -> None:
    """Perfetto drops overlapping slices of one thread."""
    opened, schedule = load(folder, name)
    trips = 6
    lanes: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for event in chrome_trace(opened.graph, schedule, trips)["traceEvents"]:
        if event["ph"] == "X":
            lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    assert sum(map(len, lanes.values())) >= trips * len(opened.graph.ops)
    for slices in lanes.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(sorted(slices)))
