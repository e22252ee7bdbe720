"""A sheet for hand lowering: what each warp group does, statement by statement, with every wait's reason; the rings and
barriers, registers, and where each op is in the pipeline. As Markdown for people and as JSON for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from core.export.roles.model import Issue, Pipeline, Ring, Role, RoleProgram, Statement
from core.export.roles.places import ScheduledLoop
from core.export.roles.text import lines, statement_text, titled_parts
from core.export.roles.walk import walk
from core.schedule.check_registers import THREADS_PER_WARP
from core.schedule.wording import counted, iterations

SCHEMA = "twill.sheet/1"

_LEGEND = """\
- `ring = load(...)`: one thread has the copy engine fill the slot that was waited for; the bytes complete its phase.
- `wait full R`, `wait free R`: the next slot of ring R holds a tile, may be filled. Slot `k % depth` and parity
  `(k / depth) % 2` of the k-th wait; a wait for free with the other parity. `R[newest]`: the slot waited for last;
  `R[-1]`: the one before.
- `arrive free R`: one arrival per warp. `arrive full R`: behind a fence where threads store the tile.
- `wait groups N`: all matrix ops but the youngest N are complete; each matrix op is fence, instruction, commit.
- `pin`: an empty `asm volatile` with the registers, so that no use moves across.
- `turn wait T`, `turn pass T`: a named barrier of the waiting role and the one that passes.
- `<t-1>`: the iteration that a statement belongs to, by the counter t of the loop; `<n-1>`: from the trip count n."""


def sheet_document(program: RoleProgram, loops: Sequence[ScheduledLoop]) -> dict[str, Any]:
    """The sheet as plain data. Statements are `{"do": TEXT}`, with the lists inside one under `parts` and the
    line of an operation."""
    return {
        "schema": SCHEMA,
        "function": program.function.attributes.get("sym_name", "").strip('"'),
        "threads": program.threads,
        "registers": list(program.grants),
        "ring_bytes": sum(ring.depth * ring.slot_bytes for ring in program.rings.values()),
        "rings": [_ring(ring) for ring in program.rings.values()],
        "turns": [
            {"name": t.name, "roles": list(t.roles), "barriers": list(t.barriers), "threads": list(t.threads)}
            for t in program.turns.values()
        ],
        "loops": [_loop(loop) for loop in loops],
        "roles": [
            {
                "name": role.name,
                "kind": role.kind,
                "warps": role.warps,
                "first_thread": role.first_thread,
                "registers": role.grant,
                "barrier": role.barrier,
                "storages": [{"name": one.name, "type": one.value.type} for one in role.storages],
                "statements": _statements(role.statements),
            }
            for role in program.roles
        ],
    }


def sheet_json(program: RoleProgram, loops: Sequence[ScheduledLoop]) -> str:
    """The sheet's data as the text of a file."""
    return json.dumps(sheet_document(program, loops), ensure_ascii=False, indent=1) + "\n"


def sheet_markdown(program: RoleProgram, loops: Sequence[ScheduledLoop]) -> str:
    """The sheet as Markdown."""
    document = sheet_document(program, loops)
    parts = [f"# Role program of `{document['function']}`\n", _block(document)]
    parts.append("## Rings\n")
    if program.rings:
        head = ("ring", "tile", "slots", "bytes each", "filled by", "read by", "arrivals full / free", "what it is")
        parts.append(_table(head, (_ring_row(ring) for ring in program.rings.values())))
    else:
        parts.append("None.\n")
    if program.turns:
        parts.append("## Turns\n")
        for turn in program.turns.values():
            at = ", ".join(
                f"{role} at named barrier {barrier} ({threads} threads)"
                for role, barrier, threads in zip(turn.roles, turn.barriers, turn.threads, strict=True)
            )
            parts.append(f"`{turn.name}`, in this order: {at}.\n")
    for loop in loops:
        parts.append(f"## Loop on line {loop.tiles.loop.operation.name_span.line}\n")
        parts.append(f"Initiation interval {counted(loop.schedule.ii, 'cycle')}.\n")
        rows = _loop(loop)["ops"]
        head = ("op", "line", "group", "start", "stage", "cycle in the interval")
        keys = ("op", "line", "group", "start", "stage", "slot")
        parts.append(_table(head, ([row[key] for key in keys] for row in rows)))
    parts.append("## How to read the statements\n")
    parts.append(_LEGEND + "\n")
    for role in program.roles:
        parts.append(_role(role))
    return "\n".join(parts)


def _block(document: dict[str, Any]) -> str:
    grants = ", ".join(str(grant) for grant in document["registers"]) or "as the compiler likes"
    return (
        f"{document['threads']} threads; registers per thread of each four warps: {grants}; "
        f"rings take {counted(document['ring_bytes'], 'byte')} of shared memory.\n"
    )


def _role(role: Role) -> str:
    last = role.first_thread + role.warps * THREADS_PER_WARP - 1
    warps = counted(role.warps, "warp")
    title = f"## {role.name}: {warps}, threads {role.first_thread} to {last}"
    grant = f", {counted(role.grant, 'register')}" if role.grant else ""
    listing = "\n".join(lines(role.statements))
    storages = ""
    if role.storages:
        head = ("storage", "type")
        storages = _table(head, ((one.name, f"`{one.value.type}`") for one in role.storages))
    pipelines = [one for one in walk(role.statements) if isinstance(one, Pipeline)]
    shape = "".join(f"{_shape(one)}\n" for one in pipelines)
    return "\n".join(part for part in (f"{title}{grant}\n", shape, storages, f"```text\n{listing}\n```\n") if part)


def _shape(pipeline: Pipeline) -> str:
    line = pipeline.loop.operation.name_span.line
    before = f"{iterations(pipeline.stages)} before the steady state" if pipeline.stages else "no prologue"
    unrolled = f", unrolled by {pipeline.unroll}" if pipeline.unroll > 1 else ""
    apart = f"; trip counts below {pipeline.least} have statements of their own" if pipeline.least else ""
    return f"The loop on line {line}: {before}{unrolled}{apart}."


def _ring(ring: Ring) -> dict[str, Any]:
    return {
        "name": ring.name,
        "tile": ring.value.type,
        "depth": ring.depth,
        "slot_bytes": ring.slot_bytes,
        "kind": ring.kind.value,
        "producer": ring.producer,
        "consumers": list(ring.consumers),
        "full_count": ring.full_count,
        "free_count": ring.free_count,
        "why": ring.why,
    }


def _ring_row(ring: Ring) -> Sequence[object]:
    counts = f"{ring.full_count} / {ring.free_count}" if ring.full_count else "none"
    filled = f"{ring.producer} ({ring.kind.value})"
    read = ", ".join(ring.consumers)
    return (ring.name, f"`{ring.value.type}`", ring.depth, ring.slot_bytes, filled, read, counts, ring.why)


def _loop(loop: ScheduledLoop) -> dict[str, Any]:
    schedule = loop.schedule
    first = min((place.start // schedule.ii for place in schedule.ops.values()), default=0)
    ops = [
        {
            "op": op,
            "line": loop.graph.ops[op].line,
            "group": place.group,
            "start": place.start,
            "stage": place.start // schedule.ii - first,
            "slot": place.start % schedule.ii,
        }
        for op, place in sorted(schedule.ops.items(), key=lambda item: item[1].start)
    ]
    return {"index": loop.tiles.loop.index, "ii": schedule.ii, "ops": ops}


def _statements(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for statement in statements:
        one: dict[str, Any] = {"do": statement_text(statement)}
        if isinstance(statement, Issue):
            one["line"] = statement.operation.name_span.line
        parts = {title: _statements(part) for title, part in titled_parts(statement)}
        found.append({**one, "parts": parts} if parts else one)
    return found


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return "\n".join(_rows(head, rows)) + "\n"


def _rows(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(str(cell) for cell in row)} |"
