# pyright: reportUnknownMemberType=false
"""Cuts for units that have no idle cycle: where one block begins fixes, up to few places, where all others do."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from core.graph.model import Block
from core.solve.model_times import Times
from core.solve.problem import Problem

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_MOST_PLACES = 32
"""More places in a period than this say too little for what they cost."""


def add_tilings(cp: cp_model.CpModel, problem: Problem, times: Times) -> None:
    """Redundant: blocks that no two of may overlap and that fill the period begin at multiples of the greatest common
    divisor of their durations after one another.

    Without this a search that moves one block of such a unit by a few cycles has to try all others at every cycle.
    """
    for unit, capacity in problem.graph.machine.units.items():
        blocks = [(name, b) for name, op in problem.graph.ops.items() for b in op.blocks if _takes(b, unit)]
        step = gcd(*(block.duration for _, block in blocks))
        full = sum(block.duration for _, block in blocks) == times.ii
        exclusive = all(2 * block.amount > capacity for _, block in blocks)
        if len(blocks) > 1 and full and exclusive and times.ii // step <= _MOST_PLACES:
            first = cp.new_int_var(0, step - 1, f"first:{unit}")
            places: list[cp_model.IntVar] = []
            for name, block in blocks:
                place = cp.new_int_var(0, times.ii // step - 1, "")
                cp.add(times.at(name, block.offset, on_unit=True).phase == first + step * place)
                places.append(place)
            cp.add_all_different(places)


def _takes(block: Block, unit: str) -> bool:
    return block.unit == unit and block.duration > 0 and block.amount > 0
