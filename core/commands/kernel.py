"""What `twill solve` says of a kernel of several loops: each loop's answer, and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.commands.answers import table
from core.commands.solution import solution_document, solution_text
from core.graph.model import Graph
from core.solve.kernel import KernelResult


def kernel_document(
    graphs: Mapping[str, Graph], result: KernelResult, files: Mapping[str, Path], trips: Mapping[str, int]
) -> dict[str, Any]:
    """The JSON document: `loops` holds for each schedule of the project what `twill solve` says of one loop.

    `trips`: the trip counts that are assumed of loops inside others.
    """
    loops = {name: solution_document(graphs[name], one) for name, one in result.results.items()}
    for name, file in files.items():
        loops[name]["schedule_file"] = file.as_posix()
    for name, count in trips.items():
        loops[name]["trip_count"] = count
    return {
        "status": result.status.value,
        "groups": [{"name": name, "kind": kind, "grant": grant} for name, kind, grant in _groups(result)],
        "register_limit": result.register_limit,
        "violations": [fault.as_json() for fault in result.faults],
        "loops": loops,
    }


def kernel_text(graphs: Mapping[str, Graph], result: KernelResult, files: Mapping[str, Path]) -> str:
    """The same for people."""
    parts = [
        f"loop {name}\n{solution_text(graphs[name], one, [files[name]] if name in files else [])}"
        for name, one in result.results.items()
    ]
    groups = _groups(result)
    if groups:
        parts.append(f"{len(parts)} loops: {result.status.value}\n{table(('group', 'kind', 'grant'), groups)}")
    if result.register_limit is not None:
        parts.append(
            "what the loops take freely does not fit the register file together: "
            f"solved again with at most {result.register_limit} registers a thread"
        )
    parts += [fault.message for fault in result.faults]
    return "\n\n".join(parts)


def _groups(result: KernelResult) -> list[tuple[str, str, int]]:
    """Name, kind and grant of the common groups."""
    schedules = [one.schedule for one in result.results.values()]
    first = schedules[0]
    if first is None or None in schedules:
        return []
    return [(name, group.kind, group.grant) for name, group in first.groups.items()]
