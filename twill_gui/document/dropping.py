"""What the user has moved since the schedule was legal, and the request to repair it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.graph.model import Graph
from core.schedule.fit import misfits
from core.schedule.model import Schedule
from core.solve.repair.request import Place, RepairRequest

EFFORT_S, LIMIT_S = 0.4, 5.0
"""Seconds of work on a repair after a drop, beside some 0.1 s to prepare it, and what both may come to where other
programs work too."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """An illegal `schedule` of `graph`; `before`: where ops were when it last was legal, None if that is unknown."""

    graph: Graph
    schedule: Schedule
    before: Schedule | None

    @property
    def moved(self) -> tuple[str, ...]:
        """The ops that have been moved since."""
        if self.before is None:
            return ()
        old = self.before.ops
        return tuple(op for op, place in self.schedule.ops.items() if op not in old or place != old[op])

    @property
    def places(self) -> dict[str, Place]:
        """Where they are now."""
        places = self.schedule.ops
        return {op: Place(places[op].start, places[op].group) for op in self.moved}

    def request(self, effort_s: float, seed: int) -> RepairRequest:
        """The moved ops stay where they are now, the others where they were; everything may start whole intervals
        later, which the chart does not show."""
        base = self.schedule
        if self.before is not None:
            base = replace(base, ops={**base.ops, **{op: self.before.ops[op] for op in self.moved}})
        return RepairRequest(self.graph, base, self.places, True, max(LIMIT_S, effort_s), effort_s, seed)


def dropped(graph: Graph, schedule: Schedule, before: Schedule | None) -> Dropped:
    """The illegal schedule, and where its ops were if that is of any use: in the same interval, on groups that are
    still there."""
    if before is None or before.ii != schedule.ii or before.ops.keys() != schedule.ops.keys():
        return Dropped(graph, schedule, None)
    if any(misfits(graph, replace(schedule, ops=before.ops))):
        return Dropped(graph, schedule, None)
    return Dropped(graph, schedule, before)
