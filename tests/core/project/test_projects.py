"""The ready projects: their kept schedules are legal, proved by their records, and show what their READMEs say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from core.graph.model import Graph
from core.project.load import load_project
from core.project.opened import open_project
from core.project.record import record_file
from core.resources import data_folder
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.common import kernel_faults
from core.schedule.liveness import live_ranges
from core.schedule.metrics import hand_offs, length, stages, used_groups
from core.schedule.model import Schedule
from core.schedule.read import load_schedule

PROJECTS = data_folder("projects")
NAMES = [
    (folder.name, name)
    for folder in sorted(PROJECTS.iterdir())
    if folder.is_dir()
    for name in load_project(folder).schedules
]


def load(folder: str, name: str = "main") -> tuple[Graph, Schedule, Path]:
    project = load_project(PROJECTS / folder).for_schedule(name)
    graph = open_project(project).graph
    file = project.schedules[name].file
    return graph, load_schedule(file, graph), file


def test_the_projects_that_are_promised_are_there() -> None:
    assert {folder for folder, _ in NAMES} >= {
        "attention_forward_hopper",
        "attention_forward_blackwell",
        "attention_backward_hopper",
        "attention_causal_hopper",
        "attention_backward_blackwell",
        "linear_attention_hopper",
        "layer_norm_hopper",
        "swiglu_hopper",
        "gemm_hopper",
        "gemm_blackwell",
        "gemm_persistent_blackwell",
        "paper_figure_1",
    }
    for folder, _ in NAMES:
        assert (PROJECTS / folder / "README.md").read_text().startswith("Look at ")


@pytest.mark.parametrize(("folder", "name"), NAMES)
def test_the_kept_schedule_is_legal_and_its_record_says_what_it_is(folder: str, name: str) -> None:
    graph, schedule, file = load(folder, name)
    assert check(graph, schedule).violations == ()
    record: dict[str, Any] = yaml.safe_load(record_file(file).read_text())
    assert (record["schedule"], record["status"]) == (file.name, "optimal")
    assert record["ii"] == record["proved_lower_bound"] == schedule.ii
    assert schedule.ii >= (bounds(graph).lower_bound or 0)
    crossing = hand_offs(graph, schedule)
    levels = {level["name"]: level for level in record["levels"]}
    found = {
        "ii": schedule.ii,
        "groups": len(used_groups(schedule)),
        "hand_offs": len(crossing.values),
        "length": length(graph, schedule),
        "registers": max(check(graph, schedule).peaks.registers.values()),
        "stages": stages(schedule),
    }
    assert {level: entry["value"] for level, entry in levels.items()} == found
    assert levels["hand_offs"]["bytes"] == crossing.bytes
    below = [entry for entry in record["ii_trail"] if entry["ii"] == schedule.ii - 1]
    assert [entry["verdict"] for entry in below] == ["infeasible"]


def test_hopper_attention_plays_ping_pong_at_the_tensor_core_bound() -> None:
    graph, schedule, _ = load("attention_forward_hopper")
    assert schedule.ii == bounds(graph).units["tensor_core"] == 2048
    qk0, qk1, pv0, pv1 = (f"warp_group_dot.{index}" for index in range(4))
    order = sorted((qk0, qk1, pv0, pv1), key=lambda op: (schedule.slot(op) - schedule.slot(qk0)) % schedule.ii)
    assert order == [qk0, pv1, qk1, pv0]
    assert hand_offs(graph, schedule).values == ()
    for exponential, own in (("exp2.0", qk0), ("exp2.2", qk1)):
        assert 512 <= (schedule.slot(exponential) - schedule.slot(own)) % schedule.ii <= 1024


def test_blackwell_attention_has_the_roles_of_fa4() -> None:
    graph, schedule, _ = load("attention_forward_blackwell")
    assert schedule.ii == bounds(graph).res_mii == 2064
    group = {op: place.group for op, place in schedule.ops.items()}
    matrix = {group[op.id] for op in graph.ops.values() if op.matrix}
    assert len(matrix) == 1
    assert {op for op in group if group[op] in matrix} == {op.id for op in graph.ops.values() if op.matrix}
    softmax, correction = {group["exp2.0"], group["exp2.2"]}, {group["mulf.6"], group["mulf.7"]}
    assert (len(softmax), len(correction)) == (2, 1)
    assert not softmax & correction
    assert len(hand_offs(graph, schedule).values) == 2


def test_hopper_backward_reaches_the_bound_with_two_key_tiles_only() -> None:
    graph, schedule, _ = load("attention_backward_hopper")
    assert schedule.ii > bounds(graph).units["tensor_core"]
    split_graph, split, _ = load("attention_backward_hopper", "two_key_tiles")
    assert split.ii == bounds(split_graph).units["tensor_core"] == 2560
    assert [scheduled.kind for scheduled in split.groups.values()].count("compute") == 2


def test_blackwell_backward_has_a_group_for_the_scores_and_one_for_dq() -> None:
    graph, schedule, _ = load("attention_backward_blackwell")
    assert schedule.ii == bounds(graph).units["tensor_core"] == 1280
    group = {op: place.group for op, place in schedule.ops.items()}
    matrix = {group[op.id] for op in graph.ops.values() if op.matrix}
    assert len(matrix) == 1
    assert {op for op in group if group[op] in matrix} == {op.id for op in graph.ops.values() if op.matrix}
    assert group["exp2.0"] == group["mulf.1"] != group["mulf.2"] == group["descriptor_reduce.0"]
    assert set(hand_offs(graph, schedule).values) == {"load.0", "load.1"}  # lse and delta
    assert check(graph, schedule).peaks.tensor_memory <= graph.machine.tensor_memory_columns


def test_linear_attention_hands_only_the_scores_over() -> None:
    graph, schedule, _ = load("linear_attention_hopper")
    assert schedule.ii == bounds(graph).units["tensor_core"] == 512
    assert hand_offs(graph, schedule).values == ("warp_group_dot.0",)
    group = {op: place.group for op, place in schedule.ops.items()}
    assert group["mulf.3"] == group["warp_group_dot.3"] != group["descriptor_store.0"]  # the state and the output


def test_swiglu_reaches_the_bound_on_one_wide_group_or_two_narrow_ones() -> None:
    for name, warps in (("main", [8]), ("two_row_tiles", [4, 4])):
        graph, schedule, _ = load("swiglu_hopper", name)
        assert schedule.ii == bounds(graph).units["tensor_core"] == 1024
        kinds = [graph.group_kind(scheduled.kind) for scheduled in schedule.groups.values()]
        assert [kind.warps for kind in kinds if not kind.variable_latency] == warps


def test_the_loops_of_layer_norm_are_bound_by_issue_on_common_groups() -> None:
    loops = [load("layer_norm_hopper", name)[:2] for name in ("mean", "variance", "normalize")]
    assert [schedule.ii for _, schedule in loops] == [32, 88, 122]
    for graph, schedule in loops:
        assert schedule.ii > (bounds(graph).res_mii or 0)
        assert schedule.ii == sum(op.issue_cycles for op in graph.ops.values())
        assert schedule.groups == loops[0][1].groups
    graphs, schedules = ({str(n): loop[part] for n, loop in enumerate(loops)} for part in (0, 1))
    assert kernel_faults(graphs, schedules) == ()


def test_the_persistent_product_stores_a_tile_beside_the_next_ones_steps() -> None:
    steps_graph, steps, _ = load("gemm_persistent_blackwell", "steps")
    graph, tiles, _ = load("gemm_persistent_blackwell", "tiles")
    assert steps.ii == bounds(steps_graph).units["tensor_core"] == 256
    assert tiles.ii == 31 * steps.ii + length(steps_graph, steps) == graph.ops["for.0"].latency
    end = tiles.ops["for.0"].start + graph.ops["for.0"].latency
    assert end <= tiles.ops["tmem_load.0"].start < tiles.ops["descriptor_store.0"].start < end + tiles.ii
    assert check(graph, tiles).peaks.tensor_memory == 2 * check(steps_graph, steps).peaks.tensor_memory
    assert kernel_faults({"steps": steps_graph, "tiles": graph}, {"steps": steps, "tiles": tiles}) == ()


def test_figure_1_is_that_of_the_paper() -> None:
    graph, schedule, _ = load("paper_figure_1")
    start = {op: place.start - schedule.ops["s"].start for op, place in schedule.ops.items()}
    assert (schedule.ii, length(graph, schedule), start["o"]) == (2, 4, 3)
    assert start["p"] in (1, 2)
    assert max(check(graph, schedule).peaks.registers.values()) == 3


@pytest.mark.parametrize(("folder", "depth"), [("gemm_hopper", 3), ("gemm_blackwell", 5)])
def test_rings_of_the_matrix_products(folder: str, depth: int) -> None:
    graph, schedule, _ = load(folder)
    assert {ring.least_depth for ring in live_ranges(graph, schedule).rings.values()} == {depth}
    assert schedule.ii == bounds(graph).units["tensor_core"]
