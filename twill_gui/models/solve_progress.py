"""What a solve has told so far, as texts and tables for the Jobs dock."""

from __future__ import annotations

import time
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from core.solve.events import (
    Event,
    Incumbent,
    Level,
    LevelProved,
    LevelResult,
    Progress,
    Solved,
    SolveResult,
    Status,
    Step,
    TrailEntry,
    Verdict,
)
from twill_gui.models.table import Column, TableModel, Tone
from twill_gui.theme import Colors

_VERDICTS = {
    Verdict.FEASIBLE: ("\N{CHECK MARK} feasible", Tone.GOOD),
    Verdict.INFEASIBLE: ("\N{MULTIPLICATION SIGN} infeasible", Tone.BAD),
    Verdict.UNKNOWN: ("? no answer", Tone.WARNING),
}
_STATUSES = {
    Status.OPTIMAL: ("Optimal: II {ii}, proved", Tone.GOOD),
    Status.FEASIBLE: ("Feasible: II {ii}, not proved least", Tone.WARNING),
    Status.INFEASIBLE: ("Infeasible up to the limit, proved", Tone.BAD),
    Status.UNKNOWN: ("No answer within the limit", Tone.WARNING),
}


def _how_decided(entry: TrailEntry) -> str:
    parts = [f"decided by {entry.by}"]
    if entry.confirmed_by:
        parts.append(f"confirmed by {entry.confirmed_by}")
    if entry.horizon is not None:
        parts.append(f"{entry.horizon} stages searched")
    if entry.by_one_solver:
        parts.append("by one solver alone")
    if entry.queueing is not None:
        parts.append(f"queueing {entry.queueing.value}")
    return ", ".join(parts)


def _proof(level: LevelResult, proved: str, from_below: str, from_above: str) -> str:
    """Robustness alone is the better the greater it is."""
    maximised = level.name is Level.ROBUSTNESS
    if level.proved:
        return proved.format("most" if maximised else "least")
    return f"{from_above if maximised else from_below} {level.bound}"


_LEVEL_NAMES = {Level.II: "II", Level.HAND_OFFS: "hand-offs"}
_TRAIL = (
    Column[TrailEntry]("II", lambda entry: str(entry.ii), numeric=True),
    Column[TrailEntry](
        "Verdict", lambda entry: _VERDICTS[entry.verdict][0], tone=lambda entry: _VERDICTS[entry.verdict][1]
    ),
    Column[TrailEntry](
        "By", lambda entry: entry.by + (f" + {entry.confirmed_by}" if entry.confirmed_by else ""), tip=_how_decided
    ),
    Column[TrailEntry]("Seconds", lambda entry: f"{entry.seconds:.2f}", numeric=True),
)
_LEVELS = (
    Column[LevelResult]("Objective", lambda level: _LEVEL_NAMES.get(level.name, level.name.value)),
    Column[LevelResult]("Value", lambda level: str(level.value), numeric=True),
    Column[LevelResult](
        "Proof",
        lambda level: _proof(level, "\N{CHECK MARK} {}", "\N{GREATER-THAN OR EQUAL TO}", "\N{LESS-THAN OR EQUAL TO}"),
        tone=lambda level: Tone.GOOD if level.proved else Tone.WARNING,
        tip=lambda level: _proof(level, "proved {}", "proved to be at least", "proved to be at most"),
    ),
)


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """What was known `seconds` after a solve began: every II below `lower` is excluded, `upper` is the best found."""

    seconds: float
    lower: int
    upper: int | None


class SolveProgress(QObject):
    """The Jobs dock's content. `headline` with its `tone`, `bracket` and `note` are lines of text; `trail` and
    `levels` are tables that grow with the solve's events; `course` has a point for each step of a solve of this run of
    the program, none for an earlier one."""

    changed = Signal()
    level_count = len(Level)  # rows of `levels` at most

    def __init__(self, colors: Colors, parent: QObject) -> None:
        super().__init__(parent)
        self.trail = TableModel[TrailEntry](_TRAIL, self, colors)
        self.levels = TableModel[LevelResult](_LEVELS, self, colors)
        self.headline, self.tone, self.bracket, self.note = "No solve yet", Tone.MUTED, "", ""
        self.running = self.stopping = False
        self.course: tuple[CoursePoint, ...] = ()
        self._started = self._seconds = 0.0
        self._result: SolveResult | None = None
        self._outdated = False

    @property
    def seconds(self) -> float:
        """How long the running solve has taken, or the last one took."""
        return time.monotonic() - self._started if self.running else self._seconds

    def set_colors(self, colors: Colors) -> None:
        """Colours the tables for the theme in use."""
        self.trail.set_colors(colors)
        self.levels.set_colors(colors)

    def clear(self) -> None:
        """Back to the state before the first solve."""
        self.running = False
        self._reset("No solve yet", Tone.MUTED)

    def start(self, schedule_name: str) -> None:
        """A solve begins."""
        self._started, self.running = time.monotonic(), True
        self._reset(f"Solving \N{LEFT DOUBLE QUOTATION MARK}{schedule_name}\N{RIGHT DOUBLE QUOTATION MARK}", Tone.PLAIN)

    def stop(self) -> None:
        """The user has cancelled; the process is being ended."""
        self.stopping = True
        self.headline = "Cancelling\N{HORIZONTAL ELLIPSIS}"
        self.changed.emit()

    def add(self, event: Event) -> None:
        """An event of the running solve."""
        if isinstance(event, Step):
            self.trail.append(event.entry)
            self.course = (*self.course, CoursePoint(self.seconds, event.lower, event.upper))
            self.bracket = _bracket(event.lower, event.upper)
        elif isinstance(event, LevelProved):
            self.levels.append(event.level)
        elif isinstance(event, Incumbent):
            self.note = f"schedule with II {event.schedule.ii} after {event.seconds:.1f} s"
        elif isinstance(event, Progress):
            self.note = event.message
        elif isinstance(event, Solved) and not self.stopping:
            text, self.tone = describe(event.result)
            self.headline, self.note = f"{text}; second opinion pending", ""
            self._show_tables(event.result)
        self.changed.emit()

    def show(self, result: SolveResult) -> None:
        """A solve that is over, as its record tells it."""
        if result is not self._result:
            self.course = ()
        self.finish(*describe(result), result)
        self._seconds = result.seconds
        self.changed.emit()

    def set_outdated(self) -> None:
        """What is shown has changed since: the result is about something else."""
        if self._result is not None and not self._outdated:
            self._outdated = True
            self.headline = f"Last solve: {self.headline[:1].lower()}{self.headline[1:]}"
            self.tone = Tone.MUTED
            self.changed.emit()

    def finish(self, headline: str, tone: Tone, result: SolveResult | None = None) -> None:
        """The solve has ended; with a result its own tables replace the running ones."""
        self._seconds = self.seconds
        self.running = self.stopping = False
        self.headline, self.tone, self.note = headline, tone, ""
        self._result, self._outdated = result, False
        if result is not None:
            self._show_tables(result)
        self.changed.emit()

    def _show_tables(self, result: SolveResult) -> None:
        self.bracket = _verdict(result)
        self.trail.set_rows(result.trail)
        self.levels.set_rows(result.levels)

    def _reset(self, headline: str, tone: Tone) -> None:
        self.headline, self.tone, self.bracket, self.note = headline, tone, "", ""
        self.stopping = False
        self.course, self._result = (), None
        self._seconds = 0.0
        self.trail.set_rows(())
        self.levels.set_rows(())
        self.changed.emit()


def describe(result: SolveResult) -> tuple[str, Tone]:
    """A result in one line."""
    text, tone = _STATUSES[result.status]
    return text.format(ii=result.ii), tone


def _verdict(result: SolveResult) -> str:
    lower = result.proved_lower_bound
    if result.status is not Status.INFEASIBLE:
        return _bracket(lower, result.ii)
    last = max((entry.ii for entry in result.trail), default=lower - 1)
    return f"no II up to {lower - 1} is possible" if last < lower else f"II {last} is not possible"


def _bracket(lower: int, upper: int | None) -> str:
    if upper is None:
        return f"II \N{GREATER-THAN OR EQUAL TO} {lower}, none found yet"
    if lower == upper:
        return f"II = {upper}: found, and proved that none is smaller"
    return f"{lower} \N{LESS-THAN OR EQUAL TO} II \N{LESS-THAN OR EQUAL TO} {upper}: proved below, found above"
