"""Everything that is wrong at present: broken rules of the shown schedule, and what reading the files brought up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.diagnostics import Diagnostic, Severity
from core.schedule.report import Report, Violation
from twill_gui.icons import icon
from twill_gui.theme import Colors

Index = QModelIndex | QPersistentModelIndex


class ProblemRole(IntEnum):
    """Roles beside Qt's own: the problem itself."""

    PROBLEM = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Problem:
    """One entry: a short title, the sentence, the ops it concerns, and the place in a file. `schedule`: of another loop
    of the kernel than the one shown, the name of its schedule."""

    severity: Severity
    title: str
    text: str
    ops: tuple[str, ...] = ()
    place: str = ""
    schedule: str | None = None


def from_violation(violation: Violation, schedule: str | None = None) -> Problem:
    """A broken rule; `schedule` names one that is not shown."""
    title = violation.family.value.replace("_", " ")
    if violation.required is not None and violation.available is not None:
        title += f": needs {violation.required}, has {violation.available}"
    title = title if schedule is None else f"{schedule}: {title}"
    return Problem(Severity.ERROR, title, violation.message, violation.ops, schedule=schedule)


def from_diagnostic(diagnostic: Diagnostic) -> Problem:
    """A fault of an input."""
    place = ":".join(str(part) for part in (diagnostic.file, diagnostic.line, diagnostic.column) if part is not None)
    text = f"{diagnostic.message} ({diagnostic.hint})" if diagnostic.hint else diagnostic.message
    return Problem(diagnostic.severity, diagnostic.code.replace("-", " "), text, (), place)


class ProblemsModel(QAbstractListModel):
    """Violations of the shown schedule, then of the kernel's other loops, then the diagnostics of the inputs."""

    def __init__(self, colors: Colors, parent: QObject) -> None:
        super().__init__(parent)
        self._violations: tuple[Problem, ...] = ()
        self._diagnostics: tuple[Problem, ...] = ()
        self.set_colors(colors)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The rows."""
        return self._violations + self._diagnostics

    def set_colors(self, colors: Colors) -> None:
        """Draws the icons for the theme in use."""
        self.beginResetModel()
        self._icons = {
            Severity.ERROR: icon("error", colors, colors.error),
            Severity.WARNING: icon("warning", colors, colors.warning),
            Severity.NOTE: icon("info", colors, colors.link),
        }
        self.endResetModel()

    def set_reports(self, report: Report | None, others: Mapping[str, Report]) -> None:
        """Replaces the violations: of the shown schedule, and by name of those of the kernel's other loops."""
        self.beginResetModel()
        shown = [from_violation(violation) for violation in report.violations] if report else []
        rest = [from_violation(violation, name) for name, one in others.items() for violation in one.violations]
        self._violations = (*shown, *rest)
        self.endResetModel()

    def set_diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Replaces what reading the files brought up."""
        self.beginResetModel()
        self._diagnostics = tuple(from_diagnostic(diagnostic) for diagnostic in diagnostics)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.problems)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        problem = self.problems[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return problem.title
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icons[problem.severity]
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(part for part in (problem.title, problem.text, problem.place) if part)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{problem.severity.value}: {problem.title}. {problem.text} {problem.place}"
        if role == ProblemRole.PROBLEM:
            return problem
        return None
