"""The graph arranged for quick questions: readers of a value, dependences of an op, ops that wait."""

from __future__ import annotations

from core.graph.model import Dependence, DependenceKind, Graph, Op, Space


class GraphIndex:
    """Look-ups that follow from the graph alone; made once, used for many schedules.

    `incoming`, `outgoing`: all dependences by op. `readers`: flow dependences by the op whose value they read.
    `waiting`: ops with a blocking dependence on an asynchronous op (rule `issue`, weak). `values`: ops with a
    result by memory space. `kinds`: group kinds by name. `numbers`: the ops' positions.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kinds = {group.kind: group for group in graph.groups}
        self.numbers = {name: number for number, name in enumerate(graph.ops)}
        self.incoming: dict[str, list[Dependence]] = {name: [] for name in graph.ops}
        self.outgoing: dict[str, list[Dependence]] = {name: [] for name in graph.ops}
        self.readers: dict[str, list[Dependence]] = {name: [] for name in graph.ops}
        waiting: set[str] = set()
        for dependence in graph.dependences:
            self.incoming[dependence.target].append(dependence)
            self.outgoing[dependence.source].append(dependence)
            if dependence.kind is DependenceKind.FLOW:
                self.readers[dependence.source].append(dependence)
            if dependence.blocking and graph.ops[dependence.source].asynchronous:
                waiting.add(dependence.target)
        self.waiting = frozenset(waiting)
        self.values: dict[Space, list[Op]] = {space: [] for space in Space}
        for op in graph.ops.values():
            self.values[op.result.space].append(op)

    def overhead(self, kind: str) -> int:
        """Registers per thread that a group of this kind keeps back."""
        return 0 if self.kinds[kind].variable_latency else self.graph.machine.registers.overhead
