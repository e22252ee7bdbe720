"""The encodings of TTGIR types as values, read from their text, and for another number of warps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.ir.types import expand_aliases, split_top_level

Vectors = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Blocked:
    """`#ttg.blocked`: each thread has a box of elements, boxes lie side by side in a warp, warps in the block."""

    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps_per_block: tuple[int, ...]
    order: tuple[int, ...]  # dimensions, the fastest first


@dataclass(frozen=True, slots=True)
class Mma:
    """`#ttg.nvidia_mma` of version 3: results of wgmma."""

    warps_per_block: tuple[int, ...]
    instruction: tuple[int, ...]  # (16, n, k) of one warp


@dataclass(frozen=True, slots=True)
class Slice:
    """`#ttg.slice`: a tile without one dimension of its parent's."""

    dimension: int
    parent: Encoding


@dataclass(frozen=True, slots=True)
class DotOperand:
    """`#ttg.dot_op` of operand A in registers; `width`: neighbours in k that a thread holds in one register."""

    index: int
    parent: Mma
    width: int


@dataclass(frozen=True, slots=True)
class Linear:
    """`#ttg.linear`: the coordinates that each bit of register, lane and warp adds."""

    register: Vectors
    lane: Vectors
    warp: Vectors


@dataclass(frozen=True, slots=True)
class MmaShared:
    """`#ttg.nvmma_shared`: rows of `swizzle` bytes that TMA and wgmma swizzle. `transposed`: columns are contiguous."""

    swizzle: int
    transposed: bool
    bits: int


@dataclass(frozen=True, slots=True)
class SwizzledShared:
    """`#ttg.swizzled_shared`: vectors of `vector` elements change places within `max_phase`, every `per_phase` rows."""

    vector: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]


Encoding = Blocked | Mma | Slice | DotOperand | Linear
SharedEncoding = MmaShared | SwizzledShared

_HEAD = re.compile(r"#(\w+)\.(\w+)<\{(.*)\}>", re.DOTALL)
_NUMBER = re.compile(r"-?\d+")
_VECTOR = re.compile(r"\[([^\[\]]*)\]")


def read_encoding(text: str, aliases: Mapping[str, str]) -> Encoding | None:
    """The layout of a register tile; None for one that is not known here."""
    name, fields = _fields(text, aliases)
    match name:
        case "blocked":
            return Blocked(*(_numbers(fields.get(key, "")) for key in _BLOCKED_KEYS))
        case "nvidia_mma" if fields.get("versionMajor", "").strip() == "3":
            return Mma(_numbers(fields["warpsPerCTA"]), _numbers(fields["instrShape"]))
        case "slice":
            parent = read_encoding(fields["parent"], aliases)
            return None if parent is None else Slice(int(fields["dim"]), parent)
        case "dot_op":
            parent = read_encoding(fields["parent"], aliases)
            if isinstance(parent, Mma) and "kWidth" in fields:
                return DotOperand(int(fields["opIdx"]), parent, int(fields["kWidth"]))
            return None
        case "linear":
            return Linear(*(_vectors(fields.get(key, "")) for key in ("register", "lane", "warp")))
        case _:
            return None


def read_shared_encoding(text: str, aliases: Mapping[str, str]) -> SharedEncoding | None:
    """The layout of a tile in shared memory; None for one that is not known here."""
    name, fields = _fields(text, aliases)
    match name:
        case "nvmma_shared":
            transposed = fields.get("transposed", "false").strip() == "true"
            return MmaShared(int(fields["swizzlingByteWidth"]), transposed, int(fields["elementBitWidth"]))
        case "swizzled_shared":
            vector, per_phase, max_phase = (int(fields[key]) for key in ("vec", "perPhase", "maxPhase"))
            return SwizzledShared(vector, per_phase, max_phase, _numbers(fields["order"]))
        case _:
            return None


def for_warps(encoding: Encoding, warps: int) -> Encoding:
    """The same kind of layout, spread over `warps` warps: fewer by halving where most of them lie, more along rows.

    Those of matrix ops first lose their warps along columns: four warps of a group are always 64 rows of one (PTX ISA,
    "Register Fragments and Shared Memory Matrix Layouts" of wgmma). A linear layout has its last warp bits as register
    bits, or the last of these as warp bits.
    """
    match encoding:
        case Blocked():
            return replace(encoding, warps_per_block=_spread(encoding.warps_per_block, warps, encoding.order))
        case Mma():
            return _matrix_for_warps(encoding, warps)
        case Slice():
            return replace(encoding, parent=for_warps(encoding.parent, warps))
        case DotOperand():
            return replace(encoding, parent=_matrix_for_warps(encoding.parent, warps))
        case Linear(register=register, warp=warp):
            bits = warps.bit_length() - 1
            kept = max(0, len(register) - max(0, bits - len(warp)))
            return replace(encoding, register=(*register[:kept], *warp[bits:]), warp=(*warp[:bits], *register[kept:]))


_BLOCKED_KEYS = ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order")


def _matrix_for_warps(encoding: Mma, warps: int) -> Mma:
    rows, columns = encoding.warps_per_block
    while columns > 1 and rows * columns > warps:
        columns //= 2
    return replace(encoding, warps_per_block=_spread((rows, columns), warps, (1, 0)))


def _spread(counts: tuple[int, ...], warps: int, order: tuple[int, ...]) -> tuple[int, ...]:
    found = list(counts)
    total = 1
    for count in counts:
        total *= count
    while total > warps:
        widest = max(reversed(order), key=lambda dimension: found[dimension])
        found[widest] //= 2
        total //= 2
    while total < warps:
        found[order[-1]] *= 2
        total *= 2
    return tuple(found)


def _fields(text: str, aliases: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    match = _HEAD.fullmatch(expand_aliases(text, aliases).strip())
    if match is None:
        return "", {}
    entries = (entry.partition("=") for entry in split_top_level(match.group(3)))
    return match.group(2), {name.strip(): value.strip() for name, _, value in entries}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBER.findall(text))


def _vectors(text: str) -> Vectors:
    return tuple(_numbers(vector) for vector in _VECTOR.findall(text))
