"""Which GPUs this machine has."""

from __future__ import annotations

import shutil
import subprocess


def gpus() -> list[str]:
    """Their names, by the driver's own program; none if it is not there or fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []
