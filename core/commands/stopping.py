"""Ctrl+C while a solver works: the first asks for the best so far, a second ends the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopped_by_interrupt() -> Generator[Callable[[], bool]]:
    """Yields whether an answer is wanted now, with what is known.

    Where Ctrl+C has another meaning already (it is ignored in the background, or this is not the main thread), that
    stays.
    """
    asked = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
