"""The roles that Triton makes of a schedule's groups on sm_100, beside those asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.graph.model import Graph
from core.ir.model import Module, Operation, Region
from core.ir.vocabulary import LOOP_OPS, MATRIX_OPS
from core.schedule.model import Schedule

_STAGES = "tt.scheduled_max_stage = "
_ASKED = "tt.warp_specialize"


def asking_for_roles(annotated: str) -> str:
    """Annotated TTGIR whose scheduled loops ask for warp specialization: of other loops Triton takes no partitions."""
    return "\n".join(
        line.replace(_STAGES, f"{_ASKED}, {_STAGES}") if _ASKED not in line else line for line in annotated.split("\n")
    )


def made_roles(final: Module) -> list[int]:
    """Of each role that runs part of a loop, how many matrix ops it has in there; greatest first."""
    specialized = [op for op in final.operation.walk() if op.name == "ttg.warp_specialize"]
    if not specialized:
        loops = [op for op in final.operation.walk() if op.name in LOOP_OPS]
        return [_matrix_ops(loops)] if loops else []
    regions = [region for op in specialized for region in _regions(op)]
    loops_of = ([op for op in _walk(region) if op.name in LOOP_OPS] for region in regions)
    return sorted((_matrix_ops(loops) for loops in loops_of if loops), reverse=True)


def role_differences(graph: Graph, schedule: Schedule, final: Module) -> list[str]:
    """Sentences; none if there are as many roles as groups, with as many matrix ops each."""
    groups = {place.group for place in schedule.ops.values()}
    asked = sorted(
        (sum(graph.ops[op].matrix for op, place in schedule.ops.items() if place.group == group) for group in groups),
        reverse=True,
    )
    made = made_roles(final)
    if len(made) != len(asked):
        return [f"the schedule has {len(asked)} groups, Triton made {len(made)} roles"]
    if made != asked:
        return [f"matrix ops of each role: {_listed(asked)} in the schedule, {_listed(made)} in what Triton made"]
    return []


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _regions(specialized: Operation) -> Iterator[Region]:
    """The default region and the partitions, which may be wrapped in an op of their own."""
    for region in specialized.regions:
        inner = [op for block in region.blocks for op in block.operations if op.name.startswith("ttg.warp_specialize.")]
        if inner:
            yield from (part for op in inner for part in op.regions)
        else:
            yield region


def _walk(region: Region) -> Iterator[Operation]:
    for block in region.blocks:
        for op in block.operations:
            yield from op.walk()


def _matrix_ops(loops: Sequence[Operation]) -> int:
    """Loops in one another count their ops once."""
    return len({id(op) for loop in loops for op in loop.walk() if op.name in MATRIX_OPS})
