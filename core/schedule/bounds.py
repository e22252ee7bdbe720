"""Lower bounds on the initiation interval by arithmetic alone, each with the certificate that explains it.

They hold for all starts, any number of stages, and every choice of groups. Nothing is searched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.graph.model import Dependence, Graph
from core.schedule.bounds_memory import Occupancy
from core.schedule.bounds_peak import working_sets
from core.schedule.bounds_pins import PinnedStarts
from core.schedule.bounds_time import (
    dependence_arcs,
    issue_loads,
    missing_groups,
    recurrence_certificate,
    unit_loads,
)
from core.schedule.certificate import Certificate
from core.schedule.index import GraphIndex
from core.schedule.paths import Paths, critical_cycle
from core.schedule.placement import GroupChoice

SEARCH_FACTOR = 4
"""The memory bounds are looked for up to this multiple of the least II, as far as a solve goes by default."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The critical recurrence: its ops and dependences in order around it, with the sums of their latencies
    (unavoidable hand-offs included) and distances."""

    ops: tuple[str, ...]
    dependences: tuple[Dependence, ...]
    latency: int
    distance: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds on II; None: no II is possible.

    `res_mii` by units and `rec_mii` by recurrences, both at least 1, `min_ii` the greater of both.
    `lower_bound` counts issue time, registers, memories, groups and pinned starts too; where those exclude all that was
    looked at, it is one more than 4 times `min_ii`. `units`: each unit's own bound. `certificates`: why no II below
    `lower_bound` is possible, at lower_bound - 1, or why none at all is.
    """

    res_mii: int | None
    rec_mii: int | None
    min_ii: int | None
    lower_bound: int | None
    units: Mapping[str, int | None]
    critical_recurrence: Recurrence | None
    certificates: tuple[Certificate, ...]

    def as_json(self) -> dict[str, Any]:
        """The key `bounds` of `twill graph --json`."""
        recurrence = self.critical_recurrence
        return {
            "res_mii": self.res_mii,
            "rec_mii": self.rec_mii,
            "min_ii": self.min_ii,
            "lower_bound": self.lower_bound,
            "units": dict(self.units),
            "critical_recurrence": list(recurrence.ops) if recurrence else [],
            "certificates": [certificate.as_json() for certificate in self.certificates],
        }


def bounds(graph: Graph) -> Bounds:
    """All bounds of a graph."""
    return Arithmetic(graph).bounds()


def certificates(graph: Graph, ii: int) -> tuple[Certificate, ...]:
    """Every certificate that excludes this II (at least 1); empty: arithmetic cannot tell."""
    return Arithmetic(graph).certificates(ii)


class Arithmetic:
    """The graph arranged to ask about many initiation intervals."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._index = GraphIndex(graph)
        self._choice = GroupChoice(graph)
        self._units = list(unit_loads(graph))
        self._issue = list(issue_loads(self._index, self._choice))
        self._always = [*missing_groups(graph, self._choice), *working_sets(self._index, self._choice)]
        self._arcs = dependence_arcs(self._index, self._choice)
        self._cycle = critical_cycle(len(graph.ops), self._arcs)
        self._pinned = PinnedStarts(self._index, self._arcs)

    def certificates(self, ii: int) -> tuple[Certificate, ...]:
        """Every certificate that excludes `ii`, in the order: groups and working sets, units, recurrence or else pinned
        starts, issue, registers, tensor memory, shared memory; last units on which pinned ops meet."""
        return (*self._up_to(ii), *self._pinned.clashes(ii))

    def _up_to(self, ii: int) -> tuple[Certificate, ...]:
        """Those that exclude every lesser II as well."""
        found = list(self._always)
        found += [c for load in self._units if (c := load.certificate(ii))]
        recurrence = recurrence_certificate(self._graph, self._cycle, ii) if self._cycle else None
        too_small = recurrence or self._pinned.certificate(ii)
        found += [too_small] if too_small else []
        found += [c for load in self._issue if (c := load.certificate(ii))]
        if recurrence is None:
            found += self._memory(ii)
        return tuple(found)

    def bounds(self) -> Bounds:
        """All bounds."""
        units = {
            unit: _greatest([load.least_ii for load in self._units if load.subject == unit])
            for unit in self._graph.machine.units
        }
        res_mii = _greatest([1, *units.values()])
        rec_mii = self._cycle.least_ii if self._cycle else 1
        min_ii = _greatest([res_mii, rec_mii])
        lower_bound = self._lower_bound(min_ii)
        if lower_bound is None:  # asked about where only what excludes every II is left to say so
            refuted = max((load.least_ii or 1 for load in (*self._units, *self._issue)), default=1)
            refuted = max(refuted, rec_mii or 1, self._pinned.least_ii or 1)
        else:
            refuted = lower_bound - 1
        return Bounds(
            res_mii=res_mii,
            rec_mii=rec_mii,
            min_ii=min_ii,
            lower_bound=lower_bound,
            units=units,
            critical_recurrence=self.recurrence(),
            certificates=self._up_to(refuted) if refuted else (),
        )

    def _lower_bound(self, min_ii: int | None) -> int | None:
        base = _greatest([min_ii, self._pinned.least_ii, *(load.least_ii for load in self._issue)])
        if base is None or self._always:
            return None
        # What values occupy on average falls as the interval grows, so the memory bounds can be bisected.
        low, high = base, max(base, SEARCH_FACTOR * (min_ii or base))
        if not self._memory(low):
            return low
        if self._memory(high):
            return high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._memory(middle) else (low, middle)
        return high

    def _memory(self, ii: int) -> list[Certificate]:
        paths = Paths(len(self._graph.ops), self._arcs, ii)
        return list(Occupancy(self._index, self._choice, paths).certificates())

    def recurrence(self) -> Recurrence | None:
        """The critical one, None without any."""
        if self._cycle is None:
            return None
        dependences = tuple(self._graph.dependences[index] for index in self._cycle.arcs)
        ops = tuple(dependence.source for dependence in dependences)
        return Recurrence(ops, dependences, self._cycle.latency, self._cycle.distance)


def _greatest(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else max(known, default=0)
