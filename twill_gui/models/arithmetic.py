"""The first layer of an explanation: what arithmetic says of an II, at once and without any search. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from core.graph.model import Dependence, Graph
from core.schedule.bounds import Arithmetic, Recurrence
from core.schedule.bounds_time import Load, issue_loads, unit_loads
from core.schedule.certificate import Certificate
from core.schedule.index import GraphIndex
from core.schedule.placement import GroupChoice
from core.schedule.report import Family


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
    """What arithmetic says of `ii`: units and issue time; what values take at least, of the registers of one thread and
    of the memories; the slowest recurrence with what it needs and has; and every certificate that excludes `ii`."""

    ii: int
    units: tuple[Share, ...]
    issue: tuple[Share, ...]
    memory: tuple[Share, ...]
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
        tuple(_memory(graph, ii)),
        counted.recurrence(),
        counted.certificates(ii),
    )


def _memory(graph: Graph, ii: int) -> Iterator[Share]:
    """The certificates of a machine without any memory say how much is needed at least."""
    machine, file = graph.machine, graph.machine.registers
    none = replace(machine, shared_memory_bytes=0, tensor_memory_columns=0, registers=replace(file, max_per_thread=0))
    found = Arithmetic(replace(graph, machine=none)).certificates(ii)
    for family, subject, available in (
        (Family.REGISTERS, "registers", file.max_per_thread),
        (Family.SHARED_MEMORY, "shared memory", machine.shared_memory_bytes),
        (Family.TENSOR_MEMORY, "tensor memory", machine.tensor_memory_columns),
    ):
        # Of registers only what one op needs counts: sums over groups have other limits.
        needs = [c for c in found if c.family is family and (c.subject in graph.ops or family is not Family.REGISTERS)]
        most = max(needs, key=lambda need: need.required, default=None)
        if most is not None:
            yield Share(subject, most.required, available, most.ops)


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
