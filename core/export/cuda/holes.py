"""What cannot be lowered: a device function that traps, with all that a person needs to write it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole of an export. `op`: name of the operation; `line`: 1-based in the IR; `reason`: what has no text;
    `function`: the device function to write; `text`: the operation as it stands in the IR."""

    function: str
    op: str
    line: int
    reason: str
    text: str

    def as_json(self) -> dict[str, Any]:
        """For `export.json` and the answer of the command."""
        return asdict(self)


def hole_function(hole: Hole, parameters: list[str]) -> list[str]:
    """The lines of the device function."""
    shown = [line.rstrip() for line in hole.text.splitlines() if line.strip()]
    return [
        f"// HOLE: line {hole.line} of the IR is not lowered ({hole.reason}). It must do what this says:",
        *(f"//   {line.strip()}" for line in shown),
        f"TW_CALL void {hole.function}({', '.join(parameters)}) {{",
        f'  tw::trap("{hole.function}");',
        "}",
    ]
