"""What the rules about groups alone force: which kinds may hold an op, who is never and who is always together."""

from __future__ import annotations

from core.graph.model import Dependence, DependenceKind, Graph, GroupKind, Op, Space
from core.schedule.check_groups import keeps_group_busy


class GroupChoice:
    """The groups that an op may be on in any legal schedule of the graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._kinds = {name: tuple(k for k in graph.groups if _may_hold(k, op)) for name, op in graph.ops.items()}

    def kinds(self, op: str) -> tuple[GroupKind, ...]:
        """The kinds, of at least one group each, that rules 7 and 8 allow."""
        return self._kinds[op]

    def crosses_always(self, dependence: Dependence) -> bool:
        """Whether the value read crosses groups in every schedule."""
        return self._passes_registers(dependence) and self.apart(dependence.source, dependence.target)

    def crosses_never(self, dependence: Dependence) -> bool:
        """Whether the reader is on the value's own group in every schedule, by the rules about groups alone."""
        if not self._passes_registers(dependence):
            return True
        return not self.graph.rules.allow_hand_off or self._together(dependence.source, dependence.target)

    def apart(self, one: str, other: str) -> bool:
        """Whether no group may hold both."""
        if one == other:
            return False
        shared = set(self.kinds(one)) & set(self.kinds(other))
        pins = {self.graph.pins[op].group for op in (one, other) if op in self.graph.pins} - {None}
        return not shared or len(pins) == 2 or self._isolated(self.graph.ops[one], self.graph.ops[other])

    def _together(self, one: str, other: str) -> bool:
        if one == other:
            return True
        kinds = set(self.kinds(one)) | set(self.kinds(other))
        if sum(kind.count for kind in kinds) == 1:
            return True
        pins = [self.graph.pins[op].group if op in self.graph.pins else None for op in (one, other)]
        return pins[0] is not None and pins[0] == pins[1]

    def _isolated(self, one: Op, other: Op) -> bool:
        return self.graph.rules.isolate_matrix_issue and (
            (one.matrix and keeps_group_busy(other)) or (other.matrix and keeps_group_busy(one))
        )

    def _passes_registers(self, dependence: Dependence) -> bool:
        in_registers = self.graph.ops[dependence.source].result.space is Space.REGISTERS
        return in_registers and dependence.kind is DependenceKind.FLOW


def _may_hold(kind: GroupKind, op: Op) -> bool:
    return kind.count > 0 and kind.variable_latency == op.variable_latency and kind.warps >= op.needs_warps
