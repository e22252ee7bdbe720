"""Doubts about a machine description: what loads, but is hardly meant."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from fractions import Fraction

from core.diagnostics import Diagnostic, Severity
from core.graph.model import Pool
from core.machine.model import ANY, Condition, CostRule, Machine, UnitCost, Work

WARP = 32  # threads
WARP_GROUP = 128


def lint(machine: Machine) -> list[Diagnostic]:
    """The warnings, in the order of the file."""
    return [*_sources(machine), *_registers(machine), *_units(machine), *_rules(machine)]


def _sources(machine: Machine) -> Iterator[Diagnostic]:
    parts = {
        "clock_mhz": machine.clock_source,
        "registers": machine.registers_source,
        "shared_memory": machine.shared_memory.source,
        "tensor_memory": machine.tensor_memory.source,
        "warps": machine.warps.source,
        "hand_off": machine.hand_off.source,
    }
    for name, source in parts.items():
        if not source.strip():
            yield _no_source(machine, f"the numbers of '{name}'", machine.lines.get(name))
    for unit in machine.units.values():
        if not unit.source.strip():
            yield _no_source(machine, f"the numbers of unit '{unit.name}'", unit.line)
    for rule in machine.costs:
        if not rule.source.strip():
            yield _no_source(machine, f"the costs of {_ops(rule)}", rule.line)


def _no_source(machine: Machine, what: str, line: int | None) -> Diagnostic:
    hint = "source: where the numbers were measured or printed, or that they are an assumption"
    return _warning(machine, "no-source", f"{what} have no source", line, hint)


def _registers(machine: Machine) -> Iterator[Diagnostic]:
    registers = machine.registers
    if registers.file_words % (WARP * registers.granularity):
        message = (
            f"a register file of {registers.file_words} words is no multiple of "
            f"{WARP} threads · {registers.granularity} registers"
        )
        yield _warning(machine, "register-file", message, machine.lines.get("registers"))
    threads = WARP_GROUP if registers.pool is Pool.WARPGROUP else WARP
    if registers.file_words < threads * registers.max_per_thread:
        message = (
            f"a register file of {registers.file_words} words cannot give {threads} threads "
            f"max_per_thread {registers.max_per_thread}"
        )
        yield _warning(machine, "register-file", message, machine.lines.get("registers"))


def _units(machine: Machine) -> Iterator[Diagnostic]:
    used = {block.unit for rule in machine.costs for block in rule.blocks}
    for unit in machine.units.values():
        if unit.name not in used:
            yield _warning(machine, "unused-unit", f"no cost rule uses unit '{unit.name}'", unit.line)


def _rules(machine: Machine) -> Iterator[Diagnostic]:
    for index, rule in enumerate(machine.costs):
        for block in rule.blocks:
            yield from _below_peak(machine, rule, block)
        hidden = next((earlier for earlier in machine.costs[:index] if _covers(earlier, rule)), None)
        if hidden is not None:
            message = f"the rule for {_ops(rule)} never holds: one in line {hidden.line} holds first"
            yield _warning(machine, "unreachable-rule", message, rule.line)
        if rule.issue is not None and rule.latency.base is not None and rule.issue.base > rule.latency.base:
            message = f"{_ops(rule)}: issue takes {rule.issue.base} cycles, longer than the latency {rule.latency.base}"
            yield _warning(machine, "issue-beyond-latency", message, rule.line)


def _below_peak(machine: Machine, rule: CostRule, block: UnitCost) -> Iterator[Diagnostic]:
    unit = machine.units[block.unit]
    if unit.peak is not None and block.work is Work.NONE and block.fixed:
        message = (
            f"{_ops(rule)}: {block.fixed} cycles on unit '{unit.name}' whatever the tile, so its cost may lie below "
            f"work / peak rate"
        )
        yield _warning(machine, "fixed-cost", message, rule.line, "work and rate, from which the cycles follow")
    if block.rate is None or unit.peak is None or unit.work is not block.work:
        return
    for element, rate in block.rate.items():
        peak = unit.peak.get(element, unit.peak.get(ANY))
        if peak is not None and rate / block.factor > peak:
            message = (
                f"{_ops(rule)} ({element}): {_decimal(rate / block.factor)} {block.work.value} a cycle is more than "
                f"unit '{unit.name}' can do ({_decimal(peak)}), so its cost lies below work / peak rate"
            )
            yield _warning(machine, "below-peak", message, rule.line, f"a rate of at most {_decimal(peak)}")


def _covers(earlier: CostRule, rule: CostRule) -> bool:
    """Whether every op that `rule` could be for is taken by `earlier` (sufficient, not necessary)."""
    return all(any(fnmatchcase(op, pattern) for pattern in earlier.ops) for op in rule.ops) and _weaker(
        earlier.when, rule.when
    )


def _weaker(first: Condition, second: Condition) -> bool:
    pairs = (
        (first.first_operand_in, second.first_operand_in),
        (first.result_in, second.result_in),
        (first.operand, second.operand),
        (first.result, second.result),
        (first.combiner, second.combiner),
    )
    return all(not allowed or (asked and set(asked) <= set(allowed)) for allowed, asked in pairs)


def _ops(rule: CostRule) -> str:
    return ", ".join(rule.ops)


def _decimal(number: Fraction) -> str:
    return f"{float(number):g}"


def _warning(machine: Machine, code: str, message: str, line: int | None, hint: str | None = None) -> Diagnostic:
    return Diagnostic(Severity.WARNING, code, message, machine.file or None, line, None, hint)
