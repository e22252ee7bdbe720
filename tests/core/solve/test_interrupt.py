"""Calls into a library that are ended from outside."""

from __future__ import annotations

import _thread
import threading

import pytest

from core.solve.interrupt import interruptible


class Library:
    """A call that returns only when it is told to, and does not hear the first time."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.heard = threading.Event()
        self.told = 0

    def call(self) -> str:
        self.began.set()
        self.heard.wait()
        return "stopped"

    def stop(self) -> None:
        self.told += 1
        if self.told > 1:
            self.heard.set()


def solver_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "solver"]


def test_what_the_call_returns_or_raises_comes_through() -> None:
    assert interruptible(lambda: 7, lambda: None, lambda: False) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0, lambda: None, lambda: False)


def test_it_is_told_to_stop_until_it_hears() -> None:
    library = Library()
    assert interruptible(library.call, library.stop, library.began.is_set) == "stopped"
    assert library.told >= 2


def test_an_interrupt_comes_through_when_the_call_is_over() -> None:
    library = Library()
    threading.Timer(0.2, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(library.call, library.stop, lambda: False)
    assert library.told >= 2
    for thread in solver_threads():
        thread.join(10)
        assert not thread.is_alive()
