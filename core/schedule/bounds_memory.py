"""Lower bounds on II from what values occupy: register area, tensor-memory area, shared-memory rings.

Each bound holds for every choice of groups: where a value may cross groups or stay, the cheaper of the two counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.graph.model import Dependence, Graph, Op, Space
from core.schedule.area import AreaValue, least_area
from core.schedule.bounds_time import GroupShare, group_shares
from core.schedule.certificate import Certificate
from core.schedule.check_registers import THREADS_PER_WARP, VARIABLE_LATENCY_LEAST_GRANT
from core.schedule.index import GraphIndex
from core.schedule.liveness import least_depth
from core.schedule.paths import Paths
from core.schedule.placement import GroupChoice
from core.schedule.report import Family
from core.schedule.wording import counted, largest, listed

SHOWN = 5
"""Values that a sentence names."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What values occupy at least in any schedule at the II of `paths`."""

    index: GraphIndex
    choice: GroupChoice
    paths: Paths

    @property
    def graph(self) -> Graph:
        """The graph asked about."""
        return self.index.graph

    def certificates(self) -> Iterator[Certificate]:
        """Why this II is impossible, as far as area and rings can tell."""
        yield from self._registers()
        yield from self._tensor_memory()
        yield from self._shared_memory()

    def _registers(self) -> Iterator[Certificate]:
        values = [op for op in self.index.values[Space.REGISTERS] if op.result.amount]
        for share in group_shares(self.graph, self.choice, values):
            available = register_room(self.graph, share)
            held = [self._register_value(op) for op in share.ops]
            what = "registers a thread"
            yield from self._area(Family.REGISTERS, share.subject, share.ops, held, available, what)

    def _tensor_memory(self) -> Iterator[Certificate]:
        ops = tuple(op for op in self.index.values[Space.TENSOR] if op.result.amount)
        held = [self._value(op, self.index.readers[op.id], 0) for op in ops]
        available = self.graph.machine.tensor_memory_columns
        yield from self._area(Family.TENSOR_MEMORY, "tensor memory", ops, held, available, "columns")

    def _area(
        self,
        family: Family,
        subject: str,
        ops: tuple[Op, ...],
        values: list[AreaValue],
        available: int,
        what: str,
    ) -> Iterator[Certificate]:
        area = least_area(self.paths, values)
        required = -(-area.total // self.paths.ii)
        if required > available:
            held = sorted(zip(ops, area.lives, strict=True), key=lambda pair: -pair[0].result.amount * pair[1])
            shown = [f"{op.id} {op.result.amount} for {life}" for op, life in held[:SHOWN]]
            rest = [f"{len(held) - SHOWN} more"] if len(held) > SHOWN else []
            sentence = (
                f"the values on {subject} hold {required} {what} on average over {counted(self.paths.ii, 'cycle')}, "
                f"however the ops are ordered ({listed([*shown, *rest])}), there are {available}"
            )
            names = tuple(op.id for op, life in held if life)
            yield Certificate(family, subject, required, available, names, sentence)

    def _register_value(self, op: Op) -> AreaValue:
        """Readers that cannot be on another group hold the value back; for the others the cheaper of staying and
        crossing counts. A value that crosses is held until it is handed off."""
        staying: list[Dependence] = []
        moving: list[Dependence] = []
        for d in self.index.readers[op.id]:
            (staying if self._stays(op, d) else moving).append(d)
        handed_off = op.latency + op.hand_off_cycles
        least = 0
        if any(self.choice.crosses_always(d) for d in moving):
            least = handed_off
        elif moving:
            least = min(handed_off, max(self._reach(op, d) for d in moving))
        elif not staying:
            least = op.latency
        return self._value(op, staying, least)

    def _stays(self, op: Op, dependence: Dependence) -> bool:
        """Whether the reader is on the value's group in every schedule at this II: by the rules about groups, or
        because the hand-off would close a recurrence longer than its iterations."""
        if self.choice.crosses_never(dependence):
            return True
        back = self.paths.longest(self._node(dependence.target)).get(self._node(op.id))
        gap = dependence.latency + op.hand_off_cycles - self.paths.ii * dependence.distance
        return back is not None and back + gap > 0

    def _value(self, op: Op, readers: list[Dependence], least: int) -> AreaValue:
        uses = tuple((self._node(d.target), self.paths.ii * d.distance + d.release) for d in readers)
        unread = not self.index.readers[op.id]
        return AreaValue(self._node(op.id), op.result.amount, max(least, op.latency if unread else 0), uses)

    def _reach(self, op: Op, dependence: Dependence) -> int:
        """Cycles from the value's start until the reader is done with it, at least."""
        ahead = self.paths.longest(self._node(op.id))[self._node(dependence.target)]
        return ahead + self.paths.ii * dependence.distance + dependence.release

    def _shared_memory(self) -> Iterator[Certificate]:
        machine = self.graph.machine
        parts = [("fixed", machine.fixed_shared_bytes)] if machine.fixed_shared_bytes else []
        names: list[str] = []
        for op in self.index.values[Space.SHARED]:
            reach = max((self._reach(op, d) for d in self.index.readers[op.id]), default=op.latency)
            depth = least_depth(reach, self.paths.ii)
            parts.append((f"{depth} x {op.id}", depth * op.result.amount))
            names.append(op.id)
        for op in self.index.values[Space.REGISTERS]:
            crossing = [d for d in self.index.readers[op.id] if self.choice.crosses_always(d)]
            if crossing and op.hand_off_bytes:
                depth = least_depth(max(self._reach(op, d) for d in crossing), self.paths.ii)
                parts.append((f"{depth} x hand-off of {op.id}", depth * op.hand_off_bytes))
                names.append(op.id)
        required, available = sum(amount for _, amount in parts), machine.shared_memory_bytes
        if required > available:
            shown = largest(sorted(parts, key=lambda part: -part[1]))
            sentence = f"{required} bytes of shared memory are needed at least ({shown}), there are {available}"
            yield Certificate(Family.SHARED_MEMORY, "shared memory", required, available, tuple(names), sentence)

    def _node(self, op: str) -> int:
        return self.index.numbers[op]


def register_room(graph: Graph, share: GroupShare) -> int:
    """The most registers per thread, summed over the groups of a share, that values can have: grants less overhead,
    within the limit per thread and the register file (both pools hand out no more than its words)."""
    file = graph.machine.registers
    most = file.max_per_thread // file.granularity * file.granularity
    overhead = 0 if share.variable_latency else file.overhead
    words = file.file_words if share.variable_latency else file.file_words - _kept_for_variable_latency(graph)
    warps = sorted(
        kind.warps
        for kind in graph.groups
        if kind.variable_latency == share.variable_latency and kind.warps >= share.warps
        for _ in range(min(kind.count, len(graph.ops)))
    )
    best = room = 0
    for size in warps:
        grant = min(most, max(words, 0) // (THREADS_PER_WARP * size))
        words -= grant * THREADS_PER_WARP * size
        room += grant - overhead
        best = max(best, room)
    return best


def _kept_for_variable_latency(graph: Graph) -> int:
    """Words of the one group that ops of variable latency need at least."""
    if not any(op.variable_latency for op in graph.ops.values()):
        return 0
    granularity = graph.machine.registers.granularity
    grant = -(-VARIABLE_LATENCY_LEAST_GRANT // granularity) * granularity
    return min((THREADS_PER_WARP * k.warps * grant for k in graph.groups if k.variable_latency), default=0)
