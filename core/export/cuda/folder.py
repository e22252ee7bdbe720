"""An export as a folder: the kernel's file, the runtime, the matrix instructions used, and a description."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.diagnostics import error
from core.export.cuda.kernel import KernelFile, kernel_file
from core.export.cuda.options import DEFAULTS, Options
from core.export.cuda.planned import planned_registers
from core.export.roles.build import build_roles, function_of
from core.export.roles.model import RoleProgram
from core.export.roles.places import ScheduledLoop
from core.files import write_atomically
from core.ir.model import Module, Operation
from core.resources import data_folder

_RUNTIME = ("twill.cuh", "driver.hpp", "twill")


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: the kernel of a function, and the names of all files in the folder."""

    function: str
    file: KernelFile
    names: tuple[str, ...]


def export_program(
    program: RoleProgram, folder: Path, options: Options = DEFAULTS, loops: Sequence[ScheduledLoop] = ()
) -> Exported:
    """Writes a role program to a folder, with what the schedules of its loops plan. Raises InputError, OSError."""
    file = kernel_file(program, options)
    description = {**file.description, "planned_registers": planned_registers(loops)}
    contents: dict[str, str | bytes] = {
        "kernel.cu": file.source,
        "wgmma.inc": file.wgmma,
        "export.json": json.dumps(description, indent=1) + "\n",
    }
    source = data_folder("resources") / "cuda"
    for name in _RUNTIME:
        paths = sorted((source / name).rglob("*")) if (source / name).is_dir() else [source / name]
        contents |= {path.relative_to(source).as_posix(): path.read_bytes() for path in paths if path.is_file()}
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return Exported(_name(program.function), file, tuple(contents))


def export_schedules(
    module: Module, loops: Sequence[ScheduledLoop], folder: Path, options: Options = DEFAULTS
) -> Exported:
    """Writes the function that holds the scheduled loops. Raises InputError, OSError."""
    function = function_of(module, loops)
    if function is None:
        raise error("not-exported", "the loops are in no function or in several", file=module.file)
    return export_program(build_roles(module, function, loops), folder, options, loops)


def export_straight(module: Module, function: str, folder: Path) -> Exported:
    """Writes a function in program order. Raises InputError, OSError."""
    return export_program(build_roles(module, function_named(module, function)), folder)


def function_named(module: Module, name: str) -> Operation:
    """The function with a body of that name. Raises InputError."""
    found = [op for op in module.operation.walk() if op.name == "tt.func" and op.regions and _name(op) == name]
    if not found:
        raise error("unknown-function", f"the module has no function '{name}'", file=module.file)
    return found[0]


def _name(op: Operation) -> str:
    return op.attributes.get("sym_name", "").strip('"')
