"""Compiles an exported folder or a single file: diagnostics, resources, and registers of each role by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from core.diagnostics import Diagnostic, Severity, error
from core.toolchain.messages import read_messages
from core.toolchain.nvcc import Nvcc, Outcome, run_nvcc
from core.toolchain.resources import Resources, read_resources, resource_faults

KERNEL, DESCRIPTION = "kernel.cu", "export.json"

_ALONE = """\
#define TWILL_NO_DRIVER
#include "{kernel}"
{roles}"""
_ALONE_ROLE = """
extern "C" __global__ void __launch_bounds__({threads}, 1) alone_{function}(const __grid_constant__ Params p) {{
  extern __shared__ __align__(1024) unsigned char of_{function}[];
  {function}(p, *reinterpret_cast<Smem*>(of_{function}));
}}
"""


@dataclass(frozen=True, slots=True)
class Build:
    """What a compilation gave: messages (errors for everything that must not be shipped), the resources of each kernel,
    and registers by role where they were asked for."""

    command: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    resources: tuple[Resources, ...]
    roles: Mapping[str, int]

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(one.severity is Severity.ERROR for one in self.diagnostics)


def kernel_of(path: Path) -> Path:
    """The source of an exported folder, or the file itself. Raises InputError if there is none."""
    source = path / KERNEL if path.is_dir() else path
    if not source.is_file():
        raise error("missing-input", f"there is no file '{source}'", file=str(path))
    return source


def description_of(folder: Path) -> Mapping[str, Any]:
    """What the export says of itself. Raises InputError if it is missing or no such document."""
    file = folder / DESCRIPTION
    try:
        read: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise error("bad-export", f"this is no exported folder: {DESCRIPTION}: {fault}", file=str(folder)) from fault
    if not isinstance(read, dict) or "roles" not in read or "holes" not in read:
        raise error("bad-export", f"{DESCRIPTION} does not describe an export", file=str(file))
    return cast("dict[str, Any]", read)


def compile_kernel(
    nvcc: Nvcc,
    source: Path,
    architecture: str,
    output: Path | None = None,
    *,
    program: bool = False,
    macros: Sequence[str] = (),
) -> Build:
    """Compiles to machine code, or to a program that runs (`program`), with these macros defined; `output` None: only
    to see what nvcc says."""
    with TemporaryDirectory(prefix="twill-nvcc-") as scratch:
        target = output or Path(scratch) / "kernel.out"
        kind = [*([] if program else ["-cubin"]), *(f"-D{macro}" for macro in macros)]
        outcome = run_nvcc(nvcc, [*kind, f"-I{source.parent}", "-o", str(target), str(source)], architecture)
    return _build(outcome, source)


def compile_roles(nvcc: Nvcc, source: Path, description: Mapping[str, Any], architecture: str) -> Mapping[str, int]:
    """Registers per thread of each role compiled alone, as many as it likes; empty if that fails."""
    roles = cast("Sequence[Mapping[str, Any]]", description["roles"])
    bodies = [_ALONE_ROLE.format(function=role["function"], threads=32 * int(role["warps"])) for role in roles]
    with TemporaryDirectory(prefix="twill-nvcc-") as scratch:
        alone = Path(scratch) / "roles.cu"
        alone.write_text(_ALONE.format(kernel=source.name, roles="".join(bodies)), encoding="utf-8")
        output = str(Path(scratch) / "roles.out")
        outcome = run_nvcc(nvcc, ["-cubin", f"-I{source.parent}", "-o", output, str(alone)], architecture)
    registers = {one.function: one.registers for one in read_resources(outcome.output)}
    names = {f"alone_{role['function']}": str(role["name"]) for role in roles}
    return {name: registers[function] for function, name in names.items() if function in registers}


def _build(outcome: Outcome, source: Path) -> Build:
    messages = read_messages(outcome.output, str(source))
    resources = read_resources(outcome.output)
    found = [*messages, *resource_faults(resources, str(source))]
    if outcome.code and not any(one.severity is Severity.ERROR for one in found):
        said = outcome.output.strip().rpartition("\n")[2] or f"exit code {outcome.code}"
        found.append(Diagnostic(Severity.ERROR, "nvcc", f"nvcc failed: {said}", str(source)))
    return Build(outcome.command, tuple(found), tuple(resources), {})
