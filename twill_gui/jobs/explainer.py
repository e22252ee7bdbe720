"""The work of an explanation's process: answers a question, every better answer sent as it is known."""

from __future__ import annotations

import os
import traceback
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from core.solve.events import Failed
from twill_gui.jobs.supervisor import Finished

if TYPE_CHECKING:
    from core.explain.options import ExplainOptions
    from core.explain.question import Question

_NICE = 5


def explain(connection: Connection, question: Question, options: ExplainOptions) -> None:
    """Runs in the solver process. Anything that arrives through the pipe, its end included, is a wish to stop; the
    answers are `core.explain.answer.Explanation`s, the last event is Finished or Failed."""
    if hasattr(os, "nice"):
        os.nice(_NICE)

    def send(event: object) -> None:
        try:
            connection.send(event)
        except OSError:
            return  # nobody reads any more; `poll` tells the search to stop

    try:
        from core.explain.explain import explain

        explain(question, options, send, connection.poll)
        send(Finished())
    except Exception as fault:
        send(Failed(str(fault) or type(fault).__name__, traceback.format_exc()))
    finally:
        connection.close()
