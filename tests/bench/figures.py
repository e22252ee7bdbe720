"""Figures of the window's benches: told by the process that measures, gathered by `tests.bench.gui`."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

_MARK = "FIGURE "


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number, in milliseconds, seconds or (unit "") pieces. `budget`: what it may be at most, None where
    nothing is asked. `cpu`: the measuring thread's own time where that was taken too, which other programs disturb
    less than the clock."""

    what: str
    value: float
    unit: str = "ms"
    budget: float | None = None
    cpu: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the budget is kept; None where there is none."""
        return None if self.budget is None else self.value <= self.budget

    def text(self) -> str:
        """The number as people read it."""
        return amount(self.value, self.unit) + ("" if self.cpu is None else f" ({amount(self.cpu, self.unit)})")


def amount(value: float, unit: str) -> str:
    """A number with its unit: 12.3 ms, 1.42 s, 3."""
    if not unit:
        return f"{value:g}"
    return f"{value:.2f} s" if unit == "s" else f"{value:.1f} ms" if value < 99.95 else f"{value:.0f} ms"


def tell(figure: Figure) -> None:
    """Prints a figure for people and for `parse`."""
    limit = "" if figure.budget is None else f"   asked: {amount(figure.budget, figure.unit)}"
    print(f"{figure.what:66} {figure.text()}{limit}", flush=True)
    print(_MARK + json.dumps(asdict(figure)), flush=True)


def parse(line: str) -> Figure | None:
    """The figure in a printed line; None for any other line."""
    return Figure(**json.loads(line.removeprefix(_MARK))) if line.startswith(_MARK) else None


class Watch:
    """Collects how long steps take, by the clock and as this thread's own time."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.cpu: list[float] = []

    def run(self, step: Callable[[], object]) -> None:
        """Takes the time of one step."""
        begin, cpu_begin = time.perf_counter(), time.thread_time()
        step()
        self.clock.append((time.perf_counter() - begin) * 1000)
        self.cpu.append((time.thread_time() - cpu_begin) * 1000)

    def tell(
        self, what: str, budget: float | None = None, choose: Callable[[Sequence[float]], float] = statistics.median
    ) -> None:
        """Tells the median of the steps in milliseconds, or what else `choose` makes of them."""
        tell(Figure(what, choose(self.clock), "ms", budget, choose(self.cpu)))
