"""Runs one piece of work in a solver process: forwards its events, climbs the cancel ladder, notices its death.

Nothing here touches Qt: the supervisor runs on whatever thread calls `run` and reports through a callback.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from multiprocessing.connection import Connection, wait
from typing import Any

from core.solve.events import Done, Failed, SolveResult
from twill_gui.jobs.serving import Idle, Task
from twill_gui.jobs.standby import Standby, Worker, start_worker

Work = Callable[[Connection, Any, Any], None]
"""Gets the pipe, what it works on (a graph, a question) and its options; both must cross to another process. Work that
leaves the pipe open leaves a process that is as good as new."""

STOP = "stop"
STOP_S = 1.0  # an orderly stop brings the best schedule so far; after this long the process is terminated
TERMINATE_S = 0.2  # and after so much more it is killed
EXIT_S = 0.4  # how long a process that has said its last word may take to leave


class Outcome(Enum):
    """How a job ended. CANCELLED may still carry the best result so far; CRASHED: the process died unasked."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Ending:
    """The last report of a job: how it ended, its result if it has one, and what to tell the user."""

    outcome: Outcome
    result: SolveResult | None = None
    message: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """The last word of work whose events were its result."""


class Supervisor:
    """One piece of work, in the process of `standby` if it has one. `run` blocks until the process is gone, or idle and
    back there; `cancel` and `kill` may be called from any thread."""

    def __init__(self, task: Task, report: Callable[[Any], None], standby: Standby | None = None) -> None:
        self._task = task
        self._standby = standby
        self._report = report
        self._wake_receiver, self._wake_sender = multiprocessing.Pipe(duplex=False)
        self._cancelled = False
        self._killed = False

    def cancel(self) -> None:
        """Asks for an orderly stop; the ladder does the rest."""
        self._cancelled = True
        self._wake()

    def kill(self) -> None:
        """Ends the process without waiting for an answer."""
        self._cancelled = self._killed = True
        self._wake()

    def _wake(self) -> None:
        self._wake_sender.send_bytes(b"!")

    def run(self) -> Ending:
        """Gives the task to a process, reports its events, and returns how it ended."""
        worker = self._standby.take() if self._standby is not None else None
        warm = worker is not None
        try:
            worker = worker or start_worker()
            worker.connection.send(self._task)
            last = self._supervise(worker)
        except Exception as fault:  # on a pool thread nobody else would learn of it
            if worker is not None:
                worker.end()
            message = f"the solver process cannot be supervised: {fault}"
            return Ending(Outcome.FAILED, message=message, traceback=traceback.format_exc())
        exit_code = self._leave(worker, last)
        if warm and self._standby is not None and not self._killed:
            self._standby.warm_up()
        return self._ending(last, exit_code)

    def _leave(self, worker: Worker, last: Done | Failed | Finished | None) -> int | None:
        """Keeps the process if it can be used again; otherwise none is left behind. Its exit code, if it has one."""
        if self._standby is not None and isinstance(last, Finished) and not self._killed and _is_idle(worker):
            self._standby.give_back(worker)
            return None
        return worker.end(0 if self._killed else EXIT_S)

    def _supervise(self, worker: Worker) -> Done | Failed | Finished | None:
        """The work's last word, or None if its process died, or was ended, without one."""
        process, connection = worker.process, worker.connection
        stop_sent_at: float | None = None
        while True:
            if self._killed:
                return None
            now = time.monotonic()
            if self._cancelled and stop_sent_at is None:
                stop_sent_at = now
                _send_stop(connection)
            timeout = None
            if stop_sent_at is not None:
                terminate_at, kill_at = stop_sent_at + STOP_S, stop_sent_at + STOP_S + TERMINATE_S
                if now >= kill_at:
                    return None
                if now >= terminate_at:
                    process.terminate()
                timeout = (kill_at if now >= terminate_at else terminate_at) - now
            ready = wait([connection, process.sentinel, self._wake_receiver], timeout)
            if self._wake_receiver in ready:
                self._wake_receiver.recv_bytes()
            if connection in ready:
                try:
                    event = connection.recv()
                except (EOFError, OSError):
                    return None
                if isinstance(event, Done | Failed | Finished):
                    return event
                self._report(event)
            elif process.sentinel in ready:
                return None

    def _ending(self, last: Done | Failed | Finished | None, exit_code: int | None) -> Ending:
        if isinstance(last, Done):
            return Ending(Outcome.CANCELLED if self._cancelled else Outcome.DONE, last.result)
        if isinstance(last, Finished):
            return Ending(Outcome.CANCELLED if self._cancelled else Outcome.DONE)
        if self._cancelled:
            return Ending(Outcome.CANCELLED)
        if isinstance(last, Failed):
            return Ending(Outcome.FAILED, message=last.message, traceback=last.traceback)
        return Ending(Outcome.CRASHED, message=f"the solver process ended unexpectedly ({_exit_words(exit_code)})")


def _is_idle(worker: Worker) -> bool:
    """Whether the process says so within the time that it has to leave otherwise."""
    if not wait([worker.connection, worker.process.sentinel], EXIT_S):
        return False
    try:
        return isinstance(worker.connection.recv(), Idle)
    except (EOFError, OSError):
        return False


def _send_stop(connection: Connection) -> None:
    try:
        connection.send(STOP)
    except OSError:
        return  # the process is gone already; its sentinel says so


def _exit_words(exit_code: int | None) -> str:
    if exit_code is None:
        return "it closed its connection"
    return f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
