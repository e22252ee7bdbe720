"""Stand-ins for the work of a repair. They live in a module of few imports, as each is spawned."""

from __future__ import annotations

import os
import sys
import time
from multiprocessing.connection import Connection

from core.schedule.edits import move_op
from core.solve.events import Failed, Progress, Verdict
from core.solve.repair.request import Repaired, RepairRequest
from twill_gui.jobs.supervisor import Finished


def says_where(connection: Connection, subject: object, options: object) -> None:
    connection.send(Progress(str(os.getpid()), 0.0))
    connection.send(Finished())


def stops_when_told(connection: Connection, subject: object, options: object) -> None:
    connection.send(Progress(str(os.getpid()), 0.0))
    while not connection.poll(0.01):
        pass
    connection.send(Finished())


def tells_imports(connection: Connection, subject: object, options: object) -> None:
    connection.send(set(sys.modules))


def leaves(connection: Connection, subject: object, options: object) -> None:
    says_where(connection, subject, options)
    connection.close()


def fails(connection: Connection, request: RepairRequest, options: object) -> None:
    connection.send(Failed("ValueError: no", "Traceback: ..."))


def unknown(connection: Connection, request: RepairRequest, options: object) -> None:
    _answer(connection, Repaired(Verdict.UNKNOWN, 1.0, 3))


def impossible(connection: Connection, request: RepairRequest, options: object) -> None:
    _answer(connection, Repaired(Verdict.INFEASIBLE, 1.0, 0))


def late(connection: Connection, request: RepairRequest, options: object) -> None:
    time.sleep(0.3)
    _answer(connection, Repaired(Verdict.FEASIBLE, 1.0, 3, move_op(request.schedule, "b", 4), ("b",)))


def waits(connection: Connection, request: RepairRequest, options: object) -> None:
    connection.recv()
    _answer(connection, Repaired(Verdict.UNKNOWN, 1.0, 3))


def _answer(connection: Connection, answer: Repaired) -> None:
    connection.send(answer)
    connection.send(Finished())
