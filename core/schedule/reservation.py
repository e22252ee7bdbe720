"""The modulo reservation table: what each unit does at each slot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.graph.model import Graph
from core.schedule.circle import Step, Stretch, profile, stretches_above
from core.schedule.model import Schedule


@dataclass(frozen=True, slots=True)
class Cell:
    """Block number `block` of `op` takes `amount` of the unit in slots [begin, end), 0 <= begin < end <= II. A block
    that runs around the end of the interval is two cells or more."""

    op: str
    block: int
    begin: int
    end: int
    amount: int


@dataclass(frozen=True, slots=True)
class UnitTable:
    """One unit over one II. `busy` is amount times cycles; `overloads` are stretches beyond the capacity."""

    unit: str
    capacity: int
    cells: tuple[Cell, ...]
    steps: tuple[Step, ...]
    busy: int
    utilisation: float
    overloads: tuple[Stretch, ...]


def reservation_table(graph: Graph, schedule: Schedule) -> dict[str, UnitTable]:
    """The table of every unit of the machine, in the machine's order, cells in the order of the ops."""
    cells: dict[str, list[Cell]] = {unit: [] for unit in graph.machine.units}
    for op in graph.ops.values():
        place = schedule.ops[op.id]
        for number, block in enumerate(op.blocks):
            begin = place.start + place.delay + block.offset
            for first, last in _pieces(begin, begin + block.duration, schedule.ii):
                cells[block.unit].append(Cell(op.id, number, first, last, block.amount))
    return {unit: _table(unit, capacity, cells[unit], schedule.ii) for unit, capacity in graph.machine.units.items()}


def _pieces(begin: int, end: int, ii: int) -> Iterator[tuple[int, int]]:
    while begin < end:
        slot = begin % ii
        last = min(ii, slot + end - begin)
        yield slot, last
        begin += last - slot


def _table(unit: str, capacity: int, cells: list[Cell], ii: int) -> UnitTable:
    steps = profile(((cell.begin, cell.end, cell.amount) for cell in cells), ii)
    busy = sum((cell.end - cell.begin) * cell.amount for cell in cells)
    return UnitTable(
        unit=unit,
        capacity=capacity,
        cells=tuple(cells),
        steps=tuple(steps),
        busy=busy,
        utilisation=busy / (capacity * ii) if capacity else 0.0,
        overloads=tuple(stretches_above(steps, capacity, ii)),
    )
