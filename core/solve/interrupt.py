"""Calls into a solver's library that can be ended from outside at any moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

POLL_S = 0.02


def interruptible(call: Callable[[], Answer], stop: Callable[[], object], is_over: Callable[[], bool]) -> Answer:
    """What `call` returns or raises; `stop` makes it return early once `is_over` says that nobody waits for more.

    The call runs on a thread of its own, since only a caller that is not inside it can stop it. A stop that comes
    before the call listens is lost, so it is repeated until the call has returned. Raises KeyboardInterrupt as it
    comes, once the call is over.
    """
    answers: list[Answer] = []
    faults: list[BaseException] = []
    # An interrupted `join` of CPython 3.11 takes a thread that still runs for one that has ended; an event does not.
    returned = threading.Event()

    def run() -> None:
        try:
            answers.append(call())
        except BaseException as fault:
            faults.append(fault)
        finally:
            returned.set()

    thread = threading.Thread(target=run, name="solver", daemon=True)
    thread.start()
    try:
        while not returned.wait(POLL_S):
            if is_over():
                stop()
    except BaseException:
        while not returned.is_set():
            stop()
            returned.wait(POLL_S)
        raise
    thread.join()
    if faults:
        raise faults[0]
    return answers[0]
