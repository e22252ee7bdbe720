"""The solver process: solves, sends its events through a pipe, and stops when it is told to."""

from __future__ import annotations

import traceback
from multiprocessing.connection import Connection

from core.graph.model import Graph
from core.solve.events import Event, Failed, SolveOptions


def work(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    """Entry of a spawned process. Anything that arrives through the pipe, its end included, is a wish to stop.

    The last event is Done, also after a stop (with the best so far), or Failed with the traceback.
    """

    def send(event: Event) -> None:
        try:
            connection.send(event)
        except OSError:
            return  # nobody reads any more; `poll` tells the search to stop

    try:
        from core.solve.solve import answer

        answer(graph, options, send, connection.poll)
    except Exception as fault:
        send(Failed(str(fault) or type(fault).__name__, traceback.format_exc()))
    finally:
        connection.close()
