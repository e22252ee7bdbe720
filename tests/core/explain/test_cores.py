"""Cores against independent answers: alone they exclude the interval, less any one of their members they do not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from explain_cases import expected, impossible, possible, random_impossible

from core.explain.clock import Clock, Solver
from core.explain.constraints import Constraint, Topic, atoms, named_constraints
from core.explain.cores import Cores, Found
from core.explain.decisions import Decisions
from core.explain.question import Question
from core.explain.relax import relaxed
from core.graph.model import Graph, InOrderIssue, Op
from core.schedule.report import Family


def decisions_of(question: Question) -> Decisions:
    constraints = named_constraints(question.graph, question.asked)
    return Decisions(question.graph, question.ii, constraints, Solver(30.0, 1))


def clock(seconds: float = 120.0) -> Clock:
    return Clock(seconds, lambda: False)


def check_core(question: Question, core: Found) -> None:
    """The core alone is impossible; without any one of its members, what is left is possible."""
    everything = atoms(named_constraints(question.graph, question.asked))

    def alone(kept: tuple[Constraint, ...]) -> Graph:
        return relaxed(question.graph, everything - atoms(kept))

    assert core.minimal
    assert atoms(core.constraints) <= everything
    assert not possible(alone(core.constraints), question.ii)
    for member in core.constraints:
        rest = tuple(constraint for constraint in core.constraints if constraint is not member)
        assert possible(alone(rest), question.ii), (member.topic, member.subject)


def check_cores(question: Question) -> list[Found]:
    decisions = decisions_of(question)
    finder = Cores(decisions, clock())
    found = list(finder.find(4))
    assert found
    assert len({atoms(core.constraints) for core in found}) == len(found)
    for core in found:
        check_core(question, core)
        refined = finder.refined(core)
        assert refined.refined
        assert atoms(refined.constraints) <= atoms(core.constraints)
        check_core(question, refined)
        if len(found) == 1:
            # Whatever else excludes the interval has all of this core's members.
            assert finder.only(core) is all(
                possible(decisions.graph_of(decisions.without([member])), question.ii) for member in core.constraints
            )
    return found


def test_random_graphs() -> None:
    topics: Counter[Topic] = Counter()
    count = 0
    for question in random_impossible(range(40)):
        count += 1
        for core in check_cores(question):
            topics.update({constraint.topic for constraint in core.constraints})
    assert count >= 20
    assert len(topics) >= 8, topics


def test_an_op_pinned_where_its_companion_may_not_be() -> None:
    """Ops that must be on one group, which not all of them may be on, and to which one is pinned."""
    questions = list(random_impossible(range(1116, 1117)))
    assert questions
    for question in questions:
        check_cores(question)


@pytest.mark.parametrize("seed", [1585, 1660])
def test_a_dependence_that_is_there_twice_is_one_reason(seed: int) -> None:
    (question,) = random_impossible(range(seed, seed + 1))
    assert len(set(question.graph.dependences)) < len(question.graph.dependences)
    check_cores(question)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_graphs() -> None:
    for question in random_impossible(range(1000, 2000)):
        check_cores(question)


def test_tiny_cases_of_known_binding() -> None:
    """A rule which, left out alone, makes the interval possible is part of every core. (What `binding` calls hand_off
    is the time of hand-offs; rules that cannot be left out alone here are judged by the other tests.)"""
    families = {Family.UNIT, Family.REGISTERS, Family.SHARED_MEMORY, Family.TENSOR_MEMORY, Family.ISSUE}
    checked = 0
    for name, case in list(expected("tiny").items())[:60]:
        wanted = {family for family in families if family.value in case["binding"]}
        if not wanted or case["least_ii"] == 1:
            continue
        for core in Cores(decisions_of(impossible("tiny", name)), clock()).find(3):
            checked += 1
            assert wanted <= {constraint.topic.family for constraint in core.constraints}, name
    assert checked > 30


KERNELS = {
    "dual_gemm__1_group": {Topic.DEPENDENCES, Topic.REGISTER_LIMIT, Topic.GROUP_COUNT},
    "fa_fwd_hopper_1x128__1_group": {Topic.DEPENDENCES, Topic.REGISTER_LIMIT, Topic.GROUP_COUNT},
    "fa_fwd_hopper_2x64": {Topic.UNIT},
    # Some of its ops need no more warps than the load group has.
    "layer_norm__1_group": {Topic.ISSUE, Topic.GROUP_COUNT, Topic.VARIABLE_LATENCY},
    "carried_hand_off": {Topic.DEPENDENCES},
    "fa_fwd_hopper_2x64__100_kib": {Topic.DEPENDENCES, Topic.UNIT, Topic.SHARED_MEMORY},
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    question = impossible("kernels", name)
    first = next(Cores(decisions_of(question), clock()).find(1))
    assert {constraint.topic for constraint in first.constraints} == KERNELS[name]
    check_core(question, first)


def test_without_time_nothing_is_called_minimal() -> None:
    question = impossible("kernels", "fa_fwd_hopper_1x64")
    decisions = decisions_of(question)
    first = next(Cores(decisions, clock(0.0)).find(3))
    assert not first.minimal
    assert atoms(first.constraints) == atoms(decisions.constraints)
    refined = Cores(decisions, clock(0.0)).refined(first)
    assert not (refined.minimal or refined.refined)
    assert not possible(decisions.graph_of(refined.constraints), question.ii)


def test_a_role_keeps_its_issue_cycles() -> None:
    """Rule `role` asks which ops issue: issue cannot be left out of some ops only while it holds."""
    ops = {
        "m": Op("m", "op", issue_cycles=1, latency=1, asynchronous=True, matrix=True),
        "s": Op("s", "op", issue_cycles=3, latency=1),
        "l": Op("l", "op", issue_cycles=1, latency=1, variable_latency=True),
    }
    base = impossible("kernels", "gemm").graph
    rules = replace(base.rules, isolate_matrix_issue=True, in_order_issue=InOrderIssue.STRONG)
    groups = (*(k for k in base.groups if k.variable_latency), *(k for k in base.groups if not k.variable_latency))
    graph = replace(base, ops=ops, dependences=(), rules=rules, groups=groups)
    issue = [c for c in named_constraints(graph) if c.topic is Topic.ISSUE]
    assert len(issue) == 1
    without = relaxed(graph, issue)
    assert without.rules.in_order_issue is InOrderIssue.OFF
    assert without.ops["s"].issue_cycles == 3
    shared = replace(graph, rules=replace(rules, isolate_matrix_issue=False))
    assert [c.subject for c in named_constraints(shared) if c.topic is Topic.ISSUE] == ["others", "variable latency"]
