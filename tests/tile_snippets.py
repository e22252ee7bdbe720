"""Small loops as TTGIR text, for tests of graph building."""

from __future__ import annotations

from core.ir.parser import parse_module
from core.ir.tile_loop import tile_loop
from core.ir.tiles import TileLoop

ALIASES = """\
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#linear = #ttg.linear<{register = [[0, 1]], lane = [[1, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
"""

# Shorthands of the snippets: types that are long and frequent.
TYPES = {
    "$S": "tensor<64x128xf32, #mma>",  # a wgmma result
    "$H": "tensor<64x128xf16, #mma>",
    "$P": "tensor<64x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>",
    "$R": "tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>",  # a vector over its rows
    "$C": "tensor<64x1xf32, #mma>",
    "$B": "tensor<128x128xf16, #blocked>",
    "$M": "!ttg.memdesc<128x128xf16, #shared, #smem>",
    "$N": "!ttg.memdesc<128x128xf16, #shared1, #smem>",
    "$Q": "!ttg.memdesc<64x128xf16, #shared, #smem>",
    "$D": "!tt.tensordesc<128x128xf16, #shared>",
    "$L": "tensor<128x128xf32, #linear>",  # a tile read from tensor memory
    "$V": "tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>",
    "$T": "!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>",
    "$U": "!ttg.memdesc<128x128xf16, #tmem, #ttng.tensor_memory>",
    "$Y": "!ttg.memdesc<128x128xf16, #shared, #smem, mutable>",
    "$Z": "!ttg.memdesc<3x128x128xf16, #shared, #smem, mutable>",
    "$W": "!ttg.async.token",
}

ARGUMENTS = (
    "%desc: $D, %ptrs: tensor<64x128x!tt.ptr<f16>, #blocked>, %index: !tt.ptr<i32>, %n: i32, %scale: f32, "
    "%qt: $H, %bias: $S, %rows: $R"
)

LOAD_K = """
      %k = tt.descriptor_load %desc[%i, %c0] : $D -> $B
      %ks = ttg.local_alloc %k : ($B) -> $M
"""


def snippet(
    body: str,
    *,
    before: str = "",
    carried: dict[str, tuple[str, str, str]] | None = None,
    aliases: str = ALIASES,
    blocks: int = 1,
) -> TileLoop:
    """The tile ops of `scf.for %i` around `body`.

    `before`: ops in front of the loop. `carried`: name -> (initial value, yielded value, type). Known without saying:
    the function's ARGUMENTS, %c0 to %c3, %true, %false, %zero (a constant $S), %q (a $Q in shared memory).
    """
    carried = carried or {}
    head = ", ".join(f"{name} = {initial}" for name, (initial, _, _) in carried.items())
    types = ", ".join(type_ for _, _, type_ in carried.values())
    names = ", ".join(yielded for _, yielded, _ in carried.values())
    results = f"%out:{len(carried)} = " if carried else ""
    arguments = f" iter_args({head}) -> ({types}) " if carried else ""
    yield_ = f"scf.yield {names} : {types}" if carried else "scf.yield"
    text = f"""{aliases}module attributes {{"ttg.num-ctas" = {blocks} : i32, ttg.target = "cuda:90"}} {{
  tt.func public @kernel({ARGUMENTS}) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant dense<0.000000e+00> : $S
    %q = ttg.local_alloc %qt : ($H) -> $Q
{before}
    {results}scf.for %i = %c0 to %n step %c1{arguments} : i32 {{
{body}
      {yield_}
    }}
    tt.return
  }}
}}
"""
    for short, type_ in TYPES.items():
        text = text.replace(short, type_)
    module = parse_module(text, "snippet.ttgir")
    return tile_loop(module, module.loops[0])


def uses(tiles: TileLoop, op: str) -> list[tuple[str, int]]:
    """The sources and distances of an op's operands."""
    return [(operand.source, operand.distance) for operand in tiles.ops[op].operands]


def owners_of(tiles: TileLoop, name: str) -> list[tuple[str, ...]]:
    """The owners of all ops of that name in the body, in the order of the text."""
    return [tiles.owner(op) for op in tiles.loop.body.operations if op.name == name]
