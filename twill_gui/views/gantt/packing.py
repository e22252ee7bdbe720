"""Sub-rows of a lane: arcs on a circle of one initiation interval, packed so that none overlaps another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a range that falls into turn `turn` of the circle: slots [start, end)."""

    start: int
    end: int
    turn: int


def fold(start: int, length: int, ii: int) -> tuple[Piece, ...]:
    """The pieces of [start, start + length) modulo `ii`, in time order; turn 0 is the one with `start`."""
    slot = start % ii
    pieces: list[Piece] = []
    turn = 0
    while True:
        end = slot + length - turn * ii
        pieces.append(Piece(slot if turn == 0 else 0, min(end, ii), turn))
        turn += 1
        if end <= ii:
            return tuple(pieces)


def pack(arcs: Iterable[tuple[KeyT, int, int]], ii: int) -> dict[KeyT, tuple[int, ...]]:
    """First-fit rows of arcs (key, start, length) on a circle of `ii` slots.

    An arc longer than the circle overlaps itself and takes as many whole rows as it has copies in flight; instance
    i of it belongs on row `rows[i % len(rows)]`. Hence the same rows hold without overlap when the circle is
    unrolled in time. An empty arc is packed as one slot, so that it is not hidden.
    """
    occupied: list[list[tuple[int, int]]] = []
    rows: dict[KeyT, tuple[int, ...]] = {}
    for key, start, length in sorted(arcs, key=lambda arc: (arc[1] % ii, -arc[2])):
        length = max(length, 1)
        copies = -(-length // ii)
        if copies == 1:
            rows[key] = (_place(occupied, [(p.start, p.end) for p in fold(start, length, ii)]),)
        else:
            rows[key] = tuple(_place(occupied, [(0, ii)]) for _ in range(copies))
    return rows


def _place(occupied: list[list[tuple[int, int]]], spans: list[tuple[int, int]]) -> int:
    for index, row in enumerate(occupied):
        if all(end <= low or start >= high for start, end in spans for low, high in row):
            row += spans
            return index
    occupied.append(spans)
    return len(occupied) - 1
