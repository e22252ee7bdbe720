"""The document: edits as undo steps, the judge's verdict on every state, and what undo leaves alone."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from states import GRAPH, SCHEDULE, state

from core.graph.model import Pin
from core.schedule.report import Family
from twill_gui.document import editing
from twill_gui.document.document import Document
from twill_gui.document.state import Change


@pytest.fixture
def document(bot: QtBot) -> Document:
    owner = QObject()
    document = Document(owner)
    document.keep = owner  # type: ignore[attr-defined]
    document.open(state())
    return document


def starts(document: Document) -> dict[str, int]:
    assert document.schedule is not None
    return {op: place.start for op, place in document.schedule.ops.items()}


def test_a_move_is_judged_and_can_be_undone(document: Document) -> None:
    assert document.report is not None and document.report.legal
    assert not document.modified
    editing.move(document, "b", 2, "compute.0")
    assert starts(document) == {"a": 0, "b": 2}
    assert document.report is not None
    assert [violation.family for violation in document.report.violations] == [Family.DEPENDENCE]
    assert document.modified
    document.undo_stack.undo()
    assert document.schedule is SCHEDULE
    assert document.report is not None and document.report.legal
    assert not document.modified


def test_nudges_of_the_same_op_are_one_step(document: Document) -> None:
    for _ in range(3):
        editing.nudge_ops(document, {"b"}, 1)
    editing.nudge_ops(document, {"a"}, 10)
    assert starts(document) == {"a": 10, "b": 6}
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    assert starts(document) == {"a": 0, "b": 6}
    document.undo_stack.undo()
    assert starts(document) == {"a": 0, "b": 3}


def test_nudges_that_come_back_leave_no_step(document: Document) -> None:
    editing.nudge_ops(document, {"b"}, 1)
    editing.nudge_ops(document, {"b"}, -1)
    assert document.schedule is SCHEDULE
    assert document.undo_stack.count() == 0
    assert not document.modified


def test_an_edit_that_changes_nothing_is_no_step(document: Document) -> None:
    revision = document.revision
    editing.move(document, "b", 3, "compute.0")
    editing.nudge_ops(document, {"a"}, -1)  # already at cycle 0
    assert document.undo_stack.count() == 0
    assert document.revision == revision


def test_moves_between_warp_groups_stop_at_the_edge(document: Document) -> None:
    lanes = ("compute.0", "compute.1")
    for expected in ("compute.1", "compute.1"):
        editing.move_to_neighbour(document, {"b"}, lanes, 1)
        assert document.schedule is not None and document.schedule.ops["b"].group == expected
    assert document.undo_stack.count() == 1


def test_pins_go_into_project_and_graph_and_are_judged(document: Document) -> None:
    editing.toggle_pins(document, {"b"})
    assert document.graph is not None and document.state is not None
    assert document.graph.pins == document.state.project.pins == {"b": Pin(3, "compute.0")}
    editing.nudge_ops(document, {"b"}, 1)
    assert document.report is not None
    assert [violation.family for violation in document.report.violations] == [Family.PIN]
    editing.toggle_pins(document, {"b"})
    assert document.graph.pins == document.state.project.pins == {}
    assert document.report.legal


def test_showing_another_schedule(document: Document, bot: QtBot) -> None:
    changes: list[Change] = []
    document.changed.connect(changes.append)
    editing.show_schedule(document, "spare")
    assert document.state is not None
    assert (document.state.active, document.state.project.active) == ("spare", "spare")
    assert changes == [Change.SCHEDULE | Change.SCHEDULES]
    with pytest.raises(KeyError):
        editing.show_schedule(document, "missing")


def test_undo_does_not_undo_a_save(document: Document, tmp_path: Path) -> None:
    editing.nudge_ops(document, {"b"}, 1)
    assert document.state is not None
    file = tmp_path / "project.yaml"
    document.saved(replace(document.state, project=replace(document.state.project, file=file)))
    assert not document.modified
    document.undo_stack.undo()
    assert starts(document)["b"] == 3
    assert document.state.project.file == file
    assert document.modified


def test_views_never_see_a_selection_of_another_graph(document: Document) -> None:
    seen: list[frozenset[str]] = []
    document.changed.connect(lambda _: seen.append(document.selection))
    document.select(frozenset({"a"}))
    document.close()
    assert seen == [frozenset()]


def test_selection_holds_known_ops_only(document: Document) -> None:
    seen: list[frozenset[str]] = []
    document.selection_changed.connect(seen.append)
    document.select(frozenset({"a", "nothing"}))
    document.select(frozenset({"a"}))
    document.close()
    assert seen == [frozenset({"a"}), frozenset()]
    assert (document.state, document.report, document.bounds) == (None, None, None)


def test_every_edit_has_a_new_revision_and_undo_restores_the_first_state(document: Document) -> None:
    random.seed(1)
    first = document.state
    revisions = [document.revision]
    for _ in range(200):
        op = random.choice("ab")
        editing.move(document, op, random.randrange(20), random.choice(("compute.0", "compute.1")))
        revisions.append(document.revision)
    assert revisions == sorted(revisions)
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert document.state == first
    assert document.state is not None and document.state.variant.schedule is SCHEDULE


def test_a_warp_group_is_added_for_ops_to_be_moved_to(document: Document) -> None:
    groups = tuple(replace(kind, count=4) for kind in GRAPH.groups)
    graph = replace(GRAPH, groups=groups)
    assert document.state is not None
    wider = replace(document.state.variant, opened=replace(document.state.variant.opened, graph=graph))
    document.open(replace(document.state, variants={**document.state.variants, "main": wider}))
    editing.add_warp_group(document)
    assert document.schedule is not None and list(document.schedule.groups) == ["compute.0", "compute.1", "compute.2"]
    assert document.schedule.groups["compute.2"].grant == 24
    editing.move(document, "b", 3, "compute.2")
    assert document.report is not None and document.report.legal
    assert editing.add_warp_group(document)
    assert not editing.add_warp_group(document)  # the loop may have no fifth one
    assert len(document.schedule.groups) == 4
    editing.remove_empty_groups(document)
    assert set(document.schedule.groups) == {"compute.0", "compute.2"}
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert document.schedule == SCHEDULE
