"""What is written is what is read, records included; nothing else in the folder changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fake_solvers
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from states import GRAPH, SCHEDULE, write_project

from core.export.ttgir import annotated_ttgir
from core.project.record import record_file
from core.resources import data_folder
from core.schedule.edits import move_op
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.solve.events import Level, LevelResult, Queueing, SolveOptions, SolveResult, Status, TrailEntry, Verdict
from twill_gui.document import editing, settings
from twill_gui.document.document import Document
from twill_gui.document.files import open_state, save_state
from twill_gui.document.records import Record, load_record
from twill_gui.document.state import with_active, with_schedule
from twill_gui.main_window import MainWindow

RESULT = SolveResult(
    Status.OPTIMAL,
    6,
    6,
    (
        TrailEntry(5, Verdict.INFEASIBLE, 0.25, "recurrence"),
        TrailEntry(6, Verdict.FEASIBLE, 0.5, "cp-sat", "z3", 4, 6, Queueing.HELPS),
    ),
    (LevelResult(Level.II, 6, 6, True), LevelResult(Level.HAND_OFFS, 1, 0, False, 64)),
    1.5,
    SCHEDULE,
)


def solved(folder: Path) -> Path:
    """A project whose schedule was saved with its record."""
    file = write_project(folder, None)
    state = open_state(file).state
    save_state(with_schedule(state, "main", SCHEDULE, Record(RESULT, SolveOptions(), {})), file, state)
    return file


def test_schedule_and_record_come_back(tmp_path: Path) -> None:
    state = open_state(solved(tmp_path / "p")).state
    assert state.active == state.project.active == "main"
    assert state.variant.schedule == SCHEDULE
    assert state.variant.result == replace(RESULT, schedule=None)


def test_unchanged_schedules_are_not_written_again(tmp_path: Path) -> None:
    file = solved(tmp_path / "p")
    schedule = file.parent / "schedules" / "main.yaml"
    schedule.write_text("# mine\n" + schedule.read_text())
    state = open_state(file).state
    save_state(state, file, state)
    assert schedule.read_text().startswith("# mine\n")


def test_an_edited_schedule_has_no_record(tmp_path: Path) -> None:
    file = solved(tmp_path / "p")
    state = open_state(file).state
    save_state(with_schedule(state, "main", move_op(SCHEDULE, "b", 4)), file, state)
    assert not record_file(file.parent / "schedules" / "main.yaml").exists()
    assert open_state(file).state.variant.result is None


def test_saving_elsewhere_takes_everything_along(tmp_path: Path) -> None:
    file = solved(tmp_path / "p")
    state = open_state(file).state
    before = {path: path.read_bytes() for path in file.parent.rglob("*") if path.is_file()}
    moved = save_state(state, tmp_path / "q" / "copy.yaml", state)
    assert moved.project.file == tmp_path / "q" / "copy.yaml"
    again = open_state(tmp_path / "q" / "copy.yaml").state
    assert again.project.input.path == state.project.input.path
    assert again.variant.graph == state.variant.graph
    assert (again.variant.schedule, again.variant.result) == (state.variant.schedule, state.variant.result)
    assert {path: path.read_bytes() for path in file.parent.rglob("*") if path.is_file()} == before


def test_schedules_with_groups_of_their_own_have_graphs_of_their_own(tmp_path: Path) -> None:
    file = solved(tmp_path / "p")
    head = "schema: twill.project/1\nname: two ops\ninput: {graph: graph.yaml}\nactive: small\n"
    small = "{file: schedules/small.yaml, groups: [{kind: compute, warps: 4, count: 1}]}"
    file.write_text(f"{head}schedules:\n  main: schedules/main.yaml\n  small: {small}\n")
    opened = open_state(file)
    state = opened.state
    assert state.active == "small" and state.variant.schedule is None
    assert [group.count for group in state.variant.graph.groups] == [1]
    assert [diagnostic.code for diagnostic in opened.diagnostics] == ["missing-schedule"]
    shown = with_active(state, "main").variant
    assert shown.schedule == SCHEDULE and shown.graph == GRAPH


def test_edits_saved_and_undone_leave_the_same_bytes(bot: QtBot, tmp_path: Path) -> None:
    random.seed(3)
    file = solved(tmp_path / "p")
    schedule = file.parent / "schedules" / "main.yaml"
    files = (file, schedule, record_file(schedule))
    before = [one.read_bytes() for one in files]
    document = Document()
    opened = open_state(file).state
    document.open(opened)
    for _ in range(300):
        op = random.choice("ab")
        if random.random() < 0.2:
            editing.toggle_pins(document, {op})
        else:
            editing.move(document, op, random.randrange(40), random.choice(("compute.0", "compute.1")))
    assert document.state is not None
    saved = save_state(document.state, file, opened)
    document.saved(saved)
    assert schedule.read_bytes() != before[1] and not record_file(schedule).exists()
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    save_state(document.state, file, saved)
    assert [one.read_bytes() for one in files] == before
    document.close()


@pytest.mark.parametrize("text", ["", "[1, 2]", "schema: twill.record/1", "schema: twill.record/9\nstatus: optimal"])
def test_a_damaged_record_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "main.record.yaml").write_text(text)
    assert load_record(tmp_path / "main.yaml", {}) is None


def test_the_jobs_dock_shows_how_the_opened_schedule_was_proved(
    bot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = open_window(solved(tmp_path / "p"), fake_solvers.quick)
    assert window.progress.headline == "Optimal: II 6, proved"
    assert [entry.by for entry in window.progress.trail.rows] == ["recurrence", "cp-sat"]
    assert window.progress.seconds == 1.5
    window.activateWindow()
    bot.waitUntil(window.isActiveWindow)
    bot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    bot.waitUntil(lambda: not window.solving.busy, timeout=20_000)
    assert window.progress.headline == "Optimal: II 2, proved"
    window.document.undo_stack.undo()
    assert window.progress.headline == "Optimal: II 6, proved"


def test_a_proof_is_not_said_of_another_graph(
    bot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    """With a pin more the proof holds if the schedule keeps it; without a pin that the solve had it does not."""
    file = solved(tmp_path / "p")
    window = open_window(file)
    document, status = window.document, window.status.solver

    def proved() -> bool:
        assert document.state is not None
        return document.state.variant.result is not None

    editing.toggle_pins(document, {"b"})
    assert proved() and status.text() == "Optimal: II 6, proved"
    assert window.files.save()
    editing.toggle_pins(document, {"b"})
    assert proved()  # it was solved without
    editing.toggle_pins(document, {"b"})
    window.files.save()
    window.files.open(file)  # now the record is taken for one of a solve with the pin
    editing.toggle_pins(document, {"b"})
    assert not proved() and status.text() == "Last solve: optimal: II 6, proved"
    document.undo_stack.undo()
    assert proved() and status.text() == "Optimal: II 6, proved"
    assert document.state is not None
    rules = replace(GRAPH.rules, allow_hand_off=False)
    settings.set_rules(document, rules)
    assert not proved() and status.text() == "Last solve: optimal: II 6, proved"
    document.undo_stack.undo()
    assert proved() and status.text() == "Optimal: II 6, proved"


def test_a_schedule_in_the_text_is_shown(tmp_path: Path) -> None:
    sample = data_folder("projects") / "gemm_hopper" / "input.ttgir"
    opened = open_state(sample).state.variant.opened
    assert opened.tiles is not None
    kind = {group.variable_latency: group.kind for group in opened.graph.groups}
    schedule = Schedule(
        4096,
        {"l": ScheduledGroup(kind[True], 24), "c": ScheduledGroup(kind[False], 240)},
        {
            op.id: Placement(1024 * index, "l" if op.variable_latency else "c")
            for index, op in enumerate(opened.graph.ops.values())
        },
    )
    text = tmp_path / "annotated.ttgir"
    text.write_text(annotated_ttgir(opened.tiles, schedule, opened.fusion))
    shown = open_state(text).state.variant.schedule
    assert shown is not None
    assert (shown.ii, shown.groups, shown.ops) == (schedule.ii, schedule.groups, schedule.ops)
