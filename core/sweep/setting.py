"""One value of an axis: what it is called in the results, and what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from core.graph.model import Graph
from core.graph.read import suggest
from core.machine.model import Machine
from core.project.model import Project

Value = int | float | bool | str


class AxisError(Exception):
    """An axis or a value that the user has to change; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The value, and the pure edits that it stands for; those that are None change nothing.

    `machine`: of the machine that ops are costed with. `machine_text`: of the text of its file, whose name is given
    beside it for messages. `resolved`: what stands for either where the input is a graph file, whose machine is numbers
    alone; None: a graph file has no such thing. `op`: an op that the loop has to have.
    """

    value: Value
    project: Callable[[Project], Project] | None = None
    machine_text: Callable[[str, str], str] | None = None
    machine: Callable[[Machine], Machine] | None = None
    resolved: Callable[[Graph], Graph] | None = None
    graph: Callable[[Graph], Graph] | None = None
    op: str | None = None


def label(values: Mapping[str, Value]) -> str:
    """The values for people: `registers=180 groups.compute=2`."""
    return " ".join(f"{key}={written(value)}" for key, value in values.items())


def written(value: Value) -> str:
    """A value as it stands on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_known(word: str, known: Iterable[str], what: str) -> None:
    """Raises AxisError unless the word is one of the known ones."""
    names = list(known)
    if word not in names:
        hint = suggest(word, names)
        raise AxisError(f"there is no {what} '{word}'" + (f"; {hint}" if hint else ""))


def read_count(text: str) -> int:
    """A whole number from 0 on. Raises AxisError."""
    if not text.isdecimal():
        raise AxisError(f"'{text}' is not a whole number from 0 on")
    return int(text)


def read_positive(text: str) -> int:
    """A whole number from 1 on. Raises AxisError."""
    if not text.isdecimal() or int(text) == 0:
        raise AxisError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def read_number(text: str) -> int | float:
    """A decimal number from 0 on; whole ones stay whole. Raises AxisError."""
    whole, point, digits = text.partition(".")
    if not (whole + digits).isdecimal() or not whole:
        raise AxisError(f"'{text}' is not a number from 0 on, such as 2 or 0.5")
    return float(text) if point else int(text)
