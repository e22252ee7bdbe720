"""Internal errors: the work is saved aside, the user is told and can copy a report; the window stays."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from core.diagnostics import Severity
from twill_gui.main_window import MainWindow
from twill_gui.versions import versions
from twill_gui.views.message_bar import Message

_TOPIC = "internal error"


class CrashReports(QObject):
    """Takes over the exceptions that nobody catches, those in Qt slots and on pool threads included.

    `count` says how many there have been.
    """

    _caught = Signal(str, str)  # to the window's thread: one line, and the whole traceback

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.count = 0
        self._caught.connect(self._report)
        sys.excepthook = self._handle

    def _handle(self, kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
        text = "".join(traceback.format_exception(kind, fault, trace))
        sys.stderr.write(text)
        self._caught.emit(f"{kind.__name__}: {fault}", text)

    @Slot(str, str)
    def _report(self, line: str, text: str) -> None:
        self.count += 1
        if any(shown.topic == _TOPIC for shown in self._window.messages.messages):
            return  # one report at a time: an error while painting comes back with every frame
        self._window.files.autosave.write()
        report = "\n".join([*versions(), "", text])
        copy = ("Copy report", lambda: QGuiApplication.clipboard().setText(report))
        message = f"Internal error: {line}. Unsaved changes have been kept aside."
        self._window.messages.show_message(Message(_TOPIC, Severity.ERROR, message, (copy,)))
