"""`twill compile`: what nvcc says of an exported kernel, and what the kernel takes."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.commands.answers import Answer, ExitCode, MissingToolError, UsageError, answer_each, table, writing
from core.toolchain.build import Build, compile_kernel, compile_roles, description_of, kernel_of
from core.toolchain.nvcc import INSTALL, Nvcc, find_nvcc, is_architecture


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for each input: 0 it compiles well, 1 it does not, or spills, needs a stack, or its matrix instructions
    are serialised."""
    return answer_each(arguments.inputs, lambda name: _compile(name, arguments), arguments.json)


def nvcc_or_refusal() -> Nvcc:
    """The compiler. Raises MissingToolError that says what to install."""
    nvcc = find_nvcc()
    if nvcc is None:
        raise MissingToolError(f"nvcc is needed and was not found: {INSTALL}")
    return nvcc


def _compile(name: str, arguments: argparse.Namespace) -> Answer:
    if not is_architecture(arguments.arch):
        raise UsageError(f"--arch: '{arguments.arch}' is no architecture like sm_90a")
    source = kernel_of(Path(name))
    description = description_of(source.parent) if arguments.roles else None
    nvcc = nvcc_or_refusal()
    output = Path(arguments.output) if arguments.output else None
    with writing(output or source):
        build = compile_kernel(nvcc, source, arguments.arch, output)
    if description is not None and not build.failed:
        build = replace(build, roles=compile_roles(nvcc, source, description, arguments.arch))
    code = ExitCode.NEGATIVE if build.failed else ExitCode.ANSWERED
    return Answer(_document(name, nvcc, build), _text(build), code, build.diagnostics)


def _document(name: str, nvcc: Nvcc, build: Build) -> dict[str, Any]:
    return {
        "input": name,
        "compiles": not build.failed,
        "nvcc": {"path": nvcc.path.as_posix(), "version": nvcc.version},
        "command": list(build.command),
        "resources": [one.as_json() for one in build.resources],
        "roles": dict(build.roles),
        "diagnostics": [one.as_json() for one in build.diagnostics],
    }


def _text(build: Build) -> str:
    parts = ["does not compile as it should" if build.failed else "compiles"]
    if build.resources:
        head = ("function", "registers", "barriers", "shared bytes", "stack", "spilled bytes")
        rows = [
            (one.function, one.registers, one.barriers, one.shared, one.stack, one.spill_stores + one.spill_loads)
            for one in build.resources
        ]
        parts.append(table(head, rows))
    if build.roles:
        parts.append(table(("role alone", "registers"), list(build.roles.items())))
    return "\n".join(parts)
