"""Solver processes: started for a job, or before there is one and kept ready, as importing a solver takes longer than
most repairs do. Nothing here touches Qt; everything may be called from any thread."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from twill_gui.jobs.serving import serve

IMPORTS = ("core.solve.repair.repair", "ortools.sat.python.cp_model")
"""What a process that is kept ready has loaded: what all jobs need."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that serves tasks, and this end of its pipe."""

    process: SpawnProcess
    connection: Connection

    def end(self, patience_s: float = 0.0) -> int | None:
        """Closes the pipe, on which an idle process leaves; kills what has not left in time. The exit code."""
        self.connection.close()
        self.process.join(patience_s)
        code = self.process.exitcode
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.process.close()
        return code


def start_worker(imports: Sequence[str] = ()) -> Worker:
    """A new process."""
    context = multiprocessing.get_context("spawn")
    connection, far_end = context.Pipe()
    process = context.Process(target=serve, args=(far_end, imports), name="twill-solver", daemon=True)
    try:
        process.start()
    except BaseException:
        connection.close()
        raise
    finally:
        far_end.close()
    return Worker(process, connection)


class Standby:
    """At most one process kept ready, from the first wish for it until the end of the window."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: Worker | None = None
        self._starting: threading.Thread | None = None
        self._closed = False

    def warm_up(self) -> None:
        """Starts the process if none is ready; does not wait for it."""
        with self._lock:
            if self._closed or self._idle is not None or self._starting is not None:
                return
            self._starting = threading.Thread(target=self._start, name="twill-standby", daemon=True)
            self._starting.start()

    def take(self) -> Worker | None:
        """The process that is ready, or will be soon; None if there is none. It is the caller's from now on."""
        self._wait()
        with self._lock:
            worker, self._idle = self._idle, None
        if worker is not None and not worker.process.is_alive():
            worker.end()
            return None
        return worker

    def give_back(self, worker: Worker) -> None:
        """Keeps an idle process for the next job, if no other is ready."""
        with self._lock:
            if not self._closed and self._idle is None and self._starting is None:
                self._idle = worker
                return
        worker.end()

    def shut_down(self) -> None:
        """Ends the process; none is started any more."""
        with self._lock:
            self._closed = True
        self._wait()
        worker = self.take()
        if worker is not None:
            worker.end()

    def _start(self) -> None:
        worker = None
        with contextlib.suppress(OSError):  # a job starts a process of its own then, or says why it cannot
            worker = start_worker(IMPORTS)
        with self._lock:
            self._idle, self._starting = worker, None

    def _wait(self) -> None:
        """Until a process that is being started has been: moments, its imports are its own affair."""
        with self._lock:
            starting = self._starting
        if starting is not None:
            starting.join()
