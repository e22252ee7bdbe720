"""The graph as the exact model needs it: candidate groups, readers, longest paths, and how many stages are enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.graph.model import Dependence, DependenceKind, Graph, Op, Pool, Space

# Longest paths between ops without a path; far below any real length, far above the overflow of a sum of two.
NO_PATH = -(1 << 60)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A warp group that a schedule may use: the `index`-th of its kind."""

    kind: str
    index: int
    warps: int
    variable_latency: bool

    @property
    def name(self) -> str:
        """The name it has in a schedule unless a pin gives another."""
        return f"{self.kind}.{self.index}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One graph, normalised once for every initiation interval that is tried.

    `allowed` lists, per op, the indices of the candidates that may hold it (rules `variable_latency` and `groups`);
    `readers` the flow dependences that read an op's value; `one_group` pairs of ops that every schedule has on one
    group, `apart` pairs that no schedule has on one.
    """

    graph: Graph
    candidates: tuple[Candidate, ...]
    allowed: Mapping[str, tuple[int, ...]]
    readers: Mapping[str, tuple[Dependence, ...]]
    one_group: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...]

    @property
    def pinned_starts(self) -> Mapping[str, int]:
        """The starts that pins fix. With one, a schedule can no longer be rotated, nor widened to a larger II."""
        return {op: pin.start for op, pin in self.graph.pins.items() if pin.start is not None}

    def forced_hand_off(self, dependence: Dependence) -> int:
        """Hand-off cycles that the dependence costs in every schedule, since no group may hold both ops."""
        if set(self.allowed[dependence.source]) & set(self.allowed[dependence.target]):
            return 0
        return hand_off_cycles(self.graph, dependence)

    def interchangeable(self, candidate: Candidate) -> bool:
        """Whether the candidates of its kind can be renamed freely.

        Not where small groups fill more than one warp group: rule `registers` packs them in the order of their names.
        """
        if self.graph.machine.registers.pool is Pool.FLAT or candidate.warps >= WARP_GROUP:
            return True
        return sum(other.warps for other in self.candidates if other.warps < WARP_GROUP) <= WARP_GROUP


WARP_GROUP = 4
"""Warps that execute one register request together (rule `registers`, pool `warpgroup`)."""


def make_problem(graph: Graph) -> Problem:
    """The graph's problem. An op that no group may hold has no candidates in `allowed`."""
    candidates: list[Candidate] = []
    for kind in graph.groups:
        fitting = sum(fits(op, kind.warps, kind.variable_latency) for op in graph.ops.values())
        for index in range(min(kind.count, fitting)):
            candidates.append(Candidate(kind.kind, index, kind.warps, kind.variable_latency))
    allowed = {
        name: tuple(i for i, one in enumerate(candidates) if fits(op, one.warps, one.variable_latency))
        for name, op in graph.ops.items()
    }
    readers: dict[str, list[Dependence]] = {name: [] for name in graph.ops}
    for dependence in graph.dependences:
        if dependence.kind is DependenceKind.FLOW and graph.ops[dependence.source].result.space is not Space.NONE:
            readers[dependence.source].append(dependence)
    return Problem(
        graph,
        tuple(candidates),
        allowed,
        {name: tuple(found) for name, found in readers.items()},
        tuple(_one_group(graph)),
        tuple(_apart(graph)),
    )


def fits(op: Op, warps: int, variable_latency: bool) -> bool:
    """Rules `variable_latency` and `groups` for one op and a group of so many warps."""
    return op.variable_latency == variable_latency and op.needs_warps <= warps


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
    leaders: dict[str, str] = {}
    for op, pin in graph.pins.items():
        if pin.group is not None:
            leaders.setdefault(pin.group, op)
    names = list(leaders.values())
    yield from ((a, b) for i, a in enumerate(names) for b in names[:i])
    if graph.rules.isolate_matrix_issue:
        compute = [n for n, op in graph.ops.items() if not op.asynchronous and not op.matrix and op.issue_cycles]
        yield from ((a, b) for a, op in graph.ops.items() if op.matrix for b in compute)


def longest_paths(problem: Problem, ii: int) -> npt.NDArray[np.int64]:
    """Least start(v) - start(u) by the dependences at this II, NO_PATH without a path; rows u, columns v.

    A positive diagonal entry is a recurrence that does not fit. Floyd and Warshall; hand-offs only where forced.
    """
    names = {name: i for i, name in enumerate(problem.graph.ops)}
    length = np.full((len(names), len(names)), NO_PATH, dtype=np.int64)
    np.fill_diagonal(length, 0)
    for d in problem.graph.dependences:
        cell = names[d.source], names[d.target]
        length[cell] = max(length[cell], d.latency + problem.forced_hand_off(d) - ii * d.distance)
    for k in range(len(names)):
        through = length[:, k, None] + length[None, k, :]
        np.maximum(length, np.where(through < NO_PATH // 2, NO_PATH, through), out=length)
    return length


def least_length(problem: Problem, ii: int) -> int:
    """No schedule at this II is shorter: the longest path between two ops, and the latency of the last."""
    latency = np.array([op.latency for op in problem.graph.ops.values()], dtype=np.int64)
    return int((longest_paths(problem, ii) + latency[None, :]).max(initial=0))


def hand_off_weight(graph: Graph) -> int:
    """More than the bytes of all hand-offs together: what one hand-off weighs in the objective beside its bytes."""
    return 1 + sum(op.hand_off_bytes for op in graph.ops.values())


def short_stages(problem: Problem, ii: int) -> int:
    """Stages that a schedule mostly needs: those of the longest path within one iteration, and three more."""
    length = dict.fromkeys(problem.graph.ops, 0)
    inner = [d for d in problem.graph.dependences if d.distance == 0]
    for _ in length:
        moved = False
        for d in inner:
            start = length[d.source] + d.latency + problem.forced_hand_off(d)
            if start > length[d.target]:
                length[d.target], moved = start, True
        if not moved:
            break
    return max(length.values(), default=0) // ii + 3


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


def clusters(problem: Problem, ii: int) -> list[tuple[str, ...]] | None:
    """Sets of ops that every schedule at this II has on one group; None if a recurrence does not fit.

    Besides `one_group`: the ends of a dependence whose hand-off would close a recurrence longer than its iterations.
    """
    graph = problem.graph
    paths = longest_paths(problem, ii)
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
