"""The question that an impossible repair hands over: why can the op not be where it was put?"""

from __future__ import annotations

from dataclasses import replace

from core.explain.question import Question, why_not_ii, why_not_there
from core.graph.model import Pin
from core.solve.repair.repair import with_moves
from core.solve.repair.request import RepairRequest


def why_not_repaired(request: RepairRequest) -> Question:
    """About the op put last, with the others pinned where they were put; without moves about the interval."""
    if not request.moves:
        return why_not_ii(request.graph, request.schedule.ii)
    *before, (op, place) = request.moves.items()
    pins = {**request.graph.pins, **{other: Pin(there.start, there.group) for other, there in before}}
    graph = replace(request.graph, pins=pins)
    schedule = with_moves(graph, request.schedule, request.moves)
    return why_not_there(graph, op, schedule.ii, place.group, place.start, schedule)
