"""The width of accesses by pointers against the addresses that the interpreter computes: what one instruction takes is
contiguous, aligned, and under one mask, in every program of the grid."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core.export.cuda.accesses import vectors_of
from core.export.cuda.elements import element_bytes, pointee
from core.export.cuda.encodings import for_warps, read_encoding
from core.export.cuda.folder import function_named
from core.export.cuda.layouts import Layout, layout_of
from core.ir.interpret import execution, parameters, run
from core.ir.interpret.program import Held, Program
from core.ir.model import Operation
from core.ir.parser import parse_module
from core.ir.source import load_module
from core.ir.types import TensorType, parse_type

ROOT = Path(__file__).parents[4]
sys.path.insert(0, str(ROOT / "tests" / "core" / "ir" / "interpret"))
from kernel_cases import case_for  # noqa: E402

SAMPLES = ROOT / "tests" / "data" / "ttgir"
FILES = [
    "gemm_ptr_sm90_m128n128k32-f16-loc_v33_pre",
    "gemm_ptr_masked_sm90_m128n64k64-bf16_v39_pre",
    "gemm_w8_sm90_m64n128k64-bf16_v39_pre",
    "gemm_splitk_sm90_m64n128k64-f16_v39_pre",
    "fa_fwd_ptr_sm90_d128m64n64-bf16-causal_v39_pre",
    "fa_bwd_fused_ptr_sm90_d64m64n128-f16_v39_pre",
    "softmax_rows_sm90_m4n512-f16_v39_pre",
    "layer_norm_sm90_n1024-bf16_v36_pre",
    "axpby_sm90_n1024-f32_v39_pre",
]
MASK = {"tt.load": 1, "tt.store": 2}


def layout_of_pointers(op: Operation, aliases: dict[str, str]) -> Layout | None:
    type_ = parse_type(op.operands[0].type)
    if not isinstance(type_, TensorType):
        return None
    encoding = read_encoding(type_.encoding, aliases)
    assert encoding is not None
    return layout_of(for_warps(encoding, 4), type_.shape)


@pytest.mark.parametrize("name", FILES)
def test_one_instruction_takes_neighbours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = load_module(SAMPLES / f"{name}.ttgir")
    kernel = name.split("_sm")[0]
    width = vectors_of(module, function_named(module, kernel))
    seen: dict[Operation, int] = {}

    def check(program: Program, op: Operation) -> Sequence[Held]:
        layout = layout_of_pointers(op, dict(module.aliases))
        if layout is not None:
            seen[op] = width(op, layout)
            addresses = program.array(op.operands[0])
            masked = len(op.operands) > MASK[op.name]
            mask = program.array(op.operands[MASK[op.name]]) if masked else np.ones(addresses.shape)
            assert_neighbours(layout, addresses, mask != 0, seen[op], element_bytes(pointee_of(op)))
        return handlers[op.name](program, op)

    handlers = {kind: execution._HANDLERS[kind] for kind in MASK}  # pyright: ignore[reportPrivateUsage]
    for kind in MASK:
        monkeypatch.setitem(execution._HANDLERS, kind, check)  # pyright: ignore[reportPrivateUsage]
    case = case_for(f"{name}.ttgir")
    arguments = {p.name: value for p, value in zip(parameters(module, kernel), case.arguments, strict=True)}
    run(module, kernel, arguments, case.grid)
    assert seen


def pointee_of(op: Operation) -> str:
    type_ = parse_type(op.operands[0].type)
    assert isinstance(type_, TensorType)
    return pointee(type_.element)


def assert_neighbours(layout: Layout, addresses: np.ndarray, mask: np.ndarray, width: int, size: int) -> None:
    for lane, warp in ((0, 0), (1, 0), (13, 2), (31, 3)):
        places = [layout.coordinate(register, lane, warp) for register in range(layout.registers)]
        for first in range(0, len(places), width):
            piece = [int(addresses[place]) for place in places[first : first + width]]
            active = [bool(mask[place]) for place in places[first : first + width]]
            assert piece == [piece[0] + size * step for step in range(width)]
            assert len(set(active)) == 1
            assert not active[0] or piece[0] % (width * size) == 0


def test_widths_that_must_be_found() -> None:
    """Rows that begin at multiples of 16 elements are read 16 bytes at a time."""
    module = load_module(SAMPLES / "gemm_ptr_sm90_m128n128k32-f16-loc_v33_pre.ttgir")
    width = vectors_of(module, function_named(module, "gemm_ptr"))
    loads = [op for op in module.operation.walk() if op.name == "tt.load"]
    layouts = [layout_of_pointers(op, dict(module.aliases)) for op in loads]
    assert [width(op, layout) for op, layout in zip(loads, layouts, strict=True) if layout] == [8, 8]


KERNEL = """
#b = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-warps" = 4 : i32}} {{
  tt.func public @k(%p: !tt.ptr<f32> {{tt.divisibility = {divisibility} : i32}}, %n: i32 {argument}) {{
    %r = tt.make_range {{end = 512 : i32, start = 0 : i32}} : tensor<512xi32, #b>
    %s = tt.splat %n : i32 -> tensor<512xi32, #b>
    {index}
    %b = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %a = tt.addptr %b, %i : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %m = arith.cmpi {predicate}, %r, %s : tensor<512xi32, #b>
    %v = tt.load %a, %m : tensor<512x!tt.ptr<f32>, #b>
    tt.store %a, %v, %m : tensor<512x!tt.ptr<f32>, #b>
    tt.return
  }}
}}
"""


@pytest.mark.parametrize(
    ("divisibility", "argument", "predicate", "index", "expected"),
    [
        (16, "{tt.divisibility = 16 : i32}", "slt", "%i = arith.addi %r, %s : tensor<512xi32, #b>", 4),
        (8, "{tt.divisibility = 16 : i32}", "slt", "%i = arith.addi %r, %s : tensor<512xi32, #b>", 2),
        (16, "{tt.divisibility = 2 : i32}", "slt", "%i = arith.addi %r, %s : tensor<512xi32, #b>", 2),
        (16, "", "slt", "%i = arith.addi %r, %s : tensor<512xi32, #b>", 1),
        (16, "{tt.divisibility = 16 : i32}", "sle", "%i = arith.addi %r, %s : tensor<512xi32, #b>", 1),
        (16, "{tt.divisibility = 16 : i32}", "slt", "%i = arith.muli %r, %s : tensor<512xi32, #b>", 1),
        (16, "{tt.divisibility = 16 : i32}", "slt", "%i = arith.subi %s, %r : tensor<512xi32, #b>", 1),
        (16, "{tt.divisibility = 16 : i32}", "slt", "%i = arith.remsi %r, %s : tensor<512xi32, #b>", 4),
        (16, "{tt.divisibility = 2 : i32}", "sge", "%i = arith.remsi %r, %s : tensor<512xi32, #b>", 2),
    ],
)
def test_rules(divisibility: int, argument: str, predicate: str, index: str, expected: int) -> None:
    text = KERNEL.format(divisibility=divisibility, argument=argument, predicate=predicate, index=index)
    module = parse_module(text, "k.ttgir")
    function = function_named(module, "k")
    width = vectors_of(module, function)
    accesses = [op for op in function.walk() if op.name in MASK]
    layout = layout_of_pointers(accesses[0], dict(module.aliases))
    assert layout is not None
    assert [width(op, layout) for op in accesses] == [expected, expected]
