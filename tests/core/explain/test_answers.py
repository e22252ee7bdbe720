"""The stream of answers as a view or a job's process takes it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import pairwise

import pytest
from explain_cases import case_graph, impossible

from core.explain.answer import Explanation, Highlight, ProofState, Relaxation
from core.explain.explain import explain
from core.explain.options import ExplainOptions
from core.explain.question import Question, why_not_ii, why_not_registers, why_not_together
from core.graph.model import Graph, GroupKind, Limits, Op, Pin, RegisterFile
from core.solve.events import Verdict

QUESTIONS = {
    "units": lambda: impossible("kernels", "figure_1"),
    "registers": lambda: why_not_registers(case_graph("kernels", "gemm"), 64, 512),
    "groups": lambda: impossible("kernels", "layer_norm__1_group"),
    "apart": lambda: why_not_together(case_graph("kernels", "fa_fwd_hopper_1x64"), ("load_k", "qk0"), 1424),
}


def stream(question: Question) -> list[Explanation]:
    answers: list[Explanation] = []
    last = explain(question, ExplainOptions(total_s=60.0), answers.append)
    assert answers[-1] is last
    return answers


def highlights(answer: Explanation) -> Iterator[Highlight]:
    yield from (reason.highlight for core in answer.cores for reason in core.reasons)
    yield from (relaxation.highlight for relaxation in answer.relaxations)


def check_names(graph: Graph, highlight: Highlight) -> None:
    assert set(highlight.ops) <= graph.ops.keys()
    assert set(highlight.dependences) <= set(graph.dependences)
    assert set(highlight.units) <= graph.machine.units.keys()
    assert set(highlight.groups) <= {kind.kind for kind in graph.groups}


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_answer_says_more(name: str) -> None:
    question = QUESTIONS[name]()
    answers = stream(question)
    assert [answer.done for answer in answers] == [False] * (len(answers) - 1) + [True]
    states = [answer.state for answer in answers]
    order = [ProofState.UNKNOWN, ProofState.PROVED, ProofState.PROVED_MINIMAL]
    assert [order.index(state) for state in states] == sorted(order.index(state) for state in states)
    for before, after in pairwise(answers):
        assert before.verdict in (Verdict.UNKNOWN, after.verdict)
        assert set(before.relaxations) <= set(after.relaxations)
        assert before.seconds <= after.seconds
    for answer in answers:
        assert pickle.loads(pickle.dumps(answer)) == answer
        for highlight in highlights(answer):
            check_names(question.graph, highlight)


def test_reasons_light_up_what_they_name() -> None:
    (core,) = stream(QUESTIONS["units"]())[-1].cores
    assert core.reasons[0].highlight == Highlight(("s", "o"), units=("tensor_core",))
    found = {reason.family.value: reason.highlight for reason in stream(QUESTIONS["groups"]())[-1].cores[0].reasons}
    assert found["groups"].groups == found["issue"].groups == ("compute",)
    assert found["variable_latency"].groups == ("load",)


def test_a_stop_ends_the_stream_with_what_is_known() -> None:
    """The stop comes with the first answer: arithmetic has excluded the interval, only arithmetic goes on."""
    answers: list[Explanation] = []
    question = impossible("kernels", "fa_fwd_blackwell_2x128")
    last = explain(question, ExplainOptions(), answers.append, lambda: bool(answers))
    assert last.verdict is Verdict.INFEASIBLE
    assert last.done
    assert last.cores[0].state is ProofState.PROVED
    assert all(relaxation.new is None for relaxation in last.relaxations)


def test_many_reasons_are_summed_up_by_the_interval_that_they_allow() -> None:
    """Ten ops of one cycle each, all pinned to one group: eleven reasons, with which ten cycles are enough."""
    ops = {f"op{number}": Op(f"op{number}", "op", issue_cycles=1) for number in range(10)}
    machine = Limits({}, RegisterFile(65536, 255))
    pins = dict.fromkeys(ops, Pin(group="c.0"))
    question = why_not_ii(Graph("pinned", machine, (GroupKind("c", 4, 10),), ops, pins=pins), 9)
    core = stream(question)[-1].cores[0]
    assert core.state is ProofState.PROVED_MINIMAL
    assert len(core.reasons) == 11
    assert (core.nearest_ii, core.nearest_proved) == (10, True)


def test_a_change_that_may_be_too_large_says_so() -> None:
    """Of a latency the smaller change is the greater number."""
    sure = Relaxation("latency", "a", 10, 4, True, "a latency of 4 cycles for a instead of 10")
    unsure = Relaxation("latency", "a", 10, 4, False, sure.sentence)
    never = Relaxation("ii", None, 4, None, True, "no II from 4 to 16 is possible")
    assert sure.text == sure.sentence
    assert unsure.text == f"{sure.sentence} (perhaps a smaller change is enough)"
    assert never.text == never.sentence
