"""Which loop of the module a project schedules, and why a loop cannot be scheduled."""

from __future__ import annotations

from dataclasses import replace

from core.diagnostics import Diagnostic, InputError, Severity
from core.graph.read import suggest
from core.ir.inspect import choice_diagnostics
from core.ir.loops import main_loop
from core.ir.model import Loop, Module
from core.project.model import Branches, Project


def choose_loop(project: Project, module: Module) -> tuple[Loop, tuple[Diagnostic, ...]]:
    """The project's loop, or the main loop where it names none; then a warning lists equal candidates.

    Raises InputError if there is no such function or loop, or if the loop cannot be scheduled.
    """
    loops = module.loops if project.input.function is None else _loops_of(project, module, project.input.function)
    if project.input.loop is None:
        loop, candidates = main_loop(replace(module, loops=loops))
    else:
        loop = _numbered(project, module, project.input.loop)
        candidates = (loop,)
        if loop not in loops:
            line = loop.operation.name_span.line
            message = f"loop {loop.index} (line {line}) is not in the function '{project.input.function}'"
            raise InputError(project.diagnostic(Severity.ERROR, "wrong-function", message, ("input", "function")))
    reduce_branches = project.transform.branches is Branches.REDUCE
    blocks = block_loops(project, module, loop).values() if loop is not None else ()
    found = choice_diagnostics(module, loop, candidates, reduce_branches=reduce_branches, blocks=tuple(blocks))
    obstacles = [replace(d, severity=Severity.ERROR) for d in found if d.code != "several-loops"]
    if loop is None or obstacles:
        raise InputError(obstacles)
    return loop, found


def block_loops(project: Project, module: Module, loop: Loop) -> dict[str, Loop]:
    """By their schedules in the project, the loops in the loop's body that are one block of it."""
    inner = {name: entry.loop for name, entry in project.schedules.items() if entry.trip_count is not None}
    return {
        name: module.loops[index]
        for name, index in inner.items()
        if index is not None and index < len(module.loops) and module.loops[index].operation.block is loop.body
    }


def _numbered(project: Project, module: Module, index: int) -> Loop:
    if index < len(module.loops):
        return module.loops[index]
    message = f"there is no loop {index}; the module has {len(module.loops)}"
    lines = ", ".join(f"{loop.index} (line {loop.operation.name_span.line})" for loop in module.loops)
    hint = f"loops: {lines}" if lines else None
    own = project.active is not None and project.schedules[project.active].loop == index
    path = ("schedules", project.active or "", "loop") if own else ("input", "loop")
    raise InputError(project.diagnostic(Severity.ERROR, "loop-out-of-range", message, path, hint=hint))


def _loops_of(project: Project, module: Module, function: str) -> tuple[Loop, ...]:
    functions = {
        op.attributes.get("sym_name", "").strip('"'): op for op in module.operation.walk() if op.name == "tt.func"
    }
    if function not in functions:
        message = f"the module has no function '{function}'"
        hint = suggest(function, functions)
        raise InputError(project.diagnostic(Severity.ERROR, "no-function", message, ("input", "function"), hint=hint))
    held = {id(op) for op in functions[function].walk()}
    return tuple(loop for loop in module.loops if id(loop.operation) in held)
