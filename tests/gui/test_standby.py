"""The process that is kept ready: who gets it, who gets it back, and when it is replaced."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import fake_repairs
import fake_solvers
import pytest
from leaks import solver_processes
from pytestqt.qtbot import QtBot

from core.solve.events import Progress
from twill_gui.jobs.serving import Task
from twill_gui.jobs.standby import IMPORTS, Standby, start_worker
from twill_gui.jobs.supervisor import STOP, Finished, Outcome, Supervisor, Work


@pytest.fixture
def standby(bot: QtBot) -> Iterator[Standby]:
    kept = Standby()
    yield kept
    kept.shut_down()


def run(standby: Standby, work: Work, cancel: bool = False) -> tuple[Outcome, int]:
    """Runs the work, which tells its process first and is then cancelled if that is wanted: how it ended, and where."""
    events: list[object] = []

    def report(event: object) -> None:
        events.append(event)
        if cancel:
            supervisor.cancel()

    supervisor = Supervisor(Task(work, None, None), report, standby)
    ending = supervisor.run()
    assert isinstance(events[0], Progress)
    return ending.outcome, int(events[0].message)


def ready(standby: Standby, bot: QtBot, but: Callable[[int], bool] = lambda _: False) -> int:
    """The process that is ready, once there is one."""
    bot.waitUntil(lambda: any(not but(pid) for pid in solver_processes()), timeout=20_000)
    [pid] = solver_processes()
    return pid


def test_none_is_started_before_it_is_wanted(standby: Standby) -> None:
    assert solver_processes() == set()
    assert standby.take() is None


def test_jobs_one_after_another_share_the_process(standby: Standby, bot: QtBot) -> None:
    standby.warm_up()
    standby.warm_up()
    pid = ready(standby, bot)
    for _ in range(3):
        assert run(standby, fake_repairs.says_where) == (Outcome.DONE, pid)
        assert solver_processes() == {pid}


def test_the_process_of_a_job_that_found_none_ready_is_kept(standby: Standby) -> None:
    _, pid = run(standby, fake_repairs.says_where)
    assert solver_processes() == {pid}
    assert run(standby, fake_repairs.says_where) == (Outcome.DONE, pid)


def test_two_at_a_time_have_two_and_one_is_kept(standby: Standby, bot: QtBot) -> None:
    standby.warm_up()
    pid = ready(standby, bot)
    taken = standby.take()
    assert taken is not None
    _, other = run(standby, fake_repairs.says_where)
    assert other != pid
    standby.give_back(taken)
    assert solver_processes() == {other}


def test_a_cancelled_job_that_stops_leaves_its_process_for_the_next(standby: Standby, bot: QtBot) -> None:
    standby.warm_up()
    pid = ready(standby, bot)
    assert run(standby, fake_repairs.stops_when_told, cancel=True) == (Outcome.CANCELLED, pid)
    assert run(standby, fake_repairs.says_where) == (Outcome.DONE, pid)


def test_a_deaf_process_is_killed_and_replaced(standby: Standby, bot: QtBot) -> None:
    standby.warm_up()
    deaf = ready(standby, bot)
    assert run(standby, fake_solvers.deaf, cancel=True) == (Outcome.CANCELLED, deaf)
    ready(standby, bot, but=lambda pid: pid == deaf)
    assert run(standby, fake_repairs.says_where)[0] is Outcome.DONE


def test_work_that_ends_its_process_has_it_replaced(standby: Standby, bot: QtBot) -> None:
    standby.warm_up()
    used = ready(standby, bot)
    assert run(standby, fake_repairs.leaves) == (Outcome.DONE, used)
    ready(standby, bot, but=lambda pid: pid == used)


def test_a_process_that_has_died_is_not_given_out(standby: Standby, bot: QtBot) -> None:
    standby.warm_up()
    dead = ready(standby, bot)
    os.kill(dead, signal.SIGKILL)
    bot.waitUntil(lambda: solver_processes() == set(), timeout=20_000)
    outcome, pid = run(standby, fake_repairs.says_where)
    assert outcome is Outcome.DONE and pid != dead


def test_none_is_kept_or_started_after_the_end(standby: Standby, bot: QtBot) -> None:
    standby.warm_up()
    ready(standby, bot)
    standby.shut_down()
    assert solver_processes() == set()
    standby.warm_up()
    assert run(standby, fake_repairs.says_where)[0] is Outcome.DONE
    assert solver_processes() == set()


def test_a_wish_to_stop_that_comes_too_late_is_not_for_the_next_job(bot: QtBot) -> None:
    worker = start_worker()
    worker.connection.send(STOP)
    worker.connection.send(Task(fake_repairs.says_where, None, None))
    assert isinstance(worker.connection.recv(), Progress)
    assert isinstance(worker.connection.recv(), Finished)
    assert worker.end(10.0) == 0


def test_it_has_the_solver_and_no_window(bot: QtBot) -> None:
    worker = start_worker(IMPORTS)
    worker.connection.send(Task(fake_repairs.tells_imports, None, None))
    loaded = worker.connection.recv()
    assert set(IMPORTS) <= loaded
    assert not {name for name in loaded if name.startswith(("PySide6", "z3", "twill_gui.views"))}
    worker.end(10.0)
