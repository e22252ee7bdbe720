"""The first layer of an explanation: what arithmetic says of an II, at once and without any search. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.graph.model import Dependence, Graph
from core.schedule.bounds import Arithmetic, Recurrence
from core.schedule.bounds_time import Load, issue_loads, unit_loads
from core.schedule.certificate import Certificate
from core.schedule.index import GraphIndex
from core.schedule.placement import GroupChoice


@dataclass(frozen=True, slots=True)
class Share:
    """Work of one iteration that must share a unit, or the groups that may issue it, against the cycles there are."""

    subject: str
    required: int
    available: int
    ops: tuple[str, ...]

    @property
    def enough(self) -> bool:
        """Whether it fits."""
        return self.required <= self.available


@dataclass(frozen=True, slots=True)
class FirstLayer:
    """What arithmetic says of `ii`: units and issue time, the slowest recurrence with what it needs and has, and every
    certificate that excludes `ii`."""

    ii: int
    units: tuple[Share, ...]
    issue: tuple[Share, ...]
    recurrence: Recurrence | None
    certificates: tuple[Certificate, ...]

    @property
    def edges(self) -> tuple[Dependence, ...]:
        """The recurrence, edge by edge."""
        return self.recurrence.dependences if self.recurrence else ()


def arithmetic(graph: Graph, ii: int) -> FirstLayer:
    """The layer for a graph at an II of at least 1."""
    counted = Arithmetic(graph)
    issue = issue_loads(GraphIndex(graph), GroupChoice(graph))
    return FirstLayer(
        ii,
        _tightest(unit_loads(graph), ii),
        _tightest((load for load in issue if len(load.parts) > 1), ii),
        counted.bounds().critical_recurrence,
        counted.certificates(ii),
    )


def _tightest(loads: Iterable[Load], ii: int) -> tuple[Share, ...]:
    """One share a subject, the one that leaves least room."""
    found: dict[str, Share] = {}
    for load in loads:
        share = _share(load, ii)
        if not share.required:
            continue
        old = found.get(share.subject)
        if old is None or share.required * old.available > old.required * share.available:
            found[share.subject] = share
    return tuple(sorted(found.values(), key=lambda share: -share.required / max(share.available, 1)))


def _share(load: Load, ii: int) -> Share:
    return Share(load.subject, load.work, load.places * ii, tuple(op for op, _ in load.parts))
