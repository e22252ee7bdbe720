"""Stand-ins for the solver process, to see every end a job can come to. They live in a module, as spawn needs."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from core.graph.model import Graph
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.solve.events import (
    Done,
    Failed,
    Progress,
    Solved,
    SolveOptions,
    SolveResult,
    Status,
    Step,
    TrailEntry,
    Verdict,
)


def one_group_schedule(graph: Graph, ii: int) -> Schedule:
    """Every op at cycle 0 on one group of the first kind."""
    kind = graph.groups[0].kind
    return Schedule(ii, {f"{kind}.0": ScheduledGroup(kind, 24)}, {op: Placement(0, f"{kind}.0") for op in graph.ops})


def result(graph: Graph, status: Status, ii: int) -> SolveResult:
    """A result without levels."""
    return SolveResult(status, ii, ii, (), (), 0.1, one_group_schedule(graph, ii))


def quick(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    connection.send(Progress("searching", 0.0))
    connection.send(Step(TrailEntry(1, Verdict.INFEASIBLE, 0.01, "unit"), 2, None))
    connection.send(Done(result(graph, Status.OPTIMAL, 2)))


def steps(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    connection.send(Step(TrailEntry(1, Verdict.INFEASIBLE, 0.01, "unit"), 2, None))
    connection.send(Step(TrailEntry(8, Verdict.FEASIBLE, 0.02, "cp-sat"), 2, 8))
    connection.send(Step(TrailEntry(4, Verdict.INFEASIBLE, 0.02, "cp-sat"), 5, 8))
    connection.send(Done(result(graph, Status.FEASIBLE, 8)))


def until_stopped(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    connection.send(Progress("searching", 0.0))
    connection.recv()
    connection.send(Done(result(graph, Status.FEASIBLE, 3)))


def deaf(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection.send(Progress(str(os.getpid()), 0.0))
    while True:
        time.sleep(60)


def crash(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def fail(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    connection.send(Failed("ValueError: no", "Traceback: ..."))


def lingers(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    connection.send(Done(result(graph, Status.OPTIMAL, 2)))
    time.sleep(60)


def step_then_wait(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    connection.send(Step(TrailEntry(1, Verdict.INFEASIBLE, 0.01, "unit"), 2, None))
    connection.recv()


def with_second_opinion(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    """One solver excludes II 4; when told to go on, the other says the same or fails; when stopped, nothing."""
    first = replace(
        result(graph, Status.OPTIMAL, 5), trail=(TrailEntry(4, Verdict.INFEASIBLE, 0.02, "cp-sat", None, 2),)
    )
    connection.send(Solved(first))
    with tempfile.TemporaryDirectory() as folder:
        sign = Path(folder) / "go on"
        connection.send(Progress(str(sign), 0.0))
        while not sign.exists():
            if connection.poll(0.01):
                connection.send(Done(first))
                return
        if sign.read_text():
            connection.send(Failed(sign.read_text(), "Traceback: ..."))
            return
    connection.send(Done(replace(first, trail=(replace(first.trail[0], confirmed_by="z3"),))))


def until_told(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sign = Path(folder) / "go on"
        connection.send(Progress(str(sign), 0.0))
        while not sign.exists():
            time.sleep(0.01)
    connection.send(Done(result(graph, Status.OPTIMAL, 2)))
