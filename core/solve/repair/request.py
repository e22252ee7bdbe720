"""What a repair is asked and what it answers. Plain picklable values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.graph.model import Graph
from core.schedule.model import Schedule
from core.solve.events import Verdict


@dataclass(frozen=True, slots=True)
class Place:
    """Where an op has been put: start cycle of iteration 0, and the name of its group."""

    start: int
    group: str


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """Which legal schedule of `graph`, at the interval of `schedule`, has the ops of `moves` where they were put and
    changes as little else as possible?

    `schedule` fits the graph; it holds where all other ops were. `may_rotate`: where something would have to start
    before cycle 0, everything may start whole intervals later, which the steady state does not notice; without it the
    starts of `moves` are meant to the cycle. `limit_s`: seconds at most. `effort_s`: work that takes so many seconds on
    a computer that does nothing else, then the answer is what has been found, if anything has; None: as many as the
    limit.
    """

    graph: Graph
    schedule: Schedule
    moves: Mapping[str, Place] = field(default_factory=dict[str, Place])
    may_rotate: bool = False
    limit_s: float = 10.0
    effort_s: float | None = None
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Measure:
    """What is to be least: its value in the schedule found, and what it is at least in any."""

    value: int
    bound: int

    @property
    def proved(self) -> bool:
        """No schedule has less."""
        return self.bound >= self.value


@dataclass(frozen=True, slots=True)
class Repaired:
    """The answer. INFEASIBLE is proved, UNKNOWN is a time-out.

    With a schedule, which has passed the judge: `moved`, the ops other than the given ones that are elsewhere or
    delayed otherwise than before; `count` of them, which is least first; `movement`, the cycles by which starts and
    delays have changed in all, which is least among schedules that move so few. `later`: whole intervals by which
    everything starts later than before (counted as no movement). `stages`: as many were searched. `seconds`: wall
    clock.
    """

    verdict: Verdict
    seconds: float
    stages: int
    schedule: Schedule | None = None
    moved: tuple[str, ...] = ()
    count: Measure = Measure(0, 0)
    movement: Measure = Measure(0, 0)
    later: int = 0
