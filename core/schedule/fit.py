"""Whether a schedule speaks of its graph at all: what graph-format calls a bad file, apart from the ten rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.graph.model import Graph, Space
from core.graph.read import suggest
from core.schedule.model import Schedule
from core.schedule.wording import counted
from core.yaml_source import KeyPath


@dataclass(frozen=True, slots=True)
class Misfit:
    """One reason why a schedule cannot be judged. `path` is where it stands in the schedule's document."""

    code: str
    message: str
    path: KeyPath
    of_key: bool = False
    hint: str | None = None


def misfits(graph: Graph, schedule: Schedule) -> Iterator[Misfit]:
    """Ops missing or unknown, groups and kinds that do not exist, rings of values that are not in shared memory,
    delays beyond an op's queue. Empty: the judge can speak."""
    if schedule.ii < 1:
        yield Misfit("bad-ii", f"the initiation interval is {schedule.ii}", ("ii",), hint="at least 1")
    kinds = {group.kind for group in graph.groups}
    for name, group in schedule.groups.items():
        if group.kind not in kinds:
            hint = suggest(group.kind, kinds)
            yield Misfit("unknown-kind", f"unknown group kind '{group.kind}'", ("groups", name, "kind"), hint=hint)
    for name, placement in schedule.ops.items():
        op = graph.ops.get(name)
        if op is None:
            hint = suggest(name, graph.ops)
            yield Misfit("unknown-op", f"the graph has no op '{name}'", ("ops", name), True, hint)
            continue
        if placement.start < 0:
            yield Misfit(
                "bad-start", f"op '{name}' starts at {placement.start}", ("ops", name, "start"), hint="0 or later"
            )
        if placement.group not in schedule.groups:
            hint = suggest(placement.group, schedule.groups)
            yield Misfit("unknown-group", f"unknown group '{placement.group}'", ("ops", name, "group"), hint=hint)
        if not 0 <= placement.delay <= op.queue:
            message = f"op '{name}' is delayed by {counted(placement.delay, 'cycle')}, its queue allows {op.queue}"
            yield Misfit("bad-delay", message, ("ops", name, "delay"), hint=f"0 to {op.queue}")
    for name in graph.ops:
        if name not in schedule.ops:
            yield Misfit("missing-op", f"op '{name}' of the graph is not in the schedule", ("ops",), True)
    for name in schedule.rings:
        op = graph.ops.get(name)
        if op is None:
            hint = suggest(name, [n for n, o in graph.ops.items() if o.result.space is Space.SHARED])
            yield Misfit("unknown-op", f"the graph has no op '{name}'", ("rings", name), True, hint)
        elif op.result.space is not Space.SHARED:
            message = f"the value of '{name}' is not in shared memory and has no ring"
            yield Misfit("no-ring", message, ("rings", name), True)
