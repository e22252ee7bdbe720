"""Reads machine files (`twill.machine/1`) into `Machine` values, and finds them by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from core.diagnostics import Diagnostic, InputError, Severity, error
from core.graph.model import Pool, RegisterFile, Space
from core.machine.model import (
    Condition,
    CostRule,
    HandOff,
    InstructionShape,
    Issue,
    Latency,
    Machine,
    SharedMemory,
    TensorMemory,
    Unit,
    UnitCost,
    Warps,
    Work,
)
from core.machine.schema import SCHEMA, BlockSection, CostSection, ElementClass, MachineDocument
from core.resources import data_folder
from core.yaml_source import KeyPath, YamlSource, parse_yaml, read_text, require_schema, validate

SUFFIXES = (".yaml", ".yml", ".json")


def find_machine(name_or_path: str, base: Path) -> Machine:
    """The machine of that name in `machines/`, or in the file at a path relative to the folder `base`.

    What ends in .yaml, .yml or .json or has a slash is a path. Raises InputError.
    """
    if "/" in name_or_path or name_or_path.endswith(SUFFIXES):
        return load_machine(base / name_or_path)
    known = machine_names()
    if name_or_path not in known:
        close = difflib.get_close_matches(name_or_path, known, n=1)
        names = f"known machines: {', '.join(known)}, or the path of a YAML file"
        hint = f"did you mean '{close[0]}'? {names}" if close else names
        raise error("unknown-machine", f"no machine '{name_or_path}'", hint=hint)
    return load_machine(data_folder("machines") / f"{name_or_path}.yaml")


def machine_names() -> list[str]:
    """The names of the machines that come with the program, sorted."""
    return sorted(path.stem for path in data_folder("machines").glob("*.yaml"))


def load_machine(path: Path) -> Machine:
    """The machine in a file. Raises InputError, one diagnostic per fault."""
    return parse_machine(read_text(path), str(path))


@lru_cache(maxsize=8)
def parse_machine(text: str, file: str) -> Machine:
    """The machine a text describes; `file` is named in messages. Raises InputError, one diagnostic per fault.

    The last few are remembered: each edit of a number opens the project again, once with the file as it is kept.
    """
    source = parse_yaml(text, file)
    require_schema(source, SCHEMA)
    document = validate(MachineDocument, source)
    faults = list(_faults(document, source))
    if faults:
        raise InputError(faults)
    return _machine(document, source)


def _faults(document: MachineDocument, source: YamlSource) -> Iterator[Diagnostic]:
    """What the types of the keys cannot say."""
    registers = document.registers
    if registers.max_per_thread % registers.granularity:
        message = f"max_per_thread {registers.max_per_thread} is no multiple of granularity {registers.granularity}"
        yield _fault(source, "bad-value", message, ("registers", "max_per_thread"))
    if registers.overhead >= registers.max_per_thread:
        message = f"overhead {registers.overhead} leaves nothing of max_per_thread {registers.max_per_thread}"
        yield _fault(source, "bad-value", message, ("registers", "overhead"))
    if document.shared_memory.fixed_bytes > document.shared_memory.bytes:
        message = f"fixed_bytes {document.shared_memory.fixed_bytes} is more than bytes {document.shared_memory.bytes}"
        yield _fault(source, "bad-value", message, ("shared_memory", "fixed_bytes"))
    for name, unit in document.units.items():
        if (unit.peak is None) != (unit.work == "none"):
            message = f"unit '{name}': 'peak' and 'work' belong together"
            yield _fault(source, "bad-value", message, ("units", name))
    for index, rule in enumerate(document.costs):
        yield from _rule_faults(document, rule, ("costs", index), source)


def _rule_faults(
    document: MachineDocument, rule: CostSection, path: KeyPath, source: YamlSource
) -> Iterator[Diagnostic]:
    if rule.unit is None:
        alone = next((key for key in ("work", "rate", "factor", "fixed") if key in rule.model_fields_set), None)
        if alone is not None:
            yield _fault(source, "missing-unit", f"'{alone}' needs a 'unit' beside it", (*path, alone), of_key=True)
    elif rule.blocks is not None:
        message = "a rule has either 'unit' or 'blocks'"
        yield _fault(source, "bad-value", message, (*path, "blocks"), of_key=True)
    else:
        yield from _block_faults(document, _own_block(rule, rule.unit), path, source)
    for index, block in enumerate(rule.blocks or ()):
        yield from _block_faults(document, block, (*path, "blocks", index), source)
    if rule.latency.base is None and rule.latency.per_kilobyte:
        yield _fault(source, "bad-value", "'per_kilobyte' needs a 'base' beside it", (*path, "latency"))
    if rule.latency.base is not None and rule.latency.add:
        yield _fault(source, "bad-value", "a latency has either 'add' or 'base'", (*path, "latency"))
    if rule.asynchronous and rule.issue is None:
        message = "an asynchronous op needs 'issue': how long its group can do nothing else"
        yield _fault(source, "missing-key", message, path)
    if not rule.asynchronous:
        for key in ("holds_operands", "queue"):
            if getattr(rule, key):
                yield _fault(source, "bad-value", f"'{key}' is for asynchronous ops", (*path, key), of_key=True)


def _block_faults(
    document: MachineDocument, block: BlockSection, path: KeyPath, source: YamlSource
) -> Iterator[Diagnostic]:
    if block.unit not in document.units:
        close = difflib.get_close_matches(block.unit, document.units, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"units: {', '.join(document.units)}"
        yield _fault(source, "unknown-unit", f"no unit '{block.unit}'", (*path, "unit"), hint=hint)
    if block.work == "none" and block.rate is not None:
        yield _fault(source, "bad-value", "'rate' needs 'work': what the rate counts", (*path, "rate"), of_key=True)
    if block.work != "none" and block.rate is None:
        yield _fault(source, "missing-key", f"'work: {block.work}' needs a 'rate'", (*path, "work"), of_key=True)


def _fault(
    source: YamlSource, code: str, message: str, path: KeyPath, *, hint: str | None = None, of_key: bool = False
) -> Diagnostic:
    line, column = source.position(path, of_key=of_key)
    return Diagnostic(Severity.ERROR, code, message, source.file, line, column, hint)


def _machine(document: MachineDocument, source: YamlSource) -> Machine:
    registers, shared, hand_off = document.registers, document.shared_memory, document.hand_off
    return Machine(
        name=document.name,
        target=document.target,
        clock_mhz=document.clock_mhz.value,
        clock_source=document.clock_mhz.source,
        units={
            name: Unit(
                name=name,
                capacity=unit.capacity,
                work=Work(unit.work),
                peak=_rates(unit.peak),
                source=unit.source,
                line=source.position(("units", name), of_key=True)[0],
            )
            for name, unit in document.units.items()
        },
        registers=RegisterFile(
            file_words=registers.file_words,
            max_per_thread=registers.max_per_thread,
            granularity=registers.granularity,
            overhead=registers.overhead,
            pool=Pool(registers.pool),
        ),
        registers_source=registers.source,
        shared_memory=SharedMemory(shared.bytes, shared.fixed_bytes, shared.source),
        tensor_memory=TensorMemory(document.tensor_memory.columns, document.tensor_memory.source),
        warps=Warps(document.warps.max, document.warps.named_barriers, document.warps.source),
        hand_off=HandOff(_exact(hand_off.base), _exact(hand_off.per_kilobyte), hand_off.source),
        costs=tuple(_rule(rule, source.position(("costs", index))[0]) for index, rule in enumerate(document.costs)),
        file=source.file,
        lines={str(path[0]): line for path, (line, _) in source.keys.items() if len(path) == 1},
    )


def _rule(rule: CostSection, line: int) -> CostRule:
    blocks = rule.blocks or ([] if rule.unit is None else [_own_block(rule, rule.unit)])
    issue, instruction, when = rule.issue, rule.instruction, rule.when
    return CostRule(
        ops=tuple(rule.op),
        when=Condition(
            first_operand_in=_spaces(when.first_operand_in),
            result_in=_spaces(when.result_in),
            operand=tuple(when.operand or ()),
            result=tuple(when.result or ()),
            combiner=tuple(when.combiner or ()),
        ),
        blocks=tuple(_block(block) for block in blocks),
        instruction=InstructionShape(**instruction.model_dump()) if instruction else None,
        issue=Issue(_exact(issue.base), _exact(issue.per_instruction), _exact(issue.per_kilobyte)) if issue else None,
        latency=Latency(
            add=rule.latency.add,
            base=None if rule.latency.base is None else _exact(rule.latency.base),
            per_kilobyte=_exact(rule.latency.per_kilobyte),
        ),
        asynchronous=rule.asynchronous,
        blocking=rule.blocking,
        holds_operands=rule.holds_operands,
        variable_latency=rule.variable_latency,
        matrix=rule.matrix,
        needs_warps=rule.needs_warps,
        queue=rule.queue,
        source=rule.source,
        line=line,
    )


def _own_block(rule: CostSection, unit: str) -> BlockSection:
    return BlockSection(unit=unit, work=rule.work, rate=rule.rate, factor=rule.factor, fixed=rule.fixed)


def _block(block: BlockSection) -> UnitCost:
    return UnitCost(
        unit=block.unit,
        work=Work(block.work),
        rate=_rates(block.rate),
        factor=_exact(block.factor),
        fixed=block.fixed,
        after=block.after,
    )


def _spaces(names: Iterable[str] | None) -> tuple[Space, ...]:
    return tuple(Space(name) for name in names or ())


def _rates(rates: Mapping[ElementClass, float] | None) -> dict[str, Fraction] | None:
    return None if rates is None else {str(element): _exact(rate) for element, rate in rates.items()}


def _exact(number: float) -> Fraction:
    """The decimal number as it was written, not the binary one next to it."""
    return Fraction(str(number))
