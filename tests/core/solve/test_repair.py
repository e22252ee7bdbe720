"""Repair: against everything tried on tiny graphs, and what must hold of every answer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from repair_oracle import nearest
from solve_brute_force import random_graph
from solve_cases import answer

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, Pin, RegisterFile, Result, Space
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.check import check
from core.schedule.edits import move_op, set_ring, shift
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.read import load_schedule
from core.solve.events import Verdict
from core.solve.repair.cascade import cascade
from core.solve.repair.repair import repair, with_moves
from core.solve.repair.request import Place, Repaired, RepairRequest


def tiny(seeds: range) -> Iterator[tuple[Graph, Schedule, dict[str, Place]]]:
    """Solved random graphs, each with a random move of one op within its first two stages."""
    for seed in seeds:
        chance = random.Random(seed)
        graph = random_graph(chance, 3)
        for ii in (2, 3):
            result = answer(graph, ii=ii)
            if result.schedule is not None:
                op = chance.choice(list(graph.ops))
                place = Place(chance.randrange(2 * ii), chance.choice(list(result.schedule.groups)))
                yield graph, result.schedule, {op: place}
                break


def check_answer(graph: Graph, schedule: Schedule, moves: dict[str, Place], found: Repaired) -> None:
    """A repaired schedule is legal, has the moves, and is as far from the old one as the answer says."""
    if found.schedule is None:
        return
    assert check(graph, found.schedule).legal
    base = shift(schedule, found.later * schedule.ii)
    for op, place in moves.items():
        there = found.schedule.ops[op]
        assert (there.start, there.group) == (place.start + found.later * schedule.ii, place.group)
    others = [op for op in graph.ops if op not in moves]
    assert set(found.moved) == {op for op in others if found.schedule.ops[op] != base.ops[op]}
    assert found.count.value == len(found.moved) >= found.count.bound
    far = sum(abs(found.schedule.ops[op].start - base.ops[op].start) for op in others)
    far += sum(abs(found.schedule.ops[op].delay - base.ops[op].delay) for op in graph.ops)
    assert found.movement.value == far >= found.movement.bound
    assert found.schedule.origin is not None
    assert found.schedule.origin.by == "repair"


def compare_with_everything_tried(seeds: range) -> None:
    seen: set[tuple[Verdict, int]] = set()
    for graph, schedule, moves in tiny(seeds):
        found = repair(RepairRequest(graph, schedule, moves, limit_s=60))
        check_answer(graph, schedule, moves, found)
        seen.add((found.verdict, found.count.value))
        best = nearest(graph, schedule, moves, stages=3)
        if found.verdict is Verdict.INFEASIBLE:
            assert best is None, (graph, moves)
            continue
        assert found.verdict is Verdict.FEASIBLE
        assert found.count.proved
        assert found.movement.proved
        assert found.schedule is not None
        within = max(place.start for place in found.schedule.ops.values()) < 3 * schedule.ii
        measured = found.count.value, found.movement.value
        if within:
            assert best == measured, (graph, moves)
        else:
            assert best is None or best >= measured, (graph, moves)
    assert {verdict for verdict, _ in seen} == {Verdict.FEASIBLE, Verdict.INFEASIBLE}
    assert {count for _, count in seen} >= {0, 1, 2}


def test_fewest_moves_and_least_movement_against_everything_tried() -> None:
    compare_with_everything_tried(range(70))


@pytest.mark.long
def test_many_against_everything_tried() -> None:
    compare_with_everything_tried(range(1000, 1600))


def test_rotation_never_needs_more_moves() -> None:
    for graph, schedule, moves in tiny(range(100, 140)):
        literal = repair(RepairRequest(graph, schedule, moves, limit_s=60))
        rotated = repair(RepairRequest(graph, schedule, moves, may_rotate=True, limit_s=60))
        check_answer(graph, schedule, moves, rotated)
        assert literal.later == 0
        if literal.verdict is Verdict.FEASIBLE:
            assert rotated.verdict is Verdict.FEASIBLE
            assert rotated.count.value <= literal.count.value
        if any(pin.start is not None for pin in graph.pins.values()):
            assert rotated == replace(literal, seconds=rotated.seconds)


def chain(*latencies: int, capacity: int = 1, groups: int = 1) -> Graph:
    """Ops a, b, ... each after the one before, of one cycle of a unit each."""
    names = "abcdef"[: len(latencies)]
    ops = {
        name: Op(name, "op", blocks=(Block("x", 0, 1),), issue_cycles=1, latency=latency)
        for name, latency in zip(names, latencies, strict=True)
    }
    dependences = tuple(Dependence(one, other, ops[one].latency) for one, other in pairwise(names))
    machine = Limits({"x": capacity}, RegisterFile(1 << 20, 255), 1 << 20)
    return Graph("chain", machine, (GroupKind("c", 4, groups),), ops, dependences)


def placed(graph: Graph, ii: int, *starts: int) -> Schedule:
    ops = {op: Placement(start, "c.0") for op, start in zip(graph.ops, starts, strict=True)}
    return Schedule(ii, {"c.0": ScheduledGroup("c", 8)}, ops)


def test_what_is_in_the_way_is_pushed_and_nothing_else() -> None:
    graph = chain(2, 2, 2, 2)
    found = repair(RepairRequest(graph, placed(graph, 12, 0, 2, 7, 9), {"a": Place(1, "c.0")}))
    assert found.moved == ("b",)
    assert (found.count.proved, found.movement.value, found.movement.proved) == (True, 1, True)
    assert found.schedule is not None
    assert [place.start for place in found.schedule.ops.values()] == [1, 3, 7, 9]


def test_one_op_past_all_others_is_fewer_than_all_others_a_little_later() -> None:
    ops = {name: Op(name, "op", blocks=(Block("x", 0, 3),), issue_cycles=3, latency=3) for name in "abcd"}
    graph = replace(chain(3, 3), ops=ops)
    schedule = placed(graph, 20, 0, 3, 6, 10)
    moves = {"a": Place(2, "c.0")}
    pushed = cascade(graph, with_moves(graph, schedule, moves), moves)
    assert pushed is not None and check(graph, pushed).legal
    assert [place.start for place in pushed.ops.values()] == [2, 5, 8, 11]
    found = repair(RepairRequest(graph, schedule, moves))
    assert (found.moved, found.count.proved) == (("b",), True)
    assert (found.movement.value, found.movement.proved) == (10, True)


def test_on_a_unit_without_an_idle_cycle_one_block_takes_all_others_along() -> None:
    blocks = {name: Op(name, "op", blocks=(Block("x", 0, 4),), issue_cycles=1, latency=1) for name in "abcdef"}
    graph = replace(chain(1, groups=6), ops=blocks, dependences=())
    schedule = placed(graph, 24, 0, 4, 8, 12, 16, 20)
    found = repair(RepairRequest(graph, schedule, {"c": Place(9, "c.0")}))
    check_answer(graph, schedule, {"c": Place(9, "c.0")}, found)
    assert (found.count.value, found.count.bound, found.movement.value, found.movement.bound) == (5, 5, 5, 5)


def test_what_time_allows_and_registers_do_not_moves_more() -> None:
    ops = {**chain(1, 1, 1, capacity=2).ops}
    ops["a"] = replace(ops["a"], result=Result(Space.REGISTERS, 100))
    graph = replace(chain(1, 1, 1, capacity=2), ops=ops)
    graph = replace(graph, machine=replace(graph.machine, registers=RegisterFile(1 << 20, 104)))
    schedule = placed(graph, 6, 0, 1, 2)
    schedule = replace(schedule, groups={"c.0": ScheduledGroup("c", 104)})
    moves = {"b": Place(8, "c.0")}
    found = repair(RepairRequest(graph, schedule, moves))
    check_answer(graph, schedule, moves, found)
    assert (found.moved, found.count.proved) == (("a", "c"), True)


def test_a_legal_drop_moves_nothing() -> None:
    graph = chain(2, 2)
    found = repair(RepairRequest(graph, placed(graph, 12, 0, 5), {"b": Place(3, "c.0")}))
    assert (found.verdict, found.moved, found.count.proved) == (Verdict.FEASIBLE, (), True)


def test_nothing_starts_before_cycle_0_unless_everything_may_start_later() -> None:
    graph = chain(2, 2)
    request = RepairRequest(graph, placed(graph, 12, 0, 2), {"b": Place(1, "c.0")})
    assert repair(request).verdict is Verdict.INFEASIBLE
    found = repair(replace(request, may_rotate=True))
    check_answer(graph, request.schedule, dict(request.moves), found)
    assert (found.later, found.moved) == (1, ("a",))


def test_without_moves_an_illegal_schedule_becomes_legal() -> None:
    graph = chain(2, 2, 2)
    found = repair(RepairRequest(graph, placed(graph, 12, 0, 1, 4), {}))
    assert found.count == replace(found.count, value=1, bound=1)


def test_pins_of_the_project_stay() -> None:
    graph = replace(chain(2, 2), pins={"b": Pin(start=2)})
    found = repair(RepairRequest(graph, placed(graph, 12, 0, 2), {"a": Place(1, "c.0")}))
    assert found.verdict is Verdict.INFEASIBLE
    contradicted = repair(RepairRequest(graph, placed(graph, 12, 0, 2), {"b": Place(3, "c.0")}))
    assert contradicted.verdict is Verdict.INFEASIBLE


def test_a_group_that_the_schedule_does_not_use_yet() -> None:
    graph = chain(2, 2, groups=2)
    found = repair(RepairRequest(graph, placed(graph, 12, 0, 2), {"b": Place(2, "c.1")}))
    assert found.moved == ()
    assert found.schedule is not None
    assert found.schedule.groups.keys() == {"c.0", "c.1"}


def test_grants_and_rings_change_only_as_far_as_they_must() -> None:
    graph = chain(1, 1, 1)
    ops = {
        **graph.ops,
        "a": replace(graph.ops["a"], result=Result(Space.REGISTERS, 10)),
        "b": replace(graph.ops["b"], result=Result(Space.SHARED, 16)),
    }
    graph = replace(graph, ops=ops)
    before = set_ring(placed(graph, 6, 0, 1, 2), "b", 3)
    before = replace(before, groups={"c.0": ScheduledGroup("c", 10)})
    assert check(graph, before).legal
    found = repair(RepairRequest(graph, before, {"b": Place(7, "c.0")}))
    assert found.schedule is not None
    assert found.schedule.rings == {"b": 3}
    assert found.schedule.groups["c.0"].grant == 20
    assert check(graph, found.schedule).legal


def test_unknown_ops_and_groups_and_starts_before_0_are_errors() -> None:
    graph = chain(2, 2)
    schedule = placed(graph, 12, 0, 2)
    for move, fault in (
        ({"z": Place(0, "c.0")}, KeyError),
        ({"a": Place(0, "c.9")}, KeyError),
        ({"a": Place(-1, "c.0")}, ValueError),
    ):
        with pytest.raises(fault):
            repair(RepairRequest(graph, schedule, move))


@pytest.mark.parametrize(
    ("name", "op", "cycles"),
    [
        ("attention_forward_hopper", "reduce.2", -50),
        ("attention_forward_blackwell", "tc_gen5_mma.3", -4),
        ("attention_backward_hopper", "descriptor_reduce.0", 39),
    ],
)
def test_drags_in_the_attention_projects(name: str, op: str, cycles: int) -> None:
    project = load_project(data_folder("projects") / name)
    graph = open_project(project).graph
    schedule = load_schedule(project.schedules["main"].file, graph)
    place = schedule.ops[op]
    start, group = place.start + cycles, place.group
    moves = {op: Place(start, group)}
    assert not check(graph, move_op(schedule, op, start, group)).legal
    request = RepairRequest(graph, schedule, moves, may_rotate=True, limit_s=60)
    found = repair(request)
    check_answer(graph, schedule, moves, found)
    assert found.verdict is Verdict.FEASIBLE
    assert found.count.proved
    again = repair(request)
    assert again == replace(found, seconds=again.seconds)


def test_without_effort_there_is_still_an_answer() -> None:
    """Not the nearest one, perhaps; whether there is one at all does not depend on the effort."""
    verdicts: set[Verdict] = set()
    for graph, schedule, moves in tiny(range(40)):
        found = repair(RepairRequest(graph, schedule, moves, may_rotate=True, effort_s=1e-9))
        check_answer(graph, schedule, moves, found)
        assert found.verdict is repair(RepairRequest(graph, schedule, moves, may_rotate=True)).verdict
        verdicts.add(found.verdict)
    assert verdicts == {Verdict.FEASIBLE, Verdict.INFEASIBLE}


def test_a_stop_and_an_empty_budget_are_no_answer_or_what_is_known() -> None:
    graph = chain(2, 2, groups=2)
    request = RepairRequest(graph, placed(graph, 12, 0, 2), {"b": Place(1, "c.1")})
    assert repair(request, lambda: True).verdict is Verdict.UNKNOWN
    pushed = repair(RepairRequest(graph, placed(graph, 12, 0, 2), {"a": Place(1, "c.0")}), lambda: True)
    assert pushed.verdict is Verdict.FEASIBLE
    assert not pushed.count.proved
    assert with_moves(graph, request.schedule, request.moves).ops["b"] == Placement(1, "c.1")
