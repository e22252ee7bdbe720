"""What cannot be lowered: a device function that traps, with all that a person needs to write it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from core.diagnostics import Diagnostic, Severity


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole of an export. `op`: name of the operation; `line`, `column`: 1-based in the IR; `reason`: what has no
    text; `function`: the device function to write; `text`: the operation as it stands in the IR."""

    function: str
    op: str
    line: int
    column: int
    reason: str
    text: str

    def diagnostic(self, file: str) -> Diagnostic:
        """For the user: what is missing, and where."""
        hint = f"write {self.function} in kernel.cu"
        return Diagnostic(
            Severity.WARNING, "hole", f"{self.op} is not lowered: {self.reason}", file, self.line, self.column, hint
        )

    def as_json(self) -> dict[str, Any]:
        """For `export.json` and the answer of the command."""
        return asdict(self)


def hole_function(hole: Hole, parameters: list[str]) -> list[str]:
    """The lines of the device function."""
    shown = [line.rstrip() for line in hole.text.splitlines() if line.strip()]
    return [
        f"// HOLE: line {hole.line} of the IR is not lowered ({hole.reason}). It must do what this says:",
        *(f"//   {line.strip()}".rstrip("\\") for line in shown),  # a comment that ends so would go on
        f"TW_CALL void {hole.function}({', '.join(parameters)}) {{",
        f'  tw::trap("{hole.function}");',
        "}",
    ]
