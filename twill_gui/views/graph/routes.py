"""Tracks for the edges that run apart from the layers: in the gaps between layers, and at both sides of them. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from twill_gui.views.graph.layers import Edge, Layers

GAP_TRACK = 6.0
FIRST_TRACK, LOOP_ROOM = 9.0, 24.0
HEAD = 12.0  # room for an arrow's head before the node it points to
SIDE_GAP = 10.0


@dataclass(frozen=True, slots=True)
class Routes:
    """Where each edge runs. `sides`: -1 left, 1 right; `numbers`: its track there, from the layers outwards, `pitch`
    pixels each. `leave`, `arrive`: pixels after its source and before its target. `gaps`: pixels by which a gap is
    deeper for what runs in it; gap n is the one before layer n."""

    sides: Mapping[Edge, int]
    numbers: Mapping[Edge, int]
    leave: Mapping[Edge, float]
    arrive: Mapping[Edge, float]
    gaps: Mapping[int, float]
    pitch: float

    @property
    def leaving(self) -> frozenset[tuple[str, int]]:
        """Where edges leave: op and side."""
        return frozenset((edge[0], side) for edge, side in self.sides.items())

    @property
    def left_width(self) -> float:
        """Pixels that the tracks on the left take."""
        return self._width(-1)

    @property
    def right_width(self) -> float:
        """Pixels that the tracks on the right take."""
        return self._width(1)

    def side(self, edge: Edge) -> int:
        """-1: the edge runs on the left, 1: on the right."""
        return self.sides[edge]

    def beside(self, edge: Edge) -> float:
        """Pixels across from the edge of the layers on the edge's side."""
        return self.sides[edge] * (SIDE_GAP + (self.numbers[edge] + 0.5) * self.pitch)

    def _width(self, side: int) -> float:
        numbers = [number for edge, number in self.numbers.items() if self.sides[edge] == side]
        return SIDE_GAP + (max(numbers) + 1) * self.pitch if numbers else 0.0


def plan_routes(layers: Layers, edges: Sequence[Edge], loops: Collection[str], pitch: float) -> Routes:
    """Each edge on the side that is nearer to its ends; the short ones inside. Edges of one op share a track in a gap.

    `loops`: ops with an edge to themselves, which is drawn in the gap after them. `pitch`: pixels between tracks
    beside the layers, enough for a label.
    """
    sides = {edge: _side(layers, edge) for edge in edges}
    leave, leaving = _gap_tracks({edge: (layers.spots[edge[0]].layer + 1, edge[0], sides[edge]) for edge in edges})
    arrive, arriving = _gap_tracks({edge: (layers.spots[edge[1]].layer, edge[1], sides[edge]) for edge in edges})
    looped = {layers.spots[op].layer + 1 for op in loops}

    def first(gap: int) -> float:
        return LOOP_ROOM if gap in looped else FIRST_TRACK

    gaps = {
        gap: (leaving.get(gap, 0) + arriving.get(gap, 0)) * GAP_TRACK + first(gap)
        for gap in leaving.keys() | arriving.keys()
    }
    numbers = {
        edge: number
        for side in (-1, 1)
        for edge, number in _side_tracks(layers, [edge for edge in edges if sides[edge] == side]).items()
    }
    return Routes(
        sides,
        numbers,
        {edge: first(layers.spots[edge[0]].layer + 1) + track * GAP_TRACK for edge, track in leave.items()},
        {edge: HEAD + track * GAP_TRACK for edge, track in arrive.items()},
        gaps,
        pitch,
    )


def _side(layers: Layers, edge: Edge) -> int:
    middle = sum(layers.spots[op].across for op in edge) / 2
    return -1 if middle < layers.width / 2 - 1 else 1


def _gap_tracks(ends: Mapping[Edge, tuple[int, str, int]]) -> tuple[dict[Edge, int], dict[int, int]]:
    """The track of each edge in its gap, and how many tracks a gap has; `ends`: gap, op and side of each edge."""
    taken: dict[int, list[tuple[str, int]]] = {}
    tracks: dict[Edge, int] = {}
    for edge, (gap, op, side) in ends.items():
        users = taken.setdefault(gap, [])
        if (op, side) not in users:
            users.append((op, side))
        tracks[edge] = users.index((op, side))
    return tracks, {gap: len(users) for gap, users in taken.items()}


def _side_tracks(layers: Layers, edges: Sequence[Edge]) -> dict[Edge, int]:
    """The first track, from the inside, that is free between the edge's gaps."""

    def reach(edge: Edge) -> tuple[int, int]:
        gaps = layers.spots[edge[0]].layer + 1, layers.spots[edge[1]].layer
        return min(gaps), max(gaps)

    tracks: list[list[tuple[int, int]]] = []
    numbers: dict[Edge, int] = {}
    for edge in sorted(edges, key=lambda edge: (reach(edge)[1] - reach(edge)[0], reach(edge), edge)):
        first, last = reach(edge)
        free = (n for n, taken in enumerate(tracks) if all(last < a or b < first for a, b in taken))
        number = next(free, len(tracks))
        if number == len(tracks):
            tracks.append([])
        tracks[number].append((first, last))
        numbers[edge] = number
    return numbers
