"""The joint system family by family, against the families' definitions."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from paper_graphs import COMPUTE, make_graph, make_op, seconds
from paper_oracle import satisfiable
from solve_brute_force import random_graph

from core.graph.model import Dependence, Graph, GroupKind, Space
from core.solve.events import Verdict
from core.solve.paper.smt import JointSystem
from core.solve.paper.z3_run import TACTICS, run_z3

LOAD = GroupKind("load", 1, variable_latency=True)


def verdict(graph: Graph, ii: int, length: int, tactic: str = TACTICS[0]) -> bool:
    answer, _ = run_z3(JointSystem(graph, ii, length).text, tactic, seconds(60))
    assert answer is not Verdict.UNKNOWN
    return answer is Verdict.FEASIBLE


@pytest.mark.parametrize("first_seed", range(0, 400, 50))
def test_the_system_says_what_its_families_say(first_seed: int) -> None:
    """Every tactic in turn, on graphs where every family may bind."""
    for seed in range(first_seed, first_seed + 50):
        chance = random.Random(seed)
        graph = random_graph(chance)
        ii, length = chance.randint(1, 4), chance.randint(1, 9)
        expected = satisfiable(graph, ii, length)
        assert verdict(graph, ii, length, TACTICS[seed % len(TACTICS)]) == expected, (seed, ii, length)


def test_no_op_is_in_flight_when_its_group_begins_to_wait() -> None:
    """o runs for 4 cycles beside the group that issued it; v must not wait for u meanwhile, as u and o both have begun
    by then: v comes after all of o or before it."""
    ops = [make_op("u", asynchronous=True), make_op("v"), make_op("o", 4, asynchronous=True)]
    waits = (Dependence("u", "v", 1, blocking=True), Dependence("o", "v", 1))
    graph = make_graph(*ops, dependences=waits)
    assert not verdict(graph, 8, 4)
    assert verdict(graph, 8, 5)
    two_groups = make_graph(*ops, dependences=waits, groups=(GroupKind("compute", 4, 2),))
    assert verdict(two_groups, 8, 4)


def test_an_op_may_start_while_the_waiting_one_runs() -> None:
    """Weaker than the judge's rule, which keeps the group to v for all 4 cycles."""
    ops = [make_op("u", asynchronous=True), make_op("v", 4), make_op("o", 2)]
    waits = (Dependence("u", "v", 1, blocking=True), Dependence("v", "o", 1))
    assert verdict(make_graph(*ops, dependences=waits), 8, 5)


def test_carried_values_of_the_last_copy_are_held_to_the_end() -> None:
    """c is carried and held from its start on, so that v's 60 registers find no cycle after it."""
    ops = [make_op(name, space=Space.REGISTERS, amount=60) for name in "cv"]
    dependences = (Dependence("c", "c", 1, 1), Dependence("c", "v", 1), Dependence("v", "r", 1, release=1))
    for registers, fits in ((100, False), (120, True)):
        graph = make_graph(*ops, make_op("r"), dependences=dependences, registers=registers)
        assert verdict(graph, 3, 3) == fits


def test_a_reader_may_hold_a_value_beyond_its_own_end() -> None:
    """b is done with a's value only after the program has ended; c's value does not fit beside it."""
    ops = [make_op(name, space=Space.REGISTERS, amount=60) for name in "ac"]
    reads = (Dependence("a", "b", 1, release=5), Dependence("c", "d", 1, release=1), Dependence("b", "c", 1))
    graph = make_graph(*ops, make_op("b"), make_op("d"), dependences=reads, registers=100)
    assert not verdict(graph, 4, 4)


def test_registers_of_the_variable_latency_group_are_limited_too() -> None:
    load = make_op("a", variable_latency=True, space=Space.REGISTERS, amount=60)
    reads = (Dependence("a", "b", 1, release=1),)
    for registers, fits in ((50, False), (60, True)):
        graph = make_graph(load, make_op("b"), dependences=reads, groups=(LOAD, COMPUTE), registers=registers)
        assert verdict(graph, 4, 4) == fits


def test_a_kind_of_which_there_is_no_group_holds_nothing() -> None:
    none = GroupKind("load", 1, 0, variable_latency=True)
    graph = make_graph(make_op("a", variable_latency=True), groups=(none, COMPUTE))
    assert not verdict(graph, 4, 4)


def test_an_op_is_complete_when_its_units_are_free() -> None:
    """The result is there after 1 of 3 cycles; with the rest beyond L, copies would overlap unseen."""
    graph = make_graph(replace(make_op("a", 3), latency=1))
    assert not verdict(graph, 3, 2)
    assert verdict(graph, 3, 3)
