"""`twill explain`: why something has no schedule, and what would have to change."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from core.commands.answers import Answer, ExitCode, UsageError, answer_each
from core.commands.inputs import chosen_project
from core.commands.solve_options import group_counts
from core.explain.answer import BY_RULE, Z3, Core, Explanation, ProofState
from core.explain.explain import explain
from core.explain.options import ExplainOptions
from core.explain.question import (
    Question,
    why_not_groups,
    why_not_ii,
    why_not_registers,
    why_not_there,
    why_not_together,
)
from core.files import is_file
from core.graph.model import Graph
from core.graph.read import suggest
from core.project.opened import OpenProject, open_project
from core.schedule.bounds import Arithmetic
from core.schedule.check import check
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from core.solve.events import Verdict


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for the input: 0 explained (or possible after all), 4 not known within the limit."""
    _check_usage(arguments)
    options = ExplainOptions(sensitivity=arguments.sensitivity)
    if arguments.limit_s is not None:
        options = replace(options, total_s=arguments.limit_s)

    def answer(name: str) -> Answer:
        opened = open_project(chosen_project(name, arguments))
        schedule = _active_schedule(opened)
        question = replace(_question(opened.graph, schedule, arguments), known=schedule)
        explanation = explain(question, replace(options, seed=opened.project.solve.seed))
        document = {"input": name, **explanation.as_json()}
        code = ExitCode.NO_ANSWER if explanation.verdict is Verdict.UNKNOWN else ExitCode.ANSWERED
        return Answer(document, explanation_text(opened.graph.name, explanation), code, opened.diagnostics)

    return answer_each(arguments.inputs, answer, arguments.json)


def _check_usage(arguments: argparse.Namespace) -> None:
    asked = {"--groups": arguments.groups, "--registers": arguments.registers, "--op": arguments.op}
    given = [option for option, value in asked.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are different questions: ask one at a time")
    details = {"--group": arguments.group, "--start": arguments.start, "--with": arguments.other}
    stated = [option for option, value in details.items() if value is not None]
    if stated and arguments.op is None:
        raise UsageError(f"{stated[0]}: of which op? Give it with --op")
    if arguments.op is not None and not stated:
        raise UsageError("--op: asked is where it may be: give --group, --start or --with")
    if arguments.other is not None and len(stated) > 1:
        raise UsageError("--with: is a question of its own, without --group and --start")


def _question(graph: Graph, schedule: Schedule | None, arguments: argparse.Namespace) -> Question:
    bound = Arithmetic(graph).bounds()
    # Where there is no II at all, the bound of units and recurrences is as good as any.
    ii = arguments.ii or (schedule.ii if schedule is not None else bound.lower_bound or bound.min_ii or 1)
    if arguments.groups:
        return why_not_groups(graph, group_counts(arguments, graph), ii)
    if arguments.registers is not None:
        return why_not_registers(graph, arguments.registers, ii)
    if arguments.op is not None:
        return _about_op(graph, schedule, ii, arguments)
    return why_not_ii(graph, arguments.ii or max(1, ii - 1))


def _about_op(graph: Graph, schedule: Schedule | None, ii: int, arguments: argparse.Namespace) -> Question:
    for option, op in (("--op", arguments.op), ("--with", arguments.other)):
        if op is not None and op not in graph.ops:
            raise UsageError(f"{option}: there is no op '{op}' ({suggest(op, graph.ops)})")
    if arguments.other is not None:
        if arguments.other == arguments.op:
            raise UsageError("--with: this is the op itself")
        return why_not_together(graph, (arguments.op, arguments.other), ii)
    try:
        return why_not_there(graph, arguments.op, ii, arguments.group, arguments.start, schedule)
    except LookupError:
        known = {*(schedule.groups if schedule is not None else ()), *(kind.kind for kind in graph.groups)}
        raise UsageError(
            f"--group: there is no group '{arguments.group}' ({suggest(arguments.group, known)})"
        ) from None


def _active_schedule(opened: OpenProject) -> Schedule | None:
    """The active schedule, if it has been made and is legal."""
    project = opened.project
    file = project.schedules[project.active].file if project.active is not None else None
    if file is None or not is_file(file):
        return None
    schedule = load_schedule(file, opened.graph)
    return schedule if check(opened.graph, schedule).legal else None


_STATES = {
    ProofState.PROVED_MINIMAL: "every part of this is needed",
    ProofState.PROVED: "perhaps not every part of this is needed",
    ProofState.UNKNOWN: "not known",
}


_CONFIRMED: dict[str | None, str] = {Z3: "proved in two ways", BY_RULE: "a rule by itself"}


def explanation_text(name: str, explanation: Explanation) -> str:
    """The explanation in sentences, about the loop of that name."""
    lines = [f"{name}: {_headline(explanation)}, {explanation.seconds:.1f} s"]
    if explanation.in_place:
        lines.append("with all other ops where they are:")
        lines += [f"  {violation.message}" for violation in explanation.in_place]
    for number, core in enumerate(explanation.cores):
        lines += _core_lines(number, core)
    if explanation.only:
        lines.append("there is no other reason")
    if explanation.binding:
        lines.append("what leaves least room:")
        lines += [f"  {reason.sentence}" for reason in explanation.binding]
    enough = [r for r in explanation.relaxations if r.new is not None]
    lines += _listed("what would help, each by itself:", [r.text for r in enough])
    lines += _listed("what would not help:", [r.sentence for r in explanation.relaxations if r.new is None])
    depends = [sensitivity.sentence for sensitivity in explanation.sensitivity]
    lines += _listed(f"what the least II, {explanation.least_ii}, depends on:", depends)
    return "\n".join(lines)


def _headline(explanation: Explanation) -> str:
    match explanation.verdict:
        case Verdict.FEASIBLE if explanation.in_place:
            return f"{explanation.title} is possible if other ops move"
        case Verdict.FEASIBLE:
            return f"{explanation.title} is possible"
        case Verdict.UNKNOWN:
            return f"whether {explanation.title} is possible is not known"
        case Verdict.INFEASIBLE:
            without = " without queueing" if explanation.queueing_helps else ""
            return f"{explanation.title} is impossible{without}"


def _core_lines(number: int, core: Core) -> list[str]:
    confirmed = _CONFIRMED.get(core.confirmed_by, "proved in one way")
    head = "because" if number == 0 else "and also because"
    lines = [f"{head} ({confirmed}; {_STATES[core.state]}):"]
    lines += [f"  {reason.sentence}" for reason in core.reasons]
    if core.nearest_ii is not None:
        least = "the least II is" if core.nearest_proved else "no II is possible below"
        lines.append(f"  with these alone {least} {core.nearest_ii}")
    return lines


def _listed(head: str, sentences: Sequence[str]) -> list[str]:
    return [head, *(f"  {sentence}" for sentence in sentences)] if sentences else []
