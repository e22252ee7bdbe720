# pyright: reportUnknownMemberType=false
"""Groups first: which group each op is on, before any op has a time.

A relaxation of the exact model at one initiation interval: hand-offs that no recurrence has time for, the issue time of
each group, and the registers that its values hold on average if every op starts as early as its operands allow. There
are no starts in it, so it is small and fast; what it proposes may have no schedule, which the caller finds out and
tells it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from core.graph.model import Dependence, InOrderIssue, Space
from core.solve.engine import Budget, run
from core.solve.model_groups import Grouping
from core.solve.problem import Problem, clusters, hand_off_weight, longest_paths

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

THREADS_PER_WARP = 32


class GroupChoice:
    """Proposes groupings at one II, those with the fewest hand-offs first."""

    def __init__(self, problem: Problem, ii: int, seed: int) -> None:
        from ortools.sat.python.cp_model import CpModel

        self._cp = CpModel()
        self._problem = problem
        self._ii = ii
        self._seed = seed
        self._paths = longest_paths(problem, ii)
        self._clusters = clusters(problem, ii, self._paths) or [(name,) for name in problem.graph.ops]
        self._grouping = Grouping(self._cp, problem, self._clusters)
        self._position = {name: i for i, name in enumerate(problem.graph.ops)}
        self._add_issue()
        self._add_registers()
        self._cp.minimize(self._hand_offs())

    def propose(self, work: float, budget: Budget) -> dict[str, int] | None:
        """The candidate of every op, within `work` units of deterministic time; None if there is no (further) one."""
        values = run(self._cp, self._seed, work, budget).values
        if values is None:
            return None
        return {
            name: next(i for i, on in self._grouping.on(name).items() if values(on)) for name in self._problem.graph.ops
        }

    def refuse(self, proposal: Mapping[str, int], share: int = 8) -> None:
        """Proposals from now on have at least one in `share` of the clusters elsewhere."""
        heads = [members[0] for members in self._clusters]
        kept = [self._grouping.on(head)[proposal[head]] for head in heads]
        self._cp.add(sum(kept) <= len(heads) - max(1, len(heads) // share))

    def _add_issue(self) -> None:
        graph = self._problem.graph
        waiting = {d.target for d in graph.dependences if d.blocking and graph.ops[d.source].asynchronous}
        mode = graph.rules.in_order_issue
        for i, _ in enumerate(self._problem.candidates):
            busy = [
                op.issue_cycles * self._grouping.on(name)[i]
                for name, op in graph.ops.items()
                if i in self._grouping.on(name)
                and (mode is InOrderIssue.STRONG or (mode is InOrderIssue.WEAK and name in waiting))
            ]
            self._cp.add(sum(busy) <= self._ii)

    def _add_registers(self) -> None:
        """Registers times life, over a group's values, fit what it may be granted for one II."""
        file = self._problem.graph.machine.registers
        words: list[cp_model.LinearExprT] = []
        area: list[list[cp_model.LinearExprT]] = [[] for _ in self._problem.candidates]
        for name, op in self._problem.graph.ops.items():
            if op.result.space is Space.REGISTERS and op.result.amount:
                for i, life in self._lives(name):
                    area[i].append(op.result.amount * life)
        for i, candidate in enumerate(self._problem.candidates):
            overhead = 0 if candidate.variable_latency else file.overhead
            grant = self._cp.new_int_var(0, file.max_per_thread, f"grant:{candidate.name}")
            used = self._grouping.used[i]
            self._cp.add(grant >= overhead).only_enforce_if(used)
            self._cp.add(sum(area[i]) <= self._ii * (grant - overhead)).only_enforce_if(used)
            words.append(THREADS_PER_WARP * candidate.warps * grant)
        self._cp.add(sum(words) <= file.file_words)

    def _lives(self, value: str) -> Iterator[tuple[int, cp_model.IntVar]]:
        """By candidate: how long it holds the value at least, until all readers that are there too release it."""
        ends = [(d.target, self._least_life(d)) for d in self._problem.readers[value]]
        longest = max((end for _, end in ends), default=0)
        for i, holds in self._grouping.on(value).items():
            life = self._cp.new_int_var(0, longest, f"life:{value}@{i}")
            for reader, end in ends:
                reads = self._grouping.on(reader).get(i)
                if reads is not None:
                    self._cp.add(life >= end).only_enforce_if(holds, reads)
            yield i, life

    def _least_life(self, d: Dependence) -> int:
        gap = int(self._paths[self._position[d.source], self._position[d.target]])
        return max(0, gap + self._ii * d.distance + d.release)

    def _hand_offs(self) -> cp_model.LinearExprT:
        graph = self._problem.graph
        weight = hand_off_weight(graph)
        total: cp_model.LinearExprT = 0
        for name, op in graph.ops.items():
            crosses = self._grouping.crosses(name) if op.result.space is Space.REGISTERS else None
            if crosses is not None:
                total += (weight + op.hand_off_bytes) * (crosses[0] if crosses else 1)
        return total
