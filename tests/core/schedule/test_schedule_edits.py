"""Edits are pure: the old schedule stays as it was, and only what was asked for changes."""

from __future__ import annotations

import pytest
from schedule_cases import graph, kernel_schedules

from core.schedule import edits
from core.schedule.check import check
from core.schedule.compare import compare
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.write import dump_schedule

GRAPH = graph("kernels", "fa_fwd_hopper_2x64")
SCHEDULE = kernel_schedules()["fa_fwd_hopper_2x64"]
BEFORE = dump_schedule(SCHEDULE)


@pytest.fixture(autouse=True)
def _the_old_schedule_stays():
    yield
    assert dump_schedule(SCHEDULE) == BEFORE


def test_move_op_in_time_and_between_groups() -> None:
    moved = edits.move_op(SCHEDULE, "sum0", 4030)
    assert moved.ops["sum0"] == Placement(4030, "compute0")
    assert edits.move_op(SCHEDULE, "sum0", 4030, "compute1").ops["sum0"] == Placement(4030, "compute1")
    assert set(compare(SCHEDULE, moved).moved) == {"sum0"}
    assert list(moved.ops) == list(SCHEDULE.ops)


def test_an_edited_schedule_claims_nothing() -> None:
    origin = edits.move_op(SCHEDULE, "sum0", 4030).origin
    assert origin is not None and (origin.by, origin.status) == ("user", "")


def test_nudge_stops_at_cycle_0() -> None:
    assert edits.nudge(SCHEDULE, "load_k", 10).ops["load_k"].start == 946
    assert edits.nudge(SCHEDULE, "load_k", -9999).ops["load_k"].start == 0


def test_shift_keeps_what_the_judge_says() -> None:
    later = edits.shift(SCHEDULE, 5)
    assert all(later.ops[op].start == place.start + 5 for op, place in SCHEDULE.ops.items())
    assert check(GRAPH, later).legal
    assert edits.shift(later, -5).ops == SCHEDULE.ops


def test_set_ii_keeps_stage_and_slot() -> None:
    wider = edits.set_ii(SCHEDULE, 2050)
    assert all((wider.stage(op), wider.slot(op)) == (SCHEDULE.stage(op), SCHEDULE.slot(op)) for op in SCHEDULE.ops)
    narrow = edits.set_ii(SCHEDULE, 100)
    assert all(narrow.stage(op) == SCHEDULE.stage(op) for op in SCHEDULE.ops)
    assert all(narrow.slot(op) == min(SCHEDULE.slot(op), 99) for op in SCHEDULE.ops)


def test_grants_rings_and_delays() -> None:
    assert edits.set_grant(SCHEDULE, "compute1", 208).groups["compute1"] == ScheduledGroup("compute", 208)
    assert edits.set_ring(SCHEDULE, "load_v", 4).rings == {"load_k": 2, "load_v": 4}
    assert edits.set_ring(SCHEDULE, "load_v", None).rings == {"load_k": 2}
    assert edits.set_delay(SCHEDULE, "qk0", 3).ops["qk0"] == Placement(2048, "compute0", 3)
    assert edits.move_op(edits.set_delay(SCHEDULE, "qk0", 3), "qk0", 9).ops["qk0"].delay == 3


def test_groups_come_go_and_change_their_name() -> None:
    added = edits.add_group(SCHEDULE, "spare", "compute", 8)
    assert added.groups["spare"] == ScheduledGroup("compute", 8) and check(GRAPH, added).legal
    assert edits.remove_group(added, "spare").groups == SCHEDULE.groups
    assert edits.remove_unused_groups(added).groups == SCHEDULE.groups
    renamed = edits.rename_group(SCHEDULE, "compute0", "first tile")
    assert list(renamed.groups) == ["first tile", "compute1", "load0"]
    assert {op for op, p in renamed.ops.items() if p.group == "first tile"} == {
        op for op, p in SCHEDULE.ops.items() if p.group == "compute0"
    }
    assert check(GRAPH, renamed).legal
    assert edits.rename_group(SCHEDULE, "compute0", "compute0").groups == SCHEDULE.groups


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (lambda s: edits.move_op(s, "nobody", 0), KeyError),
        (lambda s: edits.move_op(s, "qk0", -1), ValueError),
        (lambda s: edits.move_op(s, "qk0", 0, "nowhere"), KeyError),
        (lambda s: edits.nudge(s, "nobody", 1), KeyError),
        (lambda s: edits.shift(s, -937), ValueError),
        (lambda s: edits.set_ii(s, 0), ValueError),
        (lambda s: edits.set_grant(s, "nowhere", 8), KeyError),
        (lambda s: edits.set_grant(s, "compute0", -8), ValueError),
        (lambda s: edits.set_ring(s, "nobody", 1), KeyError),
        (lambda s: edits.set_ring(s, "load_k", -1), ValueError),
        (lambda s: edits.set_delay(s, "qk0", -1), ValueError),
        (lambda s: edits.add_group(s, "load0", "load", 24), ValueError),
        (lambda s: edits.add_group(s, "new", "load", -1), ValueError),
        (lambda s: edits.remove_group(s, "nowhere"), KeyError),
        (lambda s: edits.remove_group(s, "load0"), ValueError),
        (lambda s: edits.rename_group(s, "nowhere", "x"), KeyError),
        (lambda s: edits.rename_group(s, "load0", "compute0"), ValueError),
    ],
)
def test_what_cannot_be_is_refused(edit, fault: type[Exception]) -> None:
    with pytest.raises(fault):
        edit(SCHEDULE)


def test_edits_of_many_kinds_can_be_taken_back_by_keeping_the_old_value() -> None:
    states: list[Schedule] = [SCHEDULE]
    for op in SCHEDULE.ops:
        states.append(edits.nudge(states[-1], op, 7))
        states.append(edits.set_grant(states[-1], "compute0", states[-1].groups["compute0"].grant + 8))
    texts = [dump_schedule(state) for state in states]
    assert len(set(texts)) == len(texts) and texts[0] == BEFORE
