"""How a role program becomes a kernel, where there is a choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Order(Enum):
    """In which order the programs of the grid run. LONGEST_FIRST: those of large x first, which have the longest rows
    of a causal mask."""

    AS_LAUNCHED = "as launched"
    LONGEST_FIRST = "longest first"


@dataclass(frozen=True, slots=True)
class Options:
    """`persistent`: as many blocks as the GPU runs at once, each one program after another. `order`: of the programs.
    `sums_in_parts`: see `deferred`. `inline_assembly`: whether the text's own is passed on."""

    persistent: bool = False
    order: Order = Order.AS_LAUNCHED
    sums_in_parts: bool = True
    inline_assembly: bool = False

    @property
    def in_a_row(self) -> bool:
        """Whether programs are numbered one after another, instead of by their place in the grid."""
        return self.persistent or self.order is not Order.AS_LAUNCHED


DEFAULTS = Options()

PLACES: Mapping[Order, Mapping[str, str]] = {
    Order.AS_LAUNCHED: {
        "x": "tile % p.grid[0]",
        "y": "tile / p.grid[0] % p.grid[1]",
        "z": "tile / (p.grid[0] * p.grid[1])",
    },
    Order.LONGEST_FIRST: {
        "x": "p.grid[0] - 1 - tile / (p.grid[1] * p.grid[2])",
        "y": "tile % p.grid[1]",
        "z": "tile / p.grid[1] % p.grid[2]",
    },
}
"""The place in the grid of program number `tile`."""
