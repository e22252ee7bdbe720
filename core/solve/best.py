# pyright: reportUnknownMemberType=false
"""Further optima: schedules that no level tells apart, but hardware may, since their structure differs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from core.schedule.model import Schedule
from core.solve.decide import Decider
from core.solve.engine import OutOfTimeError
from core.solve.events import Event, Progress, Verdict
from core.solve.model import ExactModel
from core.solve.model_times import Moment
from core.solve.structure import Slice, Structure, structure

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

WORK_SHARE = 0.5
"""Part of the work left that one question may take."""


def further_optima(
    decider: Decider, optima: Callable[[], ExactModel], first: Schedule, count: int, emit: Callable[[Event], None]
) -> tuple[tuple[Schedule, ...], bool]:
    """Up to `count` optima of pairwise different structure, `first` among them, and whether it is proved that there are
    no more.

    `optima` makes the model of all optima; it may raise OutOfTimeError. Of structures that differ only by ops that are
    interchangeable the model may leave out all but one.
    """
    found = [first]
    try:
        model = optima()
    except OutOfTimeError:
        return (first,), False
    while True:
        _forbid(model, structure(decider.problem.graph, found[-1]))
        result = decider.ask(model, WORK_SHARE * decider.budget.work)
        if result.verdict is not Verdict.FEASIBLE:
            return tuple(found), result.verdict is Verdict.INFEASIBLE
        if len(found) == count:
            return tuple(found), False
        found.append(decider.schedule(model, result))
        emit(Progress(f"{len(found)} structurally different optima", decider.budget.seconds()))


def _forbid(model: ExactModel, known: Structure) -> None:
    """Solutions of another structure only."""
    different = _other_groups(model, known)
    for _, slices in known.orders:
        different += _other_orders(model, slices)
    model.cp.add_bool_or(different)


def _other_groups(model: ExactModel, known: Structure) -> list[cp_model.BoolVarT]:
    """Literals one of which holds if and only if ops share groups differently, or a group is of another kind.

    A partition differs if some neighbours within a part are parted, or else if two parts are one.
    """
    grouping, candidates = model.grouping, model.problem.candidates
    groups = sorted(known.groups)
    conditions = [grouping.parted(one, other) for _, ops in groups for one, other in pairwise(ops)]
    heads = [ops[0] for _, ops in groups]
    conditions += [grouping.together(one, other) for i, one in enumerate(heads) for other in heads[:i]]
    different = [literal for condition in conditions if condition for literal in condition]
    for kind, ops in groups:
        different += [on for i, on in grouping.on(ops[0]).items() if candidates[i].kind != kind]
    return different


def _other_orders(model: ExactModel, slices: tuple[Slice, ...]) -> list[cp_model.BoolVarT]:
    """Literals of which one can hold only if the slices stand in another order around the interval: some neighbours,
    as one goes around from the first, are the other way round."""
    moments = [_begin(model, one) for one in slices]
    return [_reversed(model, moments[0], one, other) for one, other in pairwise(moments[1:])]


def _begin(model: ExactModel, one: Slice) -> Moment:
    return model.times.at(one.op, one.offset, on_unit=True)


def _reversed(model: ExactModel, first: Moment, one: Moment, other: Moment) -> cp_model.IntVar:
    """A literal that implies: from `first` on around the interval, `other` comes before `one`."""
    cp, times = model.cp, model.times
    literal = cp.new_bool_var("")
    one_later, other_later = times.later(one, first), times.later(other, first)
    # What is not later than the first in the interval comes after it in the next one.
    cp.add(one_later <= other_later).only_enforce_if(literal)
    swapped = times.later(one, other)
    cp.add(swapped >= one_later + other_later - 1).only_enforce_if(literal)
    cp.add(swapped >= 1 - one_later - other_later).only_enforce_if(literal)
    return literal
