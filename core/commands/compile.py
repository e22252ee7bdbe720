"""`twill compile`: what nvcc says of an exported kernel, and what the kernel takes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.commands.answers import Answer, ExitCode, MissingToolError, UsageError, answer_each, table, writing
from core.diagnostics import Severity
from core.toolchain.build import DESCRIPTION, Build, compile_kernel, compile_roles, description_of, kernel_of
from core.toolchain.nvcc import INSTALL, Nvcc, find_nvcc, is_architecture
from core.toolchain.resources import Resources
from core.toolchain.role_needs import RoleNeed, overhead_proposal, role_needs


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
    is_export = (source.parent / DESCRIPTION).is_file()
    wanted = arguments.roles or is_export
    description: Mapping[str, Any] = description_of(source.parent) if wanted else {}
    nvcc = nvcc_or_refusal()
    output = Path(arguments.output) if arguments.output else None
    with writing(output or source):
        build = compile_kernel(nvcc, source, arguments.arch, output)
    if arguments.roles and not build.failed:
        build = replace(build, roles=compile_roles(nvcc, source, description, arguments.arch))
    needs = list(role_needs(build.roles, description))
    code = ExitCode.NEGATIVE if build.failed else ExitCode.ANSWERED
    return Answer(_document(name, nvcc, build, description, needs), _text(build, needs), code, build.diagnostics)


def _document(
    name: str, nvcc: Nvcc, build: Build, description: Mapping[str, Any], needs: Sequence[RoleNeed]
) -> dict[str, Any]:
    proposal = overhead_proposal(needs)
    return {
        "input": name,
        "ok": not build.failed,
        "kernels": [_kernel(one, build, description) for one in build.resources],
        "roles": [need.as_json() for need in needs],
        "proposals": [] if proposal is None else [proposal.as_json()],
        "nvcc": {"path": nvcc.path.as_posix(), "version": nvcc.version},
        "command": list(build.command),
        "diagnostics": [one.as_json() for one in build.diagnostics],
    }


def _kernel(resources: Resources, build: Build, description: Mapping[str, Any]) -> dict[str, Any]:
    """One kernel; what is said of no kernel in particular counts for all."""
    others = {one.function for one in build.resources} - {resources.function}
    said = [one for one in build.diagnostics if not any(other in one.message for other in others)]
    return {
        **resources.as_json(),
        "dynamic_shared_bytes": description.get("shared_bytes"),
        "role_registers": dict(build.roles),
        "warnings": [{"code": one.code, "text": one.message} for one in said],
        "ok": not any(one.severity is Severity.ERROR for one in said),
    }


def _text(build: Build, needs: Sequence[RoleNeed]) -> str:
    parts = ["does not compile as it should" if build.failed else "compiles"]
    if build.resources:
        head = ("function", "registers", "barriers", "shared bytes", "stack", "spilled bytes")
        rows = [
            (one.function, one.registers, one.barriers, one.shared, one.stack, one.spill_stores + one.spill_loads)
            for one in build.resources
        ]
        parts.append(table(head, rows))
    if needs:
        head = ("role alone", "registers", "of these live", "overhead planned", "seen")
        parts.append(table(head, [need.row for need in needs]))
    proposal = overhead_proposal(needs)
    if proposal is not None:
        parts.append(f"proposed for the machine: registers.overhead {proposal.old} -> {proposal.new}")
    return "\n".join(parts)
