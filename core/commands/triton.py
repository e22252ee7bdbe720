"""`twill export --format triton`: the final TTGIR, for Triton's override."""

from __future__ import annotations

from pathlib import Path

from core.commands.answers import Answer, MissingToolError, UsageError, writing
from core.diagnostics import Diagnostic, Severity
from core.export.triton_roles import asking_for_roles, role_differences
from core.export.ttgir import annotated_ttgir, annotation_warnings
from core.files import write_atomically
from core.ir.model import Operation
from core.ir.parser import parse_module
from core.project.opened import OpenProject
from core.schedule.model import Schedule
from core.toolchain.triton import INSTALL, WANTED, final_ttgir, triton_version

_LONGEST_NAME = 150
"""Triton cuts the names of its files there."""

_TARGET = "cuda:"
_SPECIALIZED_SINCE = 100
"""The compute capability from which Triton makes roles of partitions."""


def export_triton(opened: OpenProject, schedule: Schedule, folder: Path) -> Answer:
    """Writes `KERNEL.ttgir` into the folder. Raises MissingToolError without Triton 3.9."""
    if opened.tiles is None:
        raise UsageError("--format triton needs a project with TTGIR text; this one is a graph")
    found = triton_version()
    if found is None or not found.startswith(f"{WANTED}."):
        here = f"Triton {found} is here" if found else "it was not found"
        raise MissingToolError(f"Triton {WANTED} is needed and {here}: {INSTALL}")
    module = opened.tiles.module
    target = module.attributes.get("ttg.target", "").strip('"')
    if not target.startswith(_TARGET):
        raise UsageError(f"--format triton is for texts with a target like cuda:90; this one has '{target}'")
    capability = int(target.removeprefix(_TARGET))
    annotated = annotated_ttgir(opened.tiles, schedule, opened.fusion)
    if capability >= _SPECIALIZED_SINCE:
        annotated = asking_for_roles(annotated)
    final = final_ttgir(annotated, capability, module.file)
    path = folder / f"{function_around(opened.tiles.loop.operation)[:_LONGEST_NAME]}.ttgir"
    with writing(path):
        write_atomically(path, final)
    warnings = annotation_warnings(opened.tiles)
    if capability >= _SPECIALIZED_SINCE:
        different = role_differences(opened.graph, schedule, parse_module(final, path.as_posix()))
        warnings = (*warnings, *(Diagnostic(Severity.WARNING, "triton-roles", one, module.file) for one in different))
    note = switch_on(path)
    document = {
        "files": [path.as_posix()],
        "warnings": [warning.as_json() for warning in warnings],
        "holes": [],
        "note": note,
    }
    return Answer(document, f"written: {path.as_posix()}\n{note}", diagnostics=(*opened.diagnostics, *warnings))


def function_around(operation: Operation) -> str:
    """The name of the function that holds an operation."""
    while operation.name not in ("tt.func", "func.func"):
        assert operation.block is not None and operation.block.parent is not None  # loops are in functions
        operation = operation.block.parent
    return operation.attributes.get("sym_name", "").strip('"')


def switch_on(path: Path) -> str:
    """How Triton takes the file."""
    return (
        "For one configuration of an autotuned kernel: "
        f"triton.Config(..., ir_override='{path.absolute().as_posix()}').\n"
        "For any kernel: run once with TRITON_KERNEL_DUMP=1 and TRITON_ALWAYS_COMPILE=1; put the file into the folder "
        "of that name (a hash, under TRITON_DUMP_DIR or ~/.triton/dump), below TRITON_OVERRIDE_DIR or "
        "~/.triton/override; "
        "run with TRITON_KERNEL_OVERRIDE=1 and TRITON_ALWAYS_COMPILE=1. It replaces the whole TTGIR stage: sizes, "
        "warps and types must be those that the text was dumped with."
    )
