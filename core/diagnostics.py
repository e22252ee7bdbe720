"""What the user can fix, said with file, line and column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class Severity(Enum):
    """How bad a diagnostic is: only an ERROR stops the work."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that a user can act on.

    `line` and `column` are 1-based; None where the file as a whole is meant. `code` is a stable kebab-case
    word for scripts (`unknown-key`, `undefined-value`); `hint` says what would be right.
    """

    severity: Severity
    code: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    hint: str | None = None

    def format(self) -> str:
        """`file:line:column: error: message [code]`, the hint on a line of its own."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        text = f"{place + ': ' if place else ''}{self.severity.value}: {self.message} [{self.code}]"
        return f"{text}\n  hint: {self.hint}" if self.hint else text

    def as_json(self) -> dict[str, Any]:
        """The fields of the command line's `diagnostics` entries."""
        return {**asdict(self), "severity": self.severity.value}


class InputError(Exception):
    """A bad input: carries at least one diagnostic of severity ERROR. Never an internal error."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        self.diagnostics = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__("\n".join(d.format() for d in self.diagnostics))


def error(
    code: str,
    message: str,
    *,
    file: str | None = None,
    line: int | None = None,
    column: int | None = None,
    hint: str | None = None,
) -> InputError:
    """An InputError of one diagnostic, to be raised."""
    return InputError(Diagnostic(Severity.ERROR, code, message, file, line, column, hint))
