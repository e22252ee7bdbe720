"""Where the arrow keys go from an op of the graph. No Qt."""

from __future__ import annotations

from enum import Enum

from twill_gui.views.graph.layout import GraphLayout

SIDEWAYS = 2.0  # how much farther an op counts that lies aside


class Way(Enum):
    """An arrow key, as steps right and down."""

    LEFT = (-1, 0)
    RIGHT = (1, 0)
    UP = (0, -1)
    DOWN = (0, 1)


def neighbour(layout: GraphLayout, op: str, way: Way) -> str | None:
    """The op nearest in that direction, what lies straight ahead first; None at the rim."""
    right, down = way.value
    here = layout.boxes[op].center
    best: tuple[float, str] | None = None
    for other, box in layout.boxes.items():
        x, y = box.center.x - here.x, box.center.y - here.y
        ahead = x * right + y * down
        aside = abs(x * down) + abs(y * right)
        if ahead > 1 and ahead >= aside / SIDEWAYS / 2:
            best = min(best or (float("inf"), ""), (ahead + SIDEWAYS * aside, other))
    return best[1] if best else None


def first_op(layout: GraphLayout) -> str | None:
    """Where the keys begin when nothing is selected: the first op of the first layer."""
    return min(layout.boxes, key=lambda op: (layout.boxes[op].top, layout.boxes[op].left), default=None)
