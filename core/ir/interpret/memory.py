"""Global memory: the arrays of the kernel's arguments, at addresses that never overlap.

A pointer is a byte address. Every array has 2**40 bytes of addresses to itself and begins in the middle of them, so
that an address tells its array, also one that is out of bounds, and pointer arithmetic is integer arithmetic. Element i
of an array of f16 lies at byte 2 i, whatever NumPy holds it as.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.ir.interpret.errors import KernelError
from core.ir.interpret.formats import Array, carrier, element_bytes, is_float, rounded, undefined, wrapped

_SHIFT = 40
_MOST_ELEMENTS = 1 << 32


def _start(number: int) -> int:
    """The address of the array of that number, counted from 1."""
    return (number << _SHIFT) + (1 << (_SHIFT - 1))


@dataclass(slots=True)
class Buffer:
    """The array of one argument: `values` flat, `shape` as it was given."""

    name: str
    element: str
    values: Array
    shape: tuple[int, ...]
    written: bool = False


class Memory:
    """All arrays of one run. Values that are written are rounded to the array's type unless `exact`."""

    def __init__(self, exact: bool) -> None:
        self.buffers: list[Buffer] = []
        self._exact = exact

    def add(self, name: str, array: Array, element: str) -> int:
        """Copies an argument's array in; returns its address. Raises KernelError if it holds what the type cannot."""
        given = np.asarray(array)
        if given.size > _MOST_ELEMENTS:
            raise KernelError(f"{name} has {given.size} elements, more than are interpreted")
        if given.dtype.kind not in ("f" if is_float(element) else "iub"):
            raise KernelError(f"{name} must hold {element}: an array of {given.dtype} is given")
        values = self.stored(given.reshape(-1).astype(carrier(element)), element)
        self.buffers.append(Buffer(name, element, values, given.shape))
        return _start(len(self.buffers))

    def stored(self, values: Array, element: str) -> Array:
        """What memory holds after values are written to an array of the element type."""
        if not is_float(element):
            return wrapped(values, element)
        return values if self._exact else rounded(values, element)

    def load(self, addresses: Array, element: str, where: Array) -> Array:
        """The elements at the addresses; where `where` is false nothing is read and the result is undefined."""
        found = np.full(addresses.shape, undefined(element), carrier(element))
        active = addresses[where]
        read = np.empty(active.shape, carrier(element))
        for buffer, chosen, indices in self._pieces(active, element):
            read[chosen] = buffer.values[indices]
        found[where] = read
        return found

    def store(self, addresses: Array, values: Array, element: str, where: Array) -> None:
        """Writes the values where `where` is true; of several to one address the last one stays."""
        active, kept = addresses[where], self.stored(values[where], element)
        for buffer, chosen, indices in self._pieces(active, element):
            buffer.values[indices] = kept[chosen]
            buffer.written = True

    def _pieces(self, addresses: Array, element: str) -> Iterator[tuple[Buffer, Array, Array]]:
        """The arrays that the addresses fall into: which addresses, and the indices in the array."""
        numbers = addresses >> _SHIFT
        size = element_bytes(element)
        for number in np.unique(numbers):
            if not 1 <= number <= len(self.buffers):
                raise KernelError("an address is in no array of the arguments")
            buffer = self.buffers[int(number) - 1]
            if buffer.element != element:
                raise KernelError(f"{buffer.name} holds {buffer.element} and is accessed as {element}")
            chosen = numbers == number
            offsets = addresses[chosen] - _start(int(number))
            indices = offsets // size
            if (offsets % size).any():
                raise KernelError(f"an address in {buffer.name} is no multiple of {size} bytes")
            wrong = indices[(indices < 0) | (indices >= buffer.values.size)]
            if wrong.size:
                message = f"element {int(wrong[0])} of {buffer.name}, which has {buffer.values.size}, is out of bounds"
                raise KernelError(message, "out-of-bounds")
            yield buffer, chosen, indices
