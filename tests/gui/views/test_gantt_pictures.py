"""What is painted, looked at pixel by pixel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chart_cases import BLACKWELL, HOPPER, case
from chart_driver import Chart
from PySide6.QtCore import QBuffer, QByteArray, QPoint, QRect
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgGenerator

from core.graph.model import Pin
from core.schedule.check import check
from twill_gui.palette import DARK, LIGHT, ViewPalette
from twill_gui.views.gantt import GanttMode
from twill_gui.views.gantt.background import BAND_ALPHA
from twill_gui.views.gantt.bar_table import Boxes

PALETTES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)


def _picture(chart: Chart) -> QImage:
    return chart.canvas.grab().toImage()


def _colours(image: QImage, box: QRect) -> set[str]:
    part = image.copy(box).convertToFormat(QImage.Format.Format_RGB32)
    values = np.frombuffer(part.constBits(), np.uint32) & 0xFFFFFF
    return {f"#{value:06x}" for value in np.unique(values).tolist()}


def _bar(chart: Chart, op: str, lane: str | None = None) -> QRect:
    """The box of an op's first bar on a lane, its group's by default, in pixels."""
    content, rows = chart.view.content, chart.canvas.rows
    assert content and rows
    lane = lane or content.schedule.ops[op].group
    bar = next(bar for bar in content.layout.bars if bar.op == op and content.layout.lanes[bar.lane].name == lane)
    left, right = round(chart.view.axis.x(bar.start)), round(chart.view.axis.x(bar.end))
    return QRect(left, rows.bar_top(bar), right - left, rows.lanes[bar.lane].bar)


@pytest.mark.parametrize("seed", range(20))
def test_labels_behind_bars_have_room(seed: int) -> None:
    chance = np.random.default_rng(seed)
    left = chance.integers(0, 60, 12).astype(float)
    right = left + chance.choice([3, 3, 3, 10, 25], 12)
    top = chance.choice([0.0, 40.0], 12)
    boxes = Boxes(np.arange(12), left, right, top, np.full(12, 20.0), np.zeros(12, np.intp))
    for box, gap in enumerate(boxes.gaps(100).tolist()):
        others = (top == top[box]) & (np.arange(12) != box)
        free = min([100.0, *left[others & (right > right[box])]]) - right[box]
        ends_with_another = bool((others & (right == right[box])).any())
        assert gap == free or (ends_with_another and gap < 0)


@PALETTES
def test_a_bar_is_filled_with_its_units_colour_to_its_last_pixel(chart: Chart, palette: ViewPalette) -> None:
    chart.view.set_palette(palette)
    box = _bar(chart, "qk1", "tensor_core")  # slots 1024 to 1536 of stage 1, a unit without a pattern
    fill = palette.unit_style("tensor_core").fill(1)
    image, y = _picture(chart), box.bottom() - 2
    assert image.pixelColor(box.center().x(), y).name() == fill.colour
    assert image.pixelColor(box.left(), y).name() == fill.border
    assert image.pixelColor(box.right(), y).name() == fill.border
    assert image.pixelColor(box.left() - 1, y).name() != fill.colour


@PALETTES
def test_a_pattern_is_seen_on_the_fill(chart: Chart, palette: ViewPalette) -> None:
    chart.view.set_palette(palette)
    box = _bar(chart, "load_k", "tma").adjusted(120, 2, -4, -2)
    fill = palette.unit_style("tma").fill(0)
    assert {fill.colour, fill.pattern_colour} <= _colours(_picture(chart), box)


def test_at_two_device_pixels_per_pixel_edges_are_sharp(chart: Chart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chart.canvas, "devicePixelRatioF", lambda: 2.0)
    chart.canvas.repaint_all()
    pixmap = QPixmap(chart.canvas.size() * 2)
    pixmap.setDevicePixelRatio(2)
    chart.canvas.render(pixmap)
    image, axis = pixmap.toImage(), chart.view.axis
    fill, lane = LIGHT.unit_style("sfu").fill(1), LIGHT.lane
    box = _bar(chart, "exp0", "sfu")
    y = 2 * box.bottom() - 3
    left = round(axis.x(846) * 2)  # slot 846 on the grid of device pixels
    assert [image.pixelColor(x, y).name() for x in (left - 1, left)] == [lane, fill.border]


def test_violations_are_hatched(chart: Chart) -> None:
    red = LIGHT.violation
    assert red not in _colours(_picture(chart), _bar(chart, "exp0"))
    chart.show_moved("exp0", 2700, "compute0")
    image = _picture(chart)
    assert red in _colours(image, _bar(chart, "exp0"))
    assert red not in _colours(image, _bar(chart, "exp1"))


def test_the_selection_has_a_frame_on_every_lane(chart: Chart) -> None:
    chart.view.set_selection(frozenset({"exp0"}))
    image = _picture(chart)
    for lane in ("compute0", "sfu"):
        box = _bar(chart, "exp0", lane)
        assert image.pixelColor(box.center().x(), box.top() - 1).name() == LIGHT.selection


def test_arrows_go_one_step_or_everywhere(chart: Chart) -> None:
    plain = _picture(chart)
    chart.view.set_selection(frozenset({"max0"}))
    carried = LIGHT.carried_arrow
    whole = plain.rect()
    assert carried not in _colours(plain, whole)
    assert carried in _colours(_picture(chart), whole)  # max0 waits for max0 of the iteration before
    chart.view.set_selection(frozenset({"cast0"}))
    assert carried not in _colours(_picture(chart), whole)
    chart.view.set_show_all_dependences(True)
    assert carried in _colours(_picture(chart), whole)


def test_a_pinned_op_has_a_lock(chart: Chart) -> None:
    graph, schedule = case(HOPPER)
    plain = _picture(chart)
    chart.view.set_content(replace(graph, pins={"exp0": Pin(start=2894)}), schedule, check(graph, schedule))
    locked, box = _picture(chart), _bar(chart, "exp0")
    assert plain.copy(box) != locked.copy(box)
    assert plain.copy(_bar(chart, "exp0", "sfu")) == locked.copy(_bar(chart, "exp0", "sfu"))


def test_a_drag_shows_ghost_veil_and_red(chart: Chart) -> None:
    forbidden = QRect(700, chart.lane_y("load0") - 10, 40, 15)
    assert _colours(_picture(chart), forbidden) <= {LIGHT.lane, LIGHT.grid}
    start = chart.point("exp0")
    chart.press(start)
    chart.move(start - QPoint(120, 0))
    image = _picture(chart)
    assert LIGHT.violation in _colours(image, _bar(chart, "exp0").translated(-120, 0))
    assert not _colours(image, forbidden) <= {LIGHT.lane, LIGHT.grid}
    chart.canvas.cancel()
    assert LIGHT.violation not in _colours(_picture(chart), image.rect())


@PALETTES
@pytest.mark.parametrize("mode", list(GanttMode))
@pytest.mark.parametrize("name", [BLACKWELL, "figure_1", "deeper_at_ii_1", "layer_norm"])
def test_every_case_is_painted(chart: Chart, name: str, mode: GanttMode, palette: ViewPalette) -> None:
    chart.view.set_palette(palette)
    chart.show(name, mode)
    content, image = chart.view.content, _picture(chart)
    assert content
    grounds = {palette.lane, palette.lane_alternate, palette.window, palette.grid, palette.border}
    for lane in {lane.name for lane in content.layout.lanes}:
        seen = _colours(image, QRect(0, chart.lane_y(lane) - 6, image.width(), 12))
        has_bars = any(content.layout.lanes[bar.lane].name == lane for bar in content.layout.bars)
        assert has_bars == bool(seen - grounds - {palette.boundary} - _tinted(palette))


def _tinted(palette: ViewPalette) -> set[str]:
    """The grounds under the tint of prologue, epilogue and the margins."""
    tinted: set[str] = set()
    for ground in (palette.lane, palette.lane_alternate, palette.grid, palette.border):
        image = QImage(1, 1, QImage.Format.Format_RGB32)
        image.fill(QColor(ground))
        tint = QColor(palette.band)
        tint.setAlpha(BAND_ALPHA)
        with QPainter(image) as painter:
            painter.fillRect(0, 0, 1, 1, tint)
        tinted.add(image.pixelColor(0, 0).name())
    return tinted


def test_without_content_it_says_so(chart: Chart) -> None:
    chart.view.clear()
    image = _picture(chart)
    assert _colours(image, QRect(0, 0, 200, 200)) == {LIGHT.window}
    assert len(_colours(image, image.rect())) > 1


def test_a_file_of_shapes_holds_texts_as_texts(chart: Chart) -> None:
    data = QByteArray()
    buffer = QBuffer(data)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(chart.view.size())
    chart.view.render(generator)
    text = bytes(data.data()).decode()
    assert "exp0" in text and "compute1" in text and "tensor_core" in text
