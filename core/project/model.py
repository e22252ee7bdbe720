"""The project value: which loop, on which machine, with which groups and rules, and the schedules kept for it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from core.diagnostics import Diagnostic, Severity
from core.graph.model import GroupKind, Pin, Rules
from core.ir.subtile import SplitAxis
from core.solve.events import SolveOptions
from core.yaml_source import Key, YamlSource


class InputKind(Enum):
    """What the input file is: TTGIR text or a `twill.graph/1` file."""

    TTGIR = "ttgir"
    GRAPH = "graph"


class Fuse(Enum):
    """AUTO: chains of small elementwise ops become one block where that helps the solver. OFF: never."""

    AUTO = "auto"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Input:
    """The file and, for TTGIR, the function and the loop in it.

    `loop`: index over the whole module in the order of the text, as `twill inspect` lists them. None: the main loop
    (of `function`, if that is given).
    """

    kind: InputKind
    path: Path
    function: str | None = None
    loop: int | None = None


@dataclass(frozen=True, slots=True)
class Subtile:
    """Splits tile ops into `parts` along rows (m) or columns (n). `ops`: ids before the split; None: all."""

    axis: SplitAxis
    parts: int
    ops: tuple[str, ...] | None = None


class Branches(Enum):
    """REFUSE: a loop with an `scf.if` is not scheduled. REDUCE: each one is one op that takes what its sides take."""

    REFUSE = "refuse"
    REDUCE = "reduce"


@dataclass(frozen=True, slots=True)
class Transform:
    """What is done to the loop before it becomes a graph."""

    fuse: Fuse = Fuse.AUTO
    subtile: Subtile | None = None
    branches: Branches = Branches.REFUSE


@dataclass(frozen=True, slots=True)
class Override:
    """Costs of one op that replace those of the machine (cycles; None: the machine's), and why."""

    latency: int | None = None
    issue_cycles: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    """A named schedule: its file, and the loop, the groups and the transform it was made with where those are not the
    project's. Entries of several loops are the schedules of one kernel. `trip_count`: how many iterations are assumed
    of a loop that is one block of the loop around it."""

    file: Path
    groups: tuple[GroupKind, ...] | None = None
    transform: Transform | None = None
    loop: int | None = None
    trip_count: int | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """Everything a `twill.project/1` file holds; paths are absolute or relative to the working directory.

    `machine`: a name in `machines/`, a file, or None: the graph file's own numbers, or the machine of the module's
    target. `groups` and `rules` None: the graph file's, or the defaults for the machine. `file` is None for a project
    made from a bare TTGIR or graph file; `source` is the text it was read from, for the places of messages.
    """

    name: str
    input: Input
    machine: str | Path | None = None
    groups: tuple[GroupKind, ...] | None = None
    rules: Rules | None = None
    transform: Transform = Transform()
    overrides: Mapping[str, Override] = field(default_factory=dict[str, Override])
    pins: Mapping[str, Pin] = field(default_factory=dict[str, Pin])
    solve: SolveOptions = field(default_factory=SolveOptions)
    schedules: Mapping[str, ScheduleEntry] = field(default_factory=dict[str, ScheduleEntry])
    active: str | None = None
    file: Path | None = None
    source: YamlSource | None = field(default=None, compare=False, repr=False)

    def for_schedule(self, name: str) -> Project:
        """The project with the named schedule active, and with that schedule's loop, groups and transform as its own.

        Raises KeyError if there is no such schedule.
        """
        entry = self.schedules[name]
        return replace(
            self,
            input=self.input if entry.loop is None else replace(self.input, loop=entry.loop),
            groups=entry.groups or self.groups,
            transform=entry.transform or self.transform,
            active=name,
        )

    @property
    def kernel_schedules(self) -> tuple[str, ...]:
        """A schedule for each of the kernel's loops, where several loops are named: of those for one loop the active
        one, or else the first."""
        chosen: dict[int, str] = {}
        for name, entry in self.schedules.items():
            if entry.loop is not None and (entry.loop not in chosen or name == self.active):
                chosen[entry.loop] = name
        return tuple(chosen.values()) if len(chosen) > 1 else ()

    @property
    def kernel_levels(self) -> tuple[tuple[str, ...], ...]:
        """`kernel_schedules`, those of loops that are a block of another first and by themselves."""
        inner = tuple(name for name in self.kernel_schedules if self.schedules[name].trip_count is not None)
        outer = tuple(name for name in self.kernel_schedules if name not in inner)
        return tuple(level for level in (inner, outer) if level)

    def schedule_of_loop(self, loop: int) -> str | None:
        """The schedule for the loop of that index: the active one if it is, or else the first; None if there is none.
        One that names no loop is for whichever is asked for."""
        fitting = [name for name, entry in self.schedules.items() if entry.loop in (None, loop)]
        return self.active if self.active in fitting else next(iter(fitting), None)

    def how_to_make(self, schedule: str) -> str:
        """The command line that solves for the named schedule, as a hint where its file is missing."""
        file = self.schedules[schedule].file
        options = ["--schedule", schedule, "-o", str(file)]
        if schedule in self.kernel_schedules and file.name == f"{schedule}.yaml":
            options = ["-o", str(file.parent)]
        return f"make it: {shlex.join(['twill', 'solve', str(self.file), *options])}"

    def diagnostic(
        self,
        severity: Severity,
        code: str,
        message: str,
        path: Sequence[Key] = (),
        *,
        of_key: bool = False,
        hint: str | None = None,
    ) -> Diagnostic:
        """A diagnostic at the key path of the project file (or at the input, if there is none)."""
        if self.source is None:
            return Diagnostic(severity, code, message, str(self.input.path), hint=hint)
        line, column = self.source.position(path, of_key=of_key)
        return Diagnostic(severity, code, message, self.source.file, line, column, hint)
