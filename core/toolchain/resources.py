"""What each function of a kernel takes, by the assembler's report, and which of it is a fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnostics import Diagnostic, Severity

_ENTRY = re.compile(r"ptxas info\s*: Compiling entry function '(?P<name>[^']+)' for '(?P<target>[^']+)'")
_PROPERTIES = re.compile(r"ptxas info\s*: Function properties for (?P<name>\S+)")
_FRAME = re.compile(r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"ptxas info\s*: Used (?P<registers>\d+) registers(?P<rest>.*)")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+) bytes smem")
_PLAIN = re.compile(r"_Z(\d+)(\w+)")


@dataclass(frozen=True, slots=True)
class Resources:
    """One entry function: registers per thread, bytes of stack and of spills per thread, named barriers, bytes of
    shared memory that the code itself reserves (what a launch adds is not in it)."""

    function: str
    target: str
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    barriers: int
    shared: int

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "function": self.function,
            "target": self.target,
            "registers": self.registers,
            "stack_bytes": self.stack,
            "spill_store_bytes": self.spill_stores,
            "spill_load_bytes": self.spill_loads,
            "barriers": self.barriers,
            "static_shared_bytes": self.shared,
        }


def read_resources(output: str) -> list[Resources]:
    """The entry functions in the order of the report."""
    found: list[Resources] = []
    name = target = ""
    frames: dict[str, tuple[int, int, int]] = {}
    described = ""
    for line in output.splitlines():
        if match := _ENTRY.match(line):
            name, target = match["name"], match["target"]
        elif match := _PROPERTIES.match(line):
            described = match["name"]
        elif match := _FRAME.match(line):
            stack, stores, loads = (int(number) for number in match.groups())
            frames[described] = (stack, stores, loads)
        elif (match := _USED.match(line)) and name:
            stack, stores, loads = frames.get(name, (0, 0, 0))
            barriers, shared = _BARRIERS.search(match["rest"]), _SHARED.search(match["rest"])
            found.append(
                Resources(
                    _readable(name),
                    target,
                    int(match["registers"]),
                    stack,
                    stores,
                    loads,
                    int(barriers[1]) if barriers else 0,
                    int(shared[1]) if shared else 0,
                )
            )
            name = ""
    return found


def resource_faults(resources: Sequence[Resources], file: str) -> Iterator[Diagnostic]:
    """Errors for spills and for a stack: an exported kernel that needs either is far slower than its schedule says."""
    for one in resources:
        if one.spill_stores or one.spill_loads:
            message = (
                f"{one.function} spills: {one.spill_stores} bytes stored and {one.spill_loads} loaded per thread, with "
                f"{one.registers} registers"
            )
            hint = "it holds more than its registers: solve with a lower register limit, or with smaller tiles"
            yield Diagnostic(Severity.ERROR, "spills", message, file, hint=hint)
        elif one.stack:
            message = f"{one.function} needs a stack of {one.stack} bytes per thread"
            hint = "a tile is indexed by a number that is not known when it is compiled"
            yield Diagnostic(Severity.ERROR, "stack", message, file, hint=hint)


def _readable(mangled: str) -> str:
    """`_Z6kernel6Params` -> `kernel`; other names as they are."""
    match = _PLAIN.match(mangled)
    return match[2][: int(match[1])] if match else mangled
