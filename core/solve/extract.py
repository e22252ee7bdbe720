"""A solution of the exact model as a schedule, judged before anyone sees it."""

from __future__ import annotations

from dataclasses import replace

from core.schedule.check import Judge
from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup
from core.schedule.report import Report
from core.solve.engine import Run
from core.solve.model import ExactModel
from core.solve.model_registers import LEAST_VARIABLE_LATENCY_GRANT


def extract(model: ExactModel, solution: Run, judge: Judge, seed: int) -> Schedule:
    """The schedule of a solution: least grants, least rings, and its first start 0 unless starts are pinned.

    Raises RuntimeError if the judge refuses it: an error of the encoding, never of the user.
    """
    value = solution.values
    if value is None:
        raise ValueError("this run of CP-SAT has no solution")
    problem, times = model.problem, model.times
    starts = {op: value(start) for op, start in times.start.items()}
    shift = 0 if problem.fixed_cycles else min(starts.values())
    holder = {op: next(i for i, on in model.grouping.on(op).items() if value(on)) for op in starts}
    names = {i: problem.candidates[i].name for i in set(holder.values())}
    if model.registers.packing is not None:
        names |= model.registers.packing.names(value)
    ops = {
        op: Placement(start - shift, names[holder[op]], value(times.unit_start[op]) - start)
        for op, start in starts.items()
    }
    groups = {
        names[i]: ScheduledGroup(problem.candidates[i].kind, value(model.registers.grant[i])) for i in sorted(names)
    }
    found = Schedule(model.ii, groups, ops, origin=Origin("solver", "feasible", seed=seed))
    schedule = _least_grants(found, _accepted(judge, found), problem.graph.machine.registers.granularity, model)
    _accepted(judge, schedule)
    return schedule


def _accepted(judge: Judge, schedule: Schedule) -> Report:
    report = judge.check(schedule)
    if not report.legal:
        reasons = "; ".join(violation.message for violation in report.violations)
        raise RuntimeError(f"the judge refuses a schedule of the solver: {reasons}")
    return report


def _least_grants(schedule: Schedule, report: Report, granularity: int, model: ExactModel) -> Schedule:
    """Each group is granted what it needs: the solver leaves the choice open."""
    kinds = {kind.kind: kind for kind in model.problem.graph.groups}
    groups = {}
    for name, group in schedule.groups.items():
        need = report.peaks.registers[name]
        if kinds[group.kind].variable_latency:
            need = max(need, LEAST_VARIABLE_LATENCY_GRANT)
        groups[name] = replace(group, grant=-(-need // granularity) * granularity)
    return replace(schedule, groups=groups)
