"""Runs one piece of work in a spawned process: forwards its events, climbs the cancel ladder, notices its death.

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
from multiprocessing.context import SpawnProcess
from typing import Any

from core.solve.events import Done, Failed, SolveResult

Work = Callable[[Connection, Any, Any], None]
"""Gets the pipe, what it works on (a graph, a question) and its options; both must cross to another process."""

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
    """One piece of work. `run` blocks until the process is gone; `cancel` and `kill` may be called from any thread."""

    def __init__(self, work: Work, subject: object, options: object, report: Callable[[Any], None]) -> None:
        self._work = work
        self._subject = subject
        self._options = options
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
        """Starts the process, reports its events, and returns how it ended. No process is left behind."""
        context = multiprocessing.get_context("spawn")
        connection, far_end = context.Pipe()
        process = context.Process(
            target=self._work, args=(far_end, self._subject, self._options), name="twill-solver", daemon=True
        )
        try:
            process.start()
            far_end.close()
            last = self._supervise(process, connection)
            process.join(0 if self._killed else EXIT_S)
            return self._ending(last, process.exitcode)
        except Exception as fault:  # on a pool thread nobody else would learn of it
            message = f"the solver process cannot be supervised: {fault}"
            return Ending(Outcome.FAILED, message=message, traceback=traceback.format_exc())
        finally:
            if process.pid is not None:
                if process.is_alive():
                    process.kill()
                process.join()
                process.close()
            connection.close()

    def _supervise(self, process: SpawnProcess, connection: Connection) -> Done | Failed | Finished | None:
        """The process's last word, or None if it died, or was ended, without one."""
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


def _send_stop(connection: Connection) -> None:
    try:
        connection.send(STOP)
    except OSError:
        return  # the process is gone already; its sentinel says so


def _exit_words(exit_code: int | None) -> str:
    if exit_code is None:
        return "it closed its connection"
    return f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
