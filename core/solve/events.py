"""What a solve is asked, what it answers, and the events it sends on the way. Plain picklable values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from core.graph.model import Graph
from core.schedule.model import Schedule
from core.schedule.report import Family


class Status(Enum):
    """Speaks of II: least II proved, legal but not proved least, none up to the limit (proved), no answer in time."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


class Verdict(Enum):
    """The answer for one II. UNKNOWN is a time-out, never a claim."""

    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


class Queueing(Enum):
    """Whether an II that a solver excludes becomes possible where asynchronous ops may wait for their unit in a queue
    for up to one II. UNKNOWN: not decided within the limit."""

    HELPS = "helps"
    DOES_NOT_HELP = "does not help"
    UNKNOWN = "unknown"


class Level(Enum):
    """The lexicographic objectives, each minimised at the best values of those before it.

    ROBUSTNESS is maximised: the cycles by which every latency may grow (`core.solve.robustness`), one II at most. What
    comes after it, and a register peak before it, counts for the latencies so grown.
    """

    II = "ii"
    GROUPS = "groups"
    HAND_OFFS = "hand_offs"
    LENGTH = "length"
    REGISTERS = "registers"
    STAGES = "stages"
    ROBUSTNESS = "robustness"


DEFAULT_OBJECTIVE = tuple(level for level in Level if level is not Level.ROBUSTNESS)
"""The levels of a solve that names none."""


class ModelName(Enum):
    """Which formulation solves."""

    EXACT = "exact"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """How to solve. `ii` asks for that II alone; `max_ii` None means 4 times the least lower bound; `best`: so many
    optima of different structure, if there are; `second_opinions`: whether an answer is followed by them."""

    model: ModelName = ModelName.EXACT
    objective: tuple[Level, ...] = DEFAULT_OBJECTIVE
    ii: int | None = None
    max_ii: int | None = None
    best: int = 1
    limit_s: float = 300.0
    seed: int = 1
    second_opinions: bool = True


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """One II that was decided. `by` names the certificate (`unit`, `recurrence`, `registers`, ...) or the solver;
    `confirmed_by` a second solver; `horizon` the number of stages searched.

    `lowest`: where one argument excludes all from there to `ii`. `queueing`: None if it was not asked, since
    arithmetic decided, or the II is possible as it is.
    """

    ii: int
    verdict: Verdict
    seconds: float
    by: str
    confirmed_by: str | None = None
    horizon: int | None = None
    lowest: int | None = None
    queueing: Queueing | None = None

    @property
    def by_one_solver(self) -> bool:
        """An II excluded by search, by one solver alone: neither arithmetic nor a second solver says the same."""
        return self.verdict is Verdict.INFEASIBLE and self.horizon is not None and self.confirmed_by is None


@dataclass(frozen=True, slots=True)
class LevelResult:
    """A level's best value, its proved bound (from below, for ROBUSTNESS from above), and whether they meet. `detail`
    holds bytes for hand-offs."""

    name: Level
    value: int
    bound: int
    proved: bool
    detail: int | None = None


@dataclass(frozen=True, slots=True)
class PaperAttempt:
    """One call of z3 in the paper's search: (II, L) in its own cycles, the verdict, and the seconds that encoding and
    solving took."""

    ii: int
    length: int
    verdict: Verdict
    seconds: float


@dataclass(frozen=True, slots=True)
class PaperAnswer:
    """What the paper's own model says, in its own, normalised cycles, each worth `unit` cycles of the graph.

    `verdict` is on its own system: INFEASIBLE means no II within the depths of pipeline that its search tries, which
    proves nothing of the loop. `graph` is the normalised one, `error` the F of the normalisation. FEASIBLE has a
    `schedule` of that graph, what the judge finds wrong with it, and the II that its groups and orders reach in cycles
    of the loop itself (None: they contradict each other there), with what the judge finds wrong then.
    """

    verdict: Verdict
    graph: Graph
    unit: float
    error: int
    attempts: tuple[PaperAttempt, ...]
    schedule: Schedule | None = None
    violations: Mapping[Family, int] = field(default_factory=dict[Family, int])
    raw_ii: int | None = None
    raw_violations: Mapping[Family, int] = field(default_factory=dict[Family, int])


@dataclass(frozen=True, slots=True)
class SolveResult:
    """The answer. `schedule` has passed the judge; `paper`: what the paper's model says in its own cycles, if asked.

    `schedules`: if more than one was asked for, `schedule` and others as good in every level but of another structure
    (`core.solve.structure`), judged as well; `schedules_complete`: it is proved that there are no more.
    """

    status: Status
    ii: int | None
    proved_lower_bound: int
    trail: tuple[TrailEntry, ...]
    levels: tuple[LevelResult, ...]
    seconds: float
    schedule: Schedule | None
    schedules: tuple[Schedule, ...] = ()
    paper: PaperAnswer | None = None
    schedules_complete: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """A line for the person who waits."""

    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """An II was decided; `lower`: proved lower bound so far, `upper`: best feasible II so far."""

    entry: TrailEntry
    lower: int
    upper: int | None


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A schedule better than the last one, accepted by the judge."""

    schedule: Schedule
    seconds: float


@dataclass(frozen=True, slots=True)
class LevelProved:
    """A level is done (proved, or stopped with a gap)."""

    level: LevelResult
    seconds: float


@dataclass(frozen=True, slots=True)
class Solved:
    """The answer is there; Done follows with the same, and what second opinions on its exclusions add to the trail."""

    result: SolveResult


@dataclass(frozen=True, slots=True)
class Done:
    """The last event of a solve that ended by itself or was stopped in an orderly way."""

    result: SolveResult


@dataclass(frozen=True, slots=True)
class Failed:
    """The last event of a solve that broke: an internal error with its traceback."""

    message: str
    traceback: str


Event = Progress | Step | Incumbent | LevelProved | Solved | Done | Failed
