"""Ten explanations word for word, and what every one of them must say.

`python tests/core/explain/test_golden.py [NAME ...]` writes the files again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "solve"))

from explain_cases import CASES, case_graph, impossible

from core.commands.explain import explanation_text
from core.explain.explain import explain
from core.explain.options import ExplainOptions
from core.explain.question import Question, why_not_groups, why_not_registers, why_not_there, why_not_together
from core.schedule.read import load_schedule

GOLDEN = Path(__file__).parents[2] / "golden" / "explain"


def there(name: str, op: str, group: str | None = None, start: int | None = None) -> Question:
    """About an op of a kernel's schedule."""
    graph = case_graph("kernels", name)
    schedule = load_schedule(CASES / "kernels" / "schedules" / f"{name}.yaml", graph)
    return why_not_there(graph, op, schedule.ii, group, start, schedule)


QUESTIONS: dict[str, Callable[[], Question]] = {
    "figure_1": lambda: impossible("kernels", "figure_1"),
    "carried_hand_off": lambda: impossible("kernels", "carried_hand_off"),
    "attention_at_the_bound": lambda: impossible("kernels", "fa_fwd_hopper_2x64"),
    "attention_one_group": lambda: impossible("kernels", "fa_fwd_hopper_1x128__1_group"),
    "layer_norm_one_group": lambda: impossible("kernels", "layer_norm__1_group"),
    "dual_gemm_one_group": lambda: impossible("kernels", "dual_gemm__1_group"),
    "gemm_no_group": lambda: why_not_groups(case_graph("kernels", "gemm"), {"compute": 0}, 512),
    "gemm_few_registers": lambda: why_not_registers(case_graph("kernels", "gemm"), 64, 512),
    "op_on_load_group": lambda: there("fa_fwd_hopper_1x64", "exp0", "load"),
    "op_too_early": lambda: there("deeper_at_ii_1", "b", start=1),
    "attention_one_tile": lambda: impossible("kernels", "fa_fwd_hopper_1x64"),
    "blackwell_without_hand_off": lambda: impossible("kernels", "fa_fwd_blackwell_2x128__no_hand_off"),
    "apart": lambda: why_not_together(case_graph("kernels", "fa_fwd_hopper_1x64"), ("load_k", "qk0"), 1424),
}


SEARCHED = {"attention_one_tile", "blackwell_without_hand_off"}
"""Those for which a solver works long, so that a busy machine ends it."""

LONG = [pytest.mark.long, pytest.mark.timeout(1800)]


def told(name: str) -> str:
    question = QUESTIONS[name]()
    options = ExplainOptions(total_s=1200.0, cores=1) if name in SEARCHED else ExplainOptions(total_s=240.0)
    explanation = replace(explain(question, options), seconds=0.0)
    return explanation_text(question.graph.name, explanation) + "\n"


@pytest.mark.parametrize("name", [n if n not in SEARCHED else pytest.param(n, marks=LONG) for n in QUESTIONS])
def test_word_for_word(name: str) -> None:
    assert told(name) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", QUESTIONS)
def test_in_the_words_of_the_user(name: str) -> None:
    """No solver's words, and ops by names that are in the graph."""
    text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    for word in (
        "sat",
        "unsat",
        "cp-sat",
        "z3",
        "assumption",
        "literal",
        "core",
        "solver",
        "infeasible",
        "constraint",
        "None",
    ):
        assert not re.search(rf"\b{re.escape(word)}\b", text), word
    assert any(re.search(rf"\b{re.escape(op)}\b", text) for op in QUESTIONS[name]().graph.ops)


def write() -> None:
    """Writes all golden files."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or QUESTIONS:
        (GOLDEN / f"{name}.txt").write_text(told(name), encoding="utf-8")


if __name__ == "__main__":
    write()
