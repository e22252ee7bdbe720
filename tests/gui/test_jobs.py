"""A solver process comes to an end in every way, and its job says how, leaving no process behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import fake_solvers
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from core.graph.model import Graph, GroupKind, Limits, Op, RegisterFile
from core.solve.events import Progress, SolveOptions, Status, Step
from twill_gui.jobs.solver import Job, JobState, Solver
from twill_gui.jobs.supervisor import Ending, Outcome, Work

GRAPH = Graph("one op", Limits({"x": 1}, RegisterFile(1024, 32)), (GroupKind("compute", 4),), {"a": Op("a", "k")})


Start = Callable[[Work], Job]


@pytest.fixture
def start(bot: QtBot) -> Iterator[Start]:
    """Starts a job with a stand-in for the solver; every process is gone at the end of the test."""
    owner = QObject()
    solvers: list[Solver] = []

    def started(work: Work) -> Job:
        solvers.append(Solver(owner, work))
        return solvers[-1].start(GRAPH, SolveOptions(), revision=7, schedule_name="main")

    yield started
    for solver in solvers:
        solver.shut_down()


def wait_for_end(bot: QtBot, job: Job) -> Ending:
    bot.waitUntil(lambda: job.state is JobState.ENDED, timeout=20_000)
    assert job.ending is not None
    return job.ending


def first_event(bot: QtBot, job: Job) -> Progress:
    with bot.waitSignal(job.progressed, timeout=20_000) as first:
        pass
    assert first.args is not None and isinstance(first.args[0], Progress)
    return first.args[0]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_events_and_result_arrive_in_order(bot: QtBot, start: Start) -> None:
    job = start(fake_solvers.quick)
    events: list[object] = []
    job.progressed.connect(events.append)
    ending = wait_for_end(bot, job)
    assert [type(event) for event in events] == [Progress, Step]
    assert ending.outcome is Outcome.DONE
    assert ending.result is not None and ending.result.status is Status.OPTIMAL and ending.result.ii == 2
    assert job.revision == 7


def test_cancel_brings_the_best_so_far(bot: QtBot, start: Start) -> None:
    job = start(fake_solvers.until_stopped)
    first_event(bot, job)
    job.cancel()
    ending = wait_for_end(bot, job)
    assert ending.outcome is Outcome.CANCELLED
    assert ending.result is not None and ending.result.status is Status.FEASIBLE


def test_cancel_is_acknowledged_at_once_and_a_deaf_process_is_killed(bot: QtBot, start: Start) -> None:
    job = start(fake_solvers.deaf)
    states: list[JobState] = []
    job.state_changed.connect(lambda: states.append(job.state))
    pid = int(first_event(bot, job).message)
    assert is_alive(pid)
    job.cancel()
    assert states == [JobState.STOPPING]
    ending = wait_for_end(bot, job)
    assert ending.outcome is Outcome.CANCELLED and ending.result is None
    assert not is_alive(pid)


def test_cancel_before_the_process_has_started(bot: QtBot, start: Start) -> None:
    job = start(fake_solvers.deaf)
    job.cancel()
    assert wait_for_end(bot, job).outcome is Outcome.CANCELLED


def test_a_crash_is_a_message(bot: QtBot, start: Start) -> None:
    ending = wait_for_end(bot, start(fake_solvers.crash))
    assert ending.outcome is Outcome.CRASHED
    assert "signal 11" in ending.message


def test_a_failure_brings_its_traceback(bot: QtBot, start: Start) -> None:
    ending = wait_for_end(bot, start(fake_solvers.fail))
    assert (ending.outcome, ending.message) == (Outcome.FAILED, "ValueError: no")
    assert ending.traceback.startswith("Traceback")


def test_a_process_that_does_not_leave_is_removed(bot: QtBot, start: Start) -> None:
    assert wait_for_end(bot, start(fake_solvers.lingers)).outcome is Outcome.DONE


def test_shutting_down_leaves_no_process(bot: QtBot, start: Start) -> None:
    job = start(fake_solvers.deaf)
    pid = int(first_event(bot, job).message)
    parent = job.parent()
    assert isinstance(parent, Solver)
    parent.shut_down()
    assert not is_alive(pid)
