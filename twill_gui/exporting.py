"""The shown schedule as a file for other tools."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from core.diagnostics import Severity
from core.export.bundle import bundle
from core.export.trace import chrome_trace
from core.export.ttgir import annotated_ttgir, annotation_warnings
from core.files import write_atomically
from core.schedule.expansion import shown_iterations
from core.schedule.metrics import stages
from twill_gui.document.document import Document
from twill_gui.document.state import Variant
from twill_gui.views.message_bar import Message

_STEADY_TRIPS = 4  # of a trace, beyond those that fill the pipeline
_TOPIC = "export"


class Format(Enum):
    """What can be exported: file filter and suffix."""

    TTGIR = ("Annotated TTGIR (*.ttgir)", ".ttgir")
    TRACE = ("Trace for Perfetto (*.json)", ".trace.json")
    JSON = ("Graph, schedule and verdict (*.json)", ".json")


class Exporting(QObject):
    """Asks where to, writes, and says what the format could not hold."""

    message = Signal(object)  # Message

    def __init__(self, document: Document, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._window = window

    def export(self, wanted: Format) -> None:
        """Exports the shown schedule, if there is one."""
        state = self._document.state
        if state is None or state.variant.schedule is None:
            return
        variant = state.variant
        if wanted is Format.TTGIR and variant.opened.tiles is None:
            text = "This project is a graph: there is no TTGIR text to annotate."
            self.message.emit(Message(_TOPIC, Severity.WARNING, text))
            return
        filter_, suffix = wanted.value
        base = state.project.file or state.project.input.path
        suggested = base.with_name(f"{state.project.input.path.stem}.{state.active}{suffix}")
        name, _ = QFileDialog.getSaveFileName(self._window, "Export", str(suggested), filter_)
        if not name:
            return
        text, warnings = _content(variant, wanted)
        try:
            write_atomically(Path(name), text)
        except OSError as fault:
            self.message.emit(Message(_TOPIC, Severity.ERROR, f"Cannot write {name}: {fault.strerror or fault}"))
            return
        severity = Severity.WARNING if warnings else Severity.NOTE
        self.message.emit(Message(_TOPIC, severity, "\n".join([f"Written: {name}", *warnings])))


def _content(variant: Variant, wanted: Format) -> tuple[str, list[str]]:
    opened, schedule = variant.opened, variant.schedule
    if schedule is None:
        raise ValueError("there is no schedule to export")
    if wanted is Format.TTGIR and opened.tiles is not None:
        warnings = [warning.format() for warning in annotation_warnings(opened.tiles)]
        return annotated_ttgir(opened.tiles, schedule, opened.fusion), warnings
    if wanted is Format.TRACE:
        trace = chrome_trace(opened.graph, schedule, shown_iterations(schedule, stages(schedule) + _STEADY_TRIPS))
        return json.dumps(trace, ensure_ascii=False) + "\n", []
    return json.dumps(bundle(opened.graph, schedule), ensure_ascii=False, indent=1) + "\n", []
