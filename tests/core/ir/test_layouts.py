"""What a schedule needs to know of layouts."""

from __future__ import annotations

import pytest
from tile_snippets import ALIASES, LOAD_K, snippet

from core.ir.layouts import needs_exchange, shape_in_block, vector_copies
from core.ir.types import TensorType

NAMES = {
    "#mma": "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>",
    "#wide": "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>",
    "#blocked": "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1,0]}>",
    "#same": "#ttg.blocked<{sizePerThread=[1,8], threadsPerWarp=[2,16], warpsPerCTA=[4,1], order=[1,0]}>",
    "#linear": "#ttg.linear<{register = [[0, 1]], lane = [[1, 0]], warp = [[32, 0]], block = []}>",
}


@pytest.mark.parametrize(
    ("encoding", "copies"),
    [
        ("#ttg.slice<{dim = 1, parent = #mma}>", 4),  # rows: four lanes share one
        ("#ttg.slice<{dim = 0, parent = #mma}>", 1),
        ("#ttg.slice<{dim = 1, parent = #linear}>", 1),
        ("#ttg.slice<{dim = 1, parent = #blocked}>", 1),
        ("#blocked", 1),
    ],
)
def test_copies_of_a_vector(encoding: str, copies: int):
    assert vector_copies(encoding, NAMES) == copies


def operand(index: int, parent: str = "#mma") -> str:
    return f"#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = 2}}>"


@pytest.mark.parametrize(
    ("element", "before", "after", "exchange"),
    [
        ("f16", "#mma", operand(0), False),
        ("bf16", "#mma", operand(0, "#wide"), False),  # the shape of the instruction bears not on who holds a row
        ("f8E4M3FN", "#mma", operand(0), True),
        ("f32", "#mma", operand(0), True),
        ("f16", "#mma", operand(1), True),
        ("f16", "#linear", operand(0), True),
        ("f32", "#mma", "#blocked", True),
        ("f32", "#blocked", "#same", False),
    ],
)
def test_which_conversions_move_elements_between_threads(element: str, before: str, after: str, exchange: bool):
    shape = (64, 128)
    assert needs_exchange(TensorType(shape, element, before), TensorType(shape, element, after), NAMES) is exchange


@pytest.mark.parametrize(
    ("shape", "encoding", "expected"),
    [
        ((256, 64), "#ttg.blocked<{order = [1, 0], CGALayout = [[1, 0]]}>", (128, 64)),
        ((64, 128), "#ttg.blocked<{order = [1, 0], CGALayout = [[0, 0]]}>", (64, 128)),
        ((256, 256), "#ttg.blocked<{order = [1, 0], CGALayout = [[1, 0], [0, 1]]}>", (128, 128)),
        ((256, 64), "#ttg.linear<{register = [[0, 1]], lane = [[1, 0]], warp = [], block = [[128, 0]]}>", (128, 64)),
        ((256,), "#ttg.slice<{dim = 1, parent = #ttg.blocked<{order = [1, 0], CGALayout = [[1, 0]]}>}>", (128,)),
        ((256, 64), "#ttg.nvmma_shared<{CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>", (128, 64)),
        ((3, 256, 64), "#ttg.nvmma_shared<{elementBitWidth = 16, CGALayout = [[1, 0]]}>", (3, 128, 64)),
        ((256, 64), "#blocked", (256, 64)),
        ((256, 64), "#linear", (256, 64)),
    ],
)
def test_what_one_block_of_a_cluster_holds(shape: tuple[int, ...], encoding: str, expected: tuple[int, ...]):
    assert shape_in_block(shape, encoding, NAMES) == expected


def test_in_a_cluster_a_graph_is_of_one_block():
    halved = "CGALayout = [[1, 0]]}>\n"
    aliases = ALIASES.replace("order = [1, 0]}>\n", f"order = [1, 0], {halved}", 1)
    alone, pair = (snippet(LOAD_K, aliases=aliases, blocks=blocks) for blocks in (1, 2))
    assert alone.ops["descriptor_load.0"].results[0].shape == (128, 128)
    assert pair.ops["descriptor_load.0"].results[0].shape == (64, 128)
