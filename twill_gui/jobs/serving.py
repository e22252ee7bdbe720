"""What a solver process does: one task after another, from the pipe on which it also answers. Few imports: it is what
every such process starts with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work with what it is about."""

    work: Callable[[Connection, Any, Any], None]
    subject: object
    options: object


@dataclass(frozen=True, slots=True)
class Idle:
    """The process is ready for another task. Work that has closed the pipe has ended it instead."""


def serve(connection: Connection, imports: Sequence[str]) -> None:
    """Runs in the spawned process until its pipe is closed at either end. `imports`: modules that it loads before the
    first task, which then need not wait for them."""
    for module in imports:
        import_module(module)
    while not connection.closed:
        try:
            task = connection.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        if isinstance(task, Task):  # else a wish to stop that came when the work had just ended
            task.work(connection, task.subject, task.options)
            _say_idle(connection)


def _say_idle(connection: Connection) -> None:
    try:
        if not connection.closed:
            connection.send(Idle())
    except OSError:
        return  # nobody reads any more, so nothing can come either
