# pyright: reportUnknownMemberType=false
"""Hints for CP-SAT from a schedule that is known already: the search tries its stages, slots and groups first."""

from __future__ import annotations

from core.schedule.model import Schedule
from core.solve.model import TimingModel


def begin_near(model: TimingModel, schedule: Schedule) -> None:
    """The next search begins with this schedule, legal or not, in place of any hint before. Of another interval the
    stages stay, and slots are stretched or compressed. What the model has no room for gets no hint."""
    cp, times, ii = model.cp, model.times, model.ii
    cp.clear_hints()
    fixed = model.problem.fixed_cycles
    shift, stage_0 = (0, 0) if fixed else (schedule.ops[model.root].start, model.root_start // ii)
    numbers = {candidate.name: number for number, candidate in enumerate(model.problem.candidates)}
    hinted: set[int] = set()
    for op, place in schedule.ops.items():
        stage, slot = divmod(place.start - shift, schedule.ii)
        stage, slot = stage + stage_0, slot * ii // schedule.ii
        if stage >= 0:
            cp.add_hint(times.start[op], stage * ii + slot)
            cp.add_hint(times.stage[op], stage)
            cp.add_hint(times.slot[op], slot)
        on = None if place.group not in numbers else model.grouping.on(op).get(numbers[place.group])
        if on is not None and on.index not in hinted:  # ops of one cluster share it
            hinted.add(on.index)
            cp.add_hint(on, 1)
