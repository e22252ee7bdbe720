"""Tensor descriptors: an array in memory with shape and strides, of which boxes are read and written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.ir.interpret.formats import Array, element_bytes


@dataclass(frozen=True, slots=True, eq=False)
class TensorDescriptor:
    """An argument of a kernel: the array that a descriptor made by the host is for.

    `shape` and `strides` (in elements, the last one 1) are those of the array if not given.
    """

    array: Array
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A descriptor in a running kernel: byte address, and sizes and strides in elements."""

    address: int
    element: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def box(self, corner: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Array, Array]:
        """Addresses of the box that begins at `corner`, and which of them are inside the tensor."""
        addresses = np.full(sizes, self.address, np.int64)
        inside = np.ones(sizes, np.bool_)
        for axis, first in enumerate(corner):
            along = [1] * len(sizes)
            along[axis] = sizes[axis]
            indices = (first + np.arange(sizes[axis])).reshape(along)
            addresses += indices * (self.strides[axis] * element_bytes(self.element))
            inside &= (indices >= 0) & (indices < self.shape[axis])
        return addresses, inside


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements of an array of that shape, rows one behind the other."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides[: len(shape)])
