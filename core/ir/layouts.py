"""The few questions about layouts that a schedule depends on: who holds a row, and whether threads must exchange."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.ir.types import TensorType, expand_aliases

_SLICE = re.compile(r"#ttg\.slice<\{\s*dim\s*=\s*(\d+)\s*,\s*parent\s*=\s*(.+)\}>", re.DOTALL)
_DOT_OPERAND = re.compile(r"#ttg\.dot_op<\{\s*opIdx\s*=\s*(\d+)\s*,\s*parent\s*=\s*(#ttg\.nvidia_mma<.*)\}>", re.DOTALL)
_MMA = "#ttg.nvidia_mma<"
_BLOCKS = re.compile(r"(?:CGALayout|block)\s*=\s*\[((?:\s*\[[^\]]*\]\s*,?)*)\s*\]")
_OLD_BLOCKS = re.compile(r"CTASplitNum\s*=\s*\[([^\]]*)\]")
_VECTOR = re.compile(r"\[([^\]]*)\]")

LANES_OF_A_ROW = 4
"""Threads that share a row of a matrix op's result in registers (`mma` and `wgmma` alike)."""


def vector_copies(encoding: str, aliases: Mapping[str, str]) -> int:
    """How many threads hold each element of a vector over the rows of a tile: 4 if that is a matrix op's result in
    registers, else 1. A vector over columns counts once too: every row needs all of it, and reads it where it lies."""
    if "#ttg.slice" not in encoding:
        return 1
    match = _SLICE.fullmatch(expand_aliases(encoding, aliases).strip())
    if match is None:
        return 1
    over_rows = match.group(1) == "1"
    return LANES_OF_A_ROW if over_rows and match.group(2).startswith(_MMA) else 1


def needs_exchange(source: TensorType, target: TensorType, aliases: Mapping[str, str]) -> bool:
    """Whether converting `source` to the layout of `target` moves elements between threads.

    Threads already hold what they need if both layouts are the same, or for a matrix op's result of 16 bits that
    becomes operand A of another one. How many warps the text spreads a tile over bears on neither.
    """
    before = expand_aliases(source.encoding, aliases).replace(" ", "")
    after = expand_aliases(target.encoding, aliases)
    if before == after.replace(" ", ""):
        return False
    operand = _DOT_OPERAND.fullmatch(after.strip())
    return not (
        operand is not None
        and operand.group(1) == "0"
        and before.startswith(_MMA)
        and source.element in ("f16", "bf16", "i16")
    )


def shape_in_block(shape: tuple[int, ...], encoding: str, aliases: Mapping[str, str]) -> tuple[int, ...]:
    """The part of a tile that one block of a cluster holds, where the encoding spreads it over several."""
    factors = _split_by_blocks(expand_aliases(encoding, aliases).strip())
    whole = len(shape) - len(factors)  # slots of a ring, which no block shares
    if whole < 0:
        return shape
    return (*shape[:whole], *(size // factor or 1 for size, factor in zip(shape[whole:], factors, strict=True)))


def _split_by_blocks(encoding: str) -> list[int]:
    """By what each dimension is divided; empty if the encoding does not say."""
    match = _SLICE.fullmatch(encoding)
    if match is not None:
        factors = _split_by_blocks(match.group(2))
        return [factor for dimension, factor in enumerate(factors) if dimension != int(match.group(1))]
    old = _OLD_BLOCKS.search(encoding)
    if old is not None:
        return [int(number) for number in old.group(1).split(",")]
    new = _BLOCKS.search(encoding)
    vectors = [[int(number) for number in vector.split(",")] for vector in _VECTOR.findall(new.group(1))] if new else []
    # Every vector is one bit of the block's number: the dimension it moves along has two halves.
    return [2 ** sum(step != 0 for step in steps) for steps in zip(*vectors, strict=True)]
