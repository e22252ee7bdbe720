"""Several loops of one kernel: common groups, grants and rings, judged in every loop and together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, Pool, RegisterFile, Result, Space
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.check import check
from core.schedule.common import aligned, kernel_faults, with_common_groups, with_common_rings
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.report import Family
from core.solve.events import Level, SolveOptions, Status
from core.solve.kernel import solve_kernel
from core.solve.solve import solve

TTGIR = Path(__file__).parents[2] / "data" / "ttgir"
OPTIONS = SolveOptions(objective=(Level.II, Level.GROUPS), limit_s=60)


def loop(amounts: dict[str, int], file: RegisterFile, count: int = 2) -> Graph:
    """Independent ops that keep a unit each busy for 10 cycles and so need a group each at II 10."""
    ops = {
        name: Op(name, "op", 4, (Block(name, 0, 10),), 10, 10, result=Result(Space.REGISTERS, amount))
        for name, amount in amounts.items()
    }
    return Graph("loop", Limits(dict.fromkeys(ops, 1), file, 100), (GroupKind("g", 4, count),), ops)


def schedule(**places: str) -> Schedule:
    groups = {name: ScheduledGroup("g", 8) for name in sorted(set(places.values()))}
    return Schedule(10, groups, {op: Placement(0, group) for op, group in places.items()})


def test_groups_are_named_after_the_ops_that_they_share() -> None:
    one, other = schedule(a="g.0", b="g.1"), schedule(a="g.1", b="g.0", c="g.0")
    same = aligned(other, one)
    assert {op: place.group for op, place in same.ops.items()} == {"a": "g.0", "b": "g.1", "c": "g.1"}
    assert aligned(other, one, fixed={"g.0", "g.1"}) == other


def test_groups_without_a_like_keep_apart() -> None:
    renamed = aligned(schedule(x="g.0", y="g.1"), schedule(y="g.0"))
    assert renamed.ops["y"].group == "g.0" and renamed.ops["x"].group == "g.1"


def test_every_loop_fits_but_not_the_kernel() -> None:
    # 12 + 4 and 4 + 12 registers on 128 threads each fit 2048 words, 12 + 12 do not: the largest limit is 8 a thread.
    file = RegisterFile(2048, 16, granularity=4)
    graphs = {"one": loop({"a": 12, "b": 4}, file), "other": loop({"a": 4, "b": 12}, file)}
    free = with_common_groups({name: solve(graph, OPTIONS).schedule or schedule() for name, graph in graphs.items()})
    apart = {"one": free["one"], "other": aligned(free["other"], free["one"])}
    apart = with_common_groups(apart)
    assert all(check(graphs[name], one).legal is False for name, one in apart.items())
    assert Family.REGISTERS in {fault.family for fault in kernel_faults(graphs, apart)}
    answer = solve_kernel(graphs, OPTIONS, solve)
    assert answer.register_limit == 8 and answer.status is Status.INFEASIBLE  # a alone needs 12


def test_a_limit_that_makes_all_fit_costs_cycles() -> None:
    # A value of 4 registers that lives 30 cycles has three copies at II 10, two at II 15: 8 are enough there.
    file = RegisterFile(2048, 16, granularity=4)

    def long_lived(name: str) -> Graph:
        graph = loop({"a": 4, "b": 4}, file)
        return replace(graph, ops={**graph.ops, name: replace(graph.ops[name], latency=30)})

    graphs = {"one": long_lived("a"), "other": long_lived("b")}
    assert [solve(graph, OPTIONS).ii for graph in graphs.values()] == [10, 10]
    answer = solve_kernel(graphs, OPTIONS, solve)
    assert answer.register_limit == 8 and not answer.faults and answer.status is Status.FEASIBLE
    assert [result.ii for result in answer.results.values()] == [15, 15]
    schedules = [result.schedule for result in answer.results.values()]
    for graph, one in zip(graphs.values(), schedules, strict=True):
        assert one is not None and check(graph, one).legal
        assert schedules[0] is not None and one.groups == schedules[0].groups


def test_small_groups_and_pools() -> None:
    file = RegisterFile(65536, 240, granularity=8, pool=Pool.WARPGROUP)
    graph = loop({"a": 4, "b": 4}, file)
    fits = replace(schedule(a="g.0", b="g.1"), groups={n: ScheduledGroup("g", 240) for n in ("g.0", "g.1")})
    assert kernel_faults({"one": graph}, {"one": fits}) == ()
    third = replace(schedule(a="g.2"), groups={"g.2": ScheduledGroup("g", 240)})
    families = {fault.family for fault in kernel_faults({"one": graph, "other": graph}, {"one": fits, "other": third})}
    assert families == {Family.GROUPS, Family.REGISTERS}


def test_the_kernel_has_the_groups_of_its_richest_loop() -> None:
    file = RegisterFile(65536, 240)
    graphs = {"poor": loop({"a": 4}, file, count=0), "rich": loop({"b": 4, "c": 4}, file)}
    two = with_common_groups({"poor": schedule(), "rich": schedule(b="g.0", c="g.1")})
    assert kernel_faults(graphs, two) == ()
    three = with_common_groups({"poor": schedule(a="g.2"), "rich": schedule(b="g.0", c="g.1")})
    (fault,) = kernel_faults(graphs, three)
    assert (fault.subject, fault.required, fault.available) == ("g", 3, 2)


def test_one_name_for_two_kinds_or_grants() -> None:
    graph = loop({"a": 4}, RegisterFile(65536, 240))
    one, other = schedule(a="g.0"), replace(schedule(a="g.0"), groups={"g.0": ScheduledGroup("g", 16)})
    (fault,) = kernel_faults({"one": graph, "other": graph}, {"one": one, "other": other})
    assert fault.family is Family.GROUPS and fault.subject == "g.0"


def test_a_tile_of_both_loops_has_the_deeper_ring() -> None:
    ops = {
        "load": Op("load", "load", latency=5, result=Result(Space.SHARED, 16)),
        "use": Op("use", "op", latency=5),
    }
    machine = Limits({}, RegisterFile(4096, 32), 64)
    graph = Graph("loop", machine, (GroupKind("g", 1, 1),), ops, (Dependence("load", "use", 5, release=5),))
    groups = {"g.0": ScheduledGroup("g", 8)}
    near = Schedule(10, groups, {"load": Placement(0, "g.0"), "use": Placement(5, "g.0")})
    far = Schedule(10, groups, {"load": Placement(0, "g.0"), "use": Placement(25, "g.0")})
    both = with_common_rings({"near": graph, "far": graph}, {"near": near, "far": far})
    assert both["near"].rings == both["far"].rings == {"load": 3}
    assert all(check(graph, one).legal for one in both.values())


def test_the_loops_of_causal_attention(tmp_path: Path) -> None:
    text = TTGIR / "fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre.ttgir"
    file = tmp_path / "project.yaml"
    file.write_text(
        f"schema: twill.project/1\nname: causal\ninput: {{ttgir: {text.as_posix()}}}\n"
        "groups:\n- {kind: load, warps: 1, count: 1, variable_latency: true}\n- {kind: compute, warps: 4, count: 2}\n"
        "schedules:\n  full: {file: full.yaml, loop: 0}\n  masked: {file: masked.yaml, loop: 1}\nactive: full\n"
    )
    project = load_project(file)
    assert project.kernel_schedules == ("full", "masked")
    graphs = {name: open_project(project.for_schedule(name)).graph for name in project.kernel_schedules}
    short = (Level.II, Level.LENGTH)  # so that the deeper rings of either loop fit the other
    answer = solve_kernel(graphs, replace(OPTIONS, objective=short), solve)
    assert answer.status is Status.OPTIMAL and not answer.faults
    found = {name: result.schedule for name, result in answer.results.items()}
    full, masked = found["full"], found["masked"]
    assert full is not None and masked is not None and full.groups == masked.groups
    assert full.rings == masked.rings and set(full.rings) == {"descriptor_load.0", "descriptor_load.1"}
    assert check(graphs["full"], full).legal and check(graphs["masked"], masked).legal
