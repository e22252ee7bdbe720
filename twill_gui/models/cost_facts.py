"""What one op costs, each number with the rule of the machine's file that it follows from, and who found that."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from core.graph.model import Op, Space
from core.machine.build import CostSource
from core.machine.model import ANY, CostRule, Issue, Latency, UnitCost, Work
from core.project.opened import OpenProject
from core.schedule.wording import counted
from twill_gui.models.sections import Detail
from twill_gui.models.table import Tone

AMOUNTS = {
    Space.REGISTERS: "{} registers per thread",
    Space.SHARED: "{} bytes of shared memory",
    Space.TENSOR: "{} columns of tensor memory",
    Space.NONE: "none",
}


def cost_details(opened: OpenProject, name: str) -> Iterator[Detail]:
    """The costs of an op, then the rule and its source."""
    op = opened.graph.ops[name]
    fused = opened.fusion is not None and name in opened.fusion.blocks
    source = None if fused else opened.sources.get(name)
    rule = source.rule if source else None
    places = opened.machine.name if opened.machine else ""
    if rule and rule.line:
        places = f"{places}:{rule.line}"
    overridden = source.overridden if source else ()

    def detail(title: str, cycles: int, what: str, said: str, field: str = "") -> Detail:
        said = "overridden by the project" if field in overridden else said
        origin = f"\n{places}: {said}" if said and rule else f"\n{said}" if said else ""
        return Detail(title, f"{counted(cycles, 'cycle')}{f', {said}' if said else ''}", what + origin)

    issue = "" if rule is None else _issue_text(rule.issue)
    latency = "" if rule is None else _latency_text(rule.latency)
    yield detail("issue", op.issue_cycles, "how long its warp group can do nothing else", issue, "issue_cycles")
    yield detail("latency", op.latency, "until an op that uses its result may start", latency, "latency")
    for number, block in enumerate(op.blocks):
        cost = rule.blocks[number] if rule and number < len(rule.blocks) else None
        amount = f" \N{MULTIPLICATION SIGN} {block.amount}" if block.amount != 1 else ""
        after = f" from {block.offset}" if block.offset else ""
        said = _block_text(cost) if cost else ""
        what = f"busy time on unit {block.unit}{after}{amount}"
        yield detail(block.unit, block.duration, what, said)
    yield Detail("result", AMOUNTS[op.result.space].format(op.result.amount))
    yield from _hand_off(op, opened)
    yield from _origin(opened, source, name, places)


def _hand_off(op: Op, opened: OpenProject) -> Iterator[Detail]:
    if op.result.space is not Space.REGISTERS or not op.hand_off_cycles:
        return
    source = f"\n{opened.machine.name}: {opened.machine.hand_off.source}" if opened.machine else ""
    text = f"{counted(op.hand_off_cycles, 'cycle')}, {op.hand_off_bytes} bytes"
    yield Detail("hand-off", text, f"if a reader is on another warp group{source}")


def _origin(opened: OpenProject, source: CostSource | None, name: str, place: str) -> Iterator[Detail]:
    if source is None or opened.machine is None:
        return
    if source.overridden:
        note = opened.project.overrides[name].note if name in opened.project.overrides else ""
        yield Detail("overridden", ", ".join(source.overridden), note)
    if source.rule is None:
        yield Detail("machine rule", f"none in {opened.machine.name}", tone=Tone.WARNING)
        return
    yield Detail("machine rule", place, rule_text(source.rule))
    if source.rule.source:
        yield Detail("source", source.rule.source, source.rule.source)


def rule_text(rule: CostRule) -> str:
    """The ops that the rule is for, and who found its numbers."""
    return "\n".join(part for part in (f"for {', '.join(rule.ops)}", rule.source) if part)


def _issue_text(issue: Issue | None) -> str:
    if issue is None:
        return "until its last block ends"
    terms = ((issue.base, ""), (issue.per_instruction, " an instruction"), (issue.per_kilobyte, " a KiB"))
    return " + ".join(f"{_number(number)}{unit}" for number, unit in terms if number) or "no cycle"


def _latency_text(latency: Latency) -> str:
    if latency.base is None:
        return f"{latency.add} after its work" if latency.add else "until its work ends"
    per = f" + {_number(latency.per_kilobyte)} a KiB" if latency.per_kilobyte else ""
    return f"{_number(latency.base)}{per}"


def _block_text(cost: UnitCost) -> str:
    if cost.work is Work.NONE:
        return "fixed"
    rates = {element: rate for element, rate in (cost.rate or {}).items() if rate}
    shown = "/".join(dict.fromkeys(_number(rate) for rate in rates.values()))
    of = f" ({'/'.join(rates)})" if len(rates) > 1 and ANY not in rates else ""
    factor = f"{_number(cost.factor)} \N{MULTIPLICATION SIGN} " if cost.factor != 1 else ""
    fixed = f" + {cost.fixed}" if cost.fixed else ""
    return f"{factor}{cost.work.value} at {shown} a cycle{of}{fixed}"


def _number(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.4g}"
