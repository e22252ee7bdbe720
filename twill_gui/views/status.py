"""The status bar: II and its bounds, stages, violations, and what the solver does."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QLabel, QStatusBar, QWidget

from core.schedule.metrics import stages
from twill_gui.document.document import Document
from twill_gui.models.solve_progress import SolveProgress
from twill_gui.models.table import Tone
from twill_gui.theme import Colors


class StatusBar(QStatusBar):
    """Permanent fields on the right; the left shows what the action under the mouse does."""

    def __init__(self, document: Document, progress: SolveProgress, colors: Colors, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._progress = progress
        self._colors = colors
        self.setSizeGripEnabled(False)
        self.ii = self._field("Initiation interval of the shown schedule, in cycles")
        self.bound = self._field("The least II that arithmetic allows: by the busiest unit, and by the recurrences")
        self.stages = self._field("Iterations that are in flight at once")
        self.violations = self._field("Broken rules of the shown schedule; the Problems dock lists them")
        self.solver = self._field("What the solver does")
        document.changed.connect(self._show)
        progress.changed.connect(self._show_solver)
        self._show()
        self._show_solver()

    def set_colors(self, colors: Colors) -> None:
        """Colours the fields for the theme in use."""
        self._colors = colors
        self._show()
        self._show_solver()

    def _field(self, tip: str) -> QLabel:
        if self.findChildren(QLabel):
            line = QFrame()
            line.setFrameShape(QFrame.Shape.VLine)
            line.setFrameShadow(QFrame.Shadow.Plain)
            line.setObjectName("separator")
            self.addPermanentWidget(line)
        label = QLabel()
        label.setToolTip(tip)
        label.setAccessibleDescription(tip)
        label.setStyleSheet("padding: 1px 8px;")
        self.addPermanentWidget(label)
        return label

    def _show(self) -> None:
        schedule, report, bounds = self._document.schedule, self._document.report, self._document.bounds
        self.ii.setText(f"<b>II {schedule.ii}</b>" if schedule else "II \N{EN DASH}")
        if bounds:
            resource, recurrence = _number(bounds.res_mii), _number(bounds.rec_mii)
            self.bound.setText(f"min II {_number(bounds.min_ii)} (resource {resource}, recurrence {recurrence})")
        else:
            self.bound.setText("min II \N{EN DASH}")
        self.stages.setText(_counted(stages(schedule), "stage") if schedule else "stages \N{EN DASH}")
        if report is None:
            self._write(self.violations, "no schedule", Tone.MUTED)
        elif report.legal:
            elsewhere = [name for name, other in self._document.other_reports.items() if not other.legal]
            text = "\N{CHECK MARK} legal" + (f", but not {' and '.join(elsewhere)}" if elsewhere else "")
            self._write(self.violations, text, Tone.WARNING if elsewhere else Tone.GOOD)
        else:
            self._write(
                self.violations, f"\N{MULTIPLICATION SIGN} {_counted(len(report.violations), 'violation')}", Tone.BAD
            )

    def _show_solver(self) -> None:
        self._write(self.solver, self._progress.headline, self._progress.tone)

    def _write(self, label: QLabel, text: str, tone: Tone) -> None:
        label.setText(text)
        label.setStyleSheet(f"padding: 1px 8px; color: {tone.color(self._colors)};")


def _number(bound: int | None) -> str:
    return "impossible" if bound is None else str(bound)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
