"""What the user asks of Explain: why there is no smaller II, or why an op cannot be somewhere. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.explain.answer import BY_RULE, Core, Explanation, ProofState
from core.explain.certified import certificate_reason, group_reason
from core.explain.question import Question, refused, why_not_groups, why_not_ii, why_not_registers, why_not_there
from core.graph.model import Graph
from core.schedule.bounds import Bounds
from core.schedule.certificate import Certificate
from core.schedule.model import Schedule
from core.schedule.windows import windows
from core.solve.events import Verdict
from core.solve.repair.request import Place, RepairRequest


@dataclass(frozen=True, slots=True)
class Asked:
    """Why is `ii` impossible: as it is; with `op` on `group`, at cycle `start` or both (None: anywhere); with at most
    `registers` a thread; or with other numbers of groups by kind? `sensitivity`: and by how much may each cost change?
    `moves`: with these ops where they have been put, the last of which is `op`.
    """

    ii: int
    op: str | None = None
    group: str | None = None
    start: int | None = None
    registers: int | None = None
    groups: tuple[tuple[str, int], ...] = ()
    sensitivity: bool = False
    moves: tuple[tuple[str, Place], ...] = ()


def moved_there(ii: int, moves: Mapping[str, Place]) -> Asked:
    """Why can these ops, at least one, not all be where they have been put?"""
    op, place = list(moves.items())[-1]
    return Asked(ii, op, place.group, place.start, moves=tuple(moves.items()))


def question(asked: Asked, graph: Graph, schedule: Schedule | None) -> Question:
    """What is asked, for the shown graph and schedule. Raises LookupError for an op, group or kind that it has not."""
    if asked.moves and schedule is not None:
        from core.explain.repair_question import why_not_repaired  # of the solver, which a window starts without

        return why_not_repaired(RepairRequest(graph, schedule, dict(asked.moves)))
    if asked.op is not None:
        return why_not_there(graph, asked.op, asked.ii, asked.group, asked.start, schedule)
    if asked.registers is not None:
        return why_not_registers(graph, asked.registers, asked.ii)
    if asked.groups:
        return why_not_groups(graph, dict(asked.groups), asked.ii)
    return why_not_ii(graph, asked.ii)


def first_answer(asked: Question, certified: Sequence[Certificate]) -> Explanation:
    """What is known without any search: that a group refuses the op, or what arithmetic excludes, and what is broken
    where all other ops stay."""
    infeasible, proved = Verdict.INFEASIBLE, ProofState.PROVED
    answer = Explanation(asked.title, asked.ii, Verdict.UNKNOWN, ProofState.UNKNOWN, in_place=asked.in_place)
    if refused(asked):
        core = Core((group_reason(asked),), ProofState.PROVED_MINIMAL, BY_RULE)
        return replace(answer, verdict=infeasible, state=core.state, cores=(core,))
    if not certified:
        return answer
    cores = tuple(Core((certificate_reason(one, asked.graph),), proved) for one in certified)
    return replace(answer, verdict=infeasible, state=proved, cores=cores)


def smaller_ii(schedule: Schedule | None, bounds: Bounds) -> Asked:
    """One less than the shown schedule has, or than arithmetic allows."""
    ii = schedule.ii if schedule else bounds.lower_bound or bounds.min_ii or 1
    return Asked(max(ii - 1, 1))


def elsewhere(graph: Graph, schedule: Schedule, op: str, broken: bool) -> Asked:
    """What is most worth asking of a placed op: where it is, if it is `broken` there; else a group that refuses it;
    else the cycle before its earliest start."""
    place = schedule.ops[op]
    if broken:
        return Asked(schedule.ii, op, place.group, place.start)
    found = windows(graph, schedule, op)
    refusing = next((name for name, window in found.items() if window.refusals), None)
    if refusing is not None:
        return Asked(schedule.ii, op, refusing)
    earliest = found[place.group].earliest
    return Asked(schedule.ii, op, place.group, earliest - 1 if earliest else None)


def as_options(asked: Asked) -> list[str]:
    """The question as options of `twill explain`."""
    words: list[str] = []
    options: Sequence[tuple[str, str | int | None]] = (
        ("--ii", asked.ii),
        ("--op", asked.op),
        ("--group", asked.group),
        ("--start", asked.start),
        ("--registers", asked.registers),
    )
    for option, value in options:
        if value is not None:
            words += [option, str(value)]
    if asked.sensitivity:
        words.append("--sensitivity")
    if asked.groups:
        words += ["--groups", *(f"{kind}={count}" for kind, count in asked.groups)]
    return words
