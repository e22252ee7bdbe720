"""The schedule unrolled: prologue, steady state and epilogue of a number of iterations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from core.schedule.model import Schedule

MOST_INSTANCES = 50_000
"""Op instances that a picture or a trace holds: a schedule may legally span millions of stages."""


class Phase(Enum):
    """PROLOGUE: some stages have no iteration yet; EPILOGUE: some have none any more; STEADY: all are at work."""

    PROLOGUE = "prologue"
    STEADY = "steady"
    EPILOGUE = "epilogue"


@dataclass(frozen=True, slots=True)
class Instance:
    """One op of one iteration: it starts at `cycle`. `stage` counts from the earliest used one."""

    op: str
    iteration: int
    stage: int
    cycle: int
    phase: Phase


def shown_iterations(schedule: Schedule, wanted: int) -> int:
    """As many iterations as are wanted, or the first ones where those have more than MOST_INSTANCES ops."""
    return min(wanted, max(1, MOST_INSTANCES // max(1, len(schedule.ops))))


def expand(schedule: Schedule, iterations: int) -> list[Instance]:
    """All op instances of iterations 0 to `iterations` - 1 by iteration, ops in the schedule's order.

    Period k holds the starts in [(k + first stage) * II, (k + 1 + first stage) * II). With S stages and n
    iterations, the periods before S - 1 are the prologue, those from n on the epilogue; a loop shorter than its
    pipeline (n < S) has no steady state.
    """
    stage_of = {name: place.start // schedule.ii for name, place in schedule.ops.items()}
    first = min(stage_of.values(), default=0)
    last = max(stage_of.values(), default=0) - first
    return [
        Instance(
            op=name,
            iteration=iteration,
            stage=stage_of[name] - first,
            cycle=place.start + iteration * schedule.ii,
            phase=_phase(stage_of[name] - first + iteration, last, iterations),
        )
        for iteration in range(iterations)
        for name, place in schedule.ops.items()
    ]


def _phase(period: int, last_stage: int, iterations: int) -> Phase:
    if period >= iterations:
        return Phase.EPILOGUE
    return Phase.PROLOGUE if period < last_stage else Phase.STEADY
