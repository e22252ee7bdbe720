"""The results file: taken up again, never mistaken, never lost. Rows as JSON and CSV. The plot."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from core.diagnostics import InputError
from core.project.load import load_project
from core.solve.events import SolveOptions, Status
from core.sweep.axes import parse_axes
from core.sweep.outcome import Outcome
from core.sweep.plot import plot_svg
from core.sweep.points import Point, sweep_points
from core.sweep.results import ResultsFile
from core.sweep.rows import FIELDS, Row, csv_text
from core.sweep.scale import round_ticks

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"
SVG = "{http://www.w3.org/2000/svg}"

OPTIMAL = Outcome(Status.OPTIMAL, 512, 512, 2, 154, 1688, 1.25)
FEASIBLE = Outcome(Status.FEASIBLE, 600, 512, 2, 154, 1688, 60.0)
INFEASIBLE = Outcome(Status.INFEASIBLE, None, 2049, None, None, None, 0.5)
UNKNOWN = Outcome(Status.UNKNOWN, None, 512, None, None, None, 60.0)


def points(*over: str) -> tuple[Point, ...]:
    return sweep_points(load_project(KERNELS / "gemm.yaml"), parse_axes(list(over)), SolveOptions())[0]


def test_answers_are_found_again_and_time_outs_are_none(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.jsonl"
    file = ResultsFile(path)
    a, b, c, d = points("registers=160,176,192,208")
    assert not path.exists()
    for point, outcome in zip((a, b, c, d), (OPTIMAL, FEASIBLE, INFEASIBLE, UNKNOWN), strict=True):
        file.add(point, outcome)
    for known in (file, ResultsFile(path)):
        assert [known.answer(point) for point in (a, b, c, d)] == [OPTIMAL, FEASIBLE, INFEASIBLE, None]
    ResultsFile(path).add(d, OPTIMAL)
    assert ResultsFile(path).answer(d) == OPTIMAL
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"schema": "twill.sweep/1"}
    assert [line["values"]["registers"] for line in lines[1:]] == [160, 176, 192, 208, 208]
    (other,) = points("registers=224")
    assert ResultsFile(path).answer(other) is None


def test_a_line_that_was_cut_off_is_solved_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    a, b = points("registers=160,176")
    ResultsFile(path).add(a, OPTIMAL)
    whole = path.read_text()
    ResultsFile(path).add(b, OPTIMAL)
    path.write_text(path.read_text()[:-9])
    file = ResultsFile(path)
    assert path.read_text() == whole
    assert (file.answer(a), file.answer(b)) == (OPTIMAL, None)
    file.add(b, INFEASIBLE)
    assert ResultsFile(path).answer(b) == INFEASIBLE


def test_a_header_that_was_cut_off_is_no_results_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"schema": "twi')
    with pytest.raises(InputError, match="no results file"):
        ResultsFile(path)
    path.write_text("")
    (point,) = points("registers=160")
    ResultsFile(path).add(point, OPTIMAL)
    assert ResultsFile(path).answer(point) == OPTIMAL


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "project.yaml"
    path.write_text("schema: twill.project/1\nname: mine")
    with pytest.raises(InputError) as fault:
        ResultsFile(path)
    (diagnostic,) = fault.value.diagnostics
    assert (diagnostic.code, diagnostic.file, diagnostic.line) == ("bad-schema", str(path), 1)
    assert path.read_text() == "schema: twill.project/1\nname: mine"


@pytest.mark.parametrize("spoiled", ["", "{}", "null", '{"inputs": 1}'])
def test_a_spoiled_line_is_told(tmp_path: Path, spoiled: str) -> None:
    path = tmp_path / "results.jsonl"
    (point,) = points("registers=160")
    ResultsFile(path).add(point, OPTIMAL)
    path.write_text(f"{path.read_text()}{spoiled}\n")
    with pytest.raises(InputError) as fault:
        ResultsFile(path)
    (diagnostic,) = fault.value.diagnostics
    assert (diagnostic.code, diagnostic.line) == ("bad-value", 3)


def test_rows_as_csv_say_what_they_say_as_json() -> None:
    rows = [
        Row({"input": 'a "b",c.ttgir', "rules.allow_hand_off": True}, OPTIMAL),
        Row({"input": "d", "rules.allow_hand_off": False}, INFEASIBLE),
        Row({"input": "e", "rules.allow_hand_off": False}, None),
    ]
    head, *lines = csv.reader(io.StringIO(csv_text(["input", "rules.allow_hand_off"], rows)))
    assert head == ["values.input", "values.rules.allow_hand_off", *FIELDS]
    for row, line in zip(rows, lines, strict=True):
        document = row.as_json()
        assert line[:2] == [document["values"]["input"], json.dumps(document["values"]["rules.allow_hand_off"])]
        assert line[2:] == ["" if document[name] is None else str(document[name]) for name in FIELDS]
    assert [row.as_json()["status"] for row in rows] == ["optimal", "infeasible", "failed"]
    assert csv_text(["registers"], []) == f"values.registers,{','.join(FIELDS)}\n"


def test_plot_has_a_mark_for_each_point_and_a_step_between_neighbours() -> None:
    title = "a < b & c"
    rows = [
        Row({"registers": registers, "groups.compute": groups}, outcome)
        for registers, by_group in ((160, (INFEASIBLE, None)), (200, (FEASIBLE, OPTIMAL)), (240, (OPTIMAL, UNKNOWN)))
        for groups, outcome in enumerate(by_group, 1)
    ]
    svg = ElementTree.fromstring(plot_svg(title, ["registers", "groups.compute"], rows))
    assert svg.tag == f"{SVG}svg"
    texts = [element.text for element in svg.iter(f"{SVG}text")]
    for text in (
        title,
        "registers",
        "II, cycles",
        "no II",
        "groups.compute=1",
        "groups.compute=2",
        "160",
        "200",
        "240",
    ):
        assert text in texts
    assert {texts.count(sign) for sign in "×?!"} == {1}
    told = [element.text for element in svg.iter(f"{SVG}title")]
    assert told == [
        title,
        "registers=160 groups.compute=1: infeasible",
        "registers=200 groups.compute=1: feasible, II 600, at least 512",
        "registers=240 groups.compute=1: optimal, II 512",
        "registers=160 groups.compute=2: failed",
        "registers=200 groups.compute=2: optimal, II 512",
        "registers=240 groups.compute=2: unknown",
    ]
    circles = list(svg.iter(f"{SVG}circle"))
    gap, least, other = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in circles]
    assert [c.attrib["fill"] == "white" for c in circles] == [True, False, False]
    assert least[1] == other[1] > gap[1]  # smaller is lower, and y grows downwards
    assert gap[0] < other[0] < least[0]  # side by side, so that equal ones can be told apart
    assert other[0] - gap[0] < (least[0] - gap[0]) / 10
    (path,) = svg.iter(f"{SVG}path")  # from the gap to the optimum; the other line has only one II
    assert path.attrib["d"] == f"M{gap[0]:g} {gap[1]:g} H{least[0]:g} V{least[1]:g}"


def test_plot_of_words_of_one_point_and_of_none() -> None:
    words = [Row({"input": name}, OPTIMAL) for name in ("b.ttgir", "a.ttgir")]
    svg = ElementTree.fromstring(plot_svg("words", ["input"], words))
    assert not list(svg.iter(f"{SVG}path"))
    assert [t.text for t in svg.iter(f"{SVG}text")].index("b.ttgir") < [t.text for t in svg.iter(f"{SVG}text")].index(
        "a.ttgir"
    )
    one = ElementTree.fromstring(plot_svg("one", ["registers"], [Row({"registers": 200}, OPTIMAL)]))
    assert len(list(one.iter(f"{SVG}circle"))) == 1
    none = ElementTree.fromstring(plot_svg("none", ["registers"], []))
    assert not list(none.iter(f"{SVG}circle"))


def test_round_ticks_cover_the_values() -> None:
    assert round_ticks(0, 10, 5) == [0, 2, 4, 6, 8, 10]
    assert round_ticks(2048, 2048, 6) == [2047, 2048, 2049]
    assert round_ticks(2048, 8193, 6) == [2000, 4000, 6000, 8000, 10000]
    for low, high in ((1, 2), (17, 91), (512, 1688), (3, 1_000_003)):
        ticks = round_ticks(low, high, 6)
        assert ticks[0] <= low
        assert ticks[-1] >= high
        assert len(ticks) <= 9
