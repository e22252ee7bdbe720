"""Changes that would help: possible as told, impossible one less."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from explain_cases import impossible, possible, random_impossible
from solve_brute_force import random_graph

from core.commands.explain import explanation_text
from core.explain.answer import Explanation, Relaxation
from core.explain.explain import explain
from core.explain.options import ExplainOptions
from core.explain.question import Question, why_not_ii
from core.graph.model import Block, Dependence, Graph, GroupKind, InOrderIssue, Limits, Op, Pin, RegisterFile
from core.schedule.variations import with_costs, with_group_counts, with_register_limit
from core.solve.events import Verdict

LIMITS = ExplainOptions(total_s=120.0)


def changed(graph: Graph, relaxation: Relaxation, value: int) -> Graph:
    """The graph with the number that the relaxation names, from its meaning."""
    machine, subject = graph.machine, relaxation.subject or ""

    def edit_ops(edit: dict[str, Op]) -> Graph:
        return replace(graph, ops=edit)

    match relaxation.what:
        case "capacity":
            return replace(graph, machine=replace(machine, units={**machine.units, subject: value}))
        case "register limit":
            return with_register_limit(graph, value)
        case "shared memory":
            return replace(graph, machine=replace(machine, shared_memory_bytes=value))
        case "tensor memory":
            return replace(graph, machine=replace(machine, tensor_memory_columns=value))
        case "groups":
            return with_group_counts(graph, {subject: value})
        case "latency":
            return with_costs(graph, subject, latency=value)
        case "hand-off":
            return edit_ops(
                {name: replace(op, hand_off_cycles=min(op.hand_off_cycles, value)) for name, op in graph.ops.items()}
            )
        case "queue":
            queued = {
                name: replace(op, queue=max(op.queue, value)) if op.asynchronous and op.blocks else op
                for name, op in graph.ops.items()
            }
            return edit_ops(queued)
        case other:
            raise AssertionError(other)


def allowed(graph: Graph, relaxation: Relaxation) -> Graph:
    """The graph without the rule that the relaxation gives up."""
    match relaxation.what:
        case "issue rule":
            return replace(graph, rules=replace(graph.rules, in_order_issue=InOrderIssue.OFF))
        case "hand-offs":
            return replace(graph, rules=replace(graph.rules, allow_hand_off=True))
        case "matrix issue":
            return replace(graph, rules=replace(graph.rules, isolate_matrix_issue=False))
        case other:
            raise AssertionError(other)


FEWER = {"latency", "hand-off"}
"""Numbers of which less makes more possible."""

AMPLE = {
    "capacity": 1000,
    "shared memory": 1 << 30,
    "tensor memory": 1 << 30,
    "groups": 9,
    "latency": 0,
    "hand-off": 0,
    "register limit": 255,
}


def check_relaxation(question: Question, relaxation: Relaxation) -> None:
    graph, ii = question.graph, question.ii
    old, new = relaxation.old, relaxation.new
    if relaxation.what == "pins":
        check_pins(question, relaxation)
    elif relaxation.what == "ii":
        last = 4 * ii if new is None else int(new) - 1
        # Of a long range the ends: without pinned starts and late blocks, what is possible once stays so.
        between = range(ii, last + 1) if last < 40 else (ii, last)
        assert not any(possible(graph, other) for other in between)
        assert new is None or possible(graph, int(new))
    elif new is None:
        assert not possible(changed(graph, relaxation, AMPLE[relaxation.what]), ii)
    elif isinstance(old, str):
        assert possible(allowed(graph, relaxation), ii)
    else:
        assert relaxation.least
        value = int(new)
        less = value + 1 if relaxation.what in FEWER else value - 1
        assert (value < old) if relaxation.what in FEWER else (value > old)
        assert possible(changed(graph, relaxation, value), ii)
        assert not possible(changed(graph, relaxation, less), ii)


def check_pins(question: Question, relaxation: Relaxation) -> None:
    graph = question.graph
    given_up = [op for op in graph.pins if op in (relaxation.subject or "").replace(" and ", ", ").split(", ")]

    def without(ops: tuple[str, ...]) -> Graph:
        return replace(graph, pins={op: pin for op, pin in graph.pins.items() if op not in ops})

    assert possible(without(tuple(given_up)), question.ii)
    for size in range(len(given_up)):
        assert not any(possible(without(ops), question.ii) for ops in combinations(graph.pins, size))


def explained(question: Question) -> Explanation:
    explanation = explain(question, LIMITS)
    assert explanation.verdict is Verdict.INFEASIBLE
    for relaxation in explanation.relaxations:
        check_relaxation(question, relaxation)
    return explanation


def sweep(seeds: range) -> Counter[str]:
    """Instances, cores and those confirmed, changes that are enough and that are not, by name."""
    seen: Counter[str] = Counter()
    for question in random_impossible(seeds):
        explanation = explained(question)
        seen["instances"] += 1
        seen["cores"] += len(explanation.cores)
        seen["confirmed"] += sum(core.confirmed_by is not None for core in explanation.cores)
        for relaxation in explanation.relaxations:
            seen[f"{relaxation.what}{' never' * (relaxation.new is None)}"] += 1
    return seen


def test_random_graphs() -> None:
    seen = sweep(range(4000, 4030))
    assert seen["instances"] >= 12
    assert seen["confirmed"] >= 0.9 * seen["cores"]
    assert seen.keys() & {"ii never", "capacity never", "groups never", "register limit never", "shared memory never"}


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_graphs() -> None:
    seen = sweep(range(4000, 4140))
    assert seen["instances"] >= 60
    assert seen["confirmed"] >= 0.9 * seen["cores"]
    assert sum(" never" not in what for what in seen) >= 12, seen
    assert sum(" never" in what for what in seen) >= 4, seen


def test_the_fewest_pins() -> None:
    """Random pins of starts and groups, often several too many."""
    numbers: Counter[int] = Counter()
    for seed in range(60):
        chance = random.Random(seed)
        graph = random_graph(chance, 4)
        if not possible(replace(graph, pins={}), 4):
            continue
        pins = {op: Pin(chance.randint(0, 3), chance.choice([None, "m"])) for op in graph.ops if chance.random() < 0.9}
        question = why_not_ii(replace(graph, pins=pins), 4)
        if possible(question.graph, 4):
            continue
        (found,) = [r for r in explained(question).relaxations if r.what == "pins"]
        assert found.subject is not None
        numbers[found.subject.count(",") + found.subject.count(" and ") + 1] += 1
    assert numbers


def test_two_pins_at_once() -> None:
    """Two pairs of ops, each pinned the wrong way round: no single pin is enough, one of each pair is."""
    pairs = (("a", "b"), ("c", "d"))
    ops = {name: Op(name, "op", latency=3) for pair in pairs for name in pair}
    dependences = tuple(Dependence(*pair, 3) for pair in pairs)
    pins = {name: Pin(0) for name in ops}
    machine = Limits({}, RegisterFile(65536, 255))
    question = why_not_ii(Graph("pairs", machine, (GroupKind("c", 4),), ops, dependences, pins=pins), 4)
    (found,) = [relaxation for relaxation in explained(question).relaxations if relaxation.what == "pins"]
    assert found.subject is not None
    given_up = set(found.subject.split(" and "))
    assert [len(given_up & set(pair)) for pair in pairs] == [1, 1]


def test_smallest_change_first() -> None:
    explanation = explained(impossible("kernels", "fa_fwd_hopper_1x128__1_group"))
    relative = [
        abs(relaxation.new - relaxation.old) / relaxation.old
        for relaxation in explanation.relaxations
        if isinstance(relaxation.new, int) and isinstance(relaxation.old, int)
    ]
    assert relative == sorted(relative)
    assert [r.new is None for r in explanation.relaxations] == sorted(r.new is None for r in explanation.relaxations)


def test_without_time_no_size_is_called_least() -> None:
    explanation = explain(impossible("kernels", "fa_fwd_blackwell_2x128__2_groups"), ExplainOptions(total_s=0.001))
    assert explanation.verdict is Verdict.UNKNOWN
    assert explanation.cores == explanation.relaxations == ()
    stopped = explain(impossible("kernels", "fa_fwd_hopper_2x64"), stopped=lambda: True)
    assert stopped.verdict is Verdict.INFEASIBLE
    assert all(not (relaxation.least and relaxation.new) for relaxation in stopped.relaxations)


def test_impossible_without_queueing() -> None:
    """Two tiles fill the unit, two cycles each, and leave their group one cycle twice, where another op needs two in a
    row: issued one cycle before the unit is free, the second tile leaves room."""
    tile = Op("a", "op", blocks=(Block("x", 0, 2),), issue_cycles=1, latency=2, asynchronous=True)
    ops = {"a": tile, "b": replace(tile, id="b"), "c": Op("c", "op", issue_cycles=2, latency=2)}
    question = why_not_ii(Graph("queue", Limits({"x": 1}, RegisterFile(65536, 255)), (GroupKind("g", 4),), ops), 4)
    explanation = explained(question)
    (queue,) = [relaxation for relaxation in explanation.relaxations if relaxation.what == "queue"]
    assert (queue.old, queue.new, queue.least) == (0, 1, True)
    assert explanation.queueing_helps
    assert "is impossible without queueing" in explanation_text("queue", explanation)
    assert not explained(why_not_ii(question.graph, 3)).queueing_helps
