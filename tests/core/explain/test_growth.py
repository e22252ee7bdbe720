"""The quick first answer against independent ones, and parts of a graph that exclude by themselves."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from explain_cases import impossible, possible, random_impossible
from solve_brute_force import random_graph

from core.explain.clock import Clock, Solver
from core.explain.constraints import Topic, atoms, named_constraints
from core.explain.cores import Cores
from core.explain.decisions import Decisions
from core.explain.growth import grown
from core.explain.prober import fits
from core.explain.question import Question, why_not_ii
from core.schedule.bounds import certificates
from core.schedule.check import Judge
from core.solve.events import Verdict


def decisions_of(question: Question) -> Decisions:
    return Decisions(question.graph, question.ii, named_constraints(question.graph), Solver(30.0, 1))


def clock() -> Clock:
    return Clock(120.0, lambda: False)


def test_random_graphs() -> None:
    """What is found excluded is, by a set that excludes alone; what is found possible has a legal schedule."""
    seen: Counter[Verdict] = Counter()
    for seed in range(80):
        chance = random.Random(seed)
        question = why_not_ii(replace(random_graph(chance), pins={}), chance.randint(1, 3))
        if certificates(question.graph, question.ii):
            continue
        decisions = decisions_of(question)
        verdict = grown(decisions, clock())
        seen[verdict] += 1
        assert (verdict is Verdict.FEASIBLE) is possible(question.graph, question.ii), seed
        if verdict is Verdict.INFEASIBLE:
            enough = decisions.narrowed((), decisions.constraints)
            assert not possible(decisions.graph_of(enough), question.ii), seed
        else:
            judge = Judge(question.graph)
            assert any(fits(judge, question.graph, schedule) for schedule in decisions.prober.schedules), seed
    assert seen[Verdict.FEASIBLE] >= 20
    assert seen[Verdict.INFEASIBLE] >= 5
    assert not seen[Verdict.UNKNOWN]


@pytest.mark.parametrize(
    "name",
    [
        "fa_fwd_hopper_2x64__100_kib",
        "fa_fwd_hopper_2x64__1_group",
        "fa_fwd_hopper_1x64",
        "fa_fwd_blackwell_2x128__roles",
    ],
)
def test_kernels_leave_something_out(name: str) -> None:
    question = impossible("kernels", name)
    decisions = decisions_of(question)
    assert grown(decisions, clock()) is Verdict.INFEASIBLE
    enough = decisions.narrowed((), decisions.constraints)
    assert atoms(enough) < atoms(decisions.constraints)
    assert not possible(decisions.graph_of(enough), question.ii)


def test_one_softmax_that_must_stay_on_one_group() -> None:
    """Where nothing may cross groups, the dependences of one tile's softmax are enough, and no memory is."""
    question = impossible("kernels", "fa_fwd_blackwell_2x128__no_hand_off")
    decisions = decisions_of(question)
    assert grown(decisions, clock()) is Verdict.INFEASIBLE
    enough = decisions.narrowed((), decisions.constraints)
    (dependences,) = [c.dependences for c in enough if c.topic is Topic.DEPENDENCES]
    tiles = {d.source[-1] for d in dependences} | {d.target[-1] for d in dependences}
    assert len(tiles) == 1
    assert not {Topic.SHARED_MEMORY, Topic.TENSOR_MEMORY} & {c.topic for c in enough}
    assert not possible(decisions.graph_of(enough), question.ii)


def test_no_core_is_part_of_another() -> None:
    several = 0
    for question in random_impossible(range(60)):
        found = [atoms(core.constraints) for core in Cores(decisions_of(question), clock()).find(4)]
        several += len(found) > 1
        for number, core in enumerate(found):
            assert not any(core <= other for other in found[:number] + found[number + 1 :])
    assert several >= 5
