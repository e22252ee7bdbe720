"""An illegal drop with a real mouse, and what is offered then: repair, push, undo."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import fake_repairs
import pytest
from leaks import solver_processes
from PySide6.QtCore import QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from states import GRAPH, SCHEDULE, state, write_project

from core.graph.model import Pin
from core.resources import data_folder
from core.schedule.edits import move_op
from core.solve.events import SolveOptions
from core.solve.repair.request import Place
from core.solve.solve import answer
from twill_gui.action_table import ACTIONS
from twill_gui.document import editing
from twill_gui.document.document import Document
from twill_gui.document.state import with_pin
from twill_gui.main_window import MainWindow
from twill_gui.models.asking import moved_there, question
from twill_gui.repairing import TOPIC, Repairing
from twill_gui.views.message_bar import Message

OpenWindow = Callable[..., MainWindow]
LEFT, NO_MODIFIER = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def window(open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    return open_window(write_project(tmp_path / "project"))


def drag(window: MainWindow, op: str, cycles: int) -> None:
    """Drags the op's bar by so many cycles with the left button."""
    canvas, content = window.gantt.canvas, window.gantt.content
    assert content is not None
    places = [QPointF(x, y) for y in range(0, canvas.height(), 3) for x in range(0, canvas.width(), 3)]
    bars = ((place, canvas.bar_at(place)) for place in places)
    place = next(place for place, bar in bars if bar is not None and bar.op == op and bar.block is None)
    start = place.toPoint() + QPoint(2, 2)
    end = start + QPoint(round(cycles * window.gantt.axis.scale), 0)
    QTest.mouseMove(canvas, start)
    QTest.mousePress(canvas, LEFT, NO_MODIFIER, start)
    for step in (1, 2, 3):
        QTest.mouseMove(canvas, start + (end - start) * (step / 3))
    QTest.mouseRelease(canvas, LEFT, NO_MODIFIER, end)


def offer(window: MainWindow) -> Message | None:
    return next((message for message in window.messages.messages if message.topic == TOPIC), None)


def labels(message: Message | None) -> list[str]:
    return [] if message is None else [label for label, _ in message.buttons]


def click(bot: QtBot, window: MainWindow, label: str) -> None:
    [button] = [b for b in window.messages.findChildren(QPushButton) if b.text() == label and b.isVisible()]
    bot.mouseClick(button, LEFT)


def wait(bot: QtBot, window: MainWindow) -> None:
    bot.waitUntil(lambda: not window.repairing.busy, timeout=60_000)


def legal(window: MainWindow) -> bool:
    report = window.document.report
    return report is not None and report.legal


def test_an_illegal_drop_is_repaired_in_one_undo_step(bot: QtBot, window: MainWindow) -> None:
    drag(window, "b", -2)
    dropped = window.document.schedule
    assert dropped is not None and dropped.ops["b"].start == 1 and not legal(window)
    told = offer(window)
    assert told is not None and labels(told) == ["Repair", "Undo"]
    assert told.text.startswith("b breaks 1 rule: b must start 3 cycles after a and has 1")
    click(bot, window, "Repair")
    assert window.repairing.busy and window.actions_by_name["cancel"].isEnabled()
    assert labels(offer(window)) == ["Cancel"]
    wait(bot, window)
    repaired = window.document.schedule
    assert repaired is not None and legal(window)
    assert (repaired.ops["a"].start, repaired.ops["b"].start) == (4, 7)
    done = offer(window)
    assert done is not None and labels(done) == ["Undo"]
    assert done.text == (
        "Repaired by moving a (1, no fewer would do), by 2 cycles in all. Everything starts 1 interval later."
    )
    assert window.document.undo_stack.undoText() == "Repair: moves a"
    click(bot, window, "Undo")
    assert window.document.schedule == dropped
    assert labels(offer(window)) == ["Repair", "Undo"]
    click(bot, window, "Undo")
    assert window.document.schedule == SCHEDULE
    assert offer(window) is None


def test_push_is_offered_where_it_is_enough(bot: QtBot, window: MainWindow) -> None:
    drag(window, "a", 2)
    assert labels(offer(window)) == ["Repair", "Push", "Undo"]
    click(bot, window, "Push")
    schedule = window.document.schedule
    assert schedule is not None and legal(window)
    assert (schedule.ops["a"].start, schedule.ops["b"].start) == (2, 5)
    assert window.document.undo_stack.undoText() == "Push what depends on a"
    assert offer(window) is None


def test_the_keys_do_what_the_buttons_do(bot: QtBot, window: MainWindow) -> None:
    keys = {spec.name: spec.keys for spec in ACTIONS}
    assert all(keys[name] for name in ("repair", "push", "compact"))
    drag(window, "a", 2)
    bot.keyClick(
        window.gantt.canvas, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    assert legal(window)
    bot.keyClick(
        window.gantt.canvas, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    schedule = window.document.schedule
    assert schedule is not None and {place.start for place in schedule.ops.values()} == {0, 3}
    assert window.document.undo_stack.undoText() == "Compact"
    drag(window, "b", -2)
    bot.keyClick(
        window.gantt.canvas, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    wait(bot, window)
    assert legal(window)


def test_escape_takes_the_offer_away_before_the_selection(bot: QtBot, window: MainWindow) -> None:
    drag(window, "b", -2)
    assert window.document.selection == {"b"}
    window.gantt.canvas.setFocus()
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_Escape)
    assert offer(window) is None and window.document.selection == {"b"}
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_Escape)
    assert window.document.selection == frozenset()


def test_what_is_impossible_is_explained(bot: QtBot, window: MainWindow) -> None:
    window.document.edit("Pin", lambda old: with_pin(old, "a", Pin(0, "compute.0")))
    drag(window, "b", -2)
    dropped = window.document.schedule
    [dock] = [dock for dock in window.dock_layout.docks if dock.widget() is window.explain_view]
    dock.close()
    assert not window.explain_view.isVisible()
    click(bot, window, "Repair")
    wait(bot, window)
    told = offer(window)
    assert told is not None and told.text.startswith("Impossible") and labels(told) == ["Undo"]
    assert window.explain_view.isVisible()
    bot.waitUntil(lambda: not window.explaining.busy, timeout=60_000)
    assert "b on compute.0 at cycle 1" in window.explain_view.headline
    assert "impossible" in window.explain_view.headline.lower()
    assert window.document.schedule == dropped


def test_all_that_was_moved_since_it_was_legal_stays(bot: QtBot, window: MainWindow) -> None:
    editing.move(window.document, "a", 8, "compute.1")
    editing.move(window.document, "b", 9, "compute.1")
    told = offer(window)
    assert told is not None and told.text.startswith("a and b break")
    window.repairing.repair()
    wait(bot, window)
    told = offer(window)
    assert told is not None and labels(told) == ["Undo"]
    assert "a at cycle 8 on compute.1 and b at cycle 9 on compute.1" in told.text
    bot.waitUntil(lambda: not window.explaining.busy, timeout=60_000)
    assert "b on compute.1 at cycle 9" in window.explain_view.headline
    window.explain_view.command_requested.emit()
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[1] == "repair" and words[-3:] == ["--move", "a=8@compute.1", "b=9@compute.1"]


def test_ops_that_are_impossible_only_together_are_explained_together() -> None:
    def possible(moves: dict[str, Place]) -> bool:
        asked = question(moved_there(6, moves), GRAPH, SCHEDULE)
        return answer(asked.graph, SolveOptions(objective=(), ii=6)).schedule is not None

    a, b = Place(4, "compute.0"), Place(4, "compute.1")
    assert possible({"a": a})
    assert possible({"b": b})
    assert not possible({"a": a, "b": b})


def test_the_first_drag_makes_a_process_ready_and_repairs_share_it(bot: QtBot, window: MainWindow) -> None:
    assert solver_processes() == set()
    seen: set[int] = set()
    for _ in range(2):
        drag(window, "b", -2)
        bot.waitUntil(lambda: len(solver_processes()) == 1, timeout=20_000)
        seen |= solver_processes()
        click(bot, window, "Repair")
        wait(bot, window)
        assert legal(window)
        window.document.undo_stack.setIndex(0)
    assert solver_processes() == seen
    assert len(seen) == 1


def test_a_legal_schedule_has_nothing_to_repair(bot: QtBot, window: MainWindow) -> None:
    window.repairing.repair()
    told = offer(window)
    assert told is not None and "nothing to repair" in told.text
    assert not window.repairing.busy


def test_a_drag_in_a_project_with_the_real_solver(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(data_folder("projects") / "gemm_hopper")
    before = window.document.schedule
    drag(window, "warp_group_dot.0", -100)
    dropped = window.document.schedule
    assert dropped is not None and before is not None and not legal(window)
    click(bot, window, "Repair")
    wait(bot, window)
    assert legal(window)
    window.document.undo_stack.undo()
    assert window.document.schedule == dropped
    window.document.undo_stack.undo()
    assert window.document.schedule == before


# What a repair may come to, with stand-ins for its process.


class Offers:
    """A document with an illegal drop, and what is said of it."""

    def __init__(self, parent: QObject, work: Callable[..., None]) -> None:
        self.document = Document(parent)
        self.repairing = Repairing(self.document, parent, work)
        self.messages: list[Message] = []
        self.repairing.message.connect(self.messages.append)
        self.document.open(state())
        editing.move(self.document, "b", 1, "compute.0")

    def press(self, label: str) -> None:
        dict(self.messages[-1].buttons)[label]()


def ended(bot: QtBot, parent: QObject, work: Callable[..., None]) -> Offers:
    offers = Offers(parent, work)
    offers.press("Repair")
    bot.waitUntil(lambda: not offers.repairing.busy, timeout=20_000)
    return offers


def test_a_failure_is_a_message(bot: QtBot) -> None:
    parent = QObject()
    offers = ended(bot, parent, fake_repairs.fails)
    assert "internal error: ValueError: no" in offers.messages[-1].text
    assert labels(offers.messages[-1]) == ["Copy details"]


def test_no_answer_in_time_may_go_on(bot: QtBot) -> None:
    parent = QObject()
    offers = ended(bot, parent, fake_repairs.unknown)
    assert labels(offers.messages[-1]) == ["Try for 30 s", "Undo"]
    offers.press("Try for 30 s")
    assert offers.repairing.busy
    bot.waitUntil(lambda: not offers.repairing.busy, timeout=20_000)


def test_a_repair_of_what_has_changed_since_is_only_offered(bot: QtBot) -> None:
    parent = QObject()
    offers = Offers(parent, fake_repairs.late)
    offers.press("Repair")
    editing.move(offers.document, "b", 2, "compute.0")
    edited = offers.document.schedule
    bot.waitUntil(lambda: not offers.repairing.busy, timeout=20_000)
    assert offers.document.schedule == edited
    assert "before your last changes" in offers.messages[-1].text
    offers.press("Use it")
    assert offers.document.schedule is not None and offers.document.schedule.ops["b"].start == 4


def test_a_cancelled_repair_changes_nothing(bot: QtBot) -> None:
    parent = QObject()
    offers = Offers(parent, fake_repairs.waits)
    dropped = offers.document.schedule
    offers.press("Repair")
    offers.press("Cancel")
    bot.waitUntil(lambda: not offers.repairing.busy, timeout=20_000)
    assert offers.messages[-1].text == "The repair was cancelled."
    assert offers.document.schedule == dropped


def test_what_is_pinned_elsewhere_is_said_without_a_question(bot: QtBot) -> None:
    parent = QObject()
    offers = Offers(parent, fake_repairs.impossible)
    offers.document.edit("Pin", lambda old: with_pin(old, "b", Pin(3, "compute.0")))
    offers.press("Repair")
    bot.waitUntil(lambda: not offers.repairing.busy, timeout=20_000)
    assert offers.messages[-1].text == "Impossible: b is pinned elsewhere."
    assert labels(offers.messages[-1]) == ["Undo"]


def test_another_project_ends_the_repair_and_the_offer(bot: QtBot) -> None:
    parent = QObject()
    offers = Offers(parent, fake_repairs.waits)
    offers.press("Repair")
    withdrawn: list[str] = []
    offers.repairing.withdrawn.connect(withdrawn.append)
    offers.document.open(state())
    assert not offers.repairing.busy and withdrawn == [TOPIC]
    assert len(offers.messages) == 2


def test_an_illegal_project_is_not_offered_until_it_is_edited(bot: QtBot) -> None:
    parent = QObject()
    document = Document(parent)
    repairing = Repairing(document, parent, fake_repairs.unknown)
    messages: list[Message] = []
    repairing.message.connect(messages.append)
    document.open(state(move_op(SCHEDULE, "b", 1)))
    assert messages == []
    document.edit("Pin", lambda old: with_pin(old, "a", Pin(0, "compute.0")))
    assert messages[0].text.startswith("The schedule breaks 1 rule")
    assert GRAPH.ops.keys() == {"a", "b"}
