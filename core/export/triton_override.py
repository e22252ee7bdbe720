"""What Triton's passes are asked to finish, for its override mechanism; what is to be said of their answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.diagnostics import Diagnostic, Severity
from core.export.triton_roles import asking_for_roles, role_differences
from core.export.ttgir import annotated_ttgir, annotation_warnings
from core.graph.fuse import Fusion
from core.graph.model import Graph
from core.ir.model import Operation
from core.ir.parser import parse_module
from core.ir.tiles import TileLoop
from core.schedule.model import Schedule

_LONGEST_NAME = 150
"""Triton cuts the names of its files there."""

_TARGET = "cuda:"
_SPECIALIZED_SINCE = 100
"""The compute capability from which Triton makes roles of partitions."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Annotated TTGIR for the passes, the compute capability (90 for sm_90), and the name of the file for the final
    text: that of the kernel, by which the override finds it."""

    text: str
    capability: int
    file_name: str


def asked_of_triton(tiles: TileLoop, schedule: Schedule, fusion: Fusion | None) -> Asked:
    """What the passes are given. Raises ValueError for a text with another target."""
    target = tiles.module.attributes.get("ttg.target", "").strip('"')
    if not target.startswith(_TARGET):
        raise ValueError(f"Triton's passes here are for texts with a target like cuda:90; this one has '{target}'")
    capability = int(target.removeprefix(_TARGET))
    text = annotated_ttgir(tiles, schedule, fusion)
    if capability >= _SPECIALIZED_SINCE:
        text = asking_for_roles(text)
    return Asked(text, capability, f"{function_around(tiles.loop.operation)[:_LONGEST_NAME]}.ttgir")


def override_warnings(
    asked: Asked, final: str, tiles: TileLoop, graph: Graph, schedule: Schedule
) -> tuple[Diagnostic, ...]:
    """What Triton could not take, and where the roles that it made differ from the schedule's groups."""
    warnings = annotation_warnings(tiles)
    if asked.capability < _SPECIALIZED_SINCE:
        return warnings
    different = role_differences(graph, schedule, parse_module(final, asked.file_name))
    return (*warnings, *(Diagnostic(Severity.WARNING, "triton-roles", one, tiles.module.file) for one in different))


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
