"""What must be held at the moment an op starts: its operands and its result. A bound for every II at once."""

from __future__ import annotations

from collections.abc import Iterator

from core.graph.model import DependenceKind, Op, Space
from core.schedule.certificate import Certificate
from core.schedule.index import GraphIndex
from core.schedule.placement import GroupChoice
from core.schedule.report import Family
from core.schedule.wording import distinct, largest


def working_sets(index: GraphIndex, choice: GroupChoice) -> Iterator[Certificate]:
    """One certificate per op whose operands and result fit no group's registers, or not the tensor memory."""
    file = index.graph.machine.registers
    most = file.max_per_thread // file.granularity * file.granularity
    columns = index.graph.machine.tensor_memory_columns
    for op in index.graph.ops.values():
        if choice.kinds(op.id):
            overhead = min(index.overhead(kind.kind) for kind in choice.kinds(op.id))
            held = _held_at_start(index, op, Space.REGISTERS)
            yield from _excess(Family.REGISTERS, op, held, overhead, most, "registers a thread")
        held = _held_at_start(index, op, Space.TENSOR)
        yield from _excess(Family.TENSOR_MEMORY, op, held, 0, columns, "tensor-memory columns")


def _held_at_start(index: GraphIndex, op: Op, space: Space) -> list[tuple[str, int, int]]:
    """(value, iterations before, amount): operands that are not given up at once, and the result if it is held."""
    ops = index.graph.ops
    operands = [
        (d.source, d.distance, ops[d.source].result.amount)
        for d in index.incoming[op.id]
        if d.kind is DependenceKind.FLOW and ops[d.source].result.space is space and d.release > 0
    ]
    held = op.latency > 0 and all(d.latency + d.release > 0 for d in index.readers[op.id])
    results = [(op.id, 0, op.result.amount)] if op.result.space is space and held else []
    return list(dict.fromkeys([*operands, *results]))


def _excess(
    family: Family, op: Op, held: list[tuple[str, int, int]], overhead: int, available: int, what: str
) -> Iterator[Certificate]:
    required = sum(amount for _, _, amount in held) + overhead
    if required > available:
        parts = [(f"{value} before" if value == op.id and back else value, amount) for value, back, amount in held]
        parts += [("kept back", overhead)] if overhead else []
        shown = largest(sorted(parts, key=lambda part: -part[1]))
        sentence = f"{op.id} needs {required} {what} for its operands and result ({shown}), there are {available}"
        yield Certificate(family, op.id, required, available, distinct(value for value, _, _ in held), sentence)
