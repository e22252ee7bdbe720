"""Which lines belong to which ops: held against the text itself."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from states import write_project

from core.graph.fuse import fuse
from core.project.load import load_project
from core.project.opened import OpenProject, open_project
from core.resources import data_folder
from twill_gui.models.source_lines import SourceLines, source_lines

PROJECTS = ("attention_forward_hopper", "attention_backward_hopper", "attention_forward_blackwell", "gemm_hopper")


@cache
def opened(name: str) -> OpenProject:
    return open_project(load_project(data_folder("projects") / name))


def lines_of(project: OpenProject) -> SourceLines:
    lines = source_lines(project)
    assert lines is not None
    return lines


@pytest.mark.parametrize("name", PROJECTS)
def test_every_op_has_a_line_that_names_it(name: str) -> None:
    project = opened(name)
    lines = lines_of(project)
    text = lines.text.splitlines()
    assert lines.own.keys() == project.graph.ops.keys()
    for op in project.graph.ops.values():
        own = text[lines.own[op.id][0] - 1]
        assert re.search(rf"\b{re.escape(op.kind)}\b", own), (op.id, own)
        assert lines.own[op.id][0] == op.line
        assert not set(lines.own[op.id]) & set(lines.helping[op.id])


@pytest.mark.parametrize("name", PROJECTS)
def test_lines_and_ops_agree_and_every_line_of_the_loop_is_of_an_op(name: str) -> None:
    project = opened(name)
    lines = lines_of(project)
    for op in project.graph.ops:
        assert all(op in lines.ops[line] for line in (*lines.own[op], *lines.helping[op]))
    assert sum(map(len, lines.ops.values())) == sum(len(lines.own[op]) + len(lines.helping[op]) for op in lines.own)
    text = lines.text.splitlines()
    assert "scf.for" in text[lines.loop_line - 1]
    first, last = lines.loop_line, next(n for n, line in enumerate(text, 1) if "scf.yield" in line)
    unowned = {line for line in range(first + 1, last) if line not in lines.ops}
    assert {text[line - 1].strip() for line in unowned} <= {""}


def test_an_op_with_a_region_has_all_its_lines() -> None:
    lines = lines_of(opened("attention_forward_hopper"))
    first, *others = lines.own["reduce.0"]
    assert others == [first + step for step in (1, 2, 3, 4)]
    text = lines.text.splitlines()
    assert '"tt.reduce"(' in text[first - 1] and text[others[-1] - 1].lstrip().startswith("})")


def test_a_multiply_add_has_both_lines_and_its_views_help() -> None:
    lines = lines_of(opened("attention_forward_hopper"))
    text = lines.text.splitlines()
    own, helping = ([text[line - 1] for line in found["subf.0"]] for found in (lines.own, lines.helping))
    assert [line.split(" = ")[1].split()[0] for line in own] == ["arith.subf", "arith.mulf"]
    assert [line.split(" = ")[1].split()[0] for line in helping] == ["tt.expand_dims", "tt.broadcast"]
    assert lines.lines(["subf.0", "unknown"]) == (frozenset(lines.own["subf.0"]), frozenset(lines.helping["subf.0"]))


def test_sub_tiles_share_the_line_of_their_op() -> None:
    project = load_project(data_folder("projects") / "attention_backward_hopper").for_schedule("two_key_tiles")
    assert project.transform.subtile is not None and project.transform.subtile.parts == 2
    split = lines_of(open_project(project))
    whole = lines_of(opened("attention_backward_hopper"))
    dot = whole.own["warp_group_dot.0"][0]
    assert len(split.ops[dot]) == 2
    assert all(split.own[op] == whole.own["warp_group_dot.0"] for op in split.ops[dot])


def test_a_fused_block_has_the_lines_of_its_parts() -> None:
    project = opened("attention_backward_hopper")
    fusion = fuse(project.graph, small_cycles=1000)
    assert fusion.blocks
    lines = lines_of(replace(project, graph=fusion.graph, fusion=fusion))
    for block, parts in fusion.blocks.items():
        assert {part.op.line for part in parts} <= set(lines.own[block])
        assert lines.own[block][0] == project.graph.ops[block].line


def test_a_graph_file_has_no_lines(tmp_path: Path) -> None:
    project = load_project(write_project(tmp_path / "p"))
    assert source_lines(open_project(project)) is None
