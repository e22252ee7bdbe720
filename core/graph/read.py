"""Reads `twill.graph/1` files (YAML or JSON) into the graph value."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.diagnostics import Diagnostic, InputError, Severity
from core.graph.model import (
    Block,
    Dependence,
    Graph,
    GroupKind,
    Limits,
    Op,
    Pin,
    RegisterFile,
    Result,
    Rules,
)
from core.graph.schema import SCHEMA, DependenceSection, GraphDocument, MachineSection, OpSection
from core.yaml_source import KeyPath, YamlSource, parse_yaml, read_text, require_schema, validate


def load_graph(path: Path) -> Graph:
    """The graph of a file. Raises InputError with file, line and column."""
    return parse_graph(read_text(path), str(path))


def parse_graph(text: str, file: str) -> Graph:
    """The graph of a document; `file` names it in diagnostics. Raises InputError, one diagnostic per fault."""
    source = parse_yaml(text, file)
    require_schema(source, SCHEMA)
    document = validate(GraphDocument, source)
    faults = list(_faults(document, source))
    if faults:
        raise InputError(faults)
    ops = {name: _op(name, section) for name, section in document.ops.items()}
    return Graph(
        name=document.name,
        machine=_limits(document.machine),
        groups=tuple(GroupKind(g.kind, g.warps, g.count, g.variable_latency) for g in document.groups),
        ops=ops,
        dependences=tuple(_dependence(section, ops) for section in document.dependences),
        rules=Rules(
            document.rules.in_order_issue,
            document.rules.isolate_matrix_issue,
            document.rules.allow_hand_off,
        ),
        pins={name: Pin(pin.start, pin.group) for name, pin in document.pins.items()},
    )


def _faults(document: GraphDocument, source: YamlSource) -> Iterator[Diagnostic]:
    """What the schema cannot say: names that must exist, names that may exist once."""

    def fault(code: str, message: str, path: KeyPath, hint: str | None = None, *, of_key: bool = False) -> Diagnostic:
        line, column = source.position(path, of_key=of_key)
        return Diagnostic(Severity.ERROR, code, message, source.file, line, column, hint)

    if not document.ops:
        yield fault("no-ops", "the graph has no ops", ("ops",), "at least one op under 'ops'")
    kinds: set[str] = set()
    for index, group in enumerate(document.groups):
        if group.kind in kinds:
            yield fault("duplicate-kind", f"group kind '{group.kind}' is given twice", ("groups", index, "kind"))
        kinds.add(group.kind)
    for name, op in document.ops.items():
        for index, (unit, *_) in enumerate(op.blocks):
            if unit not in document.machine.units:
                path = ("ops", name, "blocks", index, 0)
                yield fault("unknown-unit", f"unknown unit '{unit}'", path, suggest(unit, document.machine.units))
    for index, dependence in enumerate(document.dependences):
        for key, name in (("from", dependence.source), ("to", dependence.target)):
            if name not in document.ops:
                path = ("dependences", index, key)
                yield fault("unknown-op", f"unknown op '{name}'", path, suggest(name, document.ops))
    for name, pin in document.pins.items():
        if name not in document.ops:
            hint = suggest(name, document.ops)
            yield fault("unknown-op", f"unknown op '{name}'", ("pins", name), hint, of_key=True)
        if pin.start is None and pin.group is None:
            yield fault("empty-pin", f"the pin of '{name}' fixes nothing", ("pins", name), "a key 'start' or 'group'")


def suggest(word: str, known: Iterable[str]) -> str | None:
    """A hint that names the nearest known word, or all of them where they are few."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known: {', '.join(names)}" if 0 < len(names) <= 40 else None


def _limits(section: MachineSection) -> Limits:
    registers = section.registers
    return Limits(
        units=dict(section.units),
        registers=RegisterFile(
            registers.file_words,
            registers.max_per_thread,
            registers.granularity,
            registers.overhead,
            registers.pool,
        ),
        shared_memory_bytes=section.shared_memory_bytes,
        tensor_memory_columns=section.tensor_memory_columns,
        fixed_shared_bytes=section.fixed_shared_bytes,
    )


def _op(name: str, section: OpSection) -> Op:
    return Op(
        id=name,
        kind=section.kind,
        needs_warps=section.needs_warps,
        blocks=tuple(Block(*row) for row in section.blocks),
        issue_cycles=section.issue_cycles,
        latency=section.latency,
        asynchronous=section.asynchronous,
        matrix=section.matrix,
        variable_latency=section.variable_latency,
        streaming=section.streaming,
        result=Result(section.result.space, section.result.amount),
        hand_off_cycles=section.hand_off_cycles,
        hand_off_bytes=section.hand_off_bytes,
        queue=section.queue,
        line=section.line,
    )


def _dependence(section: DependenceSection, ops: dict[str, Op]) -> Dependence:
    reader = ops[section.target]
    release = reader.latency if reader.asynchronous else reader.issue_cycles
    return Dependence(
        source=section.source,
        target=section.target,
        latency=ops[section.source].latency if section.latency is None else section.latency,
        distance=section.distance,
        kind=section.kind,
        release=release if section.release is None else section.release,
        blocking=section.blocking,
    )
