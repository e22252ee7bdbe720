"""Marks of a run over the plan: what is made of known numbers, and of files that are not what they should be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.diagnostics import InputError
from core.export.marks_file import Mark, read_marks
from core.export.measured import compared, measured_trace
from core.export.trace import chrome_trace
from core.resources import data_folder
from core.schedule.expansion import expand
from tests.core.export.roles.programs import sample_loop

FOLDER = "attention_forward_hopper"
ITERATIONS = 6


def planned_marks(late: dict[str, int] | None = None, longer: dict[str, int] | None = None) -> dict[str, Any]:
    """A document of a run that went as planned, from cycle 1000 on; `late`, `longer`: cycles added to some ops."""
    loop = sample_loop(FOLDER)
    roles: dict[str, list[Any]] = {group: [] for group in loop.schedule.groups}
    for one in sorted(expand(loop.schedule, ITERATIONS), key=lambda instance: instance.cycle):
        begin = 1000 + one.cycle + (late or {}).get(one.op, 0)
        end = begin + loop.graph.ops[one.op].issue_cycles + (longer or {}).get(one.op, 0)
        roles[loop.schedule.ops[one.op].group].append([loop.tiles.loop.index, one.op, one.iteration, begin, end])
    return {"schema": "twill.marks/1", "case": "planned", "clock": "cycles", "roles": roles}


def written(folder: Path, document: object) -> Path:
    file = folder / "marks.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def test_a_run_as_planned_has_the_plan_s_numbers_and_proposes_nothing(tmp_path: Path) -> None:
    loop = sample_loop(FOLDER)
    marks = read_marks(written(tmp_path, planned_marks()), loop.tiles.loop.index)
    found = compared(loop.graph, loop.schedule, loop.fusion, marks)
    assert (found.planned_ii, found.seen_ii, found.iterations) == (loop.schedule.ii, loop.schedule.ii, ITERATIONS)
    assert {one.op for one in found.ops} == set(loop.schedule.ops)
    for one in found.ops:
        assert one.group == loop.schedule.ops[one.op].group
        assert one.seen_issue == one.planned_issue == loop.graph.ops[one.op].issue_cycles
        assert one.seen_offset == one.planned_offset
    assert found.proposals == ()


def test_a_run_on_an_h200_shows_every_op_of_the_plan() -> None:
    """Of a traced kernel, whose readings of the clock take cycles of their own: in the order of the plan, no iteration
    sooner than planned, and none as long as two."""
    loop = sample_loop(FOLDER)
    marks = read_marks(data_folder("projects") / FOLDER / "runs" / "h200.json", loop.tiles.loop.index)
    found = compared(loop.graph, loop.schedule, loop.fusion, marks)
    assert {one.op for one in found.ops} == set(loop.schedule.ops)
    assert found.seen_ii is not None and found.planned_ii <= found.seen_ii < 2 * found.planned_ii
    for group in ("compute.0", "compute.1"):
        marks_of = [mark for mark in marks.roles[group] if mark.op.startswith("warp_group_dot")]
        begins = [mark.begin for mark in marks_of]
        assert begins == sorted(begins) and len(marks_of) == 2 * found.iterations
    assert found.proposals


def test_an_op_that_takes_longer_is_proposed_and_one_that_is_late_is_not(tmp_path: Path) -> None:
    loop = sample_loop(FOLDER)
    longer, late = "exp2.0", "truncf.0"
    document = planned_marks({late: 40}, {longer: 200})
    found = compared(loop.graph, loop.schedule, loop.fusion, read_marks(written(tmp_path, document), 0))
    op = loop.graph.ops[longer]
    assert ("issue_cycles", op.issue_cycles, op.issue_cycles + 200) in [(p.what, p.old, p.new) for p in found.proposals]
    assert {proposal.op for proposal in found.proposals} == {longer}
    (seen,) = [one for one in found.ops if one.op == late]
    assert seen.seen_offset - seen.planned_offset == 40


def test_the_mock_s_clock_proposes_no_costs(tmp_path: Path) -> None:
    loop = sample_loop(FOLDER)
    document = planned_marks(longer={"exp2.0": 200}) | {"clock": "changes"}
    found = compared(loop.graph, loop.schedule, loop.fusion, read_marks(written(tmp_path, document), 0))
    assert found.proposals == ()


def test_the_trace_has_the_plan_and_every_mark(tmp_path: Path) -> None:
    loop = sample_loop(FOLDER)
    marks = read_marks(written(tmp_path, planned_marks()), 0)
    document, _ = measured_trace(loop.graph, loop.schedule, loop.fusion, marks)
    events = document["traceEvents"]
    seen = [event for event in events if event.get("cat") == "seen"]
    assert [event for event in events if event["ph"] != "M" and event.get("cat") != "seen"] == [
        event for event in chrome_trace(loop.graph, loop.schedule, ITERATIONS)["traceEvents"] if event["ph"] != "M"
    ]
    planned = {
        (event["args"]["op"], event["args"]["iteration"]): (event["ts"], event["dur"])
        for event in events
        if event.get("cat") == "issue"
    }
    assert {(e["args"]["op"], e["args"]["iteration"]): (e["ts"], e["dur"]) for e in seen} == planned
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert Counter(names[event["pid"]] for event in seen) == {
        f"seen {role}": len(of_role) for role, of_role in marks.roles.items()
    }
    assert json.loads(json.dumps(document)) == document


def test_operations_of_one_op_are_one_mark_and_the_next_program_is_left_out(tmp_path: Path) -> None:
    rows = [
        [0, "a", 0, 1, 2],
        [0, "a", 0, 3, 5],
        [1, "b", 0, 5, 6],
        [0, "a", 1, 7, 8],
        [0, "a", 0, 20, 21],
        [0, "a", 1, 25, 26],
    ]
    file = written(tmp_path, planned_marks() | {"roles": {"compute.0": rows}})
    assert read_marks(file, 0).roles == {"compute.0": (Mark("a", 0, 1, 5), Mark("a", 1, 7, 8))}
    assert read_marks(file, 1).roles == {"compute.0": (Mark("b", 0, 5, 6),)}


def wrong_documents() -> Iterator[object]:
    yield []
    yield {"schema": "twill.marks/2", "roles": {}}
    yield {"schema": "twill.marks/1"}
    yield {"schema": "twill.marks/1", "roles": {"load.0": 3}}
    for row in (3, [0, "a", 0, 1], [0, "a", 0, 2, 1], [0, 1, 0, 1, 2], ["0", "a", 0, 1, 2]):
        yield {"schema": "twill.marks/1", "roles": {"load.0": [row]}}


@pytest.mark.parametrize("document", list(wrong_documents()), ids=str)
def test_wrong_files_are_refused(document: object, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_marks(written(tmp_path, document), 0)
    assert refused.value.diagnostics[0].code == "bad-marks"


def test_marks_of_another_kernel_or_schedule_are_refused(tmp_path: Path) -> None:
    loop, document = sample_loop(FOLDER), planned_marks()
    swapped = {"compute.0": "compute.1", "compute.1": "compute.0", "load.0": "load.0"}
    for roles, said in (
        ({"load.0": [[0, "elsewhere.0", 0, 1, 2]]}, "elsewhere.0"),
        ({swapped[role]: rows for role, rows in document["roles"].items()}, "ran on compute"),
    ):
        marks = read_marks(written(tmp_path, document | {"roles": roles}), 0)
        with pytest.raises(InputError) as refused:
            compared(loop.graph, loop.schedule, loop.fusion, marks)
        assert said in refused.value.diagnostics[0].message


def test_the_command_writes_the_trace_and_says_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, output = str(data_folder("projects") / FOLDER), tmp_path / "trace.json"
    marks = str(written(tmp_path, planned_marks(longer={"exp2.0": 200})))
    command = ["export", project, "--format", "trace", "--measured", marks, "-o", str(output)]
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["measured"]["seen_ii"] == sample_loop(FOLDER).schedule.ii
    assert any(event.get("cat") == "seen" for event in json.loads(output.read_text(encoding="utf-8"))["traceEvents"])
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "2048 cycles planned, 2048 seen" in said and "overrides: {exp2.0: {issue_cycles: " in said


def test_the_option_belongs_to_traces(tmp_path: Path) -> None:
    project = str(data_folder("projects") / FOLDER)
    marks = str(written(tmp_path, planned_marks()))
    assert main(["export", project, "--format", "json", "--measured", marks, "-o", str(tmp_path / "x.json")]) == 2
    missing = str(tmp_path / "nothing.json")
    assert main(["export", project, "--format", "trace", "--measured", missing, "-o", str(tmp_path / "x.json")]) == 3
