"""Internal errors: the work is saved aside, the user is told and can copy a report; the window stays."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from PySide6.QtGui import QGuiApplication

from core.diagnostics import Severity
from twill_gui.main_window import MainWindow
from twill_gui.versions import versions
from twill_gui.views.message_bar import Message

_TOPIC = "internal error"


def report_crashes(window: MainWindow) -> Callable[[], int]:
    """Handles exceptions that nobody catches, those in Qt slots included. Returns how many there have been so far."""
    count = 0

    def handle(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
        nonlocal count
        count += 1
        text = "".join(traceback.format_exception(kind, fault, trace))
        sys.stderr.write(text)
        if count > 1:
            return  # one report at a time: an error while painting comes back with every frame
        window.files.autosave.write()
        report = "\n".join([*versions(), "", text])
        copy = ("Copy report", lambda: QGuiApplication.clipboard().setText(report))
        message = f"Internal error: {kind.__name__}: {fault}. Unsaved changes have been kept aside."
        window.messages.show_message(Message(_TOPIC, Severity.ERROR, message, (copy,)))

    sys.excepthook = handle
    return lambda: count
