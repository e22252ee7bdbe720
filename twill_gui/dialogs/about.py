"""What the program is, and its versions."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget

from twill_gui.versions import versions


def show_about(parent: QWidget) -> None:
    """A box with the versions of the program and its parts."""
    QMessageBox.about(
        parent,
        "About Twill Explorer",
        "<h3>Twill Explorer</h3><p>Schedules for tensor-core loops: proved, and editable.</p><p>"
        + "<br>".join(versions())
        + "</p><p>Apache License 2.0</p>",
    )
