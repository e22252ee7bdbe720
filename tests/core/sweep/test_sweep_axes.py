"""Axes as they are written, and what each of them changes: against graphs made by hand, and projects written so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.diagnostics import InputError
from core.graph.model import Dependence, DependenceKind, Graph, Space
from core.graph.read import load_graph
from core.machine.load import find_machine
from core.project.load import load_project
from core.project.model import Override, Project, Subtile, Transform
from core.project.opened import open_project
from core.resources import data_folder
from core.solve.events import SolveOptions
from core.sweep.axes import parse_axes, parse_axis
from core.sweep.axis_forms import AXIS_FORMS, axes_help
from core.sweep.points import Point, sweep_points
from core.sweep.setting import AxisError, label

DATA = Path(__file__).parents[2] / "data"
KERNELS = DATA / "cases" / "kernels"
PROJECTS = data_folder("projects")


def points(path: Path, *over: str) -> tuple[Point, ...]:
    return sweep_points(load_project(path), parse_axes(list(over)), SolveOptions())[0]


def nameless(graph: Graph) -> Graph:
    return replace(graph, name="")


def at(path: Path, *over: str) -> Graph:
    """The graph of the only point."""
    (point,) = points(path, *over)
    return nameless(point.graph)


def kernel(name: str) -> Graph:
    return nameless(load_graph(KERNELS / f"{name}.yaml"))


@pytest.mark.parametrize(
    ("case", "over", "made_by_hand"),
    [
        ("fa_fwd_hopper_2x64", ["registers=180"], "fa_fwd_hopper_2x64__180_registers"),
        ("fa_fwd_hopper_2x64", ["groups.compute=1"], "fa_fwd_hopper_2x64__1_group"),
        ("fa_fwd_hopper_2x64", ["groups.compute=3"], "fa_fwd_hopper_2x64__3_groups"),
        ("fa_fwd_hopper_2x64", ["shared_memory=102400"], "fa_fwd_hopper_2x64__100_kib"),
        ("fa_fwd_hopper_2x64", ["rules.allow_hand_off=false"], "fa_fwd_hopper_2x64__no_hand_off"),
        (
            "fa_fwd_hopper_2x64",
            ["rules.in_order_issue=weak", "registers=512", "groups.compute=1"],
            "fa_fwd_hopper_2x64__weak_1_group",
        ),
        ("fa_bwd_hopper", ["registers=200", "groups.compute=3"], "fa_bwd_hopper__200_registers_3_groups"),
        ("fa_bwd_hopper", ["machine.registers.max_per_thread=200"], "fa_bwd_hopper__200_registers"),
        ("fa_fwd_blackwell_2x128", ["tensor_memory=384"], "fa_fwd_blackwell_2x128__384_columns"),
        ("fa_fwd_blackwell_2x128", ["machine.tensor_memory_columns=384"], "fa_fwd_blackwell_2x128__384_columns"),
        ("fa_fwd_blackwell_2x128", ["registers=120"], "fa_fwd_blackwell_2x128__120_registers"),
    ],
)
def test_a_point_is_the_graph_made_by_hand(case: str, over: list[str], made_by_hand: str) -> None:
    changed = kernel(made_by_hand)
    assert at(KERNELS / f"{case}.yaml", *over) == changed
    assert changed != kernel(case)


def test_hand_off_capacity_and_isolation_on_a_graph() -> None:
    path, graph = KERNELS / "deeper_at_ii_1.yaml", kernel("deeper_at_ii_1")
    dear = {name: replace(op, hand_off_cycles=9) for name, op in graph.ops.items()}
    assert at(path, "hand_off=9") == replace(graph, ops=dear)
    wide = replace(graph, machine=replace(graph.machine, units={"x": 3, "y": 1}))
    assert at(path, "capacity.x=3") == wide
    assert at(path, "rules.isolate_matrix_issue=true").rules == replace(graph.rules, isolate_matrix_issue=True)


def test_rings_of_one_value_and_of_each() -> None:
    path, graph = KERNELS / "gemm.yaml", kernel("gemm")

    def back(load: str) -> list[Dependence]:
        return [Dependence(dot, load, 320, 2, DependenceKind.ANTI) for dot in ("dot0_0", "dot0_1")]

    one = replace(graph, dependences=(*graph.dependences, *back("load_b0")))
    assert at(path, "rings.load_b0=2") == one
    both = replace(graph, dependences=(*graph.dependences, *back("load_a"), *back("load_b0")))
    assert at(path, "rings=2") == both


def test_costs_of_an_op_are_overrides() -> None:
    path = PROJECTS / "gemm_hopper"
    project = load_project(path)
    loop = open_project(project)
    op = next(name for name, op in loop.graph.ops.items() if op.matrix)
    overrides = {op: Override(latency=700, issue_cycles=50)}
    expected = open_project(replace(project, overrides=overrides)).graph
    assert at(path, f"latency.{op}=700", f"issue_cycles.{op}=50") == nameless(expected)
    assert expected.ops[op].latency == 700
    figure = at(PROJECTS / "paper_figure_1", "latency.p=4")
    assert [d.latency for d in figure.dependences] == [1, 4, 1]


def test_subtile_is_the_transform_of_a_project() -> None:
    path = PROJECTS / "attention_backward_hopper"
    project = load_project(path)
    whole, halves = points(path, "subtile=1,2")
    split = replace(project, transform=Transform(subtile=Subtile("m", 2)))
    assert whole.graph == open_project(project).graph
    assert halves.graph == open_project(split).graph
    assert sum(op.matrix for op in halves.graph.ops.values()) > sum(op.matrix for op in whole.graph.ops.values())
    already = replace(project, transform=Transform(subtile=Subtile("n", 2, ("warp_group_dot.0",))))
    (back,) = sweep_points(already, [parse_axis("subtile=1")], SolveOptions())[0]
    assert back.graph == whole.graph


def test_fuse_on_and_off() -> None:
    """Thirty-six ops that are all small on the toy machine: enough, and cheap enough, for blocks."""
    path = DATA / "ttgir" / "fa_fwd_2q_sm100_d128m2x128n128-f16_v39_pre.ttgir"
    auto, off = points(path, "machine=toy", "fuse=auto,off")
    assert auto.graph == open_project(load_project(path, "toy")).graph
    assert len(off.graph.ops) == 36
    assert len(auto.graph.ops) < 36


def test_other_input_and_other_machine() -> None:
    small, large = (DATA / "ttgir" / f"{name}.ttgir" for name in FILES)
    found = points(large, f"input={small},{large}")
    assert [point.values for point in found] == [{"input": str(small)}, {"input": str(large)}]
    for point, file in zip(found, (small, large), strict=True):
        assert nameless(point.graph) == nameless(open_project(load_project(file)).graph)
    graph = KERNELS / "gemm.yaml"
    assert at(large, f"input={graph}") == kernel("gemm")
    named = points(large, "machine=h100,h200")
    assert [point.graph.machine for point in named] == [find_machine(n, Path()).limits() for n in ("h100", "h200")]


FILES = ("gemm_ptr_sm90_m128n128k32-f16-loc_v33_pre", "gemm_tma_sm90_m128n128k64-f16_v39_pre")


def test_numbers_of_the_machine_file_add_up() -> None:
    path = PROJECTS / "attention_forward_hopper"
    plain = open_project(load_project(path)).graph
    varied = at(path, "machine.hand_off.base=236", "machine.registers.overhead=30")
    assert varied.machine.registers == replace(plain.machine.registers, overhead=30)
    for name, op in plain.ops.items():
        more = 100 if op.result.space is Space.REGISTERS else 0  # the file has 136
        assert varied.ops[name].hand_off_cycles == op.hand_off_cycles + more


def test_speed_of_a_unit_scales_its_rates_alone() -> None:
    path = PROJECTS / "attention_forward_hopper"
    plain = open_project(load_project(path)).graph
    fast = at(path, "speed.sfu=2")
    exponentials = {name for name, op in plain.ops.items() if any(block.unit == "sfu" for block in op.blocks)}
    for name in exponentials:
        (slow_block,), (fast_block,) = plain.ops[name].blocks, fast.ops[name].blocks
        assert fast_block.duration * 2 == slow_block.duration
        # h100.yaml: busy for the block, ready two cycles later
        assert (fast.ops[name].issue_cycles, fast.ops[name].latency) == (fast_block.duration, fast_block.duration + 2)
    assert {name for name in plain.ops if fast.ops[name] != plain.ops[name]} == exponentials
    tile = [block.duration for name in exponentials for block in fast.ops[name].blocks if block.duration > 100]
    assert tile == [256, 256]  # 64 x 128 elements at 32 a cycle
    assert at(path, "speed.sfu=0.5", "speed.fma=1") == at(path, "speed.sfu=0.5")


def test_the_last_axis_is_the_fastest() -> None:
    found = points(KERNELS / "gemm.yaml", "groups.compute=2,1", "registers=200,240", "rules.allow_hand_off=true,false")
    assert [label(point.values) for point in found] == [
        "groups.compute=2 registers=200 rules.allow_hand_off=true",
        "groups.compute=2 registers=200 rules.allow_hand_off=false",
        "groups.compute=2 registers=240 rules.allow_hand_off=true",
        "groups.compute=2 registers=240 rules.allow_hand_off=false",
        "groups.compute=1 registers=200 rules.allow_hand_off=true",
        "groups.compute=1 registers=200 rules.allow_hand_off=false",
        "groups.compute=1 registers=240 rules.allow_hand_off=true",
        "groups.compute=1 registers=240 rules.allow_hand_off=false",
    ]
    assert len({point.inputs for point in found}) == 8


def test_the_hash_is_of_the_graph_and_the_options() -> None:
    project = load_project(KERNELS / "gemm.yaml")
    axes = parse_axes(["registers=240,248"])

    def hashes(options: SolveOptions) -> list[str]:
        return [point.inputs for point in sweep_points(project, axes, options)[0]]

    first = hashes(SolveOptions())
    assert first == hashes(SolveOptions())
    assert not set(first) & set(hashes(SolveOptions(seed=2)))
    assert not set(first) & set(hashes(SolveOptions(limit_s=1)))
    (same,) = points(KERNELS / "gemm.yaml", "machine.registers.max_per_thread=240")
    assert same.inputs == first[0]


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (["registers"], "'registers' is not KEY=V1,V2"),
        (["registers="], "'registers=' is not KEY=V1,V2"),
        (["register=1"], "there is no axis 'register'; did you mean 'registers'?"),
        (["speed=2"], "the axis 'speed' is written speed.UNIT, not 'speed'"),
        (["registers.compute=2"], "the axis 'registers' is written registers, not 'registers.compute'"),
        (["rings.=2"], "the axis 'rings' is written rings[.OP], not 'rings.'"),
        (["registers=200,"], "registers: '' is not a whole number from 1 on"),
        (["registers=200,-8"], "registers: '-8' is not a whole number from 1 on"),
        (["registers=200,200"], "registers: the value 200 is given twice"),
        (["registers=200", "registers=240"], "the axis 'registers' is given twice"),
        (["speed.tma=0"], "speed.tma: a unit needs a speed above 0"),
        (["speed.tma=fast"], "speed.tma: 'fast' is not a number from 0 on, such as 2 or 0.5"),
        (["speed.tma=1.5.2"], "speed.tma: '1.5.2' is not a number"),
        (["subtile=17"], "subtile: 17 parts are more than 16"),
        (["input=gone.ttgir"], "input: there is no file 'gone.ttgir'"),
        (["machine=h1000"], "machine: there is no machine 'h1000'; did you mean 'h100'?"),
        (["machine=mine/h100.yaml"], "machine: there is no machine file"),
        (["rules.issue=weak"], "rules.issue: there is no rule 'issue'; "),
        (
            ["rules.in_order_issue=wek"],
            "rules.in_order_issue: there is no way of in-order issue 'wek'; did you mean 'weak'?",
        ),
        (["rules.allow_hand_off=no"], "rules.allow_hand_off: 'no' is neither true nor false"),
        (["fuse=on"], "fuse: there is no way to fuse 'on'; "),
    ],
)
def test_axes_that_cannot_be(over: list[str], message: str) -> None:
    with pytest.raises(AxisError) as fault:
        parse_axes(over)
    assert message in str(fault.value)


@pytest.mark.parametrize(
    ("path", "over", "message"),
    [
        ("graph", "groups.comput=1", "groups.comput=1: there is no group kind 'comput'; did you mean 'compute'?"),
        ("graph", "capacity.tensorcore=2", "there is no unit 'tensorcore'; did you mean 'tensor_core'?"),
        ("graph", "rings.dot0_0=2", "there is no value in shared memory 'dot0_0'; "),
        ("graph", "latency.dot00=2", "there is no op 'dot00'; did you mean 'dot0_0'?"),
        ("graph", "subtile=2", "subtile=2: sub-tiles need a TTGIR input"),
        ("graph", "speed.tensor_core=2", "speed.tensor_core=2: this needs a TTGIR input"),
        (
            "graph",
            "machine.register.overhead=2",
            "there is no key of the machine 'register'; did you mean 'registers'?",
        ),
        ("graph", "machine.registers=2", "the machine has no number at 'registers'"),
        ("graph", "machine.registers.overhead=0.5", "machine.registers.overhead: input should be a valid integer"),
        ("graph", "machine.registers.granularity=0", "machine.registers.granularity: input should be greater than"),
        ("text", "speed.tensor=2", "there is no unit 'tensor'; did you mean 'tensor_core'?"),
        ("text", "latency.exp.0=2", "there is no op 'exp.0'; "),
        ("text", "machine.hand_off.bas=1", "there is no key in 'hand_off' of the machine 'bas'; did you mean 'base'?"),
        ("text", "machine.costs.999.latency.add=1", "there is no entry in 'costs' of the machine '999'"),
        ("text", "machine.hand_off.base.more=1", "'hand_off.base' of the machine has no keys"),
        ("text", "machine.name=1", "the machine has no number at 'name'"),
    ],
)
def test_points_that_cannot_be_had(path: str, over: str, message: str) -> None:
    with pytest.raises(AxisError) as fault:
        points(KERNELS / "gemm.yaml" if path == "graph" else PROJECTS / "gemm_hopper", over)
    assert message in str(fault.value)
    assert str(fault.value).startswith(f"{over}: ")


def test_a_loop_without_shared_memory_has_no_rings() -> None:
    with pytest.raises(AxisError, match="rings=2: the loop has no value in shared memory"):
        points(PROJECTS / "paper_figure_1", "rings=2")


def test_refusals_of_the_reader_keep_their_place() -> None:
    with pytest.raises(InputError) as fault:
        points(PROJECTS / "attention_forward_hopper", "subtile=2")
    (diagnostic,) = fault.value.diagnostics
    assert diagnostic.message.startswith("subtile=2: ")
    assert diagnostic.line is not None
    with pytest.raises(InputError) as fault:
        points(PROJECTS / "gemm_hopper", "machine.registers.granularity=7")
    (diagnostic,) = fault.value.diagnostics
    assert "no multiple of granularity 7" in diagnostic.message


def test_warnings_are_told_once() -> None:
    project = load_project(PROJECTS / "gemm_hopper")
    lost: Project = replace(project, overrides={"nothing.0": Override(latency=1)})
    _, diagnostics = sweep_points(lost, parse_axes(["machine=h100,h200", "registers=200,240"]), SolveOptions())
    assert [diagnostic.code for diagnostic in diagnostics] == ["unknown-op"]


def test_help_names_every_axis() -> None:
    for form in AXIS_FORMS:
        assert form.written in axes_help()
        with pytest.raises(AxisError, match="is not KEY=V1,V2"):
            parse_axis(form.name)
        key = form.name if form.argument is None or form.optional else f"{form.name}.x"
        with pytest.raises(AxisError, match=f"^{key}: "):
            parse_axis(f"{key}=-1")
