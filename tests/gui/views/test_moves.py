"""An op in the hand: what it breaks is what the judge says, and where it is shown is where it would be."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from chart_cases import BLACKWELL, HOPPER, case

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.edits import move_op
from core.schedule.model import Schedule
from core.schedule.report import Family
from twill_gui.views.gantt.content import Content, make_content
from twill_gui.views.gantt.layout import GanttMode, LaneKind, build_layout
from twill_gui.views.gantt.moves import Move, collisions, ghost_spans


def _content(graph: Graph, schedule: Schedule, mode: GanttMode = GanttMode.FOLDED) -> Content:
    return make_content(graph, schedule, check(graph, schedule), mode, 3)


@pytest.mark.parametrize("name", [HOPPER, BLACKWELL])
def test_broken_dependences_and_missing_cycles_are_the_judges(name: str) -> None:
    graph, schedule = case(name)
    content, rng = _content(graph, schedule), random.Random(1)
    broken = 0
    for op in graph.ops:
        move = Move(content, op)
        for _ in range(12):
            start, group = rng.randint(0, 7000), rng.choice(list(schedule.groups))
            trial = move.to(start, group)
            assert trial.report == check(graph, move_op(schedule, op, start, group))
            wanted = Counter(
                (v.ops[0], v.ops[-1], (v.required or 0) - (v.available or 0))
                for v in trial.report.violations
                if v.family is Family.DEPENDENCE
            )
            shown = Counter((w.dependence.source, w.dependence.target, w.missing) for w in trial.broken)
            assert shown == wanted
            broken += len(trial.broken)
    assert broken > 100


@pytest.mark.parametrize("mode", list(GanttMode))
def test_the_ghost_is_where_the_op_would_be_shown(mode: GanttMode) -> None:
    graph, schedule = case(BLACKWELL)
    content = _content(graph, schedule, mode)
    trial = Move(content, "rescale0").to(4000, "compute0")
    spans = ghost_spans(content, "rescale0", trial)
    after = build_layout(graph, trial.schedule, mode)
    if mode is GanttMode.FOLDED:  # unrolled, the number of stages and so of iterations may change
        bars = Counter((b.lane, b.start, b.end) for b in after.bars if b.op == "rescale0")
        assert Counter((s.lane, s.start, s.end) for s in spans if not s.tail) == bars
        tails = Counter((t.lane, t.start, t.end) for t in after.tails if t.op == "rescale0")
        assert Counter((s.lane, s.start, s.end) for s in spans if s.tail) == tails
    else:
        starts = [s.start for s in spans if s.lane == 2 and not s.tail]
        assert starts == [4000 + i * schedule.ii for i in range(content.layout.iterations)]


def test_collisions_are_the_slots_that_both_ops_take() -> None:
    graph, schedule = case(HOPPER)
    content = _content(graph, schedule)
    # qk1 takes the tensor core in slots 1024 to 1536; qk0 moved to slot 900 takes 900 to 1412.
    trial = Move(content, "qk0").to(2048 + 900, "compute0")
    spans = ghost_spans(content, "qk0", trial)
    found = collisions(content, "qk0", trial, spans, lambda op: [b for b in content.layout.bars if b.op == op])
    lanes = [(lane.kind, lane.name) for lane in content.layout.lanes]
    on_unit = [(s.start, s.end) for s in found if lanes[s.lane] == (LaneKind.UNIT, "tensor_core")]
    assert sorted(on_unit) == [(900, 1024), (1024, 1412)]  # the end of pv1, then qk1
    on_group = [(s.start, s.end) for s in found if lanes[s.lane] == (LaneKind.GROUP, "compute0")]
    assert on_group == [(900, 932)]  # issue cycles within exp0's


def test_a_legal_place_breaks_nothing() -> None:
    graph, schedule = case(HOPPER)
    trial = Move(_content(graph, schedule), "load_k").to(schedule.ops["load_k"].start - 1, "load0")
    assert trial.verdict == "legal" and trial.broken == ()


def test_twelve_cycles_before_the_window_twelve_cycles_are_missing() -> None:
    graph, schedule = case(HOPPER)
    move = Move(_content(graph, schedule), "sum0")
    trial = move.to(move.windows["compute0"].earliest - 12, "compute0")
    assert [wait.missing for wait in trial.broken] == [12]
