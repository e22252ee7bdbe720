"""Annotated TTGIR: nothing of the input is lost, every op is placed, and the schedule can be read from it again."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from triton_oracle import parse_with_triton

from core.diagnostics import InputError
from core.export.annotation import annotated_operations, place_operations
from core.export.attribute_text import AttributeValue, read_value, write_value
from core.export.ttgir import annotated_ttgir, annotation_warnings, read_annotations
from core.graph.fuse import fuse
from core.graph.model import Graph, GroupKind
from core.ir.loops import main_loop
from core.ir.model import Loop, Module, Operation, Value
from core.ir.parser import parse_module
from core.ir.source import load_module
from core.ir.subtile import subtile
from core.ir.tile_loop import tile_loop
from core.ir.tiles import TileLoop
from core.machine.build import build_graph
from core.machine.load import find_machine
from core.schedule.bounds import bounds
from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "tests" / "data" / "ttgir"
INPUTS = [
    SAMPLES / f"{name}.ttgir"
    for name in (
        "fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre",
        "fa_fwd_2q_sm100_d128m2x128n128-f16_v39_pre",
        "fa_bwd_fused_sm90_d128m64n128-f16_v39_pre",
        "gemm_tma_sm90_m128n128k64-f16_v39_pre",
        "gemm_tma_sm100_m128n128k64-f16-num_v39_pre",
        "gemm_w8_sm90_m64n128k64-f16-asm_v39_pre",
        "fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre",
        "layer_norm_sm90_n1024-bf16_v36_pre",
        "fa_bwd_dkdv_sm90_d128m64n128-f16-full_v39_sched",
    )
]
GROUPS = (GroupKind("load", 1, 1, True), GroupKind("compute", 4, 2))
NAMES = ('compute "a\\"', "compute.1", "load.0")


def open_input(path: Path) -> TileLoop:
    module = load_module(path)
    loop, _ = main_loop(module)
    assert loop is not None
    return tile_loop(module, loop)


def graph_of(tiles: TileLoop) -> Graph:
    machine = find_machine("b200" if tiles.module.target == "cuda:100" else "h100", Path())
    return build_graph(tiles, machine, GROUPS).graph


def early_schedule(graph: Graph) -> Schedule:
    """Every op as early as its dependences allow at the recurrence bound, dealt out to three groups."""
    limit = bounds(graph)
    ii = max(limit.rec_mii or 1, (limit.res_mii or 1) // 3, 1)
    starts = dict.fromkeys(graph.ops, 0)
    for _ in graph.ops:
        for edge in graph.dependences:
            earliest = starts[edge.source] + edge.latency - ii * edge.distance
            starts[edge.target] = max(starts[edge.target], earliest)
    assert all(
        starts[edge.target] + ii * edge.distance >= starts[edge.source] + edge.latency for edge in graph.dependences
    )
    return Schedule(
        ii=ii,
        groups={
            name: ScheduledGroup("load" if "load" in name else "compute", 8 * k + 24) for k, name in enumerate(NAMES)
        },
        ops={
            op: Placement(start, NAMES[index % 3], delay=index % 2) for index, (op, start) in enumerate(starts.items())
        },
        rings=dict.fromkeys(list(graph.ops)[:2], 2),
        origin=Origin("solver", "optimal", "exact", 3),
    )


def reparsed(tiles: TileLoop, text: str) -> tuple[Module, Loop]:
    module = parse_module(text, tiles.module.file)
    return module, module.loops[tiles.loop.index]


def name_of(path: Path) -> str:
    return path.stem


@pytest.fixture(params=INPUTS, ids=name_of)
def tiles(request: pytest.FixtureRequest) -> TileLoop:
    return open_input(request.param)


def without_annotations(text: str) -> str:
    """The text without what the exporter adds to operations that had no such attributes."""
    entries = r"loop\.cluster = [^{}\n]*twill\.start = \d+ : i64"
    text = re.sub(rf" \{{{entries}\}}|, {entries}(?=\}})", "", text)
    return re.sub(r" \{tt\.scheduled_max_stage = .*twill\.rings = \{[^{}\n]*\}\}", "", text)


def carried_sources(loop: Loop, value: Value) -> tuple[Operation | None, int]:
    """The operation of the body that makes the value, and how many iterations before."""
    distance = 0
    seen: set[Value] = set()
    while value in loop.arguments and value not in seen:
        seen.add(value)
        value = loop.yielded[loop.arguments.index(value)]
        distance += 1
    inside = value.producer is not None and value.producer.block is loop.body
    return (value.producer if inside else None), distance


@pytest.mark.parametrize("path", [path for path in INPUTS if not path.stem.endswith("_sched")], ids=name_of)
def test_all_else_stays_byte_for_byte(path: Path) -> None:
    tiles = open_input(path)
    text = annotated_ttgir(tiles, early_schedule(graph_of(tiles)))
    assert text != tiles.module.text
    assert without_annotations(text) == tiles.module.text


def test_older_annotations_are_replaced() -> None:
    tiles = open_input(SAMPLES / "fa_bwd_dkdv_sm90_d128m64n128-f16-full_v39_sched.ttgir")
    _, places = place_operations(tiles, early_schedule(graph_of(tiles)))
    _, loop = reparsed(tiles, annotated_ttgir(tiles, early_schedule(graph_of(tiles))))
    for before, after in zip(annotated_operations(tiles.loop), annotated_operations(loop), strict=True):
        assert after.attributes["loop.stage"] == f"{places[before].stage} : i32"
        assert after.attributes["loop.cluster"] == f"{places[before].cluster} : i32"
        others = {name: text for name, text in before.attributes.items() if not name.startswith("loop.")}
        assert others.items() <= after.attributes.items()
    again = annotated_ttgir(
        tile_loop(*reparsed(tiles, annotated_ttgir(tiles, early_schedule(graph_of(tiles))))),
        early_schedule(graph_of(tiles)),
    )
    assert again == annotated_ttgir(tiles, early_schedule(graph_of(tiles)))


def test_every_op_of_the_body_is_placed_and_no_other(tiles: TileLoop) -> None:
    schedule = early_schedule(graph_of(tiles))
    module, loop = reparsed(tiles, annotated_ttgir(tiles, schedule))
    body = set(annotated_operations(loop))
    assert len(body) == len(tiles.loop.body.operations) - 1
    blackwell = module.target == "cuda:100"
    for op in module.operation.walk():
        names = ["loop.stage", "loop.cluster", "twill.group", "twill.start", *(["ttg.partition"] if blackwell else [])]
        assert [name in op.attributes for name in names] == [op in body] * len(names), op
    stages = [int(op.attributes["loop.stage"].split()[0]) for op in body]
    assert min(stages) == 0
    assert loop.operation.attributes["tt.scheduled_max_stage"] == f"{max(stages)} : i32"
    assert loop.operation.attributes["twill.ii"] == f"{schedule.ii} : i64"


def test_order_of_the_steady_state_keeps_every_use_behind_its_definition(tiles: TileLoop) -> None:
    """An op of stage s works on iteration i - s; within one period, clusters go in order, then the text."""
    _, places = place_operations(tiles, early_schedule(graph_of(tiles)))
    text_order = {op: index for index, op in enumerate(tiles.loop.body.operations)}
    checked = 0
    for op, place in places.items():
        for value in (operand for nested in op.walk() for operand in nested.operands):
            source, distance = carried_sources(tiles.loop, value)
            if source is None:
                continue
            made = places[source]
            slack = place.stage + distance - made.stage
            assert slack >= 0, (source, op)
            if slack == 0 and source is not op:
                assert (made.cluster, text_order[source]) < (place.cluster, text_order[op]), (source, op)
            checked += 1
    assert checked >= len(places)


def test_the_schedule_reads_back(tiles: TileLoop) -> None:
    graph = graph_of(tiles)
    schedule = early_schedule(graph)
    module, loop = reparsed(tiles, annotated_ttgir(tiles, schedule))
    assert read_annotations(module, loop) == schedule
    assert graph_of(tile_loop(module, loop)) == graph


def test_fused_blocks(tiles: TileLoop) -> None:
    fusion = fuse(graph_of(tiles), small_cycles=1 << 20)
    schedule = early_schedule(fusion.graph)
    module, loop = reparsed(tiles, annotated_ttgir(tiles, schedule, fusion))
    assert read_annotations(module, loop) == schedule
    opened = fusion.opened({op: place.start for op, place in schedule.ops.items()})
    _, places = place_operations(tiles, schedule, fusion)
    for op, start in opened.items():
        operations = tiles.ops[op].operations
        if operations and tiles.owner(operations[0]) == (op,):
            assert places[operations[0]].start == start


def test_sub_tiles_share_their_operation() -> None:
    whole = open_input(SAMPLES / "fa_bwd_fused_sm90_d128m64n128-f16_v39_pre.ttgir")
    tiles = subtile(whole, "n", 2, ["warp_group_dot.0"])
    schedule = early_schedule(graph_of(tiles))
    module, loop = reparsed(tiles, annotated_ttgir(tiles, schedule))
    assert read_annotations(module, loop) == schedule
    _, places = place_operations(tiles, schedule)
    split = tiles.ops["warp_group_dot.0.0"].operations[0]
    parts = [schedule.ops[f"warp_group_dot.0.{part}"] for part in range(2)]
    assert places[split].start == min(part.start for part in parts)
    assert set(places[split].groups) == {part.group for part in parts}
    assert places[split].op is None
    (said,) = [entry for entry in annotation_warnings(tiles) if entry.line == split.name_span.line]
    assert "warp_group_dot.0.0, warp_group_dot.0.1" in said.message
    assert annotation_warnings(whole) == ()


def test_an_operation_without_place_for_attributes_stays_and_is_named() -> None:
    text = (SAMPLES / "gemm_tma_sm90_m128n128k64-f16_v39_pre.ttgir").read_text(encoding="utf-8")
    module = parse_module(text.replace("      scf.yield", "      ttg.barrier local\n      scf.yield", 1), "t.ttgir")
    tiles = tile_loop(module, module.loops[0])
    schedule = early_schedule(graph_of(tiles))
    assert "      ttg.barrier local\n      scf.yield" in annotated_ttgir(tiles, schedule)
    (said,) = annotation_warnings(tiles)
    assert said.message.startswith("ttg.barrier")


def test_a_later_stage_goes_first_within_a_slot() -> None:
    tiles = open_input(SAMPLES / "gemm_tma_sm90_m128n128k64-f16_v39_pre.ttgir")
    graph = graph_of(tiles)
    starts = {op: 100 * (index % 2) + 7 for index, op in enumerate(graph.ops)}
    schedule = replace(
        early_schedule(graph), ii=100, ops={op: Placement(start, NAMES[0]) for op, start in starts.items()}
    )
    _, places = place_operations(tiles, schedule)
    by_stage: dict[int, set[int]] = {}
    for place in places.values():
        by_stage.setdefault(place.stage, set()).add(place.cluster)
    assert by_stage == {0: {1}, 1: {0}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"twill\.ii = \d+ : i64, ", ""),
        (r"twill\.ii = \d+", "twill.ii = 0"),
        (r"twill\.groups = \[", "twill.groups = [7 : i64, "),
        (r"twill\.groups = \[.*?\], ", ""),
        (r"twill\.rings = \{", 'twill.rings = {a = "b", '),
        (r"twill\.start = \d+ : i64", "twill.start = dense<0>"),
        (r"twill\.start = \d+ : i64", 'twill.start = "x"'),
        (r"twill\.op = \"\w+", r'twill.op = "\\FF'),
    ],
)
def test_a_damaged_annotation_is_told_with_its_line(old: str, new: str) -> None:
    tiles = open_input(SAMPLES / "gemm_tma_sm90_m128n128k64-f16_v39_pre.ttgir")
    text = annotated_ttgir(tiles, early_schedule(graph_of(tiles)))
    damaged = re.sub(old, new, text, count=1)
    assert damaged != text
    with pytest.raises(InputError) as caught:
        read_annotations(*reparsed(tiles, damaged))
    (said,) = caught.value.diagnostics
    assert said.code == "bad-annotation"
    assert said.line is not None


def test_text_without_a_schedule() -> None:
    tiles = open_input(SAMPLES / "gemm_tma_sm90_m128n128k64-f16_v39_pre.ttgir")
    with pytest.raises(InputError, match="carries no schedule"):
        read_annotations(tiles.module, tiles.loop)


@given(
    st.recursive(
        st.integers(-(10**12), 10**12) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
        max_leaves=12,
    )
)
def test_attribute_values_read_back(value: AttributeValue) -> None:
    text = write_value(value)
    assert read_value(text) == value
    module = parse_module(f"module attributes {{x = {text}}} {{\n}}\n", "t.ttgir")
    assert module.attributes["x"] == text


@pytest.mark.parametrize("source", [path for path in INPUTS if "_v39_" in path.stem], ids=name_of)
def test_triton_reads_it_and_prints_it_back(source: Path, tmp_path: Path) -> None:
    """Through Triton's parser and printer, the text still holds the whole schedule."""
    tiles = open_input(source)
    schedule = early_schedule(graph_of(tiles))
    path = tmp_path / "annotated.ttgir"
    path.write_text(annotated_ttgir(tiles, schedule), encoding="utf-8")
    printed = parse_with_triton(path, tiles.module.target)
    assert read_annotations(*reparsed(tiles, printed)) == schedule
