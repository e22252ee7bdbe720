"""The nouns of an explanation's sentences: ops, units, warp groups and memories, each a link. No Qt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from core.explain.answer import NOTHING, Highlight
from core.graph.model import Graph, Space
from core.schedule.model import Schedule
from core.schedule.wording import distinct

_MEMORIES = {
    "shared memory": Space.SHARED,
    "tensor memory": Space.TENSOR,
    "registers": Space.REGISTERS,
    "register": Space.REGISTERS,
}


@dataclass(frozen=True, slots=True)
class Noun:
    """A piece of a sentence that names something; `lit` is empty for the words between."""

    text: str
    lit: Highlight = NOTHING


class Nouns:
    """What the words of one graph and schedule name."""

    def __init__(self, graph: Graph, schedule: Schedule | None) -> None:
        self._groups = _groups_by_kind(graph, schedule)
        self._known = dict(_known(graph, schedule, self._groups))
        longest_first = sorted(self._known, key=lambda name: -len(name))
        either = "|".join(re.escape(name) for name in longest_first)
        # A name ends where no longer one goes on: exp2.2 is not in exp2.20, nor exp2 in exp2.2.
        self._pattern = re.compile(rf"(?<![\w.]){'(?:' + either + ')'}(?![\w-]|\.\w)") if either else None

    def named(self, name: str) -> Highlight:
        """What a name stands for."""
        return self._known.get(name, NOTHING)

    def shown(self, lit: Highlight) -> Highlight:
        """The same with a kind's groups in the place of the kind, as the views name them."""
        groups = (name for group in lit.groups for name in self._groups.get(group, (group,)))
        return replace(lit, groups=tuple(groups))

    def pieces(self, sentence: str) -> Iterator[Noun]:
        """The sentence in order, cut at its nouns."""
        at = 0
        for match in self._pattern.finditer(sentence) if self._pattern else ():
            if match.start() > at:
                yield Noun(sentence[at : match.start()])
            yield Noun(match.group(), self._known[match.group()])
            at = match.end()
        if at < len(sentence):
            yield Noun(sentence[at:])


def together(parts: Iterable[Highlight]) -> Highlight:
    """Everything that any of these lights up."""
    every = list(parts)
    return Highlight(
        distinct(op for part in every for op in part.ops),
        tuple(dict.fromkeys(dependence for part in every for dependence in part.dependences)),
        distinct(unit for part in every for unit in part.units),
        distinct(group for part in every for group in part.groups),
    )


def _groups_by_kind(graph: Graph, schedule: Schedule | None) -> dict[str, tuple[str, ...]]:
    groups = schedule.groups.items() if schedule else ()
    return {kind.kind: tuple(name for name, group in groups if group.kind == kind.kind) for kind in graph.groups}


def _known(
    graph: Graph, schedule: Schedule | None, groups: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, Highlight]]:
    """Later names win: an op may be called like a unit or a group kind."""
    for word, space in _MEMORIES.items():
        yield (
            word,
            Highlight(tuple(op.id for op in graph.ops.values() if op.result.space is space and op.result.amount)),
        )
    for kind, names in groups.items():
        yield kind, Highlight(_on(schedule, names), groups=names)
    for unit in graph.machine.units:
        users = (op.id for op in graph.ops.values() if any(block.unit == unit for block in op.blocks))
        yield unit, Highlight(tuple(users), units=(unit,))
    for name in schedule.groups if schedule else ():
        yield name, Highlight(_on(schedule, (name,)), groups=(name,))
    for op in graph.ops:
        yield op, Highlight((op,))


def _on(schedule: Schedule | None, groups: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(op for op, place in schedule.ops.items() if place.group in groups) if schedule else ()
