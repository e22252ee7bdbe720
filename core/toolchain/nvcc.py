"""Finds nvcc and runs it."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

INSTALL = (
    "install the CUDA toolkit (13.0 or later), or the PyPI packages nvidia-cuda-nvcc, nvidia-cuda-crt, nvidia-nvvm, "
    "nvidia-cuda-runtime and nvidia-cuda-cccl, or set CUDA_HOME"
)
"""What to do where there is no nvcc."""

DEFAULT_ARCHITECTURE = "sm_90a"
"""Hopper with its own instructions: plain sm_90 has no wgmma."""

_VERSION = re.compile(r"release (\d+)\.(\d+), V([\d.]+)")
_ARCHITECTURE = re.compile(r"sm_(\d+[af]?)", re.ASCII)
_PACKAGED = ("nvidia/cu*/bin", "nvidia/cuda_nvcc/bin")
"""Where the PyPI packages of CUDA 13 and 12 put it."""


@dataclass(frozen=True, slots=True)
class Nvcc:
    """A compiler: its path and version as it prints it ("13.0.88")."""

    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: the command, its exit code, and all that it printed."""

    command: tuple[str, ...]
    code: int
    output: str


def find_nvcc(environment: Mapping[str, str] | None = None, packages: Sequence[Path] | None = None) -> Nvcc | None:
    """The first nvcc that answers: under CUDA_HOME or CUDA_PATH, on PATH, in the PyPI packages, in /usr/local/cuda."""
    known = dict.fromkeys(_candidates(os.environ if environment is None else environment, packages))
    for path in known:
        version = _version(path)
        if version is not None:
            return Nvcc(path, version)
    return None


def is_architecture(text: str) -> bool:
    """Whether this names an architecture: `sm_90a`."""
    return _ARCHITECTURE.fullmatch(text) is not None


def run_nvcc(nvcc: Nvcc, arguments: Sequence[str], architecture: str, timeout_s: float | None = None) -> Outcome:
    """Compiles for one architecture, with the assembler's report of resources.

    Raises OSError if it cannot be started and subprocess.TimeoutExpired.
    """
    number = architecture.removeprefix("sm_")
    target = f"-gencode=arch=compute_{number},code=sm_{number}"
    command = (str(nvcc.path), "-std=c++17", "-O3", target, "-Xptxas=-v", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False)
    return Outcome(command, done.returncode, done.stdout + done.stderr)


def _candidates(environment: Mapping[str, str], packages: Sequence[Path] | None) -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if environment.get(variable):
            yield Path(environment[variable]) / "bin" / "nvcc"
    found = shutil.which("nvcc", path=environment.get("PATH", ""))
    if found is not None:
        yield Path(found)
    for folder in _site_packages() if packages is None else packages:
        for pattern in _PACKAGED:
            yield from (path / "nvcc" for path in sorted(folder.glob(pattern), reverse=True))
    yield Path("/usr/local/cuda/bin/nvcc")


def _site_packages() -> list[Path]:
    folders = [*site.getsitepackages(), *(path for path in sys.path if path.endswith("site-packages"))]
    return [Path(folder) for folder in dict.fromkeys(folders)]


def _version(path: Path) -> str | None:
    """What the program says of itself; None if it is not there or no nvcc."""
    if not path.is_file():
        return None
    try:
        said = subprocess.run([str(path), "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(said)
    return match.group(3) if match else None
