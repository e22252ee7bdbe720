"""Dependences put end to end, so that a few sentences can name many of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.graph.model import Dependence
from core.schedule.wording import distinct


@dataclass(frozen=True, slots=True)
class Chain:
    """Dependences of which each begins where the one before ends. `closed`: a recurrence, the last ends where the first
    begins."""

    dependences: tuple[Dependence, ...]

    @property
    def closed(self) -> bool:
        """Whether it is a recurrence."""
        return self.dependences[0].source == self.dependences[-1].target

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops along it, each once."""
        return distinct([*(d.source for d in self.dependences), self.dependences[-1].target])

    @property
    def text(self) -> str:
        """`a -> b -> a`."""
        return " -> ".join([*(d.source for d in self.dependences), self.dependences[-1].target])

    @property
    def latency(self) -> int:
        """Cycles along it, without hand-offs."""
        return sum(d.latency for d in self.dependences)

    @property
    def distance(self) -> int:
        """Iterations along it."""
        return sum(d.distance for d in self.dependences)


def chains(dependences: Iterable[Dependence], order: Sequence[str]) -> list[Chain]:
    """Divides dependences into recurrences and paths, each as long as it gets by going on to the earliest op of the
    text; `order` lists the ops as the text does."""
    place = {op: number for number, op in enumerate(order)}
    left = sorted(dependences, key=lambda d: (place[d.source], place[d.target], d.distance))
    found: list[Chain] = []
    while left:
        found += _divide(_walk(left))
    return found


def _walk(left: list[Dependence]) -> list[Dependence]:
    """Takes a path out of `left`: from an op to which nothing leads, if there is one."""
    targets = {d.target for d in left if d.target != d.source}
    path = [next((d for d in left if d.source not in targets), left[0])]
    left.remove(path[0])
    while True:
        onward = next((d for d in left if d.source == path[-1].target), None)
        if onward is None:
            return path
        left.remove(onward)
        path.append(onward)


def _divide(path: list[Dependence]) -> list[Chain]:
    """Cuts out of a path each part that comes back to an op."""
    found: list[Chain] = []
    current: list[Dependence] = []
    for dependence in path:
        current.append(dependence)
        back = next((i for i, d in enumerate(current) if d.source == dependence.target), None)
        if back is not None:
            found.append(Chain(tuple(current[back:])))
            current = current[:back]
    return [*found, Chain(tuple(current))] if current else found
