"""Which GPUs this machine has."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

HOPPER = "9.0"
"""The compute capability of the GPUs that exported kernels run on."""

_FIELDS = "name,compute_cap,driver_version"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as the driver's own program names it, its compute capability ("9.0"), and the driver's version."""

    name: str
    capability: str
    driver: str


def gpus() -> list[Gpu]:
    """All of them; none if the driver's program is not there or fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, f"--query-gpu={_FIELDS}", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return list(_read(done.stdout)) if done.returncode == 0 else []


def _read(table: str) -> Iterator[Gpu]:
    for line in table.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == len(_FIELDS.split(",")):
            yield Gpu(*fields)
