"""The judge: known schedules, one planted fault per family, pools, queues, and what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from schedule_cases import CASES, Case, expected, graph, kernel_schedules, made

from core.graph.model import Graph, InOrderIssue, Pin
from core.schedule.check import Judge, check
from core.schedule.check_registers import launch_words
from core.schedule.edits import move_op, set_grant, set_ring
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.read import load_schedule
from core.schedule.report import Family, Report, Violation

KERNELS = kernel_schedules()
ATTENTION = graph("kernels", "fa_fwd_hopper_2x64")
BLACKWELL = graph("kernels", "fa_fwd_blackwell_2x128__roles")


def only(report: Report) -> Violation:
    (violation,) = report.violations
    return violation


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_schedules_are_legal(name: str) -> None:
    report = check(graph("kernels", name), KERNELS[name])
    assert report.violations == ()
    assert KERNELS[name].ii == expected("kernels")[name]["least_ii"]


def test_the_refused_schedule_breaks_what_its_case_says() -> None:
    refused = expected("kernels")["carried_hand_off"]["refused"]
    judged = graph("kernels", "carried_hand_off")
    report = check(judged, load_schedule(CASES / "kernels" / refused["schedule"], judged))
    said = [violation.as_json() for violation in report.violations]
    assert [{key: v[key] for key in refused["violations"][0]} for v in said] == refused["violations"]
    assert "hand-off" in report.violations[0].message and "+3 cycles" in report.violations[0].message


def test_figure_1_holds_three_values() -> None:
    """The paper's printed rule counts two: it misses the carried accumulator."""
    report = check(graph("kernels", "figure_1"), KERNELS["figure_1"])
    assert dict(report.peaks.registers) == {"compute0": 3}


# One fault per family, each in a schedule that was legal before.


def test_dependence() -> None:
    schedule = KERNELS["fa_fwd_hopper_2x64"]
    start = schedule.ops["max0"].start
    earliest = schedule.ops["qk0"].start + 576
    violation = only(check(ATTENTION, move_op(schedule, "max0", earliest - 1)))
    assert violation.family is Family.DEPENDENCE and violation.ops == ("qk0", "max0")
    assert (violation.required, violation.available, violation.at) == (576, 575, earliest - 1)
    assert start >= earliest


def test_a_dependence_within_an_op_counts_the_interval() -> None:
    case = made(
        "machine: {units: {x: 1}}\ngroups: [{kind: g}]\nops: {a: {latency: 5}}\n"
        "dependences: [{from: a, to: a, distance: 2}]",
        "ii: 2\ngroups: {g: {kind: g, grant: 0}}\nops: {a: {start: 0, group: g}}",
    )
    violation = only(check(case.graph, case.schedule))
    assert (violation.ops, violation.required, violation.available) == (("a", "a"), 5, 4)
    assert check(case.graph, replace(case.schedule, ii=3)).legal


def test_unit() -> None:
    schedule = KERNELS["fa_fwd_hopper_2x64"]
    moved = set_ring(move_op(schedule, "load_v", schedule.ops["load_v"].start - 1000), "load_v", None)
    report = check(ATTENTION, moved)
    violation = only(report)
    assert violation.family is Family.UNIT and violation.subject == "tma"
    # load_k occupies slots 936 to 1447, load_v now 1048 to 1559.
    assert (violation.required, violation.available, violation.at) == (2, 1, 1048)
    assert set(violation.ops) == {"load_k", "load_v"} and report.peaks.units["tma"] == 2
    assert "1048 to 1447" in violation.message


def test_issue_strong_and_weak() -> None:
    text = (
        "machine: {{units: {{}}}}\ngroups: [{{kind: g}}]\nrules: {{in_order_issue: '{mode}'}}\n"
        "ops: {{a: {{issue_cycles: 2, asynchronous: true}}, b: {{issue_cycles: 2}}, c: {{issue_cycles: 2}}}}\n"
        "dependences: [{{from: a, to: b, blocking: true}}, {{from: b, to: c, blocking: true}}]"
    )
    place = (
        "ii: 9\ngroups: {{g: {{kind: g, grant: 0}}}}\n"
        "ops: {{a: {{start: {a}, group: g}}, b: {{start: {b}, group: g}}, c: {{start: {c}, group: g}}}}"
    )

    def families(mode: str, a: int, b: int, c: int) -> list[Violation]:
        case = made(text.format(mode=mode), place.format(a=a, b=b, c=c))
        return list(check(case.graph, case.schedule).violations)

    # a and c overlap around the end of the interval; neither waits for an asynchronous op (b is synchronous)
    (strong,) = families("strong", 0, 2, 8)
    assert strong.family is Family.ISSUE and set(strong.ops) == {"a", "c"} and strong.at == 0
    assert families("weak", 0, 2, 8) == []
    # b waits for an asynchronous op: nobody may issue beside it
    (weak,) = families("weak", 0, 2, 3)
    assert weak.family is Family.ISSUE and set(weak.ops) == {"b", "c"} and weak.at == 3 and weak.subject == "g"
    assert families("off", 0, 2, 3) == []


def test_an_op_may_not_issue_longer_than_the_interval() -> None:
    case = made(
        "groups: [{kind: g}]\nops: {a: {issue_cycles: 4}}",
        "ii: 3\ngroups: {g: {kind: g, grant: 0}}\nops: {a: {start: 1, group: g}}",
    )
    violation = only(check(case.graph, case.schedule))
    assert violation.family is Family.ISSUE and violation.required == 2 and "next one" in violation.message


def test_registers_against_the_grant() -> None:
    schedule = KERNELS["fa_fwd_hopper_2x64"]
    report = check(ATTENTION, set_grant(schedule, "compute0", 184))
    violation = only(report)
    assert violation.family is Family.REGISTERS and violation.subject == "compute0"
    assert (violation.required, violation.available) == (report.peaks.registers["compute0"], 184)
    assert "pv0" in violation.ops and "kept back 26" in violation.message


@pytest.mark.parametrize(
    ("grant", "group", "required", "available", "words"),
    [
        (196, "compute0", 200, 196, "multiple of 8"),
        (248, "compute0", 248, 240, "at most 240"),
        (16, "load0", 24, 16, "at least 24"),
    ],
)
def test_registers_grants_that_no_group_gets(grant: int, group: str, required: int, available: int, words: str) -> None:
    violation = only(check(ATTENTION, set_grant(KERNELS["fa_fwd_hopper_2x64"], group, grant)))
    assert violation.family is Family.REGISTERS and (violation.required, violation.available) == (required, available)
    assert words in violation.message


def pool(kinds: str, grants: dict[str, tuple[str, int]], words: int, how: str) -> Case:
    groups = ", ".join(f"{name}: {{kind: {kind}, grant: {grant}}}" for name, (kind, grant) in grants.items())
    ops = ", ".join(f"o{number}: {{}}" for number in range(len(grants)))
    places = ", ".join(f"o{number}: {{start: 0, group: {name}}}" for number, name in enumerate(grants))
    return made(
        f"machine: {{registers: {{file_words: {words}, max_per_thread: 255, granularity: 8, pool: {how}}}}}\n"
        f"groups: {kinds}\nops: {{{ops}}}",
        f"ii: 1\ngroups: {{{groups}}}\nops: {{{places}}}",
    )


FOUR = "[{kind: w1, warps: 1, count: 9}, {kind: w4, warps: 4, count: 9}, {kind: w8, warps: 8, count: 9}]"


@pytest.mark.parametrize(
    ("grants", "how", "required", "available"),
    [
        # flat: 32 x warps x grant each
        ({"a": ("w4", 240), "b": ("w4", 240), "c": ("w1", 128)}, "flat", 65536, None),
        ({"a": ("w4", 240), "b": ("w4", 240), "c": ("w1", 136)}, "flat", 65792, 65536),
        # one warp of 24 and two warp groups of 240: three warp groups, launched with 168 each
        ({"a": ("w4", 240), "b": ("w4", 240), "c": ("w1", 24)}, "warpgroup", 64512, None),
        ({"a": ("w4", 240), "b": ("w4", 240), "c": ("w1", 32)}, "warpgroup", 65536, 64512),
        # four single warps are one warp group with the largest grant among them, a fifth begins another
        (
            {"a": ("w1", 24), "b": ("w1", 128), "c": ("w1", 24), "d": ("w1", 24), "e": ("w4", 248)},
            "warpgroup",
            48128,
            None,
        ),
        (
            {"a": ("w1", 24), "b": ("w1", 240), "c": ("w1", 24), "d": ("w1", 24), "e": ("w1", 240), "f": ("w8", 240)},
            "warpgroup",
            122880,
            65536,
        ),
        # eight warps are two warp groups: W = 2, R = 248 (the largest multiple of 8 up to 255)
        ({"a": ("w8", 248)}, "warpgroup", 63488, None),
        ({"a": ("w8", 248), "b": ("w1", 24)}, "warpgroup", 66560, 64512),
    ],
)  # fmt: skip
def test_registers_pools(grants: dict[str, tuple[str, int]], how: str, required: int, available: int | None) -> None:
    case = pool(FOUR, grants, 65536, how)
    report = check(case.graph, case.schedule)
    if available is None:
        assert report.legal
        words = replace(case.graph.machine.registers, file_words=0)
        tight = replace(case.graph, machine=replace(case.graph.machine, registers=words))
        assert only(check(tight, case.schedule)).required == required
    else:
        violation = only(report)
        assert violation.family is Family.REGISTERS and violation.subject == "register file"
        assert (violation.required, violation.available) == (required, available)


@pytest.mark.parametrize(
    ("count", "granularity", "per_thread"), [(1, 1, 255), (1, 8, 248), (2, 8, 248), (3, 8, 168), (5, 1, 102)]
)
def test_a_launch_gives_all_threads_the_same_whole_number(count: int, granularity: int, per_thread: int) -> None:
    assert launch_words(count, 65536, granularity) == 128 * count * per_thread


def test_groups_without_ops_count_for_nothing() -> None:
    schedule = KERNELS["fa_fwd_hopper_2x64"]
    spare = {f"spare{number}": ScheduledGroup("compute", 999) for number in range(5)}
    report = check(ATTENTION, replace(schedule, groups={**schedule.groups, **spare}))
    assert report.legal and not set(spare) & set(report.peaks.registers)


def test_shared_memory_ring_depth_and_capacity() -> None:
    schedule = KERNELS["fa_fwd_hopper_2x64"]
    shallow = only(check(ATTENTION, set_ring(schedule, "load_k", 1)))
    assert shallow.family is Family.SHARED_MEMORY and shallow.ops == ("load_k",)
    assert (shallow.required, shallow.available) == (2, 1)
    deep = only(check(ATTENTION, set_ring(schedule, "load_k", 6)))
    # 6 + 2 tiles of 32 KiB and 33 KiB fixed
    assert (deep.family, deep.required, deep.available) == (Family.SHARED_MEMORY, 8 * 32768 + 33792, 232448)
    assert check(ATTENTION, set_ring(schedule, "load_k", None)).peaks.shared_memory == 4 * 32768 + 33792


def test_shared_memory_counts_hand_off_buffers_once_per_value() -> None:
    text = (
        "machine: {{units: {{}}, registers: {{file_words: 9999, max_per_thread: 99}}, shared_memory_bytes: {bytes}}}\n"
        "groups: [{{kind: g, count: 3}}]\n"
        "ops: {{b: {{}}, c: {{}}, "
        "a: {{latency: 1, result: {{space: registers, amount: 1}}, hand_off_cycles: 1, hand_off_bytes: 10}}}}\n"
        "dependences: [{{from: a, to: b, release: 1}}, {{from: a, to: c, release: 5}}]"
    )
    place = (
        "ii: 4\ngroups: {x: {kind: g, grant: 9}, y: {kind: g, grant: 9}, z: {kind: g, grant: 9}}\n"
        "ops: {a: {start: 0, group: x}, b: {start: 2, group: y}, c: {start: 2, group: z}}"
    )
    case = made(text.format(bytes=20), place)
    report = check(case.graph, case.schedule)
    assert report.legal and report.peaks.shared_memory == 20  # [0, 7) over 4 cycles: two buffers, for both readers
    small = made(text.format(bytes=19), place)
    assert only(check(small.graph, small.schedule)).family is Family.SHARED_MEMORY


def test_tensor_memory() -> None:
    schedule = KERNELS["fa_fwd_blackwell_2x128__roles"]
    peak = check(BLACKWELL, schedule).peaks.tensor_memory
    tight = replace(BLACKWELL, machine=replace(BLACKWELL.machine, tensor_memory_columns=peak - 1))
    violation = only(check(tight, schedule))
    assert violation.family is Family.TENSOR_MEMORY and violation.required == peak
    assert sum(BLACKWELL.ops[op].result.amount for op in violation.ops) == peak and violation.at is not None


def test_variable_latency_both_ways() -> None:
    schedule = KERNELS["fa_fwd_hopper_2x64"]
    loads = replace(ATTENTION, machine=replace(ATTENTION.machine, tensor_memory_columns=0))
    on_compute = check(loads, move_op(schedule, "load_k", schedule.ops["load_k"].start, "compute0"))
    assert {v.family for v in on_compute.violations} >= {Family.VARIABLE_LATENCY}
    assert [v.ops for v in on_compute.violations if v.family is Family.VARIABLE_LATENCY] == [("load_k",)]
    on_load = check(loads, move_op(schedule, "sum0", schedule.ops["sum0"].start, "load0"))
    assert [v.ops for v in on_load.violations if v.family is Family.VARIABLE_LATENCY] == [("sum0",)]


def test_groups_warps_and_count() -> None:
    schedule = KERNELS["fa_fwd_hopper_2x64__3_groups"]
    fewer = replace(graph("kernels", "fa_fwd_hopper_2x64__3_groups"), groups=ATTENTION.groups)
    violation = only(check(fewer, schedule))
    assert (violation.family, violation.required, violation.available) == (Family.GROUPS, 3, 2)
    assert violation.subject == "compute"
    roles = KERNELS["fa_fwd_blackwell_2x128__roles"]
    narrow = check(BLACKWELL, move_op(roles, "sum0", roles.ops["sum0"].start, "issue0"))
    warps = [v for v in narrow.violations if v.family is Family.GROUPS]
    assert [(v.ops, v.required, v.available) for v in warps] == [(("sum0",), 4, 1)]


def test_role() -> None:
    schedule = KERNELS["fa_fwd_hopper_2x64__3_groups"]
    judged = graph("kernels", "fa_fwd_hopper_2x64__3_groups")
    isolated = replace(judged, rules=replace(judged.rules, isolate_matrix_issue=True))
    mixed = check(isolated, schedule).violations
    assert mixed and {v.family for v in mixed} == {Family.ROLE}
    assert {v.subject for v in mixed} <= set(schedule.groups)
    sealed = replace(judged, rules=replace(judged.rules, allow_hand_off=False))
    crossing = check(sealed, schedule).violations
    assert crossing and {v.family for v in crossing} == {Family.ROLE}
    for violation in crossing:
        value, *readers = violation.ops
        assert all(schedule.ops[reader].group != schedule.ops[value].group for reader in readers)


@pytest.mark.parametrize(
    ("pin", "required", "available", "at"), [(Pin(start=7), 7, 2048, 2048), (Pin(group="tile0"), None, None, None)]
)
def test_pin(pin: Pin, required: int | None, available: int | None, at: int | None) -> None:
    violation = only(check(replace(ATTENTION, pins={"qk0": pin}), KERNELS["fa_fwd_hopper_2x64"]))
    assert (violation.family, violation.ops) == (Family.PIN, ("qk0",))
    assert (violation.required, violation.available, violation.at) == (required, available, at)


# Queue: an op's unit work starts `delay` cycles after its issue.

QUEUE = """\
machine: {units: {x: 1}, registers: {file_words: 99999, max_per_thread: 99}, shared_memory_bytes: 100}
groups: [{kind: g, count: 2}]
ops:
  first: {blocks: [[x, 0, 4]], issue_cycles: 1, latency: 4, asynchronous: true}
  second:
    {blocks: [[x, 0, 4]], issue_cycles: 1, latency: 4, asynchronous: true, queue: 3, hand_off_cycles: 2,
     hand_off_bytes: 10, result: {space: registers, amount: 5}}
  tile: {result: {space: shared, amount: 10}}
  use: {issue_cycles: 1, latency: 1}
dependences: [{from: tile, to: second}, {from: second, to: use, release: 1}]
"""


def queued(second: int, delay: int, use: int, group: str = "one", tile: int = 1) -> Report:
    case = made(
        QUEUE,
        "ii: 8\ngroups: {one: {kind: g, grant: 30}, two: {kind: g, grant: 30}}\n"
        f"ops: {{first: {{start: 0, group: one}}, second: {{start: {second}, group: one, delay: {delay}}}, "
        f"tile: {{start: {tile}, group: one}}, use: {{start: {use}, group: {group}}}}}",
    )
    return check(case.graph, case.schedule)


def test_queue_shifts_the_blocks_not_the_issue() -> None:
    assert only(queued(1, 0, 10)).family is Family.UNIT  # [0, 4) and [1, 5)
    assert queued(1, 3, 10).legal  # [0, 4) and [4, 8)
    assert Family.ISSUE in {v.family for v in queued(0, 3, 10, tile=0).violations}


def test_queue_shifts_what_its_dependences_count_from() -> None:
    late = only(queued(1, 3, 7))
    assert (late.family, late.required, late.available) == (Family.DEPENDENCE, 4, 3)


def test_queue_shifts_the_hand_off() -> None:
    # the own copy lives from 1 to 1 + 3 + 4 + 2 = 10: nine cycles over eight are two copies
    report = queued(1, 3, 10, "two")
    assert report.legal and dict(report.peaks.registers) == {"one": 10, "two": 5}
    late = only(queued(1, 3, 9, "two"))
    assert (late.family, late.required, late.available) == (Family.DEPENDENCE, 6, 5)


def test_queue_shifts_the_release_of_operands() -> None:
    # the tile lives from its start to the reader's start + delay + 4: up to eight cycles need one slot
    assert queued(2, 3, 10, tile=1).peaks.shared_memory == 10
    assert queued(2, 3, 10, tile=0).peaks.shared_memory == 20


def test_queue_does_not_shift_the_start_as_a_reader() -> None:
    late = only(queued(1, 3, 10, tile=2))
    assert (late.family, late.ops, late.available) == (Family.DEPENDENCE, ("tile", "second"), -1)


def test_the_judge_says_the_same_as_check() -> None:
    judge = Judge(ATTENTION)
    for start in range(2048, 6000, 500):
        moved = move_op(KERNELS["fa_fwd_hopper_2x64"], "sum0", start)
        assert judge.check(moved) == check(ATTENTION, moved)


@pytest.mark.parametrize(
    "broken",
    [
        lambda s: replace(s, ops={**s.ops, "stranger": Placement(0, "compute0")}),
        lambda s: replace(s, ops={name: place for name, place in s.ops.items() if name != "qk0"}),
        lambda s: replace(s, ops={**s.ops, "qk0": Placement(0, "nowhere")}),
        lambda s: replace(s, ops={**s.ops, "qk0": Placement(0, "compute0", 1)}),
        lambda s: replace(s, groups={**s.groups, "compute0": ScheduledGroup("unknown", 8)}),
        lambda s: replace(s, rings={"qk0": 1}),
        lambda s: replace(s, ii=0),
    ],
)
def test_what_does_not_fit_the_graph_is_not_judged(broken) -> None:
    with pytest.raises(ValueError):
        check(ATTENTION, broken(KERNELS["fa_fwd_hopper_2x64"]))


def test_every_violation_can_be_told_as_json() -> None:
    def all_rules_broken() -> tuple[Graph, Schedule]:
        schedule = KERNELS["fa_fwd_hopper_2x64"]
        places = {name: Placement(0, "load0") for name in schedule.ops}
        rules = replace(ATTENTION.rules, isolate_matrix_issue=True, in_order_issue=InOrderIssue.WEAK)
        return replace(ATTENTION, rules=rules, pins={"qk0": Pin(1)}), replace(schedule, ops=places)

    document = check(*all_rules_broken()).as_json()
    assert document["legal"] is False and set(document["peaks"]) == {
        "registers",
        "shared_memory",
        "tensor_memory",
        "units",
    }
    for violation in document["violations"]:
        assert {"family", "ops", "at", "required", "available", "message"} <= set(violation)
        assert all(op in violation["message"] or len(violation["ops"]) > 3 for op in violation["ops"])
