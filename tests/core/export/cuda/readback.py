"""Schedule files read as plain YAML, and what role programs issue, for comparing the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import yaml

from core.export.roles.build import scheduled_program
from core.export.roles.model import Base, For, Issue, Pipeline, Put, RoleProgram, Slot, Statement
from core.export.roles.places import ScheduledLoop
from core.export.roles.walk import walk
from core.graph.model import Graph, Space
from core.ir.model import Operation
from core.ir.tiles import Category
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.read import load_schedule

KERNELS = {
    "attention_backward_hopper": ("main",),
    "attention_backward_hopper two_key_tiles": ("two_key_tiles",),
    "attention_causal_hopper": ("full", "masked"),
    "attention_forward_hopper": ("main",),
    "attention_forward_hopper_overlapped": ("main",),
    "gemm_hopper": ("main",),
    "gemm_hopper_8_warps": ("main",),
    "layer_norm_hopper": ("mean", "variance", "normalize"),
    "linear_attention_hopper": ("main",),
    "swiglu_hopper": ("main",),
    "swiglu_hopper two_row_tiles": ("two_row_tiles",),
}


@dataclass(frozen=True)
class Expected:
    """A loop by its schedule file: `starts` and `groups` of every op that the text has, those in fused blocks too;
    `rings` and `file`, its ops, as the file has them."""

    loop: ScheduledLoop
    ii: int
    starts: Mapping[str, int]
    groups: Mapping[str, str]
    rings: Mapping[str, int]
    file: Mapping[str, Mapping[str, Any]]

    @property
    def graph(self) -> Graph:
        """With every op by itself."""
        fusion = self.loop.fusion
        return self.loop.graph if fusion is None else fusion.original


@cache
def kernel(name: str) -> tuple[RoleProgram, tuple[Expected, ...]]:
    """The role program of a project, and what its schedule files say."""
    folder = name.split()[0]
    project = load_project(data_folder("projects") / folder)
    found: list[Expected] = []
    for entry in KERNELS[name]:
        opened = open_project(project.for_schedule(entry))
        file = project.schedules[entry].file
        assert opened.tiles is not None
        loop = ScheduledLoop(opened.tiles, opened.graph, load_schedule(file, opened.graph), opened.fusion)
        found.append(read_file(yaml.safe_load(file.read_text(encoding="utf-8")), loop))
    return scheduled_program([each.loop for each in found]), tuple(found)


def read_file(document: dict[str, Any], loop: ScheduledLoop) -> Expected:
    starts: dict[str, int] = {}
    groups: dict[str, str] = {}
    blocks = {} if loop.fusion is None else loop.fusion.blocks
    for op, place in document["ops"].items():
        parts = [(part.op.id, part.offset) for part in blocks[op]] if op in blocks else [(op, 0)]
        for part, offset in parts:
            starts[part], groups[part] = place["start"] + offset, place["group"]
    return Expected(loop, document["ii"], starts, groups, document["rings"], document["ops"])


# ---- the role program


@dataclass(frozen=True)
class Issued:
    op: str
    operation: Operation
    iteration: int


def issues_of(pipeline: Pipeline, trips: int) -> Iterator[Issued]:
    """What a role issues of a loop, in order, for a trip count."""
    if trips < pipeline.least:
        yield from _issues(pipeline.short[min(trips, len(pipeline.short) - 1)], trips, 0)
        return
    yield from _issues(pipeline.prologue, trips, 0)
    at = pipeline.stages
    while at + pipeline.unroll <= trips:
        yield from _issues(pipeline.steady, trips, at)
        at += pipeline.unroll
    yield from _issues(pipeline.tails[trips - at], trips, at)


def _issues(statements: Sequence[Statement], trips: int, counter: int) -> Iterator[Issued]:
    for one in statements:
        if isinstance(one, For):
            for iteration in range(trips):
                yield from _issues(one.body, trips, iteration)
        elif isinstance(one, Issue) and one.op is not None and one.instance is not None:
            bases = {Base.FIRST: 0, Base.STEADY: counter, Base.LAST: trips}
            yield Issued(one.op, one.operation, bases[one.instance.base] + one.instance.offset)


def pipelines(program: RoleProgram, expected: Expected) -> dict[str, Pipeline]:
    """By role, the scheduled loop in the program."""
    index = expected.loop.tiles.loop.index
    return {
        role.name: one
        for role in program.roles
        for one in walk(role.statements)
        if isinstance(one, Pipeline) and one.loop.index == index
    }


def issue_differences(program: RoleProgram, expected: Expected) -> list[str]:
    """Where the issues of a loop are not as its schedule file has them."""
    found: list[str] = []
    by_role = pipelines(program, expected)
    issued: set[str] = set()
    for trips in (1, 2, 3, 7, 8, *_around(by_role.values())):
        seen: Counter[tuple[Operation, int]] = Counter()
        done: dict[Operation, str] = {}
        for role, pipeline in by_role.items():
            last = None
            for one in issues_of(pipeline, trips):
                seen[one.operation, one.iteration] += 1
                done[one.operation] = one.op
                if expected.groups[one.op] != role:
                    found.append(f"{one.op} is issued by {role}, not by {expected.groups[one.op]}")
                time = expected.starts[one.op] + expected.ii * one.iteration
                if trips >= pipeline.least and last is not None and time < last[0]:
                    found.append(f"{one.op} of iteration {one.iteration} is issued after {last[1]}")
                last = time, one.op
        wrong = [
            f"{op} is issued {seen[operation, iteration]} times for iteration {iteration} of {trips}"
            for operation, op in done.items()
            for iteration in range(trips)
            if seen[operation, iteration] != 1
        ]
        found += [*wrong, *(f"{done[op]} is issued for iteration {n}" for op, n in seen if not 0 <= n < trips)]
        issued |= set(done.values())
    found += [f"{op} is not issued" for op in sorted(set(expected.starts) - issued) if not is_free(expected, op)]
    return found


def _around(several: Iterable[Pipeline]) -> set[int]:
    """Trip counts of each remainder behind the least that is pipelined."""
    return {one.least + more for one in several for more in range(one.unroll + 2)}


def is_free(expected: Expected, op: str) -> bool:
    """What no role issues by itself: copies from shared memory to registers, tiles from before the loop, and layouts
    changed on the way to a store."""
    tile = expected.loop.tiles.ops[op]
    if tile.kind == "ttg.local_load" or tile.category is Category.INVARIANT:
        return True
    return tile.kind == "ttg.convert_layout"


def ring_differences(program: RoleProgram, loops: Sequence[Expected]) -> list[str]:
    """Loops may share a ring of equal tiles: it has the slots of the one that needs most."""
    found: list[str] = []
    wanted: dict[str, int] = {}
    for expected in loops:
        for op, depth in depths(expected).items():
            rings = rings_of(program, expected, op)
            if len(rings) != 1:
                found.append(f"{op} has {len(rings)} rings")
            for ring in rings:
                wanted[ring] = max(depth, wanted.get(ring, 0))
    found += [
        f"{ring} has {program.rings[ring].depth} slots, not {depth}"
        for ring, depth in wanted.items()
        if program.rings[ring].depth != depth
    ]
    return found


def rings_of(program: RoleProgram, expected: Expected, op: str) -> set[str]:
    """Where the results of an op go in shared memory: the slots that its issues fill, or that its values are put to."""
    filled: set[str] = set()
    for pipeline in pipelines(program, expected).values():
        for one in walk([pipeline]):
            if isinstance(one, Issue) and one.op == op:
                filled |= {target.ring for target in one.writes if isinstance(target, Slot)}
            elif isinstance(one, Put) and f"{op} is handed from" in program.rings[one.target.ring].why:
                filled.add(one.target.ring)
    return filled


def depths(expected: Expected) -> dict[str, int]:
    """By counting: how many iterations' values of an op are held at once in shared memory, or what the file says."""
    fusion, graph, places = expected.loop.fusion, expected.loop.graph, expected.file
    found: dict[str, int] = {}
    for op in graph.ops.values():
        begin = places[op.id]["start"]
        ends: list[int] = []
        crossing: list[int] = []
        for dependence in graph.dependences:
            if dependence.source != op.id or dependence.kind.value != "flow":
                continue
            reader = places[dependence.target]
            end = reader["start"] + expected.ii * dependence.distance + dependence.release
            ends.append(end)
            if reader["group"] != places[op.id]["group"]:
                crossing.append(end)
        if op.result is None or not ends:
            continue
        held = ends if op.result.space is Space.SHARED else crossing if op.result.space is Space.REGISTERS else []
        if held:
            last = fusion.blocks[op.id][-1].op.id if fusion is not None and op.id in fusion.blocks else op.id
            found[last] = expected.rings.get(op.id, held_at_once(begin, max(held), expected.ii))
    return found


def held_at_once(begin: int, end: int, ii: int) -> int:
    """The most iterations of a range that overlap, at least one."""
    length = max(end - begin, 1)
    return max(
        sum(begin + ii * i <= at < begin + length + ii * i for i in range(-length // ii - 2, length // ii + 3))
        for at in range(begin, begin + ii)
    )


def in_role(program: RoleProgram, name: str, edit: Callable[[Pipeline], Pipeline]) -> RoleProgram:
    """The program with the scheduled loop of a role changed."""
    roles = [
        replace(role, statements=tuple(edit(one) if isinstance(one, Pipeline) else one for one in role.statements))
        if role.name == name
        else role
        for role in program.roles
    ]
    return replace(program, roles=tuple(roles))
