"""The second opinion: known answers, everything tried on tiny graphs, and what each rule contributes."""

from __future__ import annotations

import functools
import importlib
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import yaml
from solve_brute_force import feasible, random_graph

from core.graph.model import (
    Block,
    Dependence,
    Graph,
    GroupKind,
    Limits,
    Op,
    Pin,
    Pool,
    RegisterFile,
    Result,
    Space,
)
from core.graph.read import load_graph
from core.schedule.check import check
from core.solve.confirm import confirm
from core.solve.events import Verdict

CASES = Path(__file__).parents[2] / "data" / "cases"
UNLIMITED = 1 << 40

QUICK_KERNELS = {
    "carried_hand_off",
    "dual_gemm",
    "dual_gemm__1_group",
    "fa_fwd_hopper_1x128",
    "fa_fwd_hopper_1x128__1_group",
    "fa_fwd_hopper_1x64",
    "fa_fwd_hopper_2x64__1_group",
    "fa_fwd_hopper_2x64__100_kib",
    "fa_fwd_blackwell_1x128",
    "fa_bwd_hopper__200_registers",
    "figure_1",
    "gemm",
    "layer_norm",
    "layer_norm__1_group",
}


@functools.cache
def expected(folder: str) -> dict[str, Any]:
    return yaml.safe_load((CASES / folder / "expected.yaml").read_text())["cases"]


def questions(folder: str) -> list[tuple[str, int, Verdict]]:
    """The least II is feasible, the one below it is not, and where there is none, the last one tried is not."""
    found: list[tuple[str, int, Verdict]] = []
    for name, case in expected(folder).items():
        least = case["least_ii"]
        if least is None:
            found.append((name, case.get("bound") or case["infeasible_up_to"], Verdict.INFEASIBLE))
            continue
        found.append((name, least, Verdict.FEASIBLE))
        if least > 1:
            found.append((name, least - 1, Verdict.INFEASIBLE))
    return found


def kernel_questions() -> list[Any]:
    return [
        pytest.param(*question, marks=() if question[0] in QUICK_KERNELS else pytest.mark.long)
        for question in questions("kernels")
    ]


def answer(graph: Graph, ii: int, **options: Any) -> Verdict:
    """The verdict, its schedule judged."""
    confirmation = confirm(graph, ii, limit_s=options.pop("limit_s", 120), **options)
    assert (confirmation.schedule is not None) == (confirmation.verdict is Verdict.FEASIBLE)
    if confirmation.schedule is not None:
        assert confirmation.schedule.ii == ii
        assert check(graph, confirmation.schedule).legal
    return confirmation.verdict


@pytest.mark.parametrize(("name", "ii", "verdict"), questions("tiny"))
def test_tiny_graphs(name: str, ii: int, verdict: Verdict) -> None:
    assert answer(load_graph(CASES / "tiny" / f"{name}.yaml"), ii) is verdict


@pytest.mark.parametrize(("name", "ii", "verdict"), kernel_questions())
def test_kernels(name: str, ii: int, verdict: Verdict) -> None:
    assert answer(load_graph(CASES / "kernels" / f"{name}.yaml"), ii) is verdict


def agree(graph: Graph, ii: int, stages: int) -> tuple[bool, Verdict]:
    """Compares with everything tried within so many stages, and with no bound on stages: both answers."""
    found = feasible(graph, ii, stages)
    assert answer(graph, ii, stages=stages) is (Verdict.FEASIBLE if found else Verdict.INFEASIBLE)
    unbounded = answer(graph, ii)
    assert unbounded is Verdict.FEASIBLE or not found
    return found, unbounded


def random_questions(seeds: range, most_ops: int, most_ii: int) -> set[tuple[bool, Verdict]]:
    seen: set[tuple[bool, Verdict]] = set()
    for seed in seeds:
        chance = random.Random(seed)
        graph, ii = random_graph(chance, most_ops), chance.randint(1, most_ii)
        seen.add(agree(graph, ii, stages=chance.randint(1, min(3, 2 * most_ii // ii))))
    return seen


def test_random_graphs_against_brute_force() -> None:
    assert len(random_questions(range(80), 3, 4)) == 3


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_graphs_against_brute_force() -> None:
    random_questions(range(1000, 2000), 3, 4)
    random_questions(range(2000, 2100), 4, 2)


def random_packing(chance: random.Random) -> Graph:
    """Groups of all sizes that hold registers and issue; only the register file is scarce."""
    kinds = tuple(
        GroupKind(kind, chance.choice([3, 4, 8] if kind == "c" else [1, 2, 3]), chance.randint(1, 3), kind == "l")
        for kind in chance.sample("abcl", chance.randint(1, 3))
    )
    ops: dict[str, Op] = {}
    for name in "pqrs"[: chance.randint(2, 4)]:
        kind = chance.choice(kinds)
        ops[name] = Op(
            name,
            "op",
            needs_warps=chance.choice([1, kind.warps]),
            issue_cycles=chance.choice([0, 1, 1, 1]),
            latency=1,
            variable_latency=kind.variable_latency,
            result=Result(Space.REGISTERS, chance.choice([4, 8, 16, 24])),
        )
    words = 128 * chance.choice([24, 32, 40, 48, 56, 64, 72, 80, 96, 120, 128])
    file = RegisterFile(
        words, chance.choice([24, 40, 64]), chance.choice([1, 8]), chance.choice([0, 2]), Pool.WARPGROUP
    )
    pins = {name: Pin(group=chance.choice(["m", "n", "l", "a.0"])) for name in ops if chance.random() < 0.3}
    return Graph("packing", Limits({}, file), kinds, ops, pins=pins)


def test_random_packings_against_brute_force() -> None:
    assert len({agree(random_packing(random.Random(seed)), 1, 1) for seed in range(60)}) == 2


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        ((None, None, None, None), Verdict.FEASIBLE),
        (("a", "c", "b", "d"), Verdict.FEASIBLE),
        (("a", "b", "c", "d"), Verdict.INFEASIBLE),
        (("d", "c", "b", "a"), Verdict.INFEASIBLE),
        ((None, "b", "c", None), Verdict.FEASIBLE),
        (("a", "b", None, None), Verdict.FEASIBLE),
    ],
)
def test_pinned_names_fix_how_small_groups_are_packed(names: tuple[str | None, ...], verdict: Verdict) -> None:
    """Two groups of one warp and two of three: in the order 1 3 1 3 two warp groups hold them, in 1 1 3 3 three."""
    kinds = (GroupKind("one", 1, 2), GroupKind("three", 3, 2))
    ops = {
        name: Op(name, "op", needs_warps=warps, issue_cycles=1, latency=1, result=Result(Space.REGISTERS, 24))
        for name, warps in zip("pqrs", (1, 1, 3, 3), strict=True)
    }
    # Three warp groups would get 16 registers a thread.
    file = RegisterFile(2 * 128 * 24, 24, 8, pool=Pool.WARPGROUP)
    pins = {op: Pin(group=name) for op, name in zip(ops, names, strict=True) if name}
    assert answer(Graph("packs", Limits({}, file), kinds, ops, pins=pins), 1) is verdict


def test_small_groups_share_a_warp_group_where_there_is_room() -> None:
    """Apart they would get 2 * 255 registers a thread, together they get 255, and one needs 280."""
    ops = {
        name: Op(name, "op", issue_cycles=1, latency=1, result=Result(Space.REGISTERS, amount))
        for name, amount in {"p": 280, "q": 24}.items()
    }
    file = RegisterFile(UNLIMITED, 400, pool=Pool.WARPGROUP)
    graph = Graph("merged", Limits({}, file), (GroupKind("c", 1, 2),), ops)
    assert answer(graph, 1) is Verdict.INFEASIBLE
    assert answer(replace(graph, groups=(GroupKind("c", 3, 2),)), 1) is Verdict.FEASIBLE


@pytest.mark.parametrize(
    ("pins", "count", "verdict"),
    [
        ({"p": Pin(group="m"), "q": Pin(group="m")}, 2, Verdict.INFEASIBLE),
        ({"p": Pin(group="m"), "q": Pin(group="n")}, 2, Verdict.FEASIBLE),
        ({"p": Pin(group="c.1"), "r": Pin(group="m")}, 2, Verdict.FEASIBLE),
        ({"p": Pin(group="m"), "r": Pin(group="n")}, 1, Verdict.INFEASIBLE),
        ({"p": Pin(start=5), "r": Pin(start=8)}, 2, Verdict.FEASIBLE),
        ({"p": Pin(start=5), "r": Pin(start=7)}, 2, Verdict.INFEASIBLE),
        ({"r": Pin(start=2)}, 2, Verdict.INFEASIBLE),
        ({"r": Pin(start=3, group="m"), "q": Pin(start=0, group="n")}, 2, Verdict.FEASIBLE),
    ],
)
def test_pins(pins: dict[str, Pin], count: int, verdict: Verdict) -> None:
    """p and q keep a group busy all the time; r comes three cycles after p."""
    ops = {name: Op(name, "op", issue_cycles=cycles) for name, cycles in {"p": 1, "q": 1, "r": 0}.items()}
    wait = Dependence("p", "r", 3)
    kinds = (GroupKind("c", 4, count),)
    graph = Graph("pinned", Limits({}, RegisterFile(0, 0)), kinds, ops, (wait,), pins=pins)
    without_q = replace(graph, ops={name: op for name, op in ops.items() if name != "q"})
    assert answer(graph if count == 2 else without_q, 1) is verdict


@pytest.mark.parametrize(
    ("queue", "latency", "verdict"),
    [(0, 0, Verdict.INFEASIBLE), (1, 2, Verdict.FEASIBLE), (1, 3, Verdict.INFEASIBLE), (2, 3, Verdict.INFEASIBLE)],
)
def test_an_op_may_wait_for_its_unit(queue: int, latency: int, verdict: Verdict) -> None:
    """q is issued at 1, while p occupies the unit up to 2; the next p, at 4, waits for q."""
    ops = {name: Op(name, "op", blocks=(Block("x", 0, 2),), queue=most) for name, most in {"p": 0, "q": queue}.items()}
    pins = {"p": Pin(start=0), "q": Pin(start=1)}
    limits = Limits({"x": 1}, RegisterFile(0, 0))
    graph = Graph("queue", limits, (GroupKind("c", 4),), ops, (Dependence("q", "p", latency, 1),), pins=pins)
    assert answer(graph, 4) is verdict


@pytest.mark.parametrize("space", [Space.SHARED, Space.TENSOR, Space.REGISTERS])
@pytest.mark.parametrize(("room", "verdict"), [(11, Verdict.FEASIBLE), (10, Verdict.INFEASIBLE)])
def test_any_number_of_copies_is_counted(space: Space, room: int, verdict: Verdict) -> None:
    """A value that lives eleven intervals, in stages that nobody bounds."""
    ops = {"p": Op("p", "op", latency=10, result=Result(space, 1)), "q": Op("q", "op")}
    limits = Limits({}, RegisterFile(UNLIMITED, room), room, room)
    graph = Graph("deep", limits, (GroupKind("c", 4),), ops, (Dependence("p", "q", 10, release=1),))
    assert answer(graph, 1) is verdict


def test_a_deep_pipeline_counts_against_the_unit() -> None:
    """Blocks longer than the interval overlap themselves: five cycles at II 2 are two or three copies."""
    ops = {"p": Op("p", "op", blocks=(Block("x", 0, 5),)), "q": Op("q", "op", blocks=(Block("x", 1, 1),))}
    graph = Graph("wide", Limits({"x": 3}, RegisterFile(0, 0)), (GroupKind("c", 4),), ops)
    assert answer(graph, 2) is Verdict.FEASIBLE
    assert answer(replace(graph, machine=replace(graph.machine, units={"x": 2})), 2) is Verdict.INFEASIBLE


def test_without_time_or_memory_nothing_is_claimed() -> None:
    graph = load_graph(CASES / "kernels" / "fa_fwd_blackwell_2x128__2_groups.yaml")
    assert answer(graph, 2123, limit_s=0) is Verdict.UNKNOWN
    assert answer(graph, 2123, limit_s=0.01) is Verdict.UNKNOWN
    file = RegisterFile(10**9, 10**9)
    ops = {"p": Op("p", "op", latency=1, result=Result(Space.REGISTERS, 10**8))}
    endless = Graph("endless", Limits({}, file), (GroupKind("c", 1),), ops)  # 31 million grants to tell apart
    assert answer(endless, 1, limit_s=0.1) is Verdict.UNKNOWN
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # z3 counts what a process has ever freed too
        assert pool.submit(without_memory, graph, 2123).result() is Verdict.UNKNOWN


def test_what_the_judge_refuses_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = load_graph(CASES / "kernels" / "carried_hand_off.yaml")
    monkeypatch.setattr("core.solve.confirm.system.add_dependences", lambda *_: None)
    with pytest.raises(RuntimeError, match="must start"):
        confirm(graph, 1, limit_s=60)


def test_it_runs_in_a_process_of_its_own() -> None:
    """Spawned, so that graph and answer travel; and z3 is not imported before it is needed."""
    graph = load_graph(CASES / "kernels" / "carried_hand_off.yaml")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert not pool.submit(z3_is_imported).result()
        confirmation = pool.submit(confirm, graph, 2, limit_s=60).result()
        assert pool.submit(z3_is_imported).result()
    assert confirmation.schedule is not None
    assert check(graph, confirmation.schedule).legal


def without_memory(graph: Graph, ii: int) -> Verdict:
    importlib.import_module("core.solve.confirm.answer").MEMORY_MEGABYTES = 1
    return answer(graph, ii)


def z3_is_imported() -> bool:
    importlib.import_module("core.solve.confirm")
    return "z3" in sys.modules
