"""What a test may leave behind by mistake: running timers and living processes."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing

import psutil
import shiboken6
from PySide6.QtCore import QTimer


def running_timers() -> list[QTimer]:
    """The timers of Python objects that run."""
    every = [thing for thing in gc.get_objects() if isinstance(thing, QTimer)]
    return [timer for timer in every if shiboken6.isValid(timer) and timer.isActive()]


def children() -> list[str]:
    """The living processes that the test has started, in the way of multiprocessing or any other; not the tracker of
    multiprocessing, which lives as long as the tests do."""
    multiprocessing.active_children()  # reaps those that have ended
    found: list[str] = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            command = " ".join(process.cmdline())
            if process.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in command:
                found.append(command)
    return found


def solver_processes() -> set[int]:
    """The living solver processes of this one."""
    found: set[int] = set()
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in " ".join(child.cmdline()):
                found.add(child.pid)
    return found
