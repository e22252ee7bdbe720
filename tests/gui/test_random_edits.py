"""A thousand random edits of every kind, saved on the way, and undone: the files are the same to the byte."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.explain.answer import Highlight, Relaxation
from core.graph.model import InOrderIssue
from core.project.model import Fuse, Transform
from core.resources import data_folder
from twill_gui.document import editing, settings
from twill_gui.document.document import Document
from twill_gui.document.files import open_state, save_state
from twill_gui.document.relaxing import apply

EDITS = 1000


def cheap_edit(document: Document, pick: random.Random) -> None:
    """Moves, nudges, groups and pins: edits of the schedule in hand."""
    graph, schedule = document.graph, document.schedule
    assert graph is not None and schedule is not None
    ops = pick.sample(sorted(graph.ops), pick.choice((1, 1, 2)))
    groups = tuple(schedule.groups)
    match pick.randrange(5):
        case 0 | 1:
            editing.move(document, ops[0], pick.randrange(3 * schedule.ii), pick.choice(groups))
        case 2:
            editing.nudge_ops(document, ops, pick.choice((-10, -1, 1, 10)))
        case 3:
            editing.move_to_neighbour(document, ops, groups, pick.choice((-1, 1)))
        case _:
            editing.toggle_pins(document, ops)


def rare_edit(document: Document, pick: random.Random) -> None:
    """Edits that read the loop again, and those of the schedules kept."""
    graph, state = document.graph, document.state
    assert graph is not None and state is not None
    latency = Relaxation("latency", pick.choice(sorted(graph.ops)), 0, pick.randrange(900), True, "", Highlight())
    rules = replace(graph.rules, in_order_issue=pick.choice(list(InOrderIssue)), allow_hand_off=pick.random() < 0.8)
    edits: tuple[Callable[[], object], ...] = (
        lambda: settings.set_groups(document, [replace(kind, count=pick.choice((1, 2, 3))) for kind in graph.groups]),
        lambda: settings.set_rules(document, rules),
        lambda: settings.set_transform(document, Transform(fuse=pick.choice(list(Fuse)))),
        lambda: settings.set_machine_number(document, ("registers", "max_per_thread"), pick.choice((224, 232, 240))),
        lambda: settings.set_limit(document, pick.choice((10.0, 60.0))),
        lambda: settings.keep_copy(document),
        lambda: settings.remove_schedule(document),
        lambda: editing.show_schedule(document, pick.choice(sorted(state.variants))),
        lambda: apply(document, latency),
    )
    pick.choice(edits)()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_thousand_edits_undone_leave_the_same_bytes(qapp: QApplication, tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    folder = tmp_path / "project"
    shutil.copytree(data_folder("projects") / "gemm_hopper", folder)
    file = folder / "project.yaml"
    before = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    document = Document()
    saved = open_state(file).state
    document.open(saved)
    first, steps = document.state, 0
    for number in range(EDITS):
        if number % 20 == 19:
            rare_edit(document, pick)
        else:
            cheap_edit(document, pick)
        if pick.random() < 0.1 and document.undo_stack.canUndo():
            document.undo_stack.undo()
            if pick.random() < 0.5:
                document.undo_stack.redo()
        if number == EDITS // 2:
            assert document.state is not None
            saved = save_state(document.state, file, saved)
            document.saved(saved)
            assert file.read_bytes() != before[Path("project.yaml")]
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
        steps += 1
    assert steps > EDITS / 3
    assert document.state is not None and first is not None
    assert document.state.at(first.location) == first
    save_state(document.state, file, saved)
    assert {path: (folder / path).read_bytes() for path in before} == before
    document.close()
