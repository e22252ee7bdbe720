"""Triton's own passes on annotated TTGIR, in a process of their own."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from core.diagnostics import error
from core.resources import data_folder

WANTED = "3.9"
"""The release whose passes `resources/triton` runs; others name or order them in another way."""

INSTALL = "pip install 'twill-explorer[triton]'"
_LIMIT_S = 600.0
_LOOK_S = 0.05


def triton_version() -> str | None:
    """The installed release; None if there is none."""
    try:
        return version("triton")
    except PackageNotFoundError:
        return None


def missing_triton() -> str | None:
    """Why the passes cannot run here, and what to install; None if they can."""
    found = triton_version()
    if found is not None and found.startswith(f"{WANTED}."):
        return None
    here = f"Triton {found} is here" if found else "it was not found"
    return f"Triton {WANTED} is needed and {here}: {INSTALL}"


def final_ttgir(annotated: str, capability: int, name: str, stopped: Callable[[], bool] = lambda: False) -> str:
    """What is left of annotated TTGIR when Triton has pipelined it: the text that its TTGIR stage ends with.

    `capability`: 90 for sm_90. `name`: of the input, for messages. `stopped`: asked several times a second; once it is
    true the process is killed. Raises InputError with what Triton says if it refuses the text or a pass aborts, and if
    it was stopped.
    """
    with TemporaryDirectory(prefix="twill-triton-") as scratch:
        folder, source = Path(scratch), Path(name).name or "input.ttgir"  # the name that its locations get
        target = f"{source}.final"
        (folder / source).write_text(annotated, encoding="utf-8")
        program = data_folder("resources") / "triton" / "remaining_passes.py"
        command = [sys.executable, str(program.resolve()), source, target, str(capability)]
        code, errors = _finished(command, folder, name, stopped)
        if code == 0 and (folder / target).is_file():
            return (folder / target).read_text(encoding="utf-8")
    said = next((line for line in errors.splitlines() if "error:" in line), errors.strip().rpartition("\n")[2])
    why = said.strip() or f"it ended with code {code}"
    raise error("triton-failed", f"Triton's passes refuse the annotated text: {why}", file=name)


def _finished(command: Sequence[str], folder: Path, name: str, stopped: Callable[[], bool]) -> tuple[int, str]:
    """Exit code and standard error of a process that works in a folder. Raises InputError once it is stopped or has run
    too long."""
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not stopped():
                if time.monotonic() - begin > _LIMIT_S:
                    raise error("triton-failed", f"Triton's passes took more than {_LIMIT_S:g} s", file=name)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    _, errors = process.communicate(timeout=_LOOK_S)
                    return process.returncode, errors
            raise error("triton-stopped", "Triton's passes were stopped", file=name)
        except BaseException:
            process.kill()
            raise
