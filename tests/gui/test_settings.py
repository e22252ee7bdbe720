"""Edits of machine, groups, rules, transform and loop: judged at once, undone whole, saved with their comments."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from core.diagnostics import InputError
from core.graph.model import GroupKind, InOrderIssue, Rules
from core.project.load import load_project
from core.project.model import Fuse, Subtile, Transform
from core.project.opened import open_project
from core.schedule.check import check
from twill_gui.document import editing, settings
from twill_gui.document.document import Document
from twill_gui.document.files import open_state, save_state
from twill_gui.document.recovery import Autosave, find_leftovers

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the Hopper attention sample."""
    copy = tmp_path / "attention"
    shutil.copytree(ROOT / "projects" / "attention_forward_hopper", copy)
    return copy


@pytest.fixture
def document(bot: QtBot, folder: Path) -> Document:
    document = Document()
    document.open(open_state(folder).state)
    return document


def rule_number(document: Document, op: str) -> int:
    """The number of the cost rule of an op, in the order of the machine file."""
    state = document.state
    assert state is not None and state.variant.opened.machine is not None
    rule = state.variant.opened.sources[op].rule
    return [id(one) for one in state.variant.opened.machine.costs].index(id(rule))


def test_a_changed_number_is_judged_at_once_and_undone_whole(document: Document) -> None:
    before = document.state
    graph, report = document.graph, document.report
    assert graph and report and report.legal
    path = ("costs", rule_number(document, "warp_group_dot.0"), "latency", "add")
    settings.set_machine_number(document, path, 900)
    assert document.graph is not None and document.schedule is not None and document.report is not None
    old, new = (g.ops["warp_group_dot.0"].latency for g in (graph, document.graph))
    assert new > old
    assert document.report == check(document.graph, document.schedule)
    assert not document.report.legal
    assert document.schedule.origin is not None and document.schedule.origin.by == "user"
    document.undo_stack.undo()
    assert document.state == before and document.report == report


def test_an_edited_machine_is_saved_beside_the_project_with_its_comments(document: Document, folder: Path) -> None:
    state = document.state
    assert state is not None
    original = (ROOT / "machines" / "h100.yaml").read_text()
    settings.set_machine_number(document, ("registers", "max_per_thread"), 232)
    assert document.state is not None
    saved = save_state(document.state, folder / "project.yaml", state)
    text = (folder / "h100.yaml").read_text()
    assert [a for a, b in zip(original.splitlines(), text.splitlines(), strict=True) if a != b] == [
        line for line in original.splitlines() if "max_per_thread: 240" in line
    ]
    assert saved.project.machine == folder / "h100.yaml"
    assert (ROOT / "machines" / "h100.yaml").read_text() == original
    assert open_project(load_project(folder)).graph.machine.registers.max_per_thread == 232


def test_a_machine_file_is_written_where_it_is(document: Document, folder: Path) -> None:
    own = folder / "own.yaml"
    shutil.copyfile(ROOT / "machines" / "h100.yaml", own)
    settings.choose_machine(document, own)
    settings.set_machine_number(document, ("hand_off", "base"), 500)
    assert document.state is not None
    save_state(document.state, folder / "project.yaml")
    assert "base: 500" in own.read_text()
    assert not (folder / "own_2.yaml").exists()
    assert max(op.hand_off_cycles for op in open_project(load_project(folder)).graph.ops.values()) >= 500


def test_a_number_out_of_range_is_refused_with_its_place(document: Document) -> None:
    before = document.state
    with pytest.raises(InputError) as fault:
        settings.set_machine_number(document, ("registers", "max_per_thread"), 100_000)
    assert "max_per_thread" in fault.value.diagnostics[0].message
    assert fault.value.diagnostics[0].line is not None
    assert document.state is before and not document.modified


def test_an_edited_machine_survives_a_crash(document: Document, folder: Path, tmp_path: Path, bot: QtBot) -> None:
    owner = QObject()
    autosave = Autosave(document, tmp_path / "recovery", owner)
    settings.set_machine_number(document, ("hand_off", "base"), 500)
    for base in (510, 520):
        autosave.write()
        autosave.wait()
        settings.set_machine_number(document, ("hand_off", "base"), base)
    autosave.write()
    autosave.wait()
    [copy] = (tmp_path / "recovery").iterdir()
    assert sorted(file.name for file in copy.glob("*.yaml")) == ["machine.yaml", "project.yaml"]
    assert not (folder / "h100.yaml").exists()
    (copy / "lock").unlink()  # as if the window no longer lived
    [left] = find_leftovers(tmp_path / "recovery")
    found, present = left.state(), document.state
    assert present is not None
    assert found.machine_text == present.machine_text and found.project.machine == "h100"
    assert found.variant.graph == present.variant.graph
    assert json.loads((copy / "origin.json").read_text())["origin"] == str(folder / "project.yaml")
    autosave.clear()
    document.undo_stack.disconnect(autosave)
    document.disconnect(autosave)


def test_another_machine_is_another_graph(document: Document) -> None:
    settings.choose_machine(document, "h200")
    assert document.state is not None and document.state.project.machine == "h200"
    assert document.state.variant.opened.machine is not None
    assert document.state.variant.opened.machine.name == "h200"


def test_groups_that_a_schedule_uses_and_that_are_gone_take_it_along(document: Document) -> None:
    before = document.state
    assert before is not None
    settings.set_groups(document, [GroupKind("load", 1, 1, True), GroupKind("math", 4, 2)])
    assert document.state is not None and document.schedule is None
    assert settings.describe_dropped(before, document.state) == ("main",)
    document.undo_stack.undo()
    assert document.schedule == before.variant.schedule


def test_fewer_groups_are_a_violation(document: Document) -> None:
    settings.set_groups(document, [GroupKind("load", 1, 1, True), GroupKind("compute", 4, 1)])
    assert document.report is not None and not document.report.legal


def test_rules_hold_for_the_shown_graph(document: Document) -> None:
    settings.set_rules(document, Rules(InOrderIssue.OFF, isolate_matrix_issue=True))
    assert document.graph is not None and document.graph.rules.isolate_matrix_issue
    assert document.report is not None
    assert {violation.family.value for violation in document.report.violations}


def test_sub_tiles_give_more_ops(bot: QtBot, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "projects" / "attention_backward_hopper", tmp_path / "p")
    document = Document()
    document.open(open_state(tmp_path / "p").state)
    assert document.graph is not None
    count = len(document.graph.ops)
    settings.set_transform(document, Transform(Fuse.OFF, Subtile("m", 2)))
    assert len(document.graph.ops) > count and document.schedule is None


def test_a_split_along_a_reduction_is_refused_with_its_line(document: Document) -> None:
    before = document.state
    with pytest.raises(InputError) as fault:
        settings.set_transform(document, Transform(Fuse.AUTO, Subtile("n", 2)))
    assert fault.value.diagnostics[0].line == 33
    assert document.state is before


def test_a_schedule_with_groups_of_its_own_keeps_them_apart(bot: QtBot, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "projects" / "attention_backward_hopper", tmp_path / "p")
    document = Document()
    document.open(open_state(tmp_path / "p").state)
    document.edit("", lambda state: settings.with_active(state, "two_key_tiles"))
    assert document.state is not None
    others = document.state.project.groups
    settings.set_groups(document, [GroupKind("load", 4, 1, True), GroupKind("compute", 4, 3)])
    assert document.state.project.groups == others
    entry = document.state.project.schedules["two_key_tiles"]
    assert entry.groups is not None and entry.groups[1].count == 3


def test_another_loop_gets_a_schedule_of_its_own(bot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "two.ttgir"
    shutil.copyfile(DATA / "bad" / "two_loops.ttgir", file)
    document = Document()
    document.open(open_state(file, loop=0).state)
    first = document.graph
    settings.show_loop(document, 1)
    state = document.state
    assert state is not None and first is not None and document.graph is not None
    assert list(state.variants) == ["main", "loop_1"] and state.active == "loop_1"
    assert state.variant.opened.loop is not None and state.variant.opened.loop.index == 1
    assert state.variants["main"].graph == first
    settings.show_loop(document, 0)
    assert document.state is not None and document.state.active == "main" and document.graph == first
    saved = save_state(document.state, tmp_path / "project.yaml")
    again = open_state(tmp_path / "project.yaml").state
    assert {name: v.opened.loop and v.opened.loop.index for name, v in again.variants.items()} == {
        "main": 0,
        "loop_1": 1,
    }
    assert list(saved.variants) == ["main", "loop_1"]


def test_a_copy_is_kept_and_removed(document: Document, folder: Path) -> None:
    before = document.state
    assert settings.keep_copy(document) == "main_copy"
    assert document.state is not None
    assert document.state.active == "main"
    assert document.state.variants["main_copy"].schedule == document.schedule
    save_state(document.state, folder / "project.yaml", before)
    assert (folder / "schedules" / "main_copy.yaml").exists()
    settings.remove_schedule(document)
    assert list(document.state.variants) == ["main_copy"]
    settings.remove_schedule(document)
    assert list(document.state.variants) == ["main_copy"]
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert document.state == before


def test_a_thousand_random_edits_undone_leave_the_same_bytes(bot: QtBot, tmp_path: Path) -> None:
    """Moves, nudges, pins, and every kind of setting; saved in the middle, then all undone and saved again."""
    shutil.copytree(ROOT / "projects" / "gemm_hopper", tmp_path / "p")
    files = [tmp_path / "p" / "project.yaml", tmp_path / "p" / "schedules" / "main.yaml"]
    before = [file.read_bytes() for file in files]
    document = Document()
    saved = open_state(files[0]).state
    document.open(saved)
    chosen = random.Random(5)

    def edit() -> None:
        graph, schedule = document.graph, document.schedule
        assert graph is not None
        op = chosen.choice(list(graph.ops))
        kind = chosen.random()
        if kind < 0.04:
            limit = chosen.randrange(96, 240, 8)
            settings.set_machine_number(document, ("registers", "max_per_thread"), limit)
        elif kind < 0.06:
            settings.set_groups(
                document, [GroupKind("load", 1, 1, True), GroupKind("compute", 4, chosen.randrange(1, 4))]
            )
        elif kind < 0.08:
            settings.set_rules(document, Rules(chosen.choice(list(InOrderIssue)), chosen.random() < 0.5))
        elif kind < 0.09:
            settings.keep_copy(document)
        elif kind < 0.10:
            settings.set_limit(document, float(chosen.randrange(1, 99)))
        elif schedule is not None and kind < 0.2:
            editing.toggle_pins(document, {op})
        elif schedule is not None and kind < 0.5:
            editing.nudge_ops(document, {op}, chosen.randrange(-9, 10))
        elif schedule is not None:
            editing.move(document, op, chosen.randrange(900), chosen.choice(list(schedule.groups)))

    for number in range(1000):
        edit()
        if number == 500:
            assert document.state is not None
            saved = save_state(document.state, files[0], saved)
            document.saved(saved)
    assert document.undo_stack.count() > 700
    saved = save_state(document.state, files[0], saved)
    document.saved(saved)
    assert [file.read_bytes() for file in files] != before
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    save_state(document.state, files[0], saved)
    assert [file.read_bytes() for file in files] == before
    document.close()
