"""The facts that the Inspector dock lists: of one op, of several, or of the schedule as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from core.graph.model import Dependence, DependenceKind, Graph, Op
from core.project.opened import OpenProject
from core.schedule.bounds import Bounds
from core.schedule.certificate import Certificate
from core.schedule.check_timing import required_gap
from core.schedule.index import GraphIndex
from core.schedule.metrics import hand_offs, length, stages
from core.schedule.model import Schedule
from core.schedule.report import Family, Report, Violation
from core.schedule.reservation import reservation_table
from core.schedule.windows import Window, windows
from core.schedule.wording import counted
from twill_gui.models.asking import Asked
from twill_gui.models.cost_facts import cost_details
from twill_gui.models.sections import Detail, Section
from twill_gui.models.table import Tone


def op_sections(opened: OpenProject, schedule: Schedule | None, report: Report | None, name: str) -> list[Section]:
    """One op: where it is, what it costs, where it may go, and what it waits for."""
    graph = opened.graph
    op = graph.ops[name]
    index = GraphIndex(graph)
    broken = [v for v in report.violations if name in v.ops] if report else []
    sections = [Section(name, list(_identity(graph, op)))]
    if broken:
        sections.append(Section("Violations", [_violation(violation) for violation in broken]))
    if schedule:
        sections.append(Section("Place", list(_place(graph, schedule, name))))
        found = windows(graph, schedule, name)
        sections.append(Section("Legal starts", [_window(window, schedule, name) for window in found.values()]))
    sections.append(Section("Cost", list(cost_details(opened, name))))
    for title, dependences in (("Waits for", index.incoming[name]), ("Waited for by", index.outgoing[name])):
        if dependences:
            lines = [_dependence(index, schedule, dependence, name) for dependence in dependences]
            sections.append(Section(title, lines))
    return sections


def selection_sections(graph: Graph, schedule: Schedule | None, names: frozenset[str]) -> list[Section]:
    """Several ops, one line each in the order of the text."""
    lines = [
        Detail(name, f"start {schedule.ops[name].start}, {schedule.ops[name].group}" if schedule else "", target=name)
        for name in graph.ops
        if name in names
    ]
    inside = [d for d in graph.dependences if d.source in names and d.target in names and d.source != d.target]
    if len(names) > 2 or not inside:
        return [Section(f"{len(lines)} operations", lines)]
    return [Section(f"{len(lines)} operations", lines), *(_link(graph, schedule, d) for d in inside)]


def _link(graph: Graph, schedule: Schedule | None, dependence: Dependence) -> Section:
    """One dependence: what it needs, what it has, and why."""
    source, target = dependence.source, dependence.target
    facts = [
        Detail("kind", _KINDS[dependence.kind]),
        Detail("latency", counted(dependence.latency, "cycle")),
        Detail("distance", _distance(dependence.distance)),
    ]
    if dependence.blocking:
        facts.append(Detail("wait", "blocking", f"{target}'s warp group can do nothing else while it waits"))
    if schedule is not None:
        places = schedule.ops
        required = required_gap(GraphIndex(graph), dependence, places[source].group, places[target].group)
        slack = dependence_slack(GraphIndex(graph), schedule, dependence)
        if required > dependence.latency:
            crossing = f"from {places[source].group} to {places[target].group}"
            facts.append(Detail("hand-off", counted(required - dependence.latency, "cycle"), crossing))
        facts.append(Detail("needs", counted(required, "cycle"), f"from the start of {source} to that of {target}"))
        facts.append(Detail("has", counted(required + slack, "cycle")))
        tone = Tone.PLAIN if slack >= 0 else Tone.BAD
        facts.append(Detail("slack", str(slack) if slack >= 0 else f"{-slack} short", tone=tone))
    return Section(f"{source} \N{RIGHTWARDS ARROW} {target}", facts)


_KINDS = {
    DependenceKind.FLOW: "flow: the value is read",
    DependenceKind.ANTI: "anti: overwritten after it was read",
    DependenceKind.ORDER: "order only",
}


def _distance(distance: int) -> str:
    if not distance:
        return "0, in the same iteration"
    return f"{distance}, {'the next iteration' if distance == 1 else f'{distance} iterations later'}"


def schedule_sections(graph: Graph, schedule: Schedule, report: Report, bounds: Bounds) -> list[Section]:
    """The schedule as a whole: its figures, how full everything is, and what keeps II from being smaller."""
    crossing = hand_offs(graph, schedule)
    count = stages(schedule)
    origin = schedule.origin
    figures = [
        Detail("initiation interval", counted(schedule.ii, "cycle")),
        Detail(
            "length",
            counted(length(graph, schedule), "cycle"),
            "from the first start to the last completion of one iteration",
        ),
        Detail("stages", str(count), "iterations in flight at once"),
        Detail("hand-offs", f"{len(crossing.values)} ({crossing.bytes} bytes)", ", ".join(crossing.values)),
        Detail("made by", f"{origin.by} {origin.status}".strip() if origin else "unknown"),
    ]
    units = [
        Detail(
            unit, f"{table.utilisation:.1%} busy", f"{table.busy} of {table.capacity * schedule.ii} unit cycles per II"
        )
        for unit, table in reservation_table(graph, schedule).items()
        if table.cells
    ]
    return [
        Section("Schedule", figures),
        Section("Registers per thread", list(_registers(schedule, report))),
        Section("Memory", list(_memory(graph, report))),
        Section("Units", units),
        *_reasons(graph, bounds),
    ]


def graph_sections(graph: Graph, bounds: Bounds) -> list[Section]:
    """The loop before there is a schedule: what bounds its initiation interval."""
    figures = [
        Detail("lower bound", _bound(bounds.lower_bound), "by all of the arithmetic below"),
        Detail("resource", _bound(bounds.res_mii), "the busiest unit's work"),
        Detail("recurrence", _bound(bounds.rec_mii), "the slowest dependence cycle"),
    ]
    units = [Detail(unit, _bound(bound)) for unit, bound in bounds.units.items() if bound != 0]
    return [Section("Bounds on II", figures), Section("Units", units), *_reasons(graph, bounds)]


def _reasons(graph: Graph, bounds: Bounds) -> Iterator[Section]:
    if bounds.certificates:
        reasons = [
            Detail(_reason(certificate), _lack(certificate), certificate.sentence)
            for certificate in bounds.certificates
        ]
        least = "any II" if bounds.lower_bound is None else f"II {bounds.lower_bound - 1}"
        yield Section(f"Why not {least}", reasons)
    if bounds.critical_recurrence:
        ops = [Detail(op, graph.ops[op].kind, target=op) for op in bounds.critical_recurrence.ops]
        yield Section("Critical recurrence", ops)


def _reason(certificate: Certificate) -> str:
    """The unit or recurrence by itself; other subjects need their family beside them."""
    if certificate.family in (Family.UNIT, Family.DEPENDENCE):
        return certificate.subject
    return f"{_family(certificate.family)} {certificate.subject}"


def _bound(number: int | None) -> str:
    return "no II is possible" if number is None else counted(number, "cycle")


def _identity(graph: Graph, op: Op) -> Iterator[Detail]:
    yield Detail("kind", op.kind)
    if op.line is not None:
        yield Detail("source line", str(op.line))
    yield Detail("needs", counted(op.needs_warps, "warp"))
    traits = [
        word
        for word, present in (
            ("asynchronous", op.asynchronous),
            ("matrix", op.matrix),
            ("variable latency", op.variable_latency),
            ("streaming", op.streaming),
        )
        if present
    ]
    if traits:
        yield Detail("traits", ", ".join(traits))
    pin = graph.pins.get(op.id)
    if pin:
        parts = [f"start {pin.start}" if pin.start is not None else "", f"group {pin.group}" if pin.group else ""]
        yield Detail("pinned", ", ".join(part for part in parts if part))


def _place(graph: Graph, schedule: Schedule, name: str) -> Iterator[Detail]:
    place = schedule.ops[name]
    yield Detail("warp group", place.group)
    yield Detail("start", f"{place.start} = {schedule.stage(name)} \N{MULTIPLICATION SIGN} II + {schedule.slot(name)}")
    yield Detail("stage", str(schedule.stage(name)))
    if graph.ops[name].queue:
        yield Detail("delay in the queue", f"{counted(place.delay, 'cycle')} of at most {graph.ops[name].queue}")


def _window(window: Window, schedule: Schedule, name: str) -> Detail:
    """Where nothing is possible, activating the line asks why."""
    own = schedule.ops[name].group == window.group
    mark = " (here)" if own else ""
    why = Asked(schedule.ii, name, window.group)
    if window.refusals:
        message = window.refusals[0].message
        return Detail(window.group + mark, f"no: {message}", f"{message}\nActivate to explain", why, Tone.BAD)
    if window.latest is None:
        return Detail(window.group + mark, f"from {window.earliest} on", _binding(window))
    if window.earliest > window.latest:
        return Detail(
            window.group + mark,
            f"none, {counted(window.earliest - window.latest, 'cycle')} short",
            f"{_binding(window)}\nActivate to explain",
            why,
            Tone.BAD,
        )
    return Detail(window.group + mark, f"{window.earliest} to {window.latest} (slack {window.slack})", _binding(window))


def _binding(window: Window) -> str:
    lower = f"not earlier: {window.earliest_by.source}" if window.earliest_by else ""
    upper = f"not later: {window.latest_by.target}" if window.latest_by else ""
    return "\n".join(part for part in (lower, upper) if part) or "no dependence binds"


def _dependence(index: GraphIndex, schedule: Schedule | None, dependence: Dependence, name: str) -> Detail:
    other = dependence.source if dependence.target == name else dependence.target
    parts = [counted(dependence.latency, "cycle")]
    if dependence.distance:
        parts.append(f"distance {dependence.distance}")
    tone = Tone.PLAIN
    if schedule:
        slack = dependence_slack(index, schedule, dependence)
        parts.append(f"slack {slack}" if slack >= 0 else f"{-slack} short")
        tone = Tone.PLAIN if slack >= 0 else Tone.BAD
    tip = f"{dependence.kind.value} dependence from {dependence.source} to {dependence.target}"
    return Detail(other, ", ".join(parts), tip + (", blocking" if dependence.blocking else ""), other, tone)


def dependence_slack(index: GraphIndex, schedule: Schedule, dependence: Dependence) -> int:
    """Cycles by which the dependence is met beyond what it needs; negative: cycles that lack."""
    source, target = schedule.ops[dependence.source], schedule.ops[dependence.target]
    available = target.start + schedule.ii * dependence.distance - source.start - source.delay
    return available - required_gap(index, dependence, source.group, target.group)


def _registers(schedule: Schedule, report: Report) -> Iterator[Detail]:
    for group, peak in report.peaks.registers.items():
        grant = schedule.groups[group].grant
        yield Detail(group, f"{peak} of {grant} granted", tone=Tone.BAD if peak > grant else Tone.PLAIN)


def _memory(graph: Graph, report: Report) -> Iterator[Detail]:
    peaks, limits = report.peaks, graph.machine
    used, available = peaks.shared_memory, limits.shared_memory_bytes
    if used or available:
        tone = Tone.BAD if used > available else Tone.PLAIN
        text = f"{used / 1024:.1f} of {available / 1024:.1f} KiB"
        yield Detail("shared", text, f"{used} of {available} bytes", tone=tone)
    used, available = peaks.tensor_memory, limits.tensor_memory_columns
    if used or available:
        tone = Tone.BAD if used > available else Tone.PLAIN
        yield Detail("tensor", f"{used} of {available} columns", tone=tone)


def _violation(violation: Violation) -> Detail:
    return Detail(_family(violation.family), _lack(violation), violation.message, tone=Tone.BAD)


def _family(family: Family) -> str:
    return family.value.replace("_", " ")


def _lack(fact: Violation | Certificate) -> str:
    counted = fact.required is not None and fact.available is not None
    return f"needs {fact.required}, has {fact.available}" if counted else "broken"
