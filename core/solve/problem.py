"""The graph as the exact model needs it: candidate groups, readers, longest paths, and how many stages are enough."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count, islice

import numpy as np
import numpy.typing as npt

from core.graph.model import Dependence, DependenceKind, Graph, GroupKind, Op, Space

# Longest paths between ops without a path; far below any real length, far above the overflow of a sum of two.
NO_PATH = -(1 << 60)


WARP_GROUP = 4
"""Warps that execute one register request together (rule `registers`, pool `warpgroup`)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A warp group that a schedule may use. `pinned`: the op whose pin names it, which must be on it."""

    name: str
    kind: str
    warps: int
    variable_latency: bool
    pinned: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """One graph, normalised once for every initiation interval that is tried.

    `allowed` lists, per op, the indices of the candidates that may hold it (rules `variable_latency`, `groups` and
    `pin`); `readers` the flow dependences that read an op's value; `one_group` pairs of ops that every schedule has on
    one group, `apart` pairs that no schedule has on one. `anchored`: cycles and names of groups mean what they mean in
    a given schedule, so that rotating and renaming make another one.
    """

    graph: Graph
    candidates: tuple[Candidate, ...]
    allowed: Mapping[str, tuple[int, ...]]
    readers: Mapping[str, tuple[Dependence, ...]]
    one_group: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...]
    anchored: bool = False

    @property
    def fixed_cycles(self) -> bool:
        """Whether a schedule may not be rotated."""
        return self.anchored or bool(self.pinned_starts)

    @property
    def pinned_starts(self) -> Mapping[str, int]:
        """The starts that pins fix. With one, a schedule can no longer be rotated, nor widened to a larger II."""
        return {op: pin.start for op, pin in self.graph.pins.items() if pin.start is not None}

    def forced_hand_off(self, dependence: Dependence) -> int:
        """Hand-off cycles that the dependence costs in every schedule, since no group may hold both ops."""
        if set(self.allowed[dependence.source]) & set(self.allowed[dependence.target]):
            return 0
        return hand_off_cycles(self.graph, dependence)


def make_problem(graph: Graph) -> Problem:
    """The graph's problem. An op that no group may hold has no candidates in `allowed`."""
    candidates = tuple(_candidates(graph))
    allowed = {
        name: tuple(i for i, candidate in enumerate(candidates) if _may_hold(graph, candidate, op))
        for name, op in graph.ops.items()
    }
    readers: dict[str, list[Dependence]] = {name: [] for name in graph.ops}
    for dependence in graph.dependences:
        if dependence.kind is DependenceKind.FLOW and graph.ops[dependence.source].result.space is not Space.NONE:
            readers[dependence.source].append(dependence)
    return Problem(
        graph,
        candidates,
        allowed,
        {name: tuple(found) for name, found in readers.items()},
        tuple(_one_group(graph)),
        tuple(_apart(graph)),
    )


def _candidates(graph: Graph) -> Iterable[Candidate]:
    """For every pinned group name one of each kind that fits its ops, then KIND.N of every kind, names not taken."""
    pinned: defaultdict[str, list[str]] = defaultdict(list)
    for op, pin in graph.pins.items():
        if pin.group is not None:
            pinned[pin.group].append(op)
    bound_to_be_used: Counter[str] = Counter()
    for name, ops in pinned.items():
        kinds = [kind for kind in graph.groups if all(fits(graph.ops[op], kind) for op in ops)]
        if len(kinds) == 1:
            bound_to_be_used[kinds[0].kind] += 1
        for kind in kinds:
            yield Candidate(name, kind.kind, kind.warps, kind.variable_latency, ops[0])
    for kind in graph.groups:
        fitting = sum(fits(op, kind) for op in graph.ops.values())
        names = (name for number in count() if (name := f"{kind.kind}.{number}") not in pinned)
        for name in islice(names, max(0, min(kind.count - bound_to_be_used[kind.kind], fitting))):
            yield Candidate(name, kind.kind, kind.warps, kind.variable_latency)


def _may_hold(graph: Graph, candidate: Candidate, op: Op) -> bool:
    pin = graph.pins.get(op.id)
    named = pin is None or pin.group is None or (pin.group == candidate.name and candidate.pinned is not None)
    return named and fits(op, graph.group_kind(candidate.kind))


def fits(op: Op, kind: GroupKind) -> bool:
    """Rules `variable_latency` and `groups` for an op on a group of the kind."""
    return op.variable_latency == kind.variable_latency and op.needs_warps <= kind.warps


def hand_off_cycles(graph: Graph, dependence: Dependence) -> int:
    """What rule `dependence` adds if the ends are on different groups."""
    source = graph.ops[dependence.source]
    if dependence.kind is DependenceKind.FLOW and source.result.space is Space.REGISTERS:
        return source.hand_off_cycles
    return 0


def _one_group(graph: Graph) -> Iterable[tuple[str, str]]:
    by_name: dict[str, str] = {}
    for op, pin in graph.pins.items():
        if pin.group is not None:
            yield op, by_name.setdefault(pin.group, op)
    if not graph.rules.allow_hand_off:
        for dependence in graph.dependences:
            in_registers = graph.ops[dependence.source].result.space is Space.REGISTERS
            if dependence.kind is DependenceKind.FLOW and in_registers:
                yield dependence.source, dependence.target


def _apart(graph: Graph) -> Iterable[tuple[str, str]]:
    if graph.rules.isolate_matrix_issue:
        compute = [n for n, op in graph.ops.items() if not op.asynchronous and not op.matrix and op.issue_cycles]
        yield from ((a, b) for a, op in graph.ops.items() if op.matrix for b in compute)


def longest_paths(problem: Problem, ii: int) -> npt.NDArray[np.int64]:
    """Least start(v) - start(u) by the dependences at this II, NO_PATH without a path; rows u, columns v.

    A positive diagonal entry is a recurrence that does not fit; other entries mean nothing then. Bellman and Ford, from
    all ops at once; hand-offs only where forced.
    """
    names = {name: i for i, name in enumerate(problem.graph.ops)}
    arcs: dict[tuple[bool, int, int], int] = {}
    for d in problem.graph.dependences:
        arc = d.distance > 0, names[d.source], names[d.target]
        latency = d.latency + problem.forced_hand_off(d) - ii * d.distance
        arcs[arc] = max(latency, arcs.get(arc, latency))
    # Row v, column u, so that one arc relaxes one row; first the arcs within an iteration, in the order of the text.
    length = np.full((len(names), len(names)), NO_PATH, dtype=np.int64)
    np.fill_diagonal(length, 0)
    ordered = sorted(arcs.items())
    for _ in range(len(names) + 1):
        before = length.copy()
        for (_, source, target), latency in ordered:
            np.maximum(length[target], length[source] + latency, out=length[target])
        if (length == before).all() or (length.diagonal() > 0).any():
            break
    return np.where(length < NO_PATH // 2, NO_PATH, length).T


def least_length(problem: Problem, ii: int) -> int:
    """No schedule at this II is shorter: the longest path between two ops, and the latency of the last."""
    latency = np.array([op.latency for op in problem.graph.ops.values()], dtype=np.int64)
    return int((longest_paths(problem, ii) + latency[None, :]).max(initial=0))


def hand_off_weight(graph: Graph) -> int:
    """More than the bytes of all hand-offs together: what one hand-off weighs in the objective beside its bytes."""
    return 1 + sum(op.hand_off_bytes for op in graph.ops.values())


def enough_stages(problem: Problem, ii: int) -> int:
    """Stages that suffice: if there is a schedule at this II, there is one with no more.

    A boundary between two stages can be closed (all that is above it moves down by II) unless a dependence spans it
    that is tight in stages, or a carried value's would live longer. So the spanned boundaries number at most
    sum of max(floor((latency + hand-off + 2 II - 2) / II) - distance, distance if flow, 0) over the dependences.
    Above the highest pinned start the same holds; below it nothing can be closed.
    """
    spanned = 0
    for d in problem.graph.dependences:
        source = problem.graph.ops[d.source]
        reach = d.latency + hand_off_cycles(problem.graph, d) + source.queue
        forward = (reach + 2 * ii - 2) // ii - d.distance
        backward = d.distance if d.kind is DependenceKind.FLOW else 0
        spanned += max(forward, backward, 0) if d.source != d.target else 0
    return 1 + spanned + max((start // ii + 1 for start in problem.pinned_starts.values()), default=0)


def clusters(problem: Problem, ii: int, paths: npt.NDArray[np.int64] | None = None) -> list[tuple[str, ...]] | None:
    """Sets of ops that every schedule at this II has on one group; None if a recurrence does not fit. `paths`: the
    longest ones, if they are known already.

    Besides `one_group`: the ends of a dependence whose hand-off would close a recurrence longer than its iterations.
    """
    graph = problem.graph
    paths = longest_paths(problem, ii) if paths is None else paths
    if (paths.diagonal() > 0).any():
        return None
    index = {name: i for i, name in enumerate(graph.ops)}
    leader = {name: name for name in graph.ops}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for a, b in problem.one_group:
        leader[find(a)] = find(b)
    for d in graph.dependences:
        back = int(paths[index[d.target], index[d.source]])
        extra = hand_off_cycles(graph, d) - problem.forced_hand_off(d)
        if extra and back > NO_PATH // 2 and back + d.latency + extra - ii * d.distance > 0:
            leader[find(d.source)] = find(d.target)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in graph.ops:
        found[find(name)].append(name)
    return [tuple(members) for members in found.values()]


def stages_within(length: int, ii: int) -> int:
    """Stages that a schedule of at most this length spans, wherever its rotation puts the first start."""
    return max(length - 1, 0) // ii + 2


def monotone(graph: Graph) -> bool:
    """Whether a schedule for one II gives one for the next: with the same stages and slots.

    Not with pinned starts, nor with blocks that begin after their op's start: such a block may wrap around the period,
    and then comes one slot earlier in the next.
    """
    pinned = any(pin.start is not None for pin in graph.pins.values())
    late = any(op.queue or any(block.offset for block in op.blocks) for op in graph.ops.values())
    return not pinned and not late
