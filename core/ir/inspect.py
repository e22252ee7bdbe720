"""What `twill inspect` says of a module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from core.diagnostics import Diagnostic, Severity
from core.ir.loops import count_ops, count_uses, main_loop, obstacle
from core.ir.model import Loop, Module, Operation
from core.ir.vocabulary import BRANCH

_FUNCTIONS = frozenset({"tt.func", "func.func"})


@dataclass(frozen=True, slots=True)
class LoopReport:
    """One loop: its place, ops by name (nested ones included), SSA structure (`UseCounts`), and what is in the way."""

    index: int
    line: int
    kind: str  # "scf.for" or "scf.while"
    depth: int
    ops: Mapping[str, int]
    uses: int
    internal: int
    carried: int
    schedulable: bool
    why_not: str | None  # with the line; None if schedulable

    def as_json(self) -> dict[str, Any]:
        """The fields of the command line's `loops` entries."""
        return {
            "index": self.index,
            "line": self.line,
            "kind": self.kind,
            "depth": self.depth,
            "ops": dict(self.ops),
            "uses": self.uses,
            "internal": self.internal,
            "carried": self.carried,
            "schedulable": self.schedulable,
            "why_not": self.why_not,
        }


@dataclass(frozen=True, slots=True)
class Inspection:
    """A module in numbers. `main_loop` is an index into `loops`, None without loops."""

    functions: tuple[str, ...]
    target: str
    ops_total: Mapping[str, int]  # by name, nested regions and the module op included
    loops: tuple[LoopReport, ...]
    main_loop: int | None
    diagnostics: tuple[Diagnostic, ...]

    def as_json(self) -> dict[str, Any]:
        """The fields of `twill inspect --json`."""
        return {
            "functions": list(self.functions),
            "target": self.target,
            "ops_total": dict(self.ops_total),
            "loops": [loop.as_json() for loop in self.loops],
            "main_loop": self.main_loop,
            "diagnostics": [diagnostic.as_json() for diagnostic in self.diagnostics],
        }


def inspect_module(module: Module) -> Inspection:
    """The module in numbers, with a warning where nothing can be scheduled or the main loop is one of several."""
    ops = list(module.operation.walk())
    main, candidates = main_loop(module)
    return Inspection(
        functions=tuple(op.attributes.get("sym_name", "").strip('"') for op in ops if op.name in _FUNCTIONS),
        target=module.target,
        ops_total=dict(sorted(Counter(op.name for op in ops).items())),
        loops=tuple(_report(loop) for loop in module.loops),
        main_loop=main.index if main else None,
        diagnostics=(*module.diagnostics, *choice_diagnostics(module, main, candidates)),
    )


def choice_diagnostics(
    module: Module,
    main: Loop | None,
    candidates: tuple[Loop, ...],
    *,
    reduce_branches: bool = False,
    blocks: Collection[Loop] = (),
) -> tuple[Diagnostic, ...]:
    """Warnings about the choice of the main loop: there is none, it is one of several, it cannot be scheduled."""
    if main is None:
        message = "there is no loop: nothing to schedule"
        return (Diagnostic(Severity.WARNING, "no-loop", message, module.file),)
    found: list[Diagnostic] = []
    place = main.operation.name_span
    if len(candidates) > 1:
        lines = ", ".join(str(loop.operation.name_span.line) for loop in candidates)
        message = f"{len(candidates)} loops have equally many matrix ops (lines {lines}): the first is taken"
        found.append(
            Diagnostic(
                Severity.WARNING,
                "several-loops",
                message,
                module.file,
                place.line,
                place.column,
                f"choose another by its index, {', '.join(str(loop.index) for loop in candidates)}",
            )
        )
    reason = obstacle(main, reduce_branches=reduce_branches, blocks=blocks)
    if reason is not None:
        what, op = reason
        span = op.name_span
        message = f"the loop on line {place.line} cannot be scheduled: {what}"
        hint = _way_out(module, main, op, blocks)
        found.append(
            Diagnostic(Severity.WARNING, "not-schedulable", message, module.file, span.line, span.column, hint)
        )
    return tuple(found)


def _way_out(module: Module, main: Loop, op: Operation, blocks: Collection[Loop]) -> str | None:
    """What a project may say so that `op` is no obstacle."""
    if op.name == BRANCH and obstacle(main, reduce_branches=True, blocks=blocks) is None:
        return "in a project: 'transform: {branches: reduce}' takes each branch as one op"
    inner = next((loop for loop in module.loops if loop.operation is op), None)
    if inner is not None and inner is not main and op.block is main.body and obstacle(inner) is None:
        entry = f"{{file: inner.yaml, loop: {inner.index}, trip_count: N}}"
        return f"in a project: a schedule of the inner loop, {entry}, makes it one block of this one"
    return None


def _report(loop: Loop) -> LoopReport:
    counts = count_uses(loop)
    reason = obstacle(loop)
    return LoopReport(
        index=loop.index,
        line=loop.operation.name_span.line,
        kind=loop.operation.name,
        depth=loop.depth,
        ops=count_ops(loop),
        uses=counts.uses,
        internal=counts.internal,
        carried=counts.carried,
        schedulable=reason is None,
        why_not=f"line {reason[1].name_span.line}: {reason[0]}" if reason else None,
    )
