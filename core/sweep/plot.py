"""II against the first axis of a sweep, as an SVG picture: a stepped line for each combination of the other axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from core.solve.events import Status
from core.sweep.rows import Row
from core.sweep.scale import Scale, is_numeric, round_ticks, value_ticks
from core.sweep.setting import Value, label

_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 580, 80, 420  # of the plot's frame, in pixels
_HEIGHT = _BOTTOM + 60  # and more where the legend needs it
_SPREAD = 40  # over so many pixels at most stand the marks of one value, a little aside for each series
_LETTER = 7  # about as wide as a letter
_BAND = 58  # height at which points without an II stand, above the plot
_PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # Okabe and Ito
_DASHES = ("none", "6 3", "2 3")  # for more series than colours
_NO_II = {Status.INFEASIBLE: "×", Status.UNKNOWN: "?"}
_FAILED = "!"
_INK, _GRID = "#333333", "#dddddd"


def plot_svg(title: str, keys: Sequence[str], rows: Sequence[Row]) -> str:
    """The picture; rows in the order of the sweep, `keys` its axes.

    A filled mark is a proved least II. An open one is a feasible II, with a bar down to the proved lower bound. Points
    without an II stand above: × infeasible, ? no answer in time, ! a worker that broke. Only marks are answers: between
    the values of an axis of numbers the line keeps the last II; an axis of words has no line.
    """
    series = _series(keys[0], rows)
    width = _RIGHT + 60 + _LETTER * max(map(len, series), default=0)
    height = max(_HEIGHT, _TOP + 20 * (len(series) + 1))
    view = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width} {height}", "role": "img"}
    svg = Element("svg", {**view, **_FONT})
    _add(svg, "title", title)
    _add(svg, "rect", width="100%", height="100%", fill="white")
    _text(svg, _LEFT, 24, title, size=15)
    values = list(dict.fromkeys(row.values[keys[0]] for row in rows))
    places = {value: float(value) if is_numeric(values) else float(i) for i, value in enumerate(values)}
    x = Scale(min(places.values(), default=0), max(places.values(), default=1), _LEFT + 20, _RIGHT - 20)
    y = _vertical(svg, rows)
    _horizontal(svg, keys[0], values, x)
    for number, (name, members) in enumerate(series.items()):
        style = _style(number)
        aside = (number - (len(series) - 1) / 2) * min(9, _SPREAD / len(series))
        at = [(x.at(places[row.values[keys[0]]]) + aside, row) for row in members]
        _legend(svg, number, name, style)
        if is_numeric(values):
            _steps(svg, sorted(at, key=lambda one: one[0]), y, style)
        for place, row in at:
            _mark(svg, place, row, y, style["stroke"])
    indent(svg)
    return tostring(svg, encoding="unicode") + "\n"


_FONT = {"font-family": "sans-serif", "font-size": "12"}


def _series(first: str, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows by the values of the other axes."""
    series: dict[str, list[Row]] = {}
    for row in rows:
        others: dict[str, Value] = {key: value for key, value in row.values.items() if key != first}
        series.setdefault(label(others), []).append(row)
    return series


def _style(number: int) -> dict[str, str]:
    """Colour, dashes, and a width such that a later line lets earlier ones be seen under it."""
    dash = _DASHES[number // len(_PALETTE) % len(_DASHES)]
    width = f"{max(1.5, 5 - 1.5 * number):g}"
    return {"stroke": _PALETTE[number % len(_PALETTE)], "stroke-width": width, "stroke-dasharray": dash}


def _vertical(svg: Element, rows: Sequence[Row]) -> Scale:
    """The axis of II, with its grid."""
    shown = [cycles for row in rows for cycles in _cycles(row)]
    ticks = round_ticks(min(shown, default=0), max(shown, default=1), 6)
    scale = Scale(ticks[0], ticks[-1], _BOTTOM, _TOP)
    for tick in ticks:
        at = scale.at(tick)
        _line(svg, _LEFT, at, _RIGHT, at, stroke=_GRID)
        _text(svg, _LEFT - 8, at + 4, str(tick), anchor="end")
    _line(svg, _LEFT, _TOP, _LEFT, _BOTTOM, stroke=_INK)
    middle = (_TOP + _BOTTOM) / 2
    _text(svg, 20, middle, "II, cycles", anchor="middle", transform=f"rotate(-90 20 {middle:g})")
    if any(not list(_cycles(row)) for row in rows):
        _text(svg, _LEFT - 8, _BAND + 4, "no II", anchor="end")
    return scale


def _cycles(row: Row) -> Iterator[int]:
    """What of a row is on the axis of II."""
    if row.outcome is not None and row.outcome.ii is not None:
        yield row.outcome.ii
        if row.outcome.status is Status.FEASIBLE:
            yield row.outcome.proved_lower_bound


def _horizontal(svg: Element, key: str, values: Sequence[Value], scale: Scale) -> None:
    bottom = _BOTTOM
    _line(svg, _LEFT, bottom, _RIGHT, bottom, stroke=_INK)
    widest = max((len(str(value)) for value in values), default=0)
    for tick in value_ticks(values, scale, _LETTER * widest + 6):
        _line(svg, tick.at, bottom, tick.at, bottom + 5, stroke=_INK)
        _text(svg, tick.at, bottom + 20, tick.text, anchor="middle")
    _text(svg, (_LEFT + _RIGHT) / 2, _HEIGHT - 14, key, anchor="middle")


def _legend(svg: Element, number: int, name: str, style: Mapping[str, str]) -> None:
    if name:
        at = _TOP + 8 + 20 * number
        _line(svg, _RIGHT + 12, at, _RIGHT + 36, at, **style)
        _text(svg, _RIGHT + 42, at + 4, name)


def _steps(svg: Element, at: Sequence[tuple[float, Row]], y: Scale, style: Mapping[str, str]) -> None:
    """The stepped line through neighbours that have an II."""
    path: list[str] = []
    for (left, row), (right, following) in pairwise(at):
        if row.outcome and following.outcome and row.outcome.ii and following.outcome.ii:
            path.append(f"M{left:g} {y.at(row.outcome.ii):g} H{right:g} V{y.at(following.outcome.ii):g}")
    if path:
        _add(svg, "path", d=" ".join(path), fill="none", **style)


def _mark(svg: Element, at: float, row: Row, y: Scale, colour: str) -> None:
    outcome = row.outcome
    group = _add(svg, "g", stroke=colour)
    told = "failed" if outcome is None else outcome.status.value
    if outcome is None or outcome.ii is None:
        sign = _FAILED if outcome is None else _NO_II[outcome.status]
        _text(group, at, _BAND + 5, sign, anchor="middle", size=16, fill=colour)
    else:
        told += f", II {outcome.ii}"
        height, open_mark = y.at(outcome.ii), outcome.status is Status.FEASIBLE
        if open_mark:
            told += f", at least {outcome.proved_lower_bound}"
            _line(group, at, height, at, y.at(outcome.proved_lower_bound))
        _add(group, "circle", cx=f"{at:g}", cy=f"{height:g}", r="4", fill="white" if open_mark else colour)
    _add(group, "title", f"{label(row.values)}: {told}")


def _add(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    child = SubElement(parent, tag, attributes)
    child.text = text
    return child


def _line(parent: Element, x1: float, y1: float, x2: float, y2: float, **style: str) -> None:
    _add(parent, "line", x1=f"{x1:g}", y1=f"{y1:g}", x2=f"{x2:g}", y2=f"{y2:g}", **style)


def _text(
    parent: Element, x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, **more: str
) -> None:
    style = {"text-anchor": anchor, "font-size": str(size), "fill": _INK, "stroke": "none", **more}
    _add(parent, "text", text, x=f"{x:g}", y=f"{y:g}", **style)
