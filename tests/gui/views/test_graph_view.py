"""The Graph dock with real mouse and key events, and what it paints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chart_cases import BLACKWELL, HOPPER, case
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from states import write_project

from core.schedule.bounds import bounds
from core.schedule.edits import move_op
from twill_gui.main_window import MainWindow
from twill_gui.palette import DARK, LIGHT, ViewPalette
from twill_gui.views.graph import GraphView
from twill_gui.views.graph.canvas import GraphCanvas
from twill_gui.views.graph.layout import Direction
from twill_gui.views.graph.navigation import Way, neighbour
from twill_gui.views.graph.painter import GraphFrame
from twill_gui.views.graph.shapes import Shapes

K = Qt.Key
LEFT = Qt.MouseButton.LeftButton
CONTROL, NO_MODIFIER = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
PALETTES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)


class Driven:
    """A shown graph that gets its selection back, as the window does it, and what it asked for."""

    def __init__(self, view: GraphView, bot: QtBot) -> None:
        self.view, self.bot = view, bot
        self.canvas: GraphCanvas = view.canvas
        self.selections: list[frozenset[str]] = []
        self.activated: list[str] = []
        view.selection_requested.connect(self._select)
        view.op_activated.connect(self.activated.append)

    def _select(self, ops: frozenset[str]) -> None:
        self.selections.append(ops)
        self.view.set_selection(ops)

    def show(self, name: str, with_schedule: bool = True) -> None:
        """Shows a case and waits for its layout."""
        graph, schedule = case(name)
        with self.bot.waitSignal(self.view.laid_out):
            self.view.set_content(graph, schedule if with_schedule else None, bounds(graph).critical_recurrence)

    @property
    def shapes(self) -> Shapes:
        shapes = self.canvas.shapes
        assert shapes is not None
        return shapes

    def at(self, op: str) -> QPoint:
        """The middle of an op's box on the canvas."""
        return self.canvas.camera.to_widget(self.shapes.boxes[op]).center().toPoint()

    def on_edge(self, source: str, target: str) -> QPoint:
        """A point of an edge that no box covers."""
        [shape] = [s for s in self.shapes.edges if (s.edge.source, s.edge.target) == (source, target)]
        point = shape.line.pointAtPercent(0.5)
        return (self.canvas.camera.origin + point * self.canvas.camera.scale).toPoint()

    def empty(self) -> QPoint:
        return QPoint(3, 3)

    def click(self, point: QPoint, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> None:
        QTest.mouseMove(self.canvas, point)
        QTest.mouseClick(self.canvas, LEFT, modifiers, point)

    def key(self, key: Qt.Key) -> None:
        QTest.keyClick(self.canvas, key)

    def wheel(self, point: QPoint, notches: int, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> None:
        event = QWheelEvent(
            QPointF(point),
            QPointF(self.canvas.mapToGlobal(point)),
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(self.canvas, event)

    def colours(self) -> set[str]:
        image = self.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        values = np.frombuffer(image.constBits(), np.uint32) & 0xFFFFFF
        return {f"#{value:06x}" for value in np.unique(values).tolist()}


@pytest.fixture
def driven(bot: QtBot) -> Driven:
    view = GraphView()
    bot.addWidget(view)
    view.resize(1200, 700)
    with bot.waitExposed(view):
        view.show()
    driven = Driven(view, bot)
    driven.show(HOPPER)
    return driven


def test_a_click_selects_and_control_adds(driven: Driven) -> None:
    driven.click(driven.at("exp0"))
    driven.click(driven.at("exp1"), CONTROL)
    driven.click(driven.at("exp0"), CONTROL)
    driven.click(driven.empty())
    assert driven.selections == [
        frozenset({"exp0"}),
        frozenset({"exp0", "exp1"}),
        frozenset({"exp1"}),
        frozenset(),
    ]


def test_a_click_on_an_edge_selects_its_ends(driven: Driven) -> None:
    driven.click(driven.on_edge("qk0", "max0"))
    assert driven.selections == [frozenset({"qk0", "max0"})]


def test_a_double_click_and_the_enter_key_ask_for_the_line(driven: Driven) -> None:
    QTest.mouseDClick(driven.canvas, LEFT, NO_MODIFIER, driven.at("exp0"))
    driven.click(driven.at("exp1"))
    driven.key(K.Key_Return)
    assert driven.activated == ["exp0", "exp1"]


def test_a_drag_pans_and_selects_nothing(driven: Driven) -> None:
    driven.key(K.Key_W)
    driven.key(K.Key_W)
    before, start = driven.at("exp0"), QPoint(600, 350)
    QTest.mousePress(driven.canvas, LEFT, NO_MODIFIER, start)
    for step in (10, 30, 60):
        QTest.mouseMove(driven.canvas, start + QPoint(0, step))
    QTest.mouseRelease(driven.canvas, LEFT, NO_MODIFIER, start + QPoint(0, 60))
    assert driven.at("exp0") - before == QPoint(0, 60)
    assert driven.selections == []


def test_the_wheel_scrolls_and_with_control_zooms_at_the_mouse(driven: Driven) -> None:
    place = driven.at("exp0")
    scale = driven.canvas.camera.scale
    driven.wheel(place, 4, CONTROL)
    assert driven.canvas.camera.scale > 2 * scale
    assert (driven.at("exp0") - place).manhattanLength() <= 2
    driven.wheel(place, 1)
    assert driven.at("exp0").y() > place.y() + 50
    assert abs(driven.at("exp0").x() - place.x()) <= 2


def test_the_keys_zoom_pan_and_fit(driven: Driven) -> None:
    fitted, scale = driven.at("exp0"), driven.canvas.camera.scale
    for key in (K.Key_W, K.Key_W, K.Key_W):
        driven.key(key)
    assert driven.canvas.camera.scale > scale
    zoomed = driven.at("exp0")
    driven.key(K.Key_D)
    driven.key(K.Key_PageDown)
    assert driven.at("exp0").x() < zoomed.x() and driven.at("exp0").y() < zoomed.y()
    driven.key(K.Key_A)
    driven.key(K.Key_PageUp)
    assert (driven.at("exp0") - zoomed).manhattanLength() <= 1
    driven.key(K.Key_S)
    driven.key(K.Key_Home)
    assert driven.at("exp0") == fitted and driven.canvas.camera.scale == scale


def test_the_graph_cannot_be_lost_out_of_view(driven: Driven) -> None:
    for _ in range(40):
        driven.key(K.Key_D)
        driven.key(K.Key_PageDown)
    view = driven.canvas.rect()
    assert any(view.contains(driven.at(op)) for op in driven.shapes.boxes)


def test_the_arrow_keys_go_from_op_to_op(driven: Driven) -> None:
    assert driven.shapes.layout.direction is Direction.DOWN
    driven.key(K.Key_Down)  # nothing is selected: the first op
    [first] = driven.selections[-1]
    assert driven.shapes.boxes[first].top() == min(box.top() for box in driven.shapes.boxes.values())
    driven.view.set_selection(frozenset({"qk0"}))
    driven.key(K.Key_Down)
    driven.key(K.Key_Up)
    assert driven.selections[-2:] == [frozenset({"max0"}), frozenset({"qk0"})]
    reached = {"qk0"}
    for _ in range(20):
        for key in (K.Key_Right, K.Key_Down, K.Key_Left, K.Key_Up):
            driven.key(key)
            reached |= driven.selections[-1]
    driven.key(K.Key_Escape)
    assert driven.selections[-1] == frozenset()
    assert len(reached) >= 3


def test_every_op_can_be_reached_by_arrow_keys(driven: Driven) -> None:
    for name in (HOPPER, BLACKWELL, "fa_bwd_hopper", "layer_norm"):
        if name != HOPPER:
            driven.show(name)
        layout = driven.shapes.layout
        pending, reached = [next(iter(layout.boxes))], set[str]()
        while pending:
            op = pending.pop()
            if op not in reached:
                reached.add(op)
                pending += [found for way in Way if (found := neighbour(layout, op, way))]
        assert reached == layout.boxes.keys()


def test_a_selection_from_elsewhere_comes_into_view(driven: Driven) -> None:
    for _ in range(8):
        driven.key(K.Key_W)
    hidden = next(op for op in driven.shapes.boxes if not driven.canvas.rect().contains(driven.at(op)))
    driven.view.set_selection(frozenset({hidden}))
    assert driven.canvas.rect().contains(driven.at(hidden))


def test_tooltips_tell_the_facts(driven: Driven) -> None:
    op = driven.canvas.tooltip_at(driven.at("exp0"))
    assert "exp0" in op and "compute0" in op and "2 894" in op.replace("\N{NARROW NO-BREAK SPACE}", " ")
    edge = driven.canvas.tooltip_at(driven.on_edge("max0", "max0"))
    assert "max0 → max0" in edge and "distance 1" in edge and "slack" in edge
    assert driven.canvas.tooltip_at(driven.empty()) == ""


def test_the_critical_recurrence_is_told_and_marked(driven: Driven) -> None:
    recurrence = bounds(case(HOPPER)[0]).critical_recurrence
    assert recurrence is not None
    assert f"II ≥ {recurrence.latency}" in driven.view.caption
    assert LIGHT.critical in driven.colours()
    graph, schedule = case(HOPPER)
    driven.view.set_content(graph, schedule, None)
    assert driven.view.caption == ""
    assert LIGHT.critical not in driven.colours()


@PALETTES
def test_ops_have_the_colours_of_their_groups(driven: Driven, palette: ViewPalette) -> None:
    driven.view.set_palette(palette)
    fills = {palette.group_style(number).fill for number in range(3)}
    ungrouped = palette.group_style(None).fill
    assert fills <= driven.colours()
    assert ungrouped not in driven.colours()
    assert palette.carried_arrow in driven.colours()
    driven.show("fa_fwd_hopper_1x64", with_schedule=False)
    assert ungrouped in driven.colours()
    assert not fills & driven.colours()


def test_another_schedule_of_the_graph_moves_no_box(driven: Driven) -> None:
    graph, schedule = case(HOPPER)
    shapes, fill = driven.shapes, LIGHT.group_style(0).fill
    moved = schedule
    for op, place in schedule.ops.items():
        if place.group == "load0":
            moved = move_op(moved, op, place.start, "compute0")
    driven.view.set_content(replace(graph, pins={}), moved, None)
    assert driven.canvas.shapes is shapes
    assert fill not in driven.colours()


def test_a_wide_view_runs_to_the_right_and_a_high_one_down(driven: Driven) -> None:
    driven.view.resize(1200, 260)
    assert driven.shapes.layout.direction is Direction.RIGHT
    driven.view.resize(320, 700)
    assert driven.shapes.layout.direction is Direction.DOWN


def test_without_content_it_says_so(driven: Driven) -> None:
    driven.view.clear()
    assert driven.canvas.shapes is None
    assert driven.canvas.accessibleDescription() == "No graph"
    driven.click(driven.empty())
    driven.key(K.Key_Down)
    assert driven.selections == []


def test_screen_readers_hear_what_is_selected(driven: Driven) -> None:
    assert "18 operations" in driven.canvas.accessibleDescription()
    driven.click(driven.at("max0"))
    assert driven.canvas.accessibleDescription().startswith("max0 (compute0), waits for max0, qk0")


def test_it_is_linked_with_the_chart_both_ways(
    bot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = open_window(write_project(tmp_path / "p"))
    graph = window.graph_view
    assert graph.canvas.shapes is None  # nobody has looked at it yet
    [dock] = [dock for dock in window.dock_layout.docks if dock.windowTitle() == "Graph"]
    with bot.waitSignal(graph.laid_out):
        dock.raise_()
    driven = Driven(graph, bot)
    bot.mouseClick(graph.canvas, LEFT, pos=driven.at("b"))
    assert window.document.selection == {"b"}
    window.document.select(frozenset({"a"}))
    assert graph.canvas.accessibleDescription().startswith("a (compute.0)")


def test_the_charts_keys_are_the_graphs_while_it_has_the_focus(
    bot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = open_window(write_project(tmp_path / "p"))
    graph, axis = window.graph_view, window.gantt.axis
    [dock] = [dock for dock in window.dock_layout.docks if dock.windowTitle() == "Graph"]
    with bot.waitSignal(graph.laid_out):
        dock.raise_()
    before, scale = (axis.start, axis.end), graph.canvas.camera.scale
    graph.setFocus()
    bot.keyClick(graph.canvas, K.Key_W)
    assert (axis.start, axis.end) == before
    assert graph.canvas.camera.scale > scale
    window.gantt.setFocus()
    bot.keyClick(window.gantt.canvas, K.Key_W)
    assert axis.end - axis.start < before[1] - before[0]


@pytest.mark.parametrize("name", [HOPPER, BLACKWELL])
def test_what_is_left_out_beyond_the_edges_would_not_be_seen(
    driven: Driven, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture of a part is the one that painting the whole graph leaves in the view."""
    if name != HOPPER:  # which is shown already
        driven.show(name)
    driven.view.set_selection(frozenset([*driven.shapes.boxes][:2]))
    for factor in (1.0, 1.7, 1.7, 1.7, 2.5):
        driven.canvas.zoom(factor)
        for right, down in ((0, 0), (90, 40), (-333, -111)):
            driven.canvas.pan(right, down)
            part = driven.canvas.grab().toImage()
            with monkeypatch.context() as all_of_it:
                all_of_it.setattr(GraphFrame, "shows", lambda frame, box: True)
                driven.canvas.repaint_all()
                assert driven.canvas.grab().toImage() == part
