"""`twill repair`: ops put elsewhere in a schedule, and as little else as possible changed to make it legal again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.commands.answers import Answer, ExitCode, UsageError, answer_each, table, writing
from core.commands.explain import explanation_text
from core.commands.inputs import open_schedule
from core.commands.outputs import require_output
from core.commands.solution import solution_document
from core.explain.answer import Explanation
from core.explain.explain import explain
from core.explain.options import ExplainOptions
from core.explain.repair_question import why_not_repaired
from core.graph.model import Graph
from core.graph.read import suggest
from core.project.record import save_solution
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.edits import shift
from core.schedule.model import Schedule
from core.schedule.report import Family, Violation
from core.schedule.wording import counted
from core.solve.decide import CP_SAT
from core.solve.events import Level, SolveOptions, SolveResult, Status, TrailEntry, Verdict
from core.solve.repair.anchored import spare_groups
from core.solve.repair.repair import repair, with_moves
from core.solve.repair.request import Measure, Place, Repaired, RepairRequest

_CODES = {
    Verdict.FEASIBLE: ExitCode.ANSWERED,
    Verdict.INFEASIBLE: ExitCode.NEGATIVE,
    Verdict.UNKNOWN: ExitCode.NO_ANSWER,
}
_STATUSES = {Verdict.INFEASIBLE: Status.INFEASIBLE, Verdict.UNKNOWN: Status.UNKNOWN}
_LIMIT_S = 10.0

_PLACE_RULES = {Family.VARIABLE_LATENCY, Family.GROUPS, Family.PIN}
"""Rules that alone say that an op cannot be on a group."""


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for the input: 0 repaired, 1 impossible (with the reasons), 4 not known within the limit."""

    def answer(name: str) -> Answer:
        opened, schedule = open_schedule(name, arguments)
        if arguments.output is not None:
            require_output(Path(arguments.output), opened.project)
        limit_s = arguments.limit_s or _LIMIT_S
        seed = opened.project.solve.seed if arguments.seed is None else arguments.seed
        moves = _places(arguments.move, opened.graph, schedule)
        request = RepairRequest(opened.graph, schedule, moves, arguments.rotate, limit_s, seed=seed)
        found = repair(request)
        broken = check(opened.graph, with_moves(opened.graph, schedule, moves)).violations
        explanation = _explanation(request, broken) if found.verdict is Verdict.INFEASIBLE else None
        result = _result(request, found, broken, explanation)
        document = {"input": name, **_document(request, found, result, broken, explanation)}
        text = _text(request, found, broken, explanation)
        if arguments.output is not None and result.schedule is not None:
            file = Path(arguments.output)
            options = SolveOptions(objective=(Level.II,), ii=schedule.ii, limit_s=limit_s, seed=seed)
            with writing(file):
                save_solution(result, options, file, {"repaired": _moves_document(request)})
            document["schedule_file"] = file.as_posix()
            text += f"\nwritten: {file.as_posix()}"
        return Answer(document, text, _CODES[found.verdict], opened.diagnostics)

    return answer_each(arguments.inputs, answer, arguments.json)


def _places(moves: Sequence[tuple[str, int, str | None]], graph: Graph, schedule: Schedule) -> dict[str, Place]:
    groups = {*schedule.groups, *(group.name for group in spare_groups(graph, schedule))}
    places: dict[str, Place] = {}
    for op, start, group in moves:
        if op not in graph.ops:
            raise UsageError(f"--move: there is no op '{op}' ({suggest(op, graph.ops)})")
        if group is not None and group not in groups:
            raise UsageError(f"--move: there is no group '{group}' ({suggest(group, groups)})")
        if op in places:
            raise UsageError(f"--move: {op} is moved twice")
        places[op] = Place(start, group or schedule.ops[op].group)
    return places


def _contradicted(request: RepairRequest, broken: Sequence[Violation]) -> list[Violation]:
    """Pins of the project that the moves themselves break: reason enough."""
    return [one for one in broken if one.family is Family.PIN and set(one.ops) <= request.moves.keys()]


def _explanation(request: RepairRequest, broken: Sequence[Violation]) -> Explanation | None:
    if _contradicted(request, broken):
        return None
    return explain(why_not_repaired(request), ExplainOptions(total_s=request.limit_s, seed=request.seed))


def _result(
    request: RepairRequest, found: Repaired, broken: Sequence[Violation], explanation: Explanation | None
) -> SolveResult:
    """The answer as that of a solve at the schedule's interval."""
    bound = bounds(request.graph).lower_bound or 1
    schedule, ii = found.schedule, request.schedule.ii
    status = _STATUSES.get(found.verdict, Status.FEASIBLE)
    if schedule is not None and schedule.origin is not None:
        status = Status(schedule.origin.status)
    confirmed = explanation.as_json()["confirmed_by"] if explanation is not None else None
    rules = [one.family.value for one in broken if one.family in _PLACE_RULES]
    by = CP_SAT if found.stages or not rules else rules[0]
    entry = TrailEntry(ii, found.verdict, found.seconds, by, confirmed, found.stages or None)
    reached = None if schedule is None else ii
    return SolveResult(status, reached, min(bound, ii), (entry,), (), found.seconds, schedule)


def _document(
    request: RepairRequest,
    found: Repaired,
    result: SolveResult,
    broken: Sequence[Violation],
    explanation: Explanation | None,
) -> dict[str, Any]:
    document = solution_document(request.graph, result)
    if found.schedule is not None:
        document["levels"] = [_level("moved", found.count), _level("movement", found.movement)]
    return {
        **document,
        "moves": _moves_document(request),
        "moved": list(found.moved),
        "intervals_later": found.later,
        "violations": [violation.as_json() for violation in broken],
        "explanation": None if explanation is None else explanation.as_json(),
    }


def _level(name: str, measure: Measure) -> dict[str, Any]:
    return {"name": name, "value": measure.value, "bound": measure.bound, "proved": measure.proved}


def _moves_document(request: RepairRequest) -> dict[str, Any]:
    return {op: {"start": place.start, "group": place.group} for op, place in request.moves.items()}


def _text(request: RepairRequest, found: Repaired, broken: Sequence[Violation], explanation: Explanation | None) -> str:
    name, ii = request.graph.name, request.schedule.ii
    if found.schedule is not None:
        return "\n".join([f"{name}: {_headline(found)}, {found.seconds:.1f} s", *_changes(request, found)])
    if found.verdict is Verdict.UNKNOWN:
        return f"{name}: whether II {ii} is possible with these moves is not known, {found.seconds:.1f} s"
    lines = [f"{name}: II {ii} is impossible with these moves"]
    lines += [f"  {violation.message}" for violation in _contradicted(request, broken)]
    if explanation is not None and explanation.verdict is Verdict.INFEASIBLE:
        lines.append(explanation_text(name, explanation))
    if not request.may_rotate and not _contradicted(request, broken):
        lines.append("the starts are meant to the cycle; with --rotate everything may start whole intervals later")
    return "\n".join(lines)


def _headline(found: Repaired) -> str:
    if not found.moved:
        return "legal, no other op moves"
    others = counted(len(found.moved), "other op")
    few = "no fewer would do" if found.count.proved else f"not proved fewest, at least {found.count.bound}"
    words = f"repaired by moving {others} ({few}) by {counted(found.movement.value, 'cycle')} in all"
    if found.count.proved:
        words += " (no less would do)" if found.movement.proved else " (not proved least)"
    if found.later:
        words += f"; everything starts {counted(found.later, 'interval')} later"
    return words


def _changes(request: RepairRequest, found: Repaired) -> list[str]:
    """A table of the ops that are elsewhere, and other grants."""
    if found.schedule is None:
        return []
    before = shift(request.schedule, found.later * request.schedule.ii)
    rows: list[list[object]] = []
    for op in [op for op in before.ops if op in request.moves or op in found.moved]:
        old, new = before.ops[op], found.schedule.ops[op]
        groups = old.group if old.group == new.group else f"{old.group} to {new.group}"
        rows.append([op, old.start, new.start, groups, "given" if op in request.moves else "moved"])
    lines = [table(("op", "from", "to", "group", ""), rows)] if rows else []
    for name, group in found.schedule.groups.items():
        old = before.groups.get(name, replace(group, grant=0)).grant
        if old != group.grant:
            lines.append(f"  {name}: {counted(group.grant, 'register')} a thread instead of {old}")
    return lines
