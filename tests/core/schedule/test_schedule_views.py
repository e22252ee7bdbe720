"""What the views ask of a schedule: reservation table, slack windows, expansion, figures, comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from schedule_cases import expected, graph, kernel_schedules, made, tiny_schedules

from core.graph.model import Pin
from core.schedule.check import check
from core.schedule.compare import compare
from core.schedule.edits import move_op, rename_group, set_delay, set_grant, set_ii, set_ring
from core.schedule.expansion import Phase, expand
from core.schedule.metrics import hand_offs, length, stages, trip_cost, used_groups
from core.schedule.model import Placement
from core.schedule.report import Family
from core.schedule.reservation import reservation_table
from core.schedule.windows import windows

KERNELS = kernel_schedules()
ATTENTION = graph("kernels", "fa_fwd_hopper_2x64")
SCHEDULE = KERNELS["fa_fwd_hopper_2x64"]


@pytest.mark.parametrize("name", KERNELS)
def test_the_reservation_table_holds_every_block_once(name: str) -> None:
    judged, schedule = graph("kernels", name), KERNELS[name]
    table = reservation_table(judged, schedule)
    peaks = check(judged, schedule).peaks.units
    for unit, row in table.items():
        wanted = sum(b.amount * b.duration for op in judged.ops.values() for b in op.blocks if b.unit == unit)
        assert row.busy == wanted
        assert row.utilisation == pytest.approx(wanted / (row.capacity * schedule.ii))
        assert max(step.level for step in row.steps) == peaks[unit]
        assert all(0 <= cell.begin < cell.end <= schedule.ii for cell in row.cells)
        assert row.overloads == ()


def test_a_block_around_the_end_of_the_interval_is_two_cells() -> None:
    case = made(
        "machine: {units: {x: 1, idle: 0}}\ngroups: [{kind: g}]\nops: {a: {blocks: [[x, 2, 5], [x, 9, 0]], queue: 1}}",
        "ii: 8\ngroups: {g: {kind: g, grant: 0}}\nops: {a: {start: 12, group: g, delay: 1}}",
    )
    table = reservation_table(case.graph, case.schedule)
    assert [(c.op, c.block, c.begin, c.end, c.amount) for c in table["x"].cells] == [
        ("a", 0, 7, 8, 1),
        ("a", 0, 0, 4, 1),
    ]
    assert table["x"].overloads == () and table["idle"].cells == () and table["idle"].utilisation == 0.0
    (overload,) = reservation_table(case.graph, set_ii(case.schedule, 4))["x"].overloads
    assert overload.peak == 2 and overload.last - overload.first == 1


@pytest.mark.parametrize("op", ["max0", "sum0", "sum1", "exp1", "load_k"])
def test_a_window_is_exactly_where_no_dependence_breaks(op: str) -> None:
    for group, window in windows(ATTENTION, SCHEDULE, op).items():

        def broken(start: int, group: str = group) -> bool:
            report = check(ATTENTION, move_op(SCHEDULE, op, start, group))
            return any(v.family is Family.DEPENDENCE and op in v.ops for v in report.violations)

        assert window.earliest == 0 or broken(window.earliest - 1)
        if window.latest is None:
            assert not broken(window.earliest) and not broken(window.earliest + 10 * SCHEDULE.ii)
            continue
        assert broken(window.latest + 1)
        if window.latest < window.earliest:
            assert all(broken(start) for start in range(window.latest, window.earliest + 1))
        else:
            assert not broken(window.earliest) and not broken(window.latest)
        assert window.slack == window.latest - window.earliest


def test_a_window_names_who_binds() -> None:
    window = windows(ATTENTION, SCHEDULE, "scale0")["compute0"]
    assert window.earliest_by is not None and window.latest_by is not None
    assert (window.earliest_by.source, window.earliest_by.target) == ("max0", "scale0")
    assert (window.latest_by.source, window.latest_by.target) == ("scale0", "exp0")
    assert window.earliest == SCHEDULE.ops["max0"].start + 104
    assert window.latest == SCHEDULE.ops["exp0"].start - 72


def test_a_window_says_why_a_group_cannot_hold_the_op() -> None:
    on = windows(ATTENTION, SCHEDULE, "max0")
    assert on["compute0"].refusals == () and on["compute0"].possible
    assert {v.family for v in on["load0"].refusals} == {Family.VARIABLE_LATENCY, Family.GROUPS}
    assert not on["load0"].possible
    sealed = replace(ATTENTION, rules=replace(ATTENTION.rules, allow_hand_off=False))
    (role,) = {v.family for v in windows(sealed, SCHEDULE, "sum0")["compute1"].refusals}
    assert role is Family.ROLE
    pinned = replace(ATTENTION, pins={"max0": Pin(start=2633, group="compute0")})
    window = windows(pinned, SCHEDULE, "max0")
    assert (window["compute0"].earliest, window["compute0"].latest) == (2633, 2633)
    assert [v.family for v in window["compute1"].refusals] == [Family.PIN]
    early = replace(ATTENTION, pins={"max0": Pin(start=5)})
    assert windows(early, SCHEDULE, "max0")["compute0"].possible is False


def test_a_delayed_op_has_the_shorter_window() -> None:
    queued = replace(ATTENTION, ops={**ATTENTION.ops, "scale0": replace(ATTENTION.ops["scale0"], queue=9)})
    plain = windows(queued, SCHEDULE, "scale0")["compute0"]
    delayed = windows(queued, set_delay(SCHEDULE, "scale0", 9), "scale0")["compute0"]
    assert plain.latest is not None and delayed.latest == plain.latest - 9 and delayed.earliest == plain.earliest


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("iterations", [0, 1, 2, 7])
def test_the_expansion_runs_every_op_of_every_iteration_once(name: str, iterations: int) -> None:
    schedule = KERNELS[name]
    instances = expand(schedule, iterations)
    assert Counter((i.op, i.iteration) for i in instances) == Counter(
        (op, n) for n in range(iterations) for op in schedule.ops
    )
    depth, first = stages(schedule), min(p.start // schedule.ii for p in schedule.ops.values())
    for instance in instances:
        assert instance.cycle == schedule.ops[instance.op].start + instance.iteration * schedule.ii
        assert 0 <= instance.stage < depth
        period = instance.cycle // schedule.ii - first
        # In a period of the steady state, all stages are at work.
        at_work = {period - stage for stage in range(depth)}
        assert (instance.phase is Phase.STEADY) == (min(at_work) >= 0 and max(at_work) < iterations)
        if instance.phase is not Phase.STEADY:
            assert (instance.phase is Phase.EPILOGUE) == (period >= iterations)


@pytest.mark.parametrize(("folder", "schedules"), [("tiny", tiny_schedules()), ("kernels", KERNELS)])
def test_length_groups_and_hand_offs_are_those_of_the_cases(folder: str, schedules: dict) -> None:
    for name, schedule in schedules.items():
        case, judged = expected(folder)[name], graph(folder, name)
        assert length(judged, schedule) == case["least_length"]
        if "groups_used" in case:
            assert len(used_groups(schedule)) == case["groups_used"]
        crossing = hand_offs(judged, schedule)
        buffers = [judged.ops[value].hand_off_bytes for value in crossing.values]
        assert crossing.bytes == sum(buffers)
        if not any(kind.variable_latency for kind in judged.groups) and len(used_groups(schedule)) == 1:
            assert crossing.values == ()


def test_trip_cost_is_the_last_completion_of_the_expansion() -> None:
    for iterations in (1, 5, 64):
        ends = [i.cycle + ATTENTION.ops[i.op].latency for i in expand(SCHEDULE, iterations)]
        first = min(place.start for place in SCHEDULE.ops.values())
        cost = trip_cost(ATTENTION, SCHEDULE, iterations)
        assert cost.total == max(ends) - first
        assert cost.overhead == cost.total - iterations * SCHEDULE.ii


def test_comparison_lists_exactly_the_edits() -> None:
    assert compare(SCHEDULE, SCHEDULE).empty
    edited = set_ring(set_grant(move_op(SCHEDULE, "sum0", 4100), "compute1", 200), "load_k", 3)
    difference = compare(SCHEDULE, edited)
    assert difference.ii is None and not difference.empty
    assert dict(difference.moved) == {"sum0": (SCHEDULE.ops["sum0"], Placement(4100, "compute0"))}
    assert set(difference.groups) == {"compute1"} and dict(difference.rings) == {"load_k": (2, 3)}
    assert compare(SCHEDULE, set_ii(SCHEDULE, 2049)).ii == (2048, 2049)
    renamed = compare(SCHEDULE, rename_group(SCHEDULE, "load0", "loads"))
    assert renamed.groups == {"load0": (SCHEDULE.groups["load0"], None), "loads": (None, SCHEDULE.groups["load0"])}
    assert set(renamed.moved) == {"load_k", "load_v"}
    assert dict(compare(SCHEDULE, set_ring(SCHEDULE, "load_k", None)).rings) == {"load_k": (2, None)}
