"""Hierarchical reduction (Lam, PLDI 1988): a branch becomes one op that takes what its alternatives take at most.

A pure edit of the graph. Each alternative's ops run one after another on one group, in the order of the text; the op
takes of every unit, cycle by cycle, what the alternative that needs most of it takes. What is proved of the reduced
graph holds for schedules that keep the branch together, whichever way it goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.graph.fuse import Fusion, Part
from core.graph.model import Block, Dependence, DependenceKind, Graph, Op, Result, Space


class CannotReduceError(Exception):
    """Why a branch cannot be one op; `op` is one that stands in the way."""

    def __init__(self, reason: str, op: str) -> None:
        super().__init__(reason)
        self.op = op


def reduce_branches(graph: Graph, branches: Mapping[str, Sequence[Sequence[str]]]) -> Fusion:
    """The graph with each branch as one op of its id. `branches`: by id, the ops of each alternative in the order of
    the text. Branches do not overlap; one without ops is left out.

    What an alternative keeps in registers beyond what leaves it, and its values in shared and tensor memory, are held
    by ops without cycles beside it, `ID.registers`, `ID.shared` and `ID.tensor`. Raises CannotReduceError.
    """
    reduced, blocks = graph, dict[str, tuple[Part, ...]]()
    for id_, alternatives in branches.items():
        if any(alternatives):
            branch = _Branch(reduced, id_, alternatives)
            blocks[id_] = tuple(Part(reduced.ops[op], offset) for op, offset in branch.offsets.items())
            reduced = branch.reduced()
    return Fusion(graph, reduced, blocks)


@dataclass(frozen=True, slots=True)
class _Alternative:
    """When the ops of one alternative start, and until when they issue and run."""

    offsets: Mapping[str, int]
    issued: int
    completed: int


class _Branch:
    """One branch of a graph."""

    def __init__(self, graph: Graph, id_: str, alternatives: Sequence[Sequence[str]]) -> None:
        self._graph = graph
        self._id = id_
        self._readers: dict[str, list[Dependence]] = {op: [] for op in graph.ops}
        for d in graph.dependences:
            if d.kind is DependenceKind.FLOW:
                self._readers[d.source].append(d)
        self._alternatives = [_in_turn(graph, ops) for ops in alternatives]
        self.offsets = {op: offset for one in self._alternatives for op, offset in one.offsets.items()}
        self._members = [graph.ops[op] for op in self.offsets]
        self._refuse_mixtures()
        self._op = self._make_op()
        self._holders = list(self._make_holders())

    def _refuse_mixtures(self) -> None:
        members, rules = self._members, self._graph.rules
        apart = [op.id for op in members if op.variable_latency]
        if apart and len(apart) < len(members):
            raise CannotReduceError("some of its ops have variable latency: no group may hold all", apart[0])
        matrix = [op.id for op in members if op.matrix]
        compute = [op for op in members if not op.matrix and not op.asynchronous and op.issue_cycles]
        if rules.isolate_matrix_issue and matrix and compute:
            raise CannotReduceError("it issues matrix ops beside synchronous ones, and they are kept apart", matrix[0])
        pinned = [op.id for op in members if op.id in self._graph.pins]
        if pinned:
            raise CannotReduceError("an op in it is pinned", pinned[0])

    def reduced(self) -> Graph:
        """The graph with the branch as one op, where its last op stood."""
        graph, last = self._graph, self._members[-1].id
        ops: dict[str, Op] = {}
        for name, op in graph.ops.items():
            if name not in self.offsets:
                ops[name] = op
            elif name == last:
                ops |= {one.id: one for one in (*self._holders, self._op)}
        return replace(graph, ops=ops, dependences=tuple(_merged(self._dependences())))

    def _make_op(self) -> Op:
        members = self._members
        leaving = [op for op in members if self._leaves(op.id) and op.result.space is Space.REGISTERS]
        amount = max(sum(op.result.amount for op in leaving if op.id in one.offsets) for one in self._alternatives)
        return Op(
            id=self._id,
            kind="scf.if",
            needs_warps=max(op.needs_warps for op in members),
            blocks=tuple(self._union()),
            issue_cycles=max(one.issued for one in self._alternatives),
            latency=max(one.completed for one in self._alternatives),
            asynchronous=any(op.asynchronous for op in members if self._leaves(op.id)),
            matrix=any(op.matrix for op in members),
            variable_latency=members[0].variable_latency,
            result=Result(Space.REGISTERS, amount) if leaving else Result(),
            hand_off_cycles=max((op.hand_off_cycles for op in leaving), default=0),
            hand_off_bytes=sum(op.hand_off_bytes for op in leaving),
            line=min((op.line for op in members if op.line is not None), default=None),
        )

    def _leaves(self, op: str) -> bool:
        return any(d.target not in self.offsets or d.distance for d in self._readers[op])

    def _union(self) -> Iterator[Block]:
        """Of each unit, at each moment, the most that an alternative takes."""
        for unit in self._graph.machine.units:
            taken = [list(self._blocks(one, unit)) for one in self._alternatives]
            moments = sorted({t for blocks in taken for begin, end, _ in blocks for t in (begin, end)})
            for begin, end in pairwise(moments):
                most = max(sum(amount for b, e, amount in blocks if b <= begin < e) for blocks in taken)
                if most:
                    yield Block(unit, begin, end - begin, most)

    def _blocks(self, one: _Alternative, unit: str) -> Iterator[tuple[int, int, int]]:
        for op, offset in one.offsets.items():
            for block in self._graph.ops[op].blocks:
                if block.unit == unit:
                    begin = offset + block.offset
                    yield begin, begin + block.duration, block.amount

    def _make_holders(self) -> Iterator[Op]:
        """Ops that hold what the branch's own result does not."""
        peak = max(self._register_peak(one) for one in self._alternatives)
        amounts = {Space.REGISTERS: max(0, peak - self._op.result.amount)}
        for space in (Space.SHARED, Space.TENSOR):
            amounts[space] = max(
                sum(
                    self._graph.ops[op].result.amount for op in one.offsets if self._graph.ops[op].result.space is space
                )
                for one in self._alternatives
            )
        for space, amount in amounts.items():
            if amount:
                yield replace(
                    self._op,
                    id=self._holder_id(space),
                    blocks=(),
                    issue_cycles=0,
                    latency=0,
                    asynchronous=False,
                    matrix=False,
                    result=Result(space, amount),
                    hand_off_cycles=0,
                    hand_off_bytes=0,
                )

    def _holder_id(self, space: Space) -> str:
        return f"{self._id}.{space.value}"

    def _register_peak(self, one: _Alternative) -> int:
        """The most registers that an alternative's values take at once; those that leave stay to the end."""
        lives: list[tuple[int, int, int]] = []
        for op, offset in one.offsets.items():
            member = self._graph.ops[op]
            if member.result.space is Space.REGISTERS:
                inside = [one.offsets[d.target] + d.release for d in self._readers[op] if d.target in one.offsets]
                end = one.completed if self._leaves(op) else max(inside, default=offset + member.latency)
                lives.append((offset, end, member.result.amount))
        return max((sum(a for b, e, a in lives if b <= begin < e) for begin, _, _ in lives), default=0)

    def _dependences(self) -> Iterator[Dependence]:
        for d in self._graph.dependences:
            inside = d.source in self.offsets, d.target in self.offsets
            if inside == (False, False):
                yield d
            elif inside != (True, True) or d.distance:
                yield from self._across(d)
        for holder in self._holders:
            # Until the branch is done, and begun no earlier than the branch of the iteration before is.
            yield Dependence(holder.id, self._id, 0, release=self._op.latency)
            yield Dependence(self._id, holder.id, self._op.latency, 1, DependenceKind.ORDER)

    def _across(self, d: Dependence) -> Iterator[Dependence]:
        """A dependence into the branch or out of it, counted from the branch's start."""
        begin, end = self.offsets.get(d.target, 0), self.offsets.get(d.source, 0)
        source = self._id if d.source in self.offsets else d.source
        target = self._id if d.target in self.offsets else d.target
        release = d.release + begin
        if d.target in self.offsets and d.release == 0 and self._takes_over(d):
            release = 0
        moved = replace(d, source=source, target=target, latency=max(0, d.latency + end - begin), release=release)
        space = self._graph.ops[d.source].result.space
        if source == self._id and d.kind is DependenceKind.FLOW and space in (Space.SHARED, Space.TENSOR):
            yield replace(moved, kind=DependenceKind.ORDER)
            yield replace(moved, source=self._holder_id(space), latency=0, blocking=False)
        else:
            yield moved

    def _takes_over(self, d: Dependence) -> bool:
        """Whether the branch has registers for the result that is put in place of what it reads."""
        read, made = self._graph.ops[d.source].result, self._graph.ops[d.target].result
        return read.space is not Space.REGISTERS or (made.space is read.space and made.amount >= read.amount)


def _in_turn(graph: Graph, ops: Sequence[str]) -> _Alternative:
    """Each op as soon as the one before has been issued, its operands are there and its units are free."""
    offsets: dict[str, int] = {}
    free: dict[str, int] = {}
    issued = completed = 0
    for name in ops:
        op = graph.ops[name]
        ready = [
            offsets[d.source] + d.latency
            for d in graph.dependences
            if d.target == name and not d.distance and d.source in offsets
        ]
        start = max([issued, *ready, *(free.get(block.unit, 0) - block.offset for block in op.blocks)])
        offsets[name] = start
        issued = start + op.issue_cycles
        completed = max(completed, start + op.latency)
        for block in op.blocks:
            free[block.unit] = max(free.get(block.unit, 0), start + block.offset + block.duration)
    return _Alternative(offsets, issued, completed)


def _merged(edges: Iterator[Dependence]) -> list[Dependence]:
    """Those that differ only in their cycles as one, with the most of each."""
    merged: dict[tuple[str, str, int, DependenceKind], Dependence] = {}
    for edge in edges:
        key = (edge.source, edge.target, edge.distance, edge.kind)
        other = merged.get(key, edge)
        merged[key] = replace(
            edge,
            latency=max(edge.latency, other.latency),
            release=max(edge.release, other.release),
            blocking=edge.blocking or other.blocking,
        )
    return list(merged.values())
