"""`twill run`: builds an exported folder's test program and runs it on the GPU of this machine."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core.commands.answers import Answer, ExitCode, MissingToolError, UsageError, answer_each
from core.commands.compile import nvcc_or_refusal
from core.diagnostics import Diagnostic, InputError, Severity
from core.export.marks_file import seen_intervals
from core.toolchain.build import compile_kernel, description_of, kernel_of
from core.toolchain.gpu import gpus

_RIGHT, _WRONG = 0, 1
"""Exit codes of the test program: all outputs are right, some are not."""


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for each folder: 0 all outputs are right, 1 some are not or it does not compile, 4 too slow, 5 no nvcc or
    no GPU."""
    return answer_each(arguments.inputs, lambda name: _run(name, arguments), arguments.json)


def _run(name: str, arguments: argparse.Namespace) -> Answer:
    folder = Path(name)
    if not folder.is_dir():
        raise UsageError(f"'{name}' is no folder that twill export --format cuda has written")
    source = kernel_of(folder)
    description = description_of(folder)
    _refuse_holes(description["holes"], source)
    nvcc = nvcc_or_refusal()
    found = gpus()
    if not found:
        raise MissingToolError("a GPU is needed to run the kernel, and nvidia-smi finds none: run it on a Hopper GPU")
    with TemporaryDirectory(prefix="twill-run-") as scratch:
        program = Path(scratch) / "kernel"
        macros = ["TWILL_TRACE"] if arguments.trace is not None else []
        build = compile_kernel(nvcc, source, arguments.arch, program, program=True, macros=macros)
        if build.failed:
            document = {"input": name, "ok": False, "diagnostics": [one.as_json() for one in build.diagnostics]}
            return Answer(document, "does not compile as it should", ExitCode.NEGATIVE, build.diagnostics)
        command = [str(program.resolve()), *_options(arguments)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=folder, timeout=arguments.limit, check=False
            )
        except subprocess.TimeoutExpired:
            document = {"input": name, "ok": False, "device": found[0].name}
            return Answer(document, f"no answer within {arguments.limit:g} s", ExitCode.NO_ANSWER, build.diagnostics)
    cases = list(_cases(done.stdout))
    code = ExitCode.ANSWERED if done.returncode == _RIGHT and cases else ExitCode.NEGATIVE
    diagnostics = list(build.diagnostics)
    if done.returncode not in (_RIGHT, _WRONG) or not cases:
        said = done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}"
        diagnostics.append(Diagnostic(Severity.ERROR, "run-failed", f"the test program failed: {said}", str(source)))
    document: dict[str, Any] = {"input": name, "ok": code is ExitCode.ANSWERED, "device": found[0].name, "cases": cases}
    if arguments.trace is not None and code is ExitCode.ANSWERED:
        document["cycles_per_iteration"] = seen_intervals(Path(arguments.trace))
    return Answer(document, _text(cases), code, tuple(diagnostics))


def _refuse_holes(holes: list[dict[str, Any]], source: Path) -> None:
    """Raises InputError for a kernel that a person has to finish first."""
    if holes:
        raise InputError(
            Diagnostic(
                Severity.ERROR,
                "hole",
                f"{hole['function']} is not written (line {hole['line']} of the IR: {hole['reason']})",
                str(source),
                hint="write the function in the kernel, then take it off the list of holes in export.json",
            )
            for hole in holes
        )


def _options(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.batch is not None:
        yield from ("--batch", str(Path(arguments.batch).resolve()))
    if arguments.time is not None:
        yield from ("--time", str(arguments.time))
    if arguments.trace is not None:
        yield from ("--trace", str(Path(arguments.trace).resolve()))


def _cases(output: str) -> Iterator[dict[str, Any]]:
    """The lines of JSON that the program prints, one for each case."""
    for line in output.splitlines():
        try:
            read = json.loads(line)
        except ValueError:
            continue
        if isinstance(read, dict):
            yield read


def _text(cases: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(case) for case in cases)
