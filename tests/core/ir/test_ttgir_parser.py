"""How the text's forms become operations, values and regions, each with its exact place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from triton_oracle import parse_with_triton
from ttgir_corpus import SAMPLES, sample_rows

from core.diagnostics import InputError, Severity
from core.ir.model import Module, Operation, Span, Value
from core.ir.parser import parse_module
from core.ir.source import load_module

SAMPLE_FILES = [row["file"] for row in sample_rows()]


def parse(body: str, arguments: str = "%x: i32, %t: tensor<8xf32, #b>") -> list[Operation]:
    """The ops of a function's body, its return left out."""
    text = f"#b = #ttg.blocked<{{order = [0]}}>\nmodule {{\ntt.func @f({arguments}) {{\n{body}\ntt.return\n}}\n}}\n"
    function = parse_module(text, "t.ttgir").operation.regions[0].blocks[0].operations[0]
    return function.regions[0].blocks[0].operations[:-1]


def codes(body: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse(body)
    return [entry.code for entry in caught.value.diagnostics if entry.severity is Severity.ERROR]


def check_place(module: Module, span: Span) -> None:
    before = module.text[: span.start]
    assert span.line == before.count("\n") + 1
    assert span.column == span.start - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize("file", SAMPLE_FILES)
def test_spans_are_exact(file: str) -> None:
    module = load_module(SAMPLES / file)
    text = module.text

    def check_value(value: Value) -> None:
        assert text[value.span.start : value.span.end] == value.name.partition("#")[0]
        check_place(module, value.span)

    for op in module.operation.walk():
        check_place(module, op.span)
        written = text[op.span.start : op.span.end]
        if not written:
            assert op.name == "scf.yield"  # omitted in the text
            continue
        for value in op.results:
            check_value(value)
        name = text[op.name_span.start : op.name_span.end]
        assert name in {op.name, f'"{op.name}"', "module"} or op.name == "ttg.warp_specialize.partitions"
        assert written.startswith(op.results[0].name.partition("#")[0] if op.results else name)
        assert written[-1] in ")}>" or written[-1].isalnum() or written[-1] == "_"
        if op.attribute_span is not None:
            dictionary = text[op.attribute_span.start : op.attribute_span.end]
            assert dictionary[0] + dictionary[-1] == "{}"
        for region in op.regions:
            for block in region.blocks:
                for value in block.arguments:
                    check_value(value)
                places = [inner.span for inner in block.operations]
                assert all(a.end <= b.start for a, b in pairwise(places))
                assert all(op.span.start <= place.start and place.end <= op.span.end for place in places)


@pytest.mark.parametrize("file", SAMPLE_FILES)
def test_every_value_has_a_type(file: str) -> None:
    module = load_module(SAMPLES / file)
    assert [value.name for op in module.operation.walk() for value in op.results if not value.type] == []


def marked(module: Module) -> tuple[str, int]:
    """The text with an attribute on every op that can take one, and their number."""
    edits: list[tuple[int, str]] = []
    for op in module.operation.walk():
        span = op.attribute_span
        if span is not None:
            edits.append((span.end - 1, ", twill.mark" if span.end - span.start > 2 else "twill.mark"))
        elif op.insertion_offset:
            edits.append((op.insertion_offset, " {twill.mark}"))
    text = module.text
    for place, mark in sorted(edits, reverse=True):
        text = text[:place] + mark + text[place:]
    return text, len(edits)


@pytest.mark.parametrize("file", SAMPLE_FILES)
def test_attributes_may_be_added_where_the_module_says(file: str) -> None:
    module = load_module(SAMPLES / file)
    text, count = marked(module)
    again = parse_module(text, file)
    assert count > 10
    assert [op.name for op in again.operation.walk()] == [op.name for op in module.operation.walk()]
    assert sum("twill.mark" in op.attributes for op in again.operation.walk()) == count


@pytest.mark.parametrize("file", [file for file in SAMPLE_FILES if "_v39_" in file])
def test_triton_finds_attributes_in_the_same_places(file: str, tmp_path: Path) -> None:
    module = load_module(SAMPLES / file)
    text, count = marked(module)
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    assert parse_with_triton(path, module.target).count("twill.mark") == count


def test_result_groups_and_tuples() -> None:
    ops = parse(
        "%a:3 = acme.three %x : i32, i64, f32\n"
        "%b, %c = acme.two %a#2, %a#0, %a : (f32, i32, i32) -> (i1, tensor<4xf32, #b>)"
    )
    assert [(value.name, value.type, value.index) for value in ops[0].results] == [
        ("%a#0", "i32", 0),
        ("%a#1", "i64", 1),
        ("%a#2", "f32", 2),
    ]
    first, second, third = ops[0].results
    assert ops[1].operands == (third, first, first)
    assert second.producer is ops[0]
    assert [value.type for value in ops[1].results] == ["i1", "tensor<4xf32, #b>"]


TOKEN = "!ttg.async.token"
TILE = "tensor<8xf32, #b>"
REDUCE = """%a = "tt.reduce"(%t) <{axis = 0 : i32}> ({
^bb0(%l: f32, %r: f32):
  tt.reduce.return %l : f32
}) : (tensor<8xf32, #b>) -> f32"""


@pytest.mark.parametrize(
    ("line", "types"),
    [
        ("%a = arith.cmpi slt, %x, %x : i32", ["i1"]),
        (f"%a = arith.cmpf olt, %t, %t : {TILE}", ["tensor<8xi1, #b>"]),
        (f"%a = arith.select %x, %t, %t : i1, {TILE}", [TILE]),
        (f"%a = arith.truncf %t : {TILE} to tensor<8xf16, #b>", ["tensor<8xf16, #b>"]),
        ("%a = arith.constant true", ["i1"]),
        (f"%a = arith.constant dense<1.5> : {TILE}", [TILE]),
        ("%a = tt.load %x, %t : tensor<8x!tt.ptr<f16>, #b>", ["tensor<8xf16, #b>"]),
        ("%a = tt.load %x : !tt.ptr<i32>", ["i32"]),
        ("%a = tt.addptr %x, %x : !tt.ptr<f16>, i32", ["!tt.ptr<f16>"]),
        ("%a = tt.make_tensor_descriptor %x, [%x], [%x] : <f16>, <64xf16, #b>", ["!tt.tensordesc<64xf16, #b>"]),
        ("%a = ttg.async_copy_global_to_local %x, %t : tensor<8x!tt.ptr<f16>> -> <8xf16, #b>", [TOKEN]),
        ("%a = ttg.async_commit_group tokens %x", [TOKEN]),
        ("%a = ttg.async_wait {num = 0 : i32}", [TOKEN]),
        (f"%a, %b = ttng.tmem_load %x[%x] : !ttg.memdesc<8xf32> -> {TILE}", [TILE, TOKEN]),
        (f"%a, %b = ttng.tmem_alloc : () -> (!ttg.memdesc<8xf32>, {TOKEN})", ["!ttg.memdesc<8xf32>", TOKEN]),
        (f"%a = ttng.tmem_store %t, %x[%x], %x : {TILE} -> !ttg.memdesc<8xf32>", [TOKEN]),
        (f"%a:2 = ttng.warp_group_dot_wait %x, %t {{pendings = 0 : i32}} : i32, {TILE}", ["i32", TILE]),
        (REDUCE, ["f32"]),
    ],
)
def test_result_types(line: str, types: list[str]) -> None:
    (op,) = parse(line)
    assert [value.type for value in op.results] == types


def test_operands_attributes_and_arguments() -> None:
    ops = parse(
        '%a = tt.elementwise_inline_asm "{ .reg } // \\"q\\" \\\\" {constraints = "=f,r {", pure} %t : i1 -> i1\n'
        'tt.print " z {of} %x " {hex = false} : %t : tensor<8xf32, #b>\n'
        "%m = ttng.barrier_expect %x, 8192 {task = array<i32: 0, 1>}, %x : i32\n"
        "gpu.barrier\n"
        "%d = tt.dot %t, %t, %t, inputPrecision = tf32 : i1 * i1 -> i1 loc(callsite(#b at #b))"
    )
    assert [len(op.operands) for op in ops] == [1, 1, 2, 0, 3]
    assert ops[0].attributes == {"constraints": '"=f,r {"', "pure": ""}
    assert ops[1].text_arguments == '" z {of} %x "'
    assert ops[2].attributes == {"task": "array<i32: 0, 1>"}
    assert ops[2].text_arguments == "%x, 8192 , %x"
    assert ops[4].text_arguments == "%t, %t, %t, inputPrecision = tf32"


def test_generic_op_with_attributes_behind_its_region() -> None:
    (op,) = parse(
        '%r:2 = "tt.reduce"(%t, %t) <{axis = 1 : i32}> ({\n'
        "^bb0(%a: f32 loc(unknown), %b: f32, %c: f32, %d: f32 loc(#b)):\n"
        "  tt.reduce.return %a, %b : f32, f32\n"
        "}) {loop.stage = 1 : i32} : (i1, i1) -> (f32, i32)"
    )
    assert op.generic
    assert op.attributes == {"axis": "1 : i32", "loop.stage": "1 : i32"}
    assert [value.type for value in op.results] == ["f32", "i32"]
    assert len(op.regions[0].blocks[0].arguments) == 4


def test_loops_branches_and_omitted_yields() -> None:
    loop, branch = parse(
        "scf.for %i = %x to %x step %x : i32 {\n  gpu.barrier\n} {tt.flatten, tt.num_stages = 3 : i32}\n"
        "%r = scf.if %x -> (i32) {\n  scf.yield %x : i32\n} else {\n  scf.yield %x : i32\n}"
    )
    assert [op.name for op in loop.regions[0].blocks[0].operations] == ["gpu.barrier", "scf.yield"]
    assert loop.attributes == {"tt.flatten": "", "tt.num_stages": "3 : i32"}
    assert [value.type for value in loop.regions[0].blocks[0].arguments] == ["i32"]
    assert len(branch.regions) == 2
    assert branch.results[0].type == "i32"


def test_what_a_loop_carries() -> None:
    text = (
        "tt.func @f(%x: i32, %t: f32) {\n"
        "%r:2 = scf.for %i = %x to %x step %x iter_args(%a = %x, %b = %t) -> (i32, f32) : i32 {\n"
        "  %c = acme.c %a : i32\n"
        "  scf.yield %c, %b : i32, f32\n}\n"
        "%s = scf.while (%d = %t) : (f32) -> f32 {\n"
        "  %e = acme.e %d : i1\n"
        "  scf.condition(%e) %d : f32\n"
        "} do {\n^bb0(%g: f32):\n"
        "  scf.for %j = %x to %x step %x : i32 {\n  }\n"
        "  scf.yield %g : f32\n}\n"
        "tt.return\n}\n"
    )
    counted, repeated, inner = parse_module(text, "t.ttgir").loops

    def names(values: Sequence[Value]) -> list[str]:
        return [value.name for value in values]

    assert counted.induction is not None
    assert counted.induction.name == "%i"
    assert names(counted.arguments) == ["%a", "%b"]
    assert names(counted.initial) == ["%x", "%t"]
    assert names(counted.yielded) == ["%c", "%b"]
    assert names(counted.bounds) == ["%x", "%x", "%x"]
    assert repeated.induction is None
    assert names(repeated.arguments) == ["%d"]
    assert names(repeated.initial) == ["%t"]
    assert names(repeated.yielded) == ["%g"]
    assert names(repeated.body.arguments) == ["%g"]
    assert [(loop.index, loop.depth) for loop in (counted, repeated, inner)] == [(0, 0), (1, 0), (2, 1)]


def test_warp_specialize() -> None:
    (op,) = parse(
        "%r:2 = ttg.warp_specialize(%x, %t) attributes {requestedRegisters = array<i32: 24>}\n"
        "default {\n  ttg.warp_yield %x, %x : i32, i32\n}\n"
        "partition0(%x: i32, %y: f32) num_warps(1) {\n  gpu.barrier\n  ttg.warp_return\n}\n"
        "partition1(%x: i32, %y: f32) num_warps(4) {\n  ttg.warp_return\n} : (i32, f32) -> (i32, i32)"
    )
    default, holder = op.regions
    (partitions,) = holder.blocks[0].operations
    assert partitions.name == "ttg.warp_specialize.partitions"
    assert [region.blocks[0].arguments[0].name for region in partitions.regions] == ["%x", "%x"]
    assert default.blocks[0].operations[0].operands[0] is op.operands[0]
    assert op.attributes["partitionNumWarps"] == "array<i32: 1, 4>"
    assert [value.type for value in op.results] == ["i32", "i32"]


def test_blocks_with_branches() -> None:
    """A use in another block may stand before its definition; in the same block it may not."""
    (function,) = parse_module(
        "tt.func @f(%c: i1) {\n"
        "  cf.br ^bb2\n^bb1:\n  acme.use %late : i32\n  tt.return\n"
        "^bb2:\n  %late = arith.constant 1 : i32\n  cf.cond_br %c, ^bb1, ^bb3(%late : i32)\n"
        "^bb3(%z: i32):\n  tt.return\n}\n",
        "t.ttgir",
    ).operation.regions[0].blocks[0].operations  # fmt: skip
    blocks = function.regions[0].blocks
    assert [len(block.operations) for block in blocks] == [1, 2, 2, 1]
    assert blocks[1].operations[0].operands[0] is blocks[2].operations[0].results[0]
    assert blocks[2].operations[1].operands == (
        function.regions[0].blocks[0].arguments[0],
        blocks[2].operations[0].results[0],
    )


def test_unknown_ops_keep_their_regions_and_text() -> None:
    ops = parse(
        "%a = acme.region %x [1, 2] with {k = 1 : i32} : i32 {\n  %b = acme.inner %x : i32\n  acme.yield %b : i32\n}\n"
        "%c = acme.next %a : i32 -> i32"
    )
    assert [op.name for op in ops] == ["acme.region", "acme.next"]
    assert [op.name for op in ops[0].regions[0].blocks[0].operations] == ["acme.inner", "acme.yield"]
    assert ops[0].text_arguments == "%x [1, 2] with"


def test_each_unknown_op_is_named_once() -> None:
    module = parse_module("module {\n  acme.a\n  acme.b\n  acme.a\n}\n", "t.ttgir")
    said = [
        (entry.line, entry.message.split()[2].rstrip(":")) for entry in module.diagnostics if entry.code == "unknown-op"
    ]
    assert said == [(2, "acme.a"), (3, "acme.b")]


def test_names_live_in_their_regions() -> None:
    ops = parse("scf.if %x {\n  %a = acme.a : i32\n}\nscf.if %x {\n  %a = acme.b : i32\n}\n%a = acme.c : i32")
    assert len(ops) == 3


LOOP = "scf.for %i = %x to %x step %x iter_args(%c = %x)"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("%a = acme.a %a : i32", "use-before-definition"),
        ("scf.if %x {\n  acme.use %a : i32\n}\n%a = acme.a : i32", "use-before-definition"),
        ("scf.if %x {\n  %a = acme.a : i32\n}\nacme.use %a : i32", "undefined-value"),
        ("%x = acme.a : i32", "redefinition"),
        ("scf.if %x {\n  %x = acme.a : i32\n}", "redefinition"),
        ("%a:2 = acme.a : i32\nacme.use %a#2 : i32", "undefined-value"),
        (f"%a = {LOOP} -> (i32) {{\n}}", "yield-count"),
        (f"%a, %b = {LOOP} -> (i32) {{\n  scf.yield %c : i32\n}}", "result-count"),
        (f"%a = {LOOP} -> (i32, i32) {{\n}}", "type-count"),
        ("%a = scf.if %x -> (i32) {\n  scf.yield %x : i32\n} else {\n}", "yield-count"),
        ("%a = scf.if %x -> (f32) {\n  scf.yield %x : i32\n}", "yield-type"),
        (
            "%a = scf.while (%b = %x) : (i32) -> i32 {\n  gpu.barrier\n} do {\n^bb0(%c: i32):\n  scf.yield %c : i32\n}",
            "no-terminator",
        ),
        ("acme.a %x, : i32)", "unexpected-token"),
        ("acme.a (%x : i32", "unexpected-token"),
        ("%a = %x", "unexpected-token"),
        ('"scf.for"(%x) ({\n}) : (i32) -> ()', "malformed-op"),
    ],
)
def test_faults(body: str, code: str) -> None:
    assert codes(body)[0] == code


def test_all_faults_of_names_are_said_at_once() -> None:
    assert codes("acme.a %no1 : i32\nacme.b %no2 : i32\n%x = acme.c : i32") == [
        "undefined-value",
        "undefined-value",
        "redefinition",
    ]


def test_layout_aliases_and_locations() -> None:
    text = (
        '#loc = loc("k.py":1:1)\n#b = #ttg.blocked<{order = [0]}>\n'
        'module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {\n'
        '  tt.func public @f(%a: i32 {tt.divisibility = 16 : i32} loc("a"(#loc)))'
        " -> f32 attributes {noinline = false} {\n"
        "    tt.return loc(#loc1)\n  } loc(#loc)\n} loc(#loc)\n"
        '#loc1 = loc(fused<"x">["a.py":1:2, callsite("b" at #loc)])\n'
        '{-#\n  external_resources: { "}": 1 }\n#-}\n'
    )
    module = parse_module(text, "t.ttgir")
    assert set(module.aliases) == {"#loc", "#b", "#loc1"}
    assert module.aliases["#b"] == "#ttg.blocked<{order = [0]}>"
    assert module.target == "cuda:90"
    assert module.attributes["ttg.num-warps"] == "4 : i32"
    assert module.diagnostics == ()


def test_ops_without_a_module() -> None:
    module = parse_module("tt.func @f() {\n  tt.return\n}\ntt.func @g() {\n  tt.return\n}\n", "t.ttgir")
    assert module.operation.name == "builtin.module"
    assert [entry.code for entry in module.diagnostics] == ["no-target"]
    assert len(module.operation.regions[0].blocks[0].operations) == 2
