"""What cases of sample kernels are made of: sizes, random inputs of a format, padding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class Tile:
    """Sizes and format that a file's name tells: `d128m2x64n128-f16-causal`."""

    sizes: dict[str, int]
    dtype: str
    flags: frozenset[str]
    rng: np.random.Generator

    def __getattr__(self, name: str) -> int:
        return self.sizes[name]

    def numbers(self, *shape: int, dtype: str | None = None, scale: float = 1.0) -> Array:
        """Random values that the format can hold, as float64 (integers as int64)."""
        match dtype or self.dtype:
            case "f16":
                return (self.rng.standard_normal(shape) * scale).astype(np.float16).astype(np.float64)
            case "f32":
                return (self.rng.standard_normal(shape) * scale).astype(np.float32).astype(np.float64)
            case "bf16":
                bits = (self.rng.standard_normal(shape) * scale).astype(np.float32).view(np.uint32)
                return (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
            case "f8":
                return self.rng.integers(-15, 16, shape) / 8
            case "i8":
                return self.rng.integers(-128, 128, shape)
            case other:
                raise ValueError(other)


@dataclass(frozen=True)
class Case:
    """Arguments, grid, and what arrays (by the argument's index) hold afterwards."""

    arguments: list[Any]
    grid: tuple[int, ...]
    expected: dict[int, Array]


def padded(values: Array, *shape: int, fill: float = 0.0) -> Array:
    """The values in the corner of a larger array."""
    whole = np.full(shape, fill, values.dtype)
    whole[tuple(slice(size) for size in values.shape)] = values
    return whole


def up(size: int, tile: int) -> int:
    """The size rounded up to a multiple of the tile."""
    return -(-size // tile) * tile


def f32(value: float) -> float:
    return float(np.float32(value))
