"""What the Inspector says agrees with the judge."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest
from states import GRAPH, SCHEDULE, state

from core.resources import data_folder
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.edits import move_op
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule
from core.schedule.report import Family
from twill_gui.document.files import open_state
from twill_gui.models.cost_facts import cost_details
from twill_gui.models.inspection import (
    dependence_slack,
    graph_sections,
    op_sections,
    schedule_sections,
    selection_sections,
)
from twill_gui.models.sections import Section
from twill_gui.models.table import Tone

HANDING_OFF = replace(GRAPH, ops={name: replace(op, hand_off_cycles=4) for name, op in GRAPH.ops.items()})


def random_schedules(count: int) -> list[Schedule]:
    random.seed(2)
    found: list[Schedule] = []
    for _ in range(count):
        schedule = SCHEDULE
        for op in GRAPH.ops:
            schedule = move_op(schedule, op, random.randrange(12), random.choice(("compute.0", "compute.1")))
        found.append(schedule)
    return found


def section(sections: list[Section], title: str) -> Section:
    return next(section for section in sections if section.title == title)


def test_slack_is_what_the_judge_finds_missing() -> None:
    index = GraphIndex(HANDING_OFF)
    for schedule in random_schedules(100):
        broken = {
            violation.ops: (violation.available or 0) - (violation.required or 0)
            for violation in check(HANDING_OFF, schedule).violations
            if violation.family is Family.DEPENDENCE
        }
        slacks = {(d.source, d.target): dependence_slack(index, schedule, d) for d in HANDING_OFF.dependences}
        assert {ops: slack for ops, slack in slacks.items() if slack < 0} == broken


def test_an_op_lists_its_violations_and_what_it_waits_for() -> None:
    late = move_op(SCHEDULE, "b", 1)
    sections = op_sections(state().variant.opened, late, check(GRAPH, late), "b")
    assert [(d.name, d.value) for d in section(sections, "Violations").details] == [("dependence", "needs 3, has 1")]
    [waits] = section(sections, "Waits for").details
    assert (waits.target, waits.value, waits.tone) == ("a", "3 cycles, 2 short", Tone.BAD)
    [waited] = section(sections, "Waited for by").details
    assert (waited.target, waited.value) == ("a", "2 cycles, distance 1, slack 3")
    starts = {detail.name: detail.value for detail in section(sections, "Legal starts").details}
    assert starts["compute.0 (here)"] == "3 to 4 (slack 1)"


def test_the_schedule_lists_the_judges_peaks() -> None:
    report = check(GRAPH, SCHEDULE)
    sections = schedule_sections(GRAPH, SCHEDULE, report, bounds(GRAPH))
    registers = {detail.name: detail.value for detail in section(sections, "Registers per thread").details}
    assert registers == {group: f"{peak} of 24 granted" for group, peak in report.peaks.registers.items()}
    units = {detail.name: detail.value for detail in section(sections, "Units").details}
    assert units == {"x": "33.3% busy", "y": "33.3% busy"}


def test_before_a_schedule_the_bounds_are_listed() -> None:
    sections = graph_sections(GRAPH, bounds(GRAPH))
    figures = {detail.name: detail.value for detail in section(sections, "Bounds on II").details}
    assert figures["recurrence"] == "5 cycles"  # a waits 2 for b, b waits 3 for a, one iteration apart
    assert {detail.target for detail in section(sections, "Critical recurrence").details} == {"a", "b"}


def test_two_ops_show_their_dependence_as_the_judge_sees_it() -> None:
    for schedule in random_schedules(60):
        late = {
            violation.ops: (str(violation.required), str(violation.available))
            for violation in check(HANDING_OFF, schedule).violations
            if violation.family is Family.DEPENDENCE
        }
        sections = selection_sections(HANDING_OFF, schedule, frozenset("ab"))
        for source, target in (("a", "b"), ("b", "a")):
            facts = {detail.name: detail for detail in section(sections, f"{source} → {target}").details}
            needs, has = (facts[name].value.split()[0] for name in ("needs", "has"))
            assert (facts["slack"].tone is Tone.BAD) == ((source, target) in late)
            assert late.get((source, target), (needs, has)) == (needs, has)
    assert [one.title for one in selection_sections(GRAPH, None, frozenset("ab"))][1:] == ["a → b", "b → a"]


@pytest.mark.parametrize("name", ["gemm_hopper", "attention_forward_blackwell"])
def test_every_cost_is_at_its_rule_in_the_machine_file(name: str) -> None:
    opened = open_state(data_folder("projects") / name / "project.yaml").state.variant.opened
    assert opened.machine is not None
    lines = Path(opened.machine.file).read_text().splitlines()
    for op in opened.graph.ops.values():
        details = {detail.name: detail for detail in cost_details(opened, op.id)}
        assert details["issue"].value.split()[0] == str(op.issue_cycles)
        assert details["latency"].value.split()[0] == str(op.latency)
        for block in op.blocks:
            assert details[block.unit].value.split()[0] == str(block.duration)
        machine, line = details["machine rule"].value.split(":")
        assert machine == opened.machine.name
        written = re.match(r"\s*- op:\s*(\[[^]]*]|\S+)", "\n".join(lines[int(line) - 1 :]))
        assert written and fnmatch_any(op.kind, written.group(1)), (op.kind, line)
        assert f"{machine}:{line}" in details["latency"].tip


def fnmatch_any(kind: str, patterns: str) -> bool:
    """Whether one of a rule's patterns is for the kind."""
    return any(fnmatch(kind, one.strip(" []\n")) for one in patterns.split(","))
