"""What a value of the role program is in the text of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

from core.export.cuda.elements import ElementError, cpp_type, element_bytes, memory_type
from core.export.cuda.encodings import MmaShared, SharedEncoding, SwizzledShared
from core.export.cuda.layouts import Layout


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number or pointer; `text` is an expression without side effects."""

    text: str
    element: str


@dataclass(frozen=True, slots=True)
class Tile:
    """A register tile: a variable of the runtime's `Tile`."""

    text: str
    element: str
    layout: Layout


@dataclass(frozen=True, slots=True)
class View:
    """A tile in shared memory: an expression of one of the runtime's view types, with its logical shape. `transposed`:
    columns are contiguous."""

    text: str
    element: str
    shape: tuple[int, ...]
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class DescriptorMap:
    """A tensor descriptor: a tensor map among the kernel's parameters, of boxes of `shape`."""

    text: str
    element: str
    shape: tuple[int, ...]
    encoding: SharedEncoding


Held = Scalar | Tile | View | DescriptorMap


def view_type(element: str, shape: tuple[int, ...], encoding: SharedEncoding) -> str:
    """The runtime's view of a shared tile. Raises ElementError for a shape that has none."""
    kind = memory_type(element)
    if len(shape) == 1:
        return f"tw::SharedVector<{kind}, {shape[0]}>"
    if len(shape) != 2:
        raise ElementError(f"shared tiles of {len(shape)} dimensions")
    rows, columns = shape
    match encoding:
        case MmaShared(swizzle=swizzle, transposed=transposed):
            return f"tw::SharedTile<{kind}, {rows}, {columns}, {swizzle}, {str(transposed).lower()}>"
        case SwizzledShared(vector=vector, per_phase=per_phase, max_phase=max_phase, order=order):
            flag = str(order == (0, 1)).lower()
            return f"tw::Swizzled<{kind}, {rows}, {columns}, {vector}, {per_phase}, {max_phase}, {flag}>"


def view_bytes(element: str, shape: tuple[int, ...], encoding: SharedEncoding) -> int:
    """Bytes of a shared tile: whole lines of the swizzle's width."""
    size = element_bytes(element)
    if len(shape) != 2 or not isinstance(encoding, MmaShared):
        count = size
        for length in shape:
            count *= length
        return count
    rows, columns = shape if not encoding.transposed else shape[::-1]
    width = encoding.swizzle or 16
    return -(-columns * size // width) * rows * width


def default_encoding(element: str, shape: tuple[int, ...]) -> MmaShared:
    """The layout of a tile that TMA fills where the text does not say: the widest swizzle that a row has room for."""
    bytes_of_row = shape[-1] * element_bytes(element)
    swizzle = next((width for width in (128, 64, 32) if bytes_of_row >= width), 0)
    return MmaShared(swizzle, False, 8 * element_bytes(element))


def tile_type(tile: Tile, layout_name: str) -> str:
    """The type of a register tile."""
    return f"tw::Tile<{cpp_type(tile.element)}, {layout_name}>"
