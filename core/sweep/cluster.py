# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false
"""Workers of a Dask cluster that solve the points of a sweep. Needs the extra `cluster`."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.graph.model import Graph
from core.solve.events import SolveOptions
from core.sweep.outcome import Outcome, solve_point
from core.sweep.workers import Submit

if TYPE_CHECKING:
    from dask.distributed import Event

_ADDRESS = re.compile(r"((tcp|tls|wss?)://)?[^\s/]+:\d{1,5}")
_CONNECT_S = 10.0
_ASK_S = 0.5  # between two questions to the cluster whether to stop


@contextmanager
def cluster_workers(address: str) -> Generator[Submit]:
    """The workers of the cluster whose scheduler has that address; they need this package as well.

    Where the body ends with an exception, what waits is cancelled and what runs is asked to stop. Raises
    ModuleNotFoundError without the extra, ValueError for what is no address, OSError if nobody answers there.
    """
    from dask.distributed import Client, Event

    if not _ADDRESS.fullmatch(address):  # Dask waits long before it says so
        raise ValueError("an address is HOST:PORT, or with tcp://, tls://, ws:// or wss:// before it")
    with Client(address, timeout=_CONNECT_S, set_as_default=False) as client:
        executor = client.get_executor(pure=False)  # equal points are solved each by itself
        stop = f"twill-sweep-{uuid.uuid4().hex}"
        try:
            yield lambda graph, options: executor.submit(_solve, graph, options, stop)
        except BaseException:
            Event(stop, client=client).set()
            executor.shutdown(wait=False)
            raise


def _solve(graph: Graph, options: SolveOptions, stop: str) -> Outcome:
    from dask.distributed import Event, get_client

    return solve_point(graph, options, Seldom(Event(stop, client=get_client())))


class Seldom:
    """Asks across the network once in a while whether an event is set; a yes stays."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._next = time.monotonic()
        self._set = False

    def __call__(self) -> bool:
        """Whether it is set, as far as is known."""
        if not self._set and time.monotonic() >= self._next:
            self._set = bool(self._event.is_set())
            self._next = time.monotonic() + _ASK_S
        return self._set
