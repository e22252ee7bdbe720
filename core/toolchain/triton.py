"""Triton's own passes on annotated TTGIR, in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from core.diagnostics import error
from core.resources import data_folder

WANTED = "3.9"
"""The release whose passes `resources/triton` runs; others name or order them in another way."""

INSTALL = "pip install 'twill-explorer[triton]'"
_LIMIT_S = 600.0


def triton_version() -> str | None:
    """The installed release; None if there is none."""
    try:
        return version("triton")
    except PackageNotFoundError:
        return None


def final_ttgir(annotated: str, capability: int, name: str) -> str:
    """What is left of annotated TTGIR when Triton has pipelined it: the text that its TTGIR stage ends with.

    `capability`: 90 for sm_90. `name`: of the input, for messages. Raises InputError with what Triton says if it
    refuses the text or a pass aborts.
    """
    with TemporaryDirectory(prefix="twill-triton-") as scratch:
        source, target = Path(scratch) / "annotated.ttgir", Path(scratch) / "final.ttgir"
        source.write_text(annotated, encoding="utf-8")
        program = data_folder("resources") / "triton" / "remaining_passes.py"
        command = [sys.executable, str(program), str(source), str(target), str(capability)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        except subprocess.TimeoutExpired as late:
            raise error("triton-failed", f"Triton's passes took more than {_LIMIT_S:g} s", file=name) from late
        if done.returncode == 0 and target.is_file():
            return target.read_text(encoding="utf-8")
    said = next(
        (line for line in done.stderr.splitlines() if "error:" in line), done.stderr.strip().rpartition("\n")[2]
    )
    why = said.strip() or f"it ended with code {done.returncode}"
    raise error("triton-failed", f"Triton's passes refuse the annotated text: {why}", file=name)
