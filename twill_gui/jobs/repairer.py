"""The work of a repair's process: the nearest legal schedule, sent as it is found."""

from __future__ import annotations

import traceback
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from core.solve.events import Failed
from twill_gui.jobs.supervisor import Finished

if TYPE_CHECKING:
    from core.solve.repair.request import RepairRequest


def repair(connection: Connection, request: RepairRequest, options: object) -> None:
    """Runs in the solver process, without giving way: the user waits for it. Anything that arrives through the pipe,
    its end included, is a wish to stop; the answer is a `Repaired`, the last event is Finished or Failed. The process
    can repair again."""

    def send(event: object) -> None:
        try:
            connection.send(event)
        except OSError:
            return  # nobody reads any more; `poll` tells the search to stop

    try:
        from core.solve.repair.repair import repair

        send(repair(request, connection.poll))
        send(Finished())
    except Exception as fault:
        send(Failed(str(fault) or type(fault).__name__, traceback.format_exc()))
