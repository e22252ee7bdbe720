"""Versions, for a report of what went wrong."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtWidgets import QMessageBox, QWidget

_PACKAGES = ("twill-explorer", "PySide6-Essentials", "ortools", "z3-solver")


def show_about(parent: QWidget) -> None:
    """A box with the versions of the program and its parts."""
    lines = [f"{name} {_version(name)}" for name in _PACKAGES]
    lines.append(f"Python {platform.python_version()} on {platform.platform()}")
    QMessageBox.about(
        parent,
        "About Twill Explorer",
        "<h3>Twill Explorer</h3><p>Schedules for tensor-core loops: proved, and editable.</p><p>"
        + "<br>".join(lines)
        + "</p><p>Apache License 2.0</p>",
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
