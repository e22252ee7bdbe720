"""What would help, applied to a project, is the graph that the explanation spoke of, also once it is opened again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from states import write_project

from core.explain.answer import Highlight, Relaxation
from core.graph.model import Graph, InOrderIssue, Pin
from core.resources import data_folder
from core.schedule.variations import with_costs, with_group_counts, with_register_limit
from twill_gui.document import editing, settings
from twill_gui.document.document import Document
from twill_gui.document.files import open_state, save_state
from twill_gui.document.relaxing import applicable, apply


def change(
    what: str, subject: str | None, old: int | str, new: int | str | None, ops: tuple[str, ...] = ()
) -> Relaxation:
    return Relaxation(what, subject, old, new, True, f"{what} {new}", Highlight(ops))


def with_memory(graph: Graph, size: int) -> Graph:
    return replace(graph, machine=replace(graph.machine, shared_memory_bytes=size))


def with_rules(graph: Graph, **rules: Any) -> Graph:
    return replace(graph, rules=replace(graph.rules, **rules))


CASES = [
    (change("groups", "compute", 1, 3), lambda graph: with_group_counts(graph, {"compute": 3})),
    (change("latency", "warp_group_dot.0", 566, 500), lambda graph: with_costs(graph, "warp_group_dot.0", 500)),
    (change("register limit", None, 240, 248), lambda graph: with_register_limit(graph, 248)),
    (change("shared memory", None, 232448, 240000), lambda graph: with_memory(graph, 240000)),
    (change("issue rule", None, "strong", "off"), lambda graph: with_rules(graph, in_order_issue=InOrderIssue.OFF)),
    (change("hand-offs", None, "forbidden", "allowed"), lambda graph: with_rules(graph, allow_hand_off=True)),
    (change("matrix issue", None, "isolated", "shared"), lambda graph: with_rules(graph, isolate_matrix_issue=False)),
]


@pytest.mark.parametrize(("relaxation", "expected"), CASES, ids=[case[0].what for case in CASES])
def test_the_graph_is_that_of_the_explanation(
    qapp: QApplication, tmp_path: Path, relaxation: Relaxation, expected: Callable[[Graph], Graph]
) -> None:
    shutil.copytree(data_folder("projects") / "gemm_hopper", tmp_path / "p")
    file = tmp_path / "p" / "project.yaml"
    document = Document()
    document.open(open_state(file).state)
    before = document.state
    assert before is not None and document.graph is not None
    if relaxation.what in ("hand-offs", "matrix issue"):  # forbidden first, so that there is something to allow
        settings.set_rules(document, replace(document.graph.rules, allow_hand_off=False, isolate_matrix_issue=True))
        before = document.state
        assert before is not None
    wanted = expected(document.graph)
    steps = document.undo_stack.count()
    assert applicable(before, relaxation)
    apply(document, relaxation)
    assert document.undo_stack.count() == steps + 1
    assert document.graph == wanted
    assert document.state is not None
    save_state(document.state, file)
    assert open_state(file).state.variant.graph == wanted
    document.undo_stack.undo()
    assert document.state == before
    document.close()


def test_pins_are_given_up(qapp: QApplication, tmp_path: Path) -> None:
    document = Document()
    document.open(open_state(write_project(tmp_path / "p")).state)
    editing.toggle_pins(document, {"a", "b"})
    apply(document, change("pins", "a", "pinned", "free", ("a",)))
    assert document.graph is not None and document.graph.pins == {"b": Pin(3, "compute.0")}
    document.close()


def test_what_the_project_cannot_say_is_not_offered(tmp_path: Path) -> None:
    state = open_state(write_project(tmp_path / "p")).state
    for relaxation in (
        change("ii", None, 4, 5),
        change("queue", None, 0, 8),
        change("register limit", None, 255, 256),  # a graph file has no machine to change
        change("pins", "a", "pinned", "free", ("a",)),  # it only stays on its group
        change("groups", "compute", 2, None),
    ):
        assert not applicable(state, relaxation)


def test_an_op_goes_to_a_group_of_the_other_kind(qapp: QApplication) -> None:
    document = Document()
    document.open(open_state(data_folder("projects") / "attention_forward_hopper" / "project.yaml").state)
    assert document.schedule is not None
    editing.move(document, "exp2.2", document.schedule.ops["exp2.2"].start, "load.0")
    assert document.report is not None and not document.report.legal
    apply(document, change("group", "exp2.2", "load.0", "compute", ("exp2.2",)))
    place = document.schedule.ops["exp2.2"]
    assert place.group == "compute.1"  # on compute.0 its dependences allow no start
    assert document.undo_stack.count() == 2
    assert document.report is not None and document.report.legal
    assert document.state is not None
    assert not applicable(document.state, change("group", "exp2.2", "load.0", "load", ("exp2.2",)))
    document.close()
