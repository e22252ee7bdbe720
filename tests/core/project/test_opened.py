"""What a project stands for: loop, machine, groups, graph, and what no longer matches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.diagnostics import InputError, Severity
from core.graph.model import GroupKind, InOrderIssue, Pin, Rules, Space
from core.graph.read import load_graph
from core.machine.load import find_machine
from core.project.load import load_project
from core.project.model import Override, Project
from core.project.opened import open_project
from core.resources import data_folder

PROJECTS = data_folder("projects")
DATA = Path(__file__).parents[2] / "data"


def bare(name: str, machine: str | None = None, loop: int | None = None) -> Project:
    return load_project(PROJECTS / name / "input.ttgir", machine, loop)


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in PROJECTS.glob("*/project.yaml")))
def test_every_ready_project_opens_without_a_word(folder: str) -> None:
    project = load_project(PROJECTS / folder)
    for name in project.schedules:
        opened = open_project(project.for_schedule(name))
        assert opened.diagnostics == ()
        assert opened.graph.name == project.name


def test_bare_text_gets_the_machine_and_groups_of_its_target() -> None:
    hopper, blackwell = open_project(bare("gemm_hopper")), open_project(bare("gemm_blackwell"))
    assert hopper.machine == find_machine("h100", Path())
    assert [(g.kind, g.warps, g.count) for g in hopper.graph.groups] == [("load", 1, 1), ("compute", 4, 2)]
    assert blackwell.machine == find_machine("b200", Path())
    assert [g.kind for g in blackwell.graph.groups] == ["load", "matrix", "compute"]
    chosen = open_project(bare("gemm_hopper", "h200"))
    assert chosen.machine == find_machine("h200", Path())
    assert chosen.graph.machine == chosen.machine.limits()


def test_default_load_group_is_as_wide_as_pointer_loads_need() -> None:
    graph = open_project(bare("attention_backward_hopper")).graph
    assert graph.groups[0] == GroupKind("load", 4, 1, variable_latency=True)
    assert all(op.needs_warps <= 4 for op in graph.ops.values() if op.variable_latency)


def test_text_for_another_target_is_said() -> None:
    warning = open_project(bare("gemm_hopper", "b200")).diagnostics[0]
    assert (warning.code, warning.severity) == ("other-target", Severity.WARNING)
    assert "cuda:90" in warning.message
    assert "cuda:100" in warning.message


def test_target_without_a_machine_asks_for_one(tmp_path: Path) -> None:
    text = (PROJECTS / "gemm_hopper" / "input.ttgir").read_text().replace("cuda:90", "cuda:80")
    file = tmp_path / "ampere.ttgir"
    file.write_text(text)
    with pytest.raises(InputError, match="no machine is known for the target 'cuda:80'") as caught:
        open_project(load_project(file))
    assert "h100" in (caught.value.diagnostics[0].hint or "")


def test_the_first_of_equal_loops_is_taken_with_a_warning_unless_one_is_chosen() -> None:
    opened = open_project(load_project(DATA / "bad" / "two_loops.ttgir"))
    (warning,) = opened.diagnostics
    assert warning.code == "several-loops"
    assert opened.loop is not None
    assert opened.loop.operation.name_span.line == 29
    second = open_project(load_project(DATA / "bad" / "two_loops.ttgir", loop=1))
    assert second.diagnostics == ()
    assert second.loop is not None
    assert second.loop.operation.name_span.line == 58


def test_the_function_limits_the_choice(tmp_path: Path) -> None:
    text = (DATA / "bad" / "two_loops.ttgir").read_text()
    file = tmp_path / "input.ttgir"
    file.write_text(text)
    project = replace(load_project(file), input=replace(load_project(file).input, function="two_gemms", loop=1))
    assert open_project(project).diagnostics == ()
    with pytest.raises(InputError, match="no function 'one_gemm'"):
        open_project(replace(project, input=replace(project.input, function="one_gemm")))


def test_overrides_and_pins_reach_the_graph_and_lost_ones_are_listed() -> None:
    project = load_project(PROJECTS / "gemm_hopper")
    edited = replace(
        project,
        overrides={"warp_group_dot.0": Override(latency=777, note="measured"), "exp2.0": Override(latency=1)},
        pins={"descriptor_load.0": Pin(start=8), "descriptor_load.9": Pin(group="load.0")},
    )
    opened = open_project(edited)
    assert opened.graph.ops["warp_group_dot.0"].latency == 777
    assert opened.graph.pins == {"descriptor_load.0": Pin(start=8)}
    assert [d.code for d in opened.diagnostics] == ["unknown-op", "unknown-op"]
    assert "exp2.0" in opened.diagnostics[0].message
    assert "descriptor_load.9" in opened.diagnostics[1].message
    assert opened.sources["warp_group_dot.0"].overridden == ("latency",)


def test_a_lost_pin_is_told_at_its_line(tmp_path: Path) -> None:
    folder = PROJECTS / "gemm_hopper"
    (tmp_path / "input.ttgir").write_bytes((folder / "input.ttgir").read_bytes())
    text = (folder / "project.yaml").read_text() + "pins:\n  descriptor_load.7: {start: 0}\n"
    (tmp_path / "project.yaml").write_text(text)
    (warning,) = open_project(load_project(tmp_path)).diagnostics
    assert (warning.line, warning.column) == (text.count("\n"), 3)
    assert warning.hint is not None


def test_a_graph_file_keeps_its_own_numbers_unless_the_project_replaces_them() -> None:
    file = DATA / "cases" / "kernels" / "fa_fwd_hopper_2x64.yaml"
    project, graph = load_project(file), load_graph(file)
    assert open_project(project).graph == graph
    groups = (GroupKind("load", 1, 1, variable_latency=True), GroupKind("compute", 4, 3))
    rules = Rules(in_order_issue=InOrderIssue.WEAK)
    opened = open_project(replace(project, groups=groups, rules=rules, pins={"qk0": Pin(start=0)}))
    assert opened.graph == replace(graph, groups=groups, rules=rules, pins={"qk0": Pin(start=0)})


def test_a_graph_on_another_machine_takes_its_limits_and_keeps_what_is_in_shared_memory() -> None:
    figure = load_project(PROJECTS / "paper_figure_1")
    file = PROJECTS / "paper_figure_1" / "figure_1.yaml"
    machine = find_machine("toy", Path())
    assert open_project(figure).graph.machine == machine.limits()
    assert open_project(figure).graph.ops == load_graph(file).ops
    attention = load_project(DATA / "cases" / "kernels" / "fa_fwd_hopper_2x64.yaml", "h200")
    assert open_project(attention).graph.machine.fixed_shared_bytes == 33792
    with pytest.raises(InputError, match="has no unit 'tma'"):
        open_project(replace(attention, machine="toy"))


def test_overrides_of_a_graph_file() -> None:
    file = DATA / "cases" / "kernels" / "fa_fwd_hopper_2x64.yaml"
    opened = open_project(replace(load_project(file), overrides={"exp0": Override(latency=600, issue_cycles=520)}))
    graph = load_graph(file)
    op = opened.graph.ops["exp0"]
    assert (op.latency, op.issue_cycles) == (600, 520)
    assert op.result.space is Space.REGISTERS
    for before, after in zip(graph.dependences, opened.graph.dependences, strict=True):
        assert after.latency == (600 if before.source == "exp0" else before.latency)
        reads_late = before.target == "exp0" and before.release == graph.ops["exp0"].issue_cycles
        assert after.release == (520 if reads_late else before.release)
