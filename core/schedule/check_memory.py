"""The judge's rules about memories: shared memory by ring depth, tensor memory by live range."""

from __future__ import annotations

from collections.abc import Iterator

from core.schedule.circle import peak
from core.schedule.index import GraphIndex
from core.schedule.liveness import Liveness, alive_at, range_steps
from core.schedule.model import Schedule
from core.schedule.report import Family, Violation
from core.schedule.wording import counted, distinct, largest


def check_shared_memory(index: GraphIndex, live: Liveness) -> tuple[list[Violation], int]:
    """Rule 5; with the bytes in use."""
    machine = index.graph.machine
    violations = list(_shallow_rings(live))
    required, available = live.shared_bytes(machine.fixed_shared_bytes), machine.shared_memory_bytes
    if required > available:
        rings = [(f"{ring.depth} x {ring.value}", ring.depth * ring.amount) for ring in live.rings.values()]
        buffers = [(f"hand-off of {ring.value}", ring.depth * ring.amount) for ring in live.hand_offs.values()]
        parts = sorted([*rings, *buffers, ("fixed", machine.fixed_shared_bytes)], key=lambda part: -part[1])
        message = f"{required} bytes of shared memory are needed ({largest(parts)}), there are {available}"
        ops = distinct([*live.rings, *live.hand_offs])
        violations.append(Violation(Family.SHARED_MEMORY, ops, None, required, available, message, "shared memory"))
    return violations, required


def _shallow_rings(live: Liveness) -> Iterator[Violation]:
    for ring in live.rings.values():
        if ring.depth < ring.least_depth:
            message = (
                f"the ring of {ring.value} has a depth of {ring.depth}, its value lives "
                f"{counted(ring.end - ring.begin, 'cycle')} and needs {ring.least_depth}"
            )
            yield Violation(
                Family.SHARED_MEMORY, (ring.value,), None, ring.least_depth, ring.depth, message, ring.value
            )


def check_tensor_memory(index: GraphIndex, schedule: Schedule, live: Liveness) -> tuple[list[Violation], int]:
    """Rule 6; with the peak columns."""
    top = peak(range_steps(live.tensor, schedule.ii))
    available = index.graph.machine.tensor_memory_columns
    if top.level <= available:
        return [], top.level
    alive = [(held.value, held.amount * copies) for held, copies in alive_at(live.tensor, top.slot, schedule.ii)]
    message = (
        f"{top.level} tensor-memory columns are needed at slot {top.slot} ({largest(alive)}), there are {available}"
    )
    ops = distinct(name for name, amount in alive if amount)
    subject = "tensor memory"
    return [Violation(Family.TENSOR_MEMORY, ops, top.slot, top.level, available, message, subject)], top.level
