"""The whole system of one initiation interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.graph.model import Graph
from core.solve.confirm.clauses import Clauses
from core.solve.confirm.grants import Grants, add_pool
from core.solve.confirm.groups import Groups
from core.solve.confirm.live_ranges import LiveRanges
from core.solve.confirm.memory import add_registers, add_shared_memory, add_tensor_memory
from core.solve.confirm.times import Times
from core.solve.confirm.timing import add_dependences, add_issue, add_units


class System:
    """`text` is satisfiable if and only if there is a legal schedule, as far as copies are counted (`LiveRanges`).
    `check` is called now and then while it is made, and may raise."""

    def __init__(
        self, graph: Graph, ii: int, stages: int | None, counted: Mapping[str, int], check: Callable[[], None]
    ) -> None:
        clauses = Clauses(check)
        self.times = Times(clauses, graph, ii, stages)
        self.groups = Groups(clauses, graph)
        live = LiveRanges(clauses, graph, self.times, self.groups, counted)
        grants = Grants(clauses, graph, self.groups, live.most_registers())
        add_dependences(clauses, graph, self.times, self.groups)
        add_units(clauses, graph, self.times)
        add_issue(clauses, graph, self.times, self.groups)
        add_registers(clauses, graph, self.groups, grants, live)
        self.packing = add_pool(clauses, graph, self.groups, grants)
        add_shared_memory(clauses, graph, self.groups, live)
        add_tensor_memory(clauses, graph, live)
        self.text = clauses.text
