"""The tools and packages that commands need beyond this program: which are here, in what version, what to install."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from core.toolchain.gpu import HOPPER, Gpu, gpus
from core.toolchain.nvcc import INSTALL, find_nvcc
from core.toolchain.triton import INSTALL as INSTALL_TRITON

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_HOST_COMPILERS = ("g++", "clang++", "c++")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: `version` and `place` where it is here, else None; `install`: what to do where it is not."""

    name: str
    version: str | None
    place: str | None
    install: str

    @property
    def found(self) -> bool:
        """Whether it is here."""
        return self.version is not None


@dataclass(frozen=True, slots=True)
class Purpose:
    """Something to do with this program, and the names of all tools that it needs."""

    name: str
    what: str
    tools: tuple[str, ...]


PURPOSES = (
    Purpose("solve", "find and check schedules", ("ortools", "z3-solver")),
    Purpose("window", "twill-gui, and pictures of schedules", ("PySide6",)),
    Purpose("compile", "compile exported kernels", ("nvcc", "C++ compiler")),
    Purpose("mock", "run exported kernels on the CPU", ("C++ compiler",)),
    Purpose("run", "run exported kernels on the GPU", ("nvcc", "C++ compiler", "Hopper GPU")),
    Purpose("triton", "twill export --format triton", ("triton",)),
    Purpose("cluster", "solve sweeps on a cluster", ("distributed",)),
)

_PACKAGES = {
    "ortools": "pip install ortools",
    "z3-solver": "pip install z3-solver",
    "PySide6": "pip install PySide6-Essentials",
    "triton": INSTALL_TRITON,
    "distributed": "pip install 'twill-explorer[cluster]'",
}
_DISTRIBUTIONS = {"PySide6": ("PySide6-Essentials", "PySide6")}


def find_tools() -> Mapping[str, Tool]:
    """All tools that a purpose needs, by name. Runs nvcc, the compiler and nvidia-smi for their versions."""
    found = [_package(name, install) for name, install in _PACKAGES.items()]
    nvcc = find_nvcc()
    found.append(Tool("nvcc", nvcc.version if nvcc else None, nvcc.path.as_posix() if nvcc else None, INSTALL))
    found.append(_host_compiler())
    found.append(_hopper(gpus()))
    return {tool.name: tool for tool in found}


def _package(name: str, install: str) -> Tool:
    for distribution in _DISTRIBUTIONS.get(name, (name,)):
        try:
            return Tool(name, version(distribution), None, install)
        except PackageNotFoundError:
            continue
    return Tool(name, None, None, install)


def _host_compiler() -> Tool:
    install = "install g++ or clang++ (C++17)"
    for name in _HOST_COMPILERS:
        tool = _program(name, install)
        if tool.found:
            return Tool("C++ compiler", tool.version, tool.place, install)
    return Tool("C++ compiler", None, None, install)


def _program(name: str, install: str) -> Tool:
    """A program on PATH, with the first number of the kind 1.2 that it says of itself."""
    path = shutil.which(name)
    if path is None:
        return Tool(name, None, None, install)
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return Tool(name, None, None, install)
    said = _VERSION.search(done.stdout)
    return Tool(name, said[0] if said and done.returncode == 0 else None, path, install)


def _hopper(found: list[Gpu]) -> Tool:
    """The first GPU that exported kernels run on."""
    install = "a GPU of compute capability 9.0 (H100, H200) and its driver are needed"
    gpu = next((gpu for gpu in found if gpu.capability == HOPPER), None)
    if gpu is None:
        others = ", ".join(f"{other.name} ({other.capability})" for other in found)
        return Tool("Hopper GPU", None, None, f"{install}; here: {others}" if others else install)
    return Tool("Hopper GPU", gpu.driver, gpu.name, install)
