"""Versions of the program and its parts, for reports of what went wrong."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("twill-explorer", "PySide6-Essentials", "ortools", "z3-solver")


def versions() -> list[str]:
    """One line each: the program, its parts, Python and the system."""
    return [
        *(f"{name} {_version(name)}" for name in _PACKAGES),
        f"Python {platform.python_version()} on {platform.platform()}",
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
