"""Graph files: every default of the format, every fault at its place, and what is written reads back equal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.diagnostics import InputError
from core.graph.model import (
    Block,
    Dependence,
    DependenceKind,
    Graph,
    GroupKind,
    InOrderIssue,
    Limits,
    Op,
    Pin,
    Pool,
    RegisterFile,
    Result,
    Rules,
    Space,
)
from core.graph.read import load_graph, parse_graph
from core.graph.write import dump_graph, graph_document

CASES = Path(__file__).parents[2] / "data" / "cases"
FILES = sorted(path for path in CASES.glob("*/*.yaml") if path.name != "expected.yaml")

FULL = """\
schema: twill.graph/1
name: all keys
machine:
  units: {tensor_core: 1, sfu: 2}
  registers: {file_words: 65536, max_per_thread: 240, granularity: 8, overhead: 26, pool: warpgroup}
  shared_memory_bytes: 232448
  tensor_memory_columns: 512
  fixed_shared_bytes: 1024
groups:
  - {kind: load, warps: 1, count: 1, variable_latency: true}
  - {kind: compute, warps: 4, count: 2}
rules: {isolate_matrix_issue: true, in_order_issue: weak, allow_hand_off: false}
ops:
  load:
    {kind: tt.load, variable_latency: true, streaming: true, asynchronous: true, latency: 600,
     result: {space: shared, amount: 64}}
  dot:
    kind: ttng.warp_group_dot
    line: 41
    needs_warps: 4
    blocks: [[tensor_core, 0, 512, 1], [sfu, 4, 8]]
    issue_cycles: 103
    latency: 575
    asynchronous: true
    matrix: true
    result: {space: registers, amount: 64}
    hand_off_cycles: 665
    hand_off_bytes: 32768
    queue: 7
  scale: {kind: arith.mulf, issue_cycles: 9, latency: 17}
dependences:
  - {from: load, to: dot}
  - {from: dot, to: scale, latency: 3, distance: 2, kind: anti, release: 1, blocking: true}
  - {from: dot, to: scale, kind: order}
pins: {dot: {start: 0, group: tile}, scale: {start: 9}}
"""


def test_every_key_is_read() -> None:
    graph = parse_graph(FULL, "g.yaml")
    assert graph.name == "all keys"
    assert graph.machine == Limits(
        {"tensor_core": 1, "sfu": 2}, RegisterFile(65536, 240, 8, 26, Pool.WARPGROUP), 232448, 512, 1024
    )
    assert graph.groups == (GroupKind("load", 1, 1, True), GroupKind("compute", 4, 2, False))
    assert graph.rules == Rules(InOrderIssue.WEAK, True, False)
    assert list(graph.ops) == ["load", "dot", "scale"]
    assert graph.ops["dot"] == Op(
        "dot",
        "ttng.warp_group_dot",
        4,
        (Block("tensor_core", 0, 512, 1), Block("sfu", 4, 8, 1)),
        103,
        575,
        asynchronous=True,
        matrix=True,
        result=Result(Space.REGISTERS, 64),
        hand_off_cycles=665,
        hand_off_bytes=32768,
        queue=7,
        line=41,
    )
    assert graph.ops["load"].variable_latency and graph.ops["load"].streaming
    assert graph.pins == {"dot": Pin(0, "tile"), "scale": Pin(9, None)}


def test_what_a_dependence_leaves_out_follows_from_its_ops() -> None:
    to_asynchronous, given_all, to_synchronous = parse_graph(FULL, "g.yaml").dependences
    # latency: that of its `from` op; release: the latency of an asynchronous reader, issue_cycles of another
    assert to_asynchronous == Dependence("load", "dot", 600, 0, DependenceKind.FLOW, 575, False)
    assert given_all == Dependence("dot", "scale", 3, 2, DependenceKind.ANTI, 1, True)
    assert to_synchronous == Dependence("dot", "scale", 575, 0, DependenceKind.ORDER, 9, False)


def test_what_is_left_out_elsewhere_is_the_format_s_default() -> None:
    graph = parse_graph("schema: twill.graph/1\ngroups: [{kind: g}]\nops: {a: {}}", "g.yaml")
    assert graph == Graph(
        "", Limits({}, RegisterFile(0, 0, 1, 0, Pool.FLAT), 0, 0, 0), (GroupKind("g", 1, 1, False),), {"a": Op("a", "")}
    )
    assert graph.ops["a"].needs_warps == 1 and graph.ops["a"].result == Result(Space.NONE, 0)
    assert graph.rules == Rules(InOrderIssue.STRONG, False, True)


@pytest.mark.parametrize(("word", "mode"), [("off", "off"), ("'off'", "off"), ("false", "off"), ("strong", "strong")])
def test_a_bare_off_is_false_to_yaml_and_off_to_us(word: str, mode: str) -> None:
    graph = parse_graph(FULL.replace("in_order_issue: weak", f"in_order_issue: {word}"), "g.yaml")
    assert graph.rules.in_order_issue.value == mode


def test_the_key_bounds_is_ignored() -> None:
    assert parse_graph(FULL + "bounds: {min_ii: 3, anything: [1]}\n", "g.yaml") == parse_graph(FULL, "g.yaml")


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("from: load, to", "from: lod, to", "unknown-op", "did you mean 'load'?"),
        ("to: dot}", "to: dott}", "unknown-op", "did you mean 'dot'?"),
        ("[sfu, 4, 8]", "[sfuu, 4, 8]", "unknown-unit", "did you mean 'sfu'?"),
        ("space: shared", "space: sharde", "bad-value", "'shared'"),
        ("latency: 575", "latency: -575", "bad-value", "greater than or equal to 0"),
        ("latency: 575", "latency: 5.5", "bad-value", "integer"),
        ("latency: 575", f"latency: {10**30}", "bad-value", "less than or equal to 1000000000"),
        ("warps: 1, count", "warps: 65, count", "bad-value", "less than or equal to 64"),
        ("latency: 575", "latency: true", "bad-value", "integer"),
        ("matrix: true", "matrix: 1", "bad-value", "boolean"),
        ("granularity: 8", "granularity: 0", "bad-value", "greater than or equal to 1"),
        ("[sfu, 4, 8]", "[sfu, 4]", "bad-value", "[unit, offset, duration, amount]"),
        ("kind: anti", "kind: antic", "bad-value", "'anti'"),
        ("in_order_issue: weak", "in_order_issue: on", "bad-value", "'strong'"),
        ("issue_cycles: 103", "isue_cycles: 103", "unknown-key", "did you mean 'issue_cycles'?"),
        ("shared_memory_bytes:", "shared_memory_byte:", "unknown-key", "did you mean 'shared_memory_bytes'?"),
        ("pins: {dot:", "pins: {dott:", "unknown-op", "did you mean 'dot'?"),
        ("scale: {start: 9}}", "scale: {}}", "empty-pin", "'start' or 'group'"),
        ("kind: compute, warps", "kind: load, warps", "duplicate-kind", "given twice"),
        ("schema: twill.graph/1", "schema: twill.graph/2", "newer-schema", "twill.graph/1"),
        ("schema: twill.graph/1\n", "", "bad-schema", "schema"),
        ("  dot:\n", "  load:\n", "duplicate-key", "given twice"),
    ],
)
def test_each_fault_has_its_place(old: str, new: str, code: str, words: str) -> None:
    line = FULL[: FULL.index(old)].count("\n") + 1
    with pytest.raises(InputError) as caught:
        parse_graph(FULL.replace(old, new, 1), "g.yaml")
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.file, diagnostic.line) == (code, "g.yaml", line)
    assert diagnostic.column is not None
    assert words in f"{diagnostic.message} {diagnostic.hint}"


def test_all_faults_are_told_at_once() -> None:
    text = FULL.replace("from: load, to", "from: lod, to").replace("[sfu, 4, 8]", "[sfuu, 4, 8]")
    with pytest.raises(InputError) as caught:
        parse_graph(text, "g.yaml")
    assert [d.code for d in caught.value.diagnostics] == ["unknown-unit", "unknown-op"]


def test_a_graph_without_ops_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        parse_graph("schema: twill.graph/1\nops: {}", "g.yaml")
    assert caught.value.diagnostics[0].code == "no-ops"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_written_reads_back_equal(path: Path) -> None:
    graph = load_graph(path)
    text = dump_graph(graph)
    assert parse_graph(text, "again.yaml") == graph
    assert dump_graph(parse_graph(text, "again.yaml")) == text
    assert parse_graph(json.dumps(graph_document(graph)), "again.json") == graph


def test_all_keys_are_written() -> None:
    document = graph_document(parse_graph("schema: twill.graph/1\ngroups: [{kind: g}]\nops: {a: {}}", "g.yaml"))
    full = graph_document(parse_graph(FULL, "g.yaml"))
    assert list(document) == list(full)
    assert set(full["ops"]["dot"]) - set(document["ops"]["a"]) == {"line"}  # "if any"
    assert list(document["machine"]["registers"]) == list(full["machine"]["registers"])


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@settings(max_examples=100, deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=4, unique=True), NAMES)
def test_any_name_survives(names: list[str], kind: str) -> None:
    ops = {name: Op(name, kind, blocks=(Block(kind, 0, 1),)) for name in names}
    graph = Graph(
        kind,
        Limits({kind: 1}, RegisterFile(0, 0)),
        (GroupKind(kind),),
        ops,
        (Dependence(names[0], names[1], 1),),
        pins={names[1]: Pin(group=names[0])},
    )
    assert parse_graph(dump_graph(graph), "g.yaml") == graph
