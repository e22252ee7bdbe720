"""An export as a folder: the kernel's file, the runtime, the matrix instructions used, and a description."""

from __future__ import annotations

import json
from pathlib import Path

from core.diagnostics import error
from core.export.cuda.kernel import KernelFile, kernel_file
from core.export.roles.build import build_roles
from core.export.roles.model import RoleProgram
from core.files import write_atomically
from core.ir.model import Module, Operation
from core.resources import data_folder

_RUNTIME = ("twill.cuh", "driver.hpp", "twill")


def export_program(program: RoleProgram, folder: Path) -> KernelFile:
    """Writes a role program to a folder. Raises InputError, OSError."""
    file = kernel_file(program)
    write_atomically(folder / "kernel.cu", file.source)
    write_atomically(folder / "wgmma.inc", file.wgmma)
    write_atomically(folder / "export.json", json.dumps(file.description, indent=1, default=str) + "\n")
    source = data_folder("resources") / "cuda"
    for name in _RUNTIME:
        for path in (source / name).rglob("*") if (source / name).is_dir() else (source / name,):
            if path.is_file():
                write_atomically(folder / path.relative_to(source), path.read_bytes())
    return file


def export_straight(module: Module, function: str, folder: Path) -> KernelFile:
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
