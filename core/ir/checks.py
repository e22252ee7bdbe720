"""What is wrong with, or worth saying of, a module that could be read: target, aliases, yields, unknown ops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from core.diagnostics import Diagnostic, Severity
from core.ir.lexer import Source
from core.ir.model import Module, Operation, Region, Value
from core.ir.types import same_type
from core.ir.vocabulary import COMPUTE_CAPABILITIES, KNOWN_OPS

_TARGET = re.compile(r"cuda:(\d{1,4})", re.ASCII)
_ALIAS_USE = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*+|%[\w$.\-]++(?:#\d++)?|([#!][A-Za-z_$][\w$]*+)(?![.<])', re.ASCII
)
_YIELDING = frozenset({"scf.for", "scf.while", "scf.if"})
_TARGET_HINT = 'ttg.target = "cuda:90" is Hopper, "cuda:100" Blackwell'


def check_module(module: Module, source: Source) -> list[Diagnostic]:
    """All diagnostics of a module, in no order."""
    found = [*_check_target(module, source), *_check_aliases(module, source)]
    unknown: dict[str, Operation] = {}
    for op in module.operation.walk():
        if op.name not in KNOWN_OPS:
            unknown.setdefault(op.name, op)
        if op.name in _YIELDING:
            found += _check_yields(op, source, module.aliases)
    found += (_unknown_op(op, source) for op in unknown.values())
    return found


def _report(source: Source, severity: Severity, code: str, message: str, offset: int, hint: str = "") -> Diagnostic:
    line, column = source.position(offset)
    return Diagnostic(severity, code, message, source.file, line, column, hint or None)


def _unknown_op(op: Operation, source: Source) -> Diagnostic:
    message = f"unknown operation {op.name}: kept as it is written"
    return _report(source, Severity.WARNING, "unknown-op", message, op.name_span.start)


def _check_target(module: Module, source: Source) -> Iterator[Diagnostic]:
    target = module.target
    if not target:
        message = "the module does not name its target"
        yield _report(source, Severity.WARNING, "no-target", message, module.operation.span.start, _TARGET_HINT)
        return
    match = _TARGET.fullmatch(target)
    if match and int(match.group(1)) in COMPUTE_CAPABILITIES:
        return
    span = module.operation.attribute_span
    at = source.text.find(target, span.start) if span else module.operation.span.start
    if target.startswith("cuda:"):
        message = f"no such architecture: {target}"
    else:
        message = f"no machine is modelled for the target {target}"
    yield _report(source, Severity.ERROR, "unknown-target", message, at, _TARGET_HINT)


def _check_aliases(module: Module, source: Source) -> Iterator[Diagnostic]:
    reported: set[str] = set()
    for match in _ALIAS_USE.finditer(source.text):
        alias = match.group(1)
        if alias is None or alias in module.aliases or alias in reported:
            continue
        reported.add(alias)
        severity = Severity.WARNING if alias.startswith("#loc") else Severity.ERROR
        yield _report(source, severity, "undefined-alias", f"nothing defines the alias {alias}", match.start(1))


def _check_yields(op: Operation, source: Source, aliases: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The terminators of an op's regions against the values that they pass on."""
    if op.name == "scf.while":
        before, after = op.regions
        yield from _check_yield(op, before, "scf.condition", op.results, source, aliases)
        yield from _check_yield(op, after, "scf.yield", op.operands, source, aliases)
        return
    for region in op.regions:
        yield from _check_yield(op, region, "scf.yield", op.results, source, aliases)


def _check_yield(
    op: Operation, region: Region, name: str, carried: Sequence[Value], source: Source, aliases: Mapping[str, str]
) -> Iterator[Diagnostic]:
    operations = region.blocks[-1].operations
    last = operations[-1] if operations else None
    if last is None or last.name != name:
        if len(region.blocks) == 1:
            message = f"a region of {op.name} on line {op.span.line} ends without {name}"
            yield _report(source, Severity.ERROR, "no-terminator", message, op.name_span.start)
        return
    given = last.operands[1:] if name == "scf.condition" else last.operands
    if len(given) != len(carried):
        message = f"{op.name} on line {op.span.line} has {len(carried)} values to carry, but {name} gives {len(given)}"
        yield _report(source, Severity.ERROR, "yield-count", message, last.span.start)
        return
    printed = last.printed_types if len(last.printed_types) == len(given) else [value.type for value in given]
    for value, written, wanted in zip(given, printed, carried, strict=True):
        for left, right, what in (
            (written, value.type, f"{value.name} has on line {value.span.line}"),
            (written, wanted.type, f"{wanted.name} of line {wanted.span.line} has"),
        ):
            if left and right and not same_type(left, right, aliases):
                message = f"{name} gives {value.name} the type {left}, but {what} the type {right}"
                yield _report(source, Severity.ERROR, "yield-type", message, last.span.start)
                break
