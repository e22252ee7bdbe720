"""Steady states in the CUDA texts of all sample projects issue what the schedule files say; rings have their slots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from readback import KERNELS, Expected, depths, in_role, is_free, kernel, pipelines, rings_of

from core.export.cuda.kernel import kernel_file
from core.export.cuda.names import identifier
from core.export.roles.model import Issue, Pipeline, RoleProgram
from core.ir.operations import category_of
from core.ir.tiles import Category

BODY = r"^TW_CALL void role_{role}\(const Params& p, Smem& s\) {{\n(.*?)^}}"
STEADY = re.compile(r"^( *)for \(; (t\w*) \+ (\d+) <= n\w*; \2 \+= \3\) \{\n(.*?)^\1\}", re.MULTILINE | re.DOTALL)
ISSUE = re.compile(r"tw::(tma_load|cp_async<\d+>|load<\d+>|mma_ss|mma_rs)\(")
ON_UNITS = (Category.LOAD, Category.MATRIX)


def steady_lines(program: RoleProgram) -> dict[str, list[tuple[int, ...]]]:
    """By role, for each scheduled loop in order: the lines of the IR whose loads and matrix ops its steady state
    issues, as the text has them."""
    file = kernel_file(program)
    found: dict[str, list[tuple[int, ...]]] = {}
    for role in program.roles:
        body = re.search(BODY.format(role=identifier(role.name)), file.source, re.MULTILINE | re.DOTALL)
        assert body is not None
        found[role.name] = []
        for loop in STEADY.finditer(body[1]):
            first = file.source.count("\n", 0, body.start(1) + loop.start(4)) + 1
            lines = enumerate(loop[4].splitlines(), first)
            issued = [file.origins[number] for number, line in lines if ISSUE.search(line)]
            found[role.name].append(in_a_circle(issued))
    return found


def in_a_circle(lines: Sequence[int]) -> tuple[int, ...]:
    """The order of a steady state, which may begin anywhere; parts of one op one after another count once."""
    once = [line for at, line in enumerate(lines) if at == 0 or line != lines[at - 1]]
    return min((tuple(once[at:] + once[:at]) for at in range(len(once))), default=())


def scheduled_lines(program: RoleProgram, loops: Sequence[Expected]) -> dict[str, list[tuple[int, ...]]]:
    """The same by the schedule files: in the order of the slots, once for each iteration that the text unrolls."""
    found: dict[str, list[tuple[int, ...]]] = {role.name: [] for role in program.roles}
    for expected in sorted(loops, key=lambda each: each.loop.tiles.loop.index):
        for role, pipeline in pipelines(program, expected).items():
            tiles = expected.loop.tiles.ops
            issued = [
                (expected.starts[op] % expected.ii, expected.graph.ops[op].line)
                for op, group in expected.groups.items()
                if group == role and category_of(tiles[op].operations[0]) in ON_UNITS and not is_free(expected, op)
            ]
            found[role].append(in_a_circle([line for _, line in sorted(issued)] * pipeline.unroll))
    return found


def text_depths(program: RoleProgram) -> dict[str, int]:
    """The slots of each ring in the shared memory of the text."""
    source = kernel_file(program).source
    return {name: int(depth) for name, depth in re.findall(r"unsigned char (\w+)\[(\d+)\]\[\d+\];", source)}


@pytest.mark.parametrize("name", KERNELS)
def test_steady_states_in_the_text_issue_what_the_files_say(name: str) -> None:
    program, loops = kernel(name)
    assert steady_lines(program) == scheduled_lines(program, loops)


@pytest.mark.parametrize("name", KERNELS)
def test_the_text_has_the_slots_of_the_files(name: str) -> None:
    """Of each ring that the files give a depth; the role program says only which ring an op fills."""
    program, loops = kernel(name)
    there = text_depths(program)
    for expected in loops:
        for op, depth in depths(expected).items():
            for ring in rings_of(program, expected, op):
                assert there[identifier(ring)] == depth or (len(loops) > 1 and there[identifier(ring)] > depth)


def test_a_text_of_another_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three or more, since the order is that of a circle."""
    monkeypatch.setattr("core.export.cuda.kernel.refuse_faults", lambda _: None)  # the trial run notices it before
    program, loops = kernel("attention_backward_hopper")
    changed = steady_lines(in_role(program, "compute.0", matrix_ops_swapped))
    assert {role for role, lines in scheduled_lines(program, loops).items() if changed[role] != lines} == {"compute.0"}


def matrix_ops_swapped(pipeline: Pipeline) -> Pipeline:
    steady = list(pipeline.steady)
    first, second = [at for at, one in enumerate(steady) if isinstance(one, Issue) and "dot" in one.operation.name][:2]
    steady[first], steady[second] = steady[second], steady[first]
    return replace(pipeline, steady=tuple(steady))
