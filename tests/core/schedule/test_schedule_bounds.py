"""Lower bounds: equal to those of the cases, never above what is possible, exact where an exact answer is known."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import pytest
from ortools.linear_solver import pywraplp
from schedule_cases import expected, graph, kernel_schedules, made

from core.graph.model import Block, Graph, InOrderIssue, Pin, Pool
from core.schedule.area import AreaValue, least_area
from core.schedule.bounds import SEARCH_FACTOR, bounds, certificates
from core.schedule.paths import Arc, Paths, critical_cycle
from core.schedule.report import Family

FEASIBLE = [
    (folder, name, case["least_ii"])
    for folder in ("kernels", "tiny")
    for name, case in expected(folder).items()
    if case["least_ii"] is not None
]
INFEASIBLE = [
    (folder, name, case.get("infeasible_up_to") or case.get("bound"))
    for folder in ("kernels", "tiny")
    for name, case in expected(folder).items()
    if case["least_ii"] is None
]


@pytest.mark.parametrize("name", expected("kernels"))
def test_unit_and_recurrence_bounds_are_those_of_the_cases(name: str) -> None:
    found, wanted = bounds(graph("kernels", name)), dict(expected("kernels")[name]["lower_bounds"])
    assert found.rec_mii == wanted.pop("recurrence")
    assert {f"unit_{unit}": bound for unit, bound in found.units.items() if bound} == wanted
    assert found.res_mii == max(wanted.values())
    assert found.min_ii == max(found.res_mii, found.rec_mii or 0)


@pytest.mark.parametrize(("folder", "name", "least_ii"), FEASIBLE)
def test_no_bound_excludes_what_is_possible(folder: str, name: str, least_ii: int) -> None:
    found = bounds(graph(folder, name))
    assert found.min_ii is not None and found.lower_bound is not None
    assert found.min_ii <= found.lower_bound <= least_ii
    for ii in (least_ii, least_ii + 1, 2 * least_ii):
        assert certificates(graph(folder, name), ii) == ()


@pytest.mark.parametrize(("folder", "name", "up_to"), INFEASIBLE)
def test_what_is_excluded_stays_excluded_below(folder: str, name: str, up_to: int) -> None:
    judged = graph(folder, name)
    found = bounds(judged)
    last = found.lower_bound - 1 if found.lower_bound is not None else 4 * up_to
    step = max(1, last // 30)
    assert all(certificates(judged, ii) for ii in [*range(1, last + 1, step), *([last] if last else [])])


@pytest.mark.parametrize(("folder", "name"), [(folder, name) for folder, name, _ in FEASIBLE if folder == "tiny"])
def test_the_lower_bound_is_where_certificates_end(folder: str, name: str) -> None:
    judged = graph(folder, name)
    found = bounds(judged)
    assert found.lower_bound is not None
    assert all(certificates(judged, ii) for ii in range(1, found.lower_bound))
    assert not certificates(judged, found.lower_bound)
    assert bool(found.certificates) == (found.lower_bound > 1)


def test_infeasible_kernels_that_arithmetic_explains() -> None:
    shown = {
        name for folder, name, up_to in INFEASIBLE if folder == "kernels" and not _possible(graph(folder, name), up_to)
    }
    assert {"fa_fwd_blackwell_2x128__120_registers", "fa_bwd_hopper__1_group", "dual_gemm__1_group"} <= shown


def _possible(judged: Graph, up_to: int) -> bool:
    lower = bounds(judged).lower_bound
    return lower is not None and lower <= up_to


@pytest.mark.parametrize("name", expected("kernels"))
def test_certificates_say_what_is_short(name: str) -> None:
    judged = graph("kernels", name)
    for ii in (1, 100, max(1, (bounds(judged).min_ii or 1) - 1)):
        for certificate in certificates(judged, ii):
            assert certificate.required > certificate.available
            assert certificate.ops and set(certificate.ops) <= set(judged.ops)
            assert certificate.ops[0] in certificate.sentence
            assert str(certificate.required) in certificate.sentence
            assert set(certificate.as_json()) == {"family", "subject", "required", "available", "ops", "sentence"}


def test_the_critical_recurrence_goes_around() -> None:
    found = bounds(graph("kernels", "fa_fwd_hopper_2x64"))
    recurrence = found.critical_recurrence
    assert recurrence is not None and set(recurrence.ops) in ({"rescale0", "pv0"}, {"rescale1", "pv1"})
    assert (recurrence.latency, recurrence.distance) == (648, 1)
    for one, following in zip(
        recurrence.dependences, recurrence.dependences[1:] + recurrence.dependences[:1], strict=True
    ):
        assert one.target == following.source
    assert found.as_json()["critical_recurrence"] == list(recurrence.ops)
    assert bounds(graph("kernels", "layer_norm")).critical_recurrence is None


def random_arcs(chance: random.Random) -> tuple[int, list[Arc]]:
    nodes = chance.randint(1, 6)
    arcs = [
        Arc(chance.randrange(nodes), chance.randrange(nodes), chance.randint(0, 9), chance.choice([0, 0, 1, 1, 2]))
        for _ in range(chance.randint(0, 10))
    ]
    return nodes, arcs


@pytest.mark.parametrize("seed", range(4))
def test_the_critical_cycle_is_the_greatest_of_all_cycles(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(150):
        nodes, arcs = random_arcs(chance)
        simple = nx.MultiDiGraph((arc.source, arc.target, number) for number, arc in enumerate(arcs))
        ratios: list[Fraction | None] = []
        for cycle in nx.simple_cycles(nx.DiGraph(simple)):
            around = list(zip(cycle, cycle[1:] + cycle[:1], strict=True))
            for choice in itertools.product(*(list(simple[a][b]) for a, b in around)):
                latency, distance = (sum(arcs[n][field] for n in choice) for field in (2, 3))
                if latency:
                    ratios.append(Fraction(latency, distance) if distance else None)
        found = critical_cycle(nodes, arcs)
        if not ratios:
            assert found is None
            continue
        assert found is not None
        taken = [arcs[n] for n in found.arcs]
        assert all(a.target == b.source for a, b in zip(taken, taken[1:] + taken[:1], strict=True))
        assert found.latency == sum(a.latency for a in taken) and found.distance == sum(a.distance for a in taken)
        if None in ratios:
            assert found.distance == 0 and found.least_ii is None
        else:
            best = max(ratio for ratio in ratios if ratio is not None)
            assert Fraction(found.latency, found.distance) == best
            assert found.least_ii == -(-best.numerator // best.denominator)


def sound_paths(chance: random.Random) -> tuple[int, list[Arc], Paths]:
    while True:
        nodes, arcs = random_arcs(chance)
        cycle = critical_cycle(nodes, arcs)
        least = cycle.least_ii if cycle else 1
        if least is not None:
            return nodes, arcs, Paths(nodes, arcs, max(1, least) + chance.randint(0, 3))


@pytest.mark.parametrize("seed", range(3))
def test_longest_paths_against_relaxation_to_the_end(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        nodes, arcs, paths = sound_paths(chance)
        for source in range(nodes):
            longest = {source: 0}
            for _ in range(nodes):
                for arc in arcs:
                    if arc.source in longest:
                        reached = longest[arc.source] + arc.latency - paths.ii * arc.distance
                        longest[arc.target] = max(longest.get(arc.target, reached), reached)
            assert paths.longest(source) == longest


@pytest.mark.parametrize("seed", range(3))
def test_the_least_area_is_the_linear_program_s(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        nodes, arcs, paths = sound_paths(chance)
        values = [
            AreaValue(
                node,
                chance.randint(0, 5),
                chance.randint(0, 6),
                tuple((chance.randrange(nodes), chance.randint(0, 9)) for _ in range(chance.randint(0, 3))),
            )
            for node in range(nodes)
        ]
        solver = pywraplp.Solver.CreateSolver("GLOP")
        start = [solver.NumVar(0, solver.infinity(), "") for _ in range(nodes)]
        for arc in arcs:
            solver.Add(start[arc.target] - start[arc.source] >= arc.latency - paths.ii * arc.distance)
        lives = []
        for value in values:
            life = solver.NumVar(value.least, solver.infinity(), "")
            for reader, extra in value.uses:
                solver.Add(life >= start[reader] - start[value.node] + extra)
            lives.append(life)
        solver.Minimize(sum(value.amount * life for value, life in zip(values, lives, strict=True)))
        assert solver.Solve() == pywraplp.Solver.OPTIMAL
        area = least_area(paths, values)
        assert area.total == pytest.approx(solver.Objective().Value(), abs=1e-6)
        assert area.total == sum(v.amount * life for v, life in zip(values, area.lives, strict=True))


# What no choice of groups avoids counts, what one avoids does not.

LOOP = """\
machine: {{units: {{x: 1}}, registers: {{file_words: 99999, max_per_thread: 99}}, shared_memory_bytes: 999}}
groups: {groups}
rules: {rules}
ops:
  a: {{latency: 2, hand_off_cycles: 10, hand_off_bytes: 100, result: {{space: registers, amount: 1}}, {a}}}
  b: {{latency: 3, hand_off_cycles: 20, result: {{space: registers, amount: 1}}, {b}}}
dependences: [{{from: a, to: b}}, {{from: b, to: a, distance: 1}}]
pins: {pins}
"""
PLACE = "ii: 99\ngroups: {g: {kind: g, grant: 0}}\nops: {a: {start: 0, group: g}, b: {start: 0, group: g}}"
TWO = "[{kind: g, count: 2}]"
APART = "[{kind: g, count: 1}, {kind: loads, count: 1, variable_latency: true}]"


def loop(
    groups: str = TWO, rules: str = "{}", a: str = "needs_warps: 1", b: str = "needs_warps: 1", pins: str = "{}"
) -> Graph:
    return made(LOOP.format(groups=groups, rules=rules, a=a, b=b, pins=pins), PLACE).graph


@pytest.mark.parametrize(
    ("judged", "rec_mii"),
    [
        (loop(), 5),
        (loop(APART, a="variable_latency: true"), 35),
        (loop(rules="{isolate_matrix_issue: true}", a="matrix: true", b="issue_cycles: 1"), 35),
        (loop(rules="{isolate_matrix_issue: true}", a="matrix: true", b="issue_cycles: 1, asynchronous: true"), 5),
        (loop(pins="{a: {group: one}, b: {group: two}}"), 35),
        (loop(pins="{a: {group: one}, b: {group: one}}"), 5),
    ],
)
def test_hand_offs_count_in_recurrences_only_where_groups_force_them(judged: Graph, rec_mii: int) -> None:
    assert bounds(judged).rec_mii == rec_mii


def test_a_forced_hand_off_needs_its_buffer() -> None:
    judged = loop(APART, a="variable_latency: true")
    machine = replace(judged.machine, shared_memory_bytes=99)
    (certificate,) = certificates(replace(judged, machine=machine), 500)
    assert (certificate.family, certificate.required, certificate.ops) == (Family.SHARED_MEMORY, 100, ("a",))


@pytest.mark.parametrize(
    ("judged", "family", "ops"),
    [
        (loop(a="variable_latency: true"), Family.VARIABLE_LATENCY, ("a",)),
        (loop(b="needs_warps: 4"), Family.GROUPS, ("b",)),
        (
            loop("[{kind: g}]", "{isolate_matrix_issue: true}", "matrix: true", "issue_cycles: 1"),
            Family.ROLE,
            ("a", "b"),
        ),
        (loop(APART, "{allow_hand_off: false}", a="variable_latency: true"), Family.ROLE, ("a", "b")),
    ],
)
def test_what_no_interval_repairs(judged: Graph, family: Family, ops: tuple[str, ...]) -> None:
    found = bounds(judged)
    assert found.lower_bound is None
    assert (family, ops) in [(c.family, c.ops) for c in found.certificates]
    assert (family, ops) in [(c.family, c.ops) for c in certificates(judged, 10**6)]


def test_a_cycle_within_one_iteration_excludes_every_interval() -> None:
    judged = loop()
    within = replace(judged, dependences=tuple(replace(d, distance=0) for d in judged.dependences))
    found = bounds(within)
    assert found.rec_mii is None and found.min_ii is None and found.lower_bound is None
    assert "within one iteration" in found.certificates[0].sentence
    busy = replace(within, ops={n: replace(op, blocks=(Block("x", 0, 9),)) for n, op in within.ops.items()})
    busy = replace(busy, machine=replace(busy.machine, units={"x": 1}))
    assert {c.family for c in bounds(busy).certificates} == {Family.DEPENDENCE}  # units exclude only some intervals


@pytest.mark.parametrize(
    ("blocks", "capacity", "res_mii"),
    [
        ("[[x, 0, 5, 1], [x, 7, 4, 1]]", 1, 9),
        ("[[x, 0, 5, 2], [x, 7, 4, 1]]", 2, 7),
        ("[[x, 0, 5, 2], [x, 5, 4, 2]]", 3, 9),  # amount 2 of 3: one at a time
        ("[[x, 0, 5, 2], [x, 5, 0, 9]]", 3, 5),  # duration 0 covers no slot
        ("[[x, 0, 1, 4]]", 3, None),
    ],
)
def test_unit_bounds_by_hand(blocks: str, capacity: int, res_mii: int | None) -> None:
    judged = loop(a=f"blocks: {blocks}")
    assert bounds(replace(judged, machine=replace(judged.machine, units={"x": capacity}))).res_mii == res_mii


def test_issue_bounds_count_the_groups_that_may_hold_an_op() -> None:
    def lower(groups: str, mode: InOrderIssue, blocking: bool = True) -> int | None:
        judged = loop(groups, a="issue_cycles: 40, asynchronous: true", b="issue_cycles: 60, needs_warps: 4")
        judged = replace(judged, rules=replace(judged.rules, in_order_issue=mode))
        dependences = tuple(replace(d, blocking=blocking) for d in judged.dependences)
        return bounds(replace(judged, dependences=dependences)).lower_bound

    assert lower("[{kind: g, warps: 4}]", InOrderIssue.STRONG) == 100
    assert lower("[{kind: g, warps: 4, count: 2}]", InOrderIssue.STRONG) == 60
    assert lower("[{kind: g, warps: 4}, {kind: h}]", InOrderIssue.STRONG) == 60
    assert lower("[{kind: g, warps: 4}]", InOrderIssue.WEAK) == 60  # only b waits for an asynchronous op
    assert lower("[{kind: g, warps: 4}]", InOrderIssue.WEAK, blocking=False) == 5
    assert lower("[{kind: g, warps: 4}]", InOrderIssue.OFF) == 5


def test_the_register_bound_counts_a_live_range_that_no_order_shortens() -> None:
    """One value of 10 registers over a latency of 50, one group of 24: 500 register cycles need 21 cycles."""
    judged = made(
        "machine: {registers: {file_words: 99999, max_per_thread: 24}}\ngroups: [{kind: g}]\n"
        "ops: {a: {latency: 50, result: {space: registers, amount: 10}}, b: {}}\ndependences: [{from: a, to: b}]",
        PLACE,
    ).graph
    found = bounds(judged)
    assert found.min_ii == 1 and found.lower_bound == SEARCH_FACTOR + 1  # as far as it looks
    assert certificates(judged, 20) and not certificates(judged, 21)
    two = replace(judged, groups=(replace(judged.groups[0], count=2),))
    assert certificates(two, 10) and not certificates(two, 11)
    small_file = replace(judged.machine.registers, file_words=32 * 24, pool=Pool.WARPGROUP)
    assert certificates(replace(two, machine=replace(two.machine, registers=small_file)), 20)


def test_pinned_groups_are_names_not_kinds() -> None:
    judged = loop(pins="{a: {group: one}}")
    assert bounds(judged).rec_mii == 5 and bounds(replace(judged, pins={"a": Pin(start=3)})).rec_mii == 5


@pytest.mark.parametrize("name", kernel_schedules())
def test_bounds_do_not_depend_on_the_order_of_the_file(name: str) -> None:
    judged = graph("kernels", name)
    backwards = replace(judged, ops=dict(reversed(judged.ops.items())), dependences=tuple(reversed(judged.dependences)))
    one, other = bounds(judged), bounds(backwards)
    assert (one.res_mii, one.rec_mii, one.lower_bound) == (other.res_mii, other.rec_mii, other.lower_bound)
