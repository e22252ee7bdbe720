"""Ops that make tiles of other tiles' elements, and those that say where in the grid a program is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.ir.interpret.errors import KernelError, not_interpreted
from core.ir.interpret.program import Handler, Held, Program, numbers
from core.ir.model import Operation

_AXES = {"x": 0, "y": 1, "z": 2}


def _axis(op: Operation) -> int:
    name = op.text_arguments.strip()
    if name not in _AXES:
        raise not_interpreted(f"the axis '{name}'")
    return _AXES[name]


def _program_id(program: Program, op: Operation) -> Sequence[Held]:
    return [np.asarray(program.ids[_axis(op)], np.int64)]


def _num_programs(program: Program, op: Operation) -> Sequence[Held]:
    return [np.asarray(program.grid[_axis(op)], np.int64)]


def _make_range(program: Program, op: Operation) -> Sequence[Held]:
    (start,), (size,) = numbers(op, "start"), program.shape(op.results[0])
    if numbers(op, "end") != (start + size,):
        raise KernelError("the range does not have the size of its type")
    return [np.arange(start, start + size, dtype=np.int64)]


def _broadcast(program: Program, op: Operation) -> Sequence[Held]:
    return [np.broadcast_to(program.array(op.operands[0]), program.shape(op.results[0]))]


def _reshape(program: Program, op: Operation) -> Sequence[Held]:
    """Also where the op leaves the order free: it is that of rows."""
    return [program.array(op.operands[0]).reshape(program.shape(op.results[0]))]


def _expand_dims(program: Program, op: Operation) -> Sequence[Held]:
    return [np.expand_dims(program.array(op.operands[0]), numbers(op, "axis")[0])]


def _transpose(program: Program, op: Operation) -> Sequence[Held]:
    return [program.array(op.operands[0]).transpose(numbers(op, "order"))]


def _join(program: Program, op: Operation) -> Sequence[Held]:
    return [np.stack(program.arrays(op), axis=-1)]


def _split(program: Program, op: Operation) -> Sequence[Held]:
    tile = program.array(op.operands[0])
    return [tile[..., 0], tile[..., 1]]


def _concatenate(program: Program, op: Operation) -> Sequence[Held]:
    return [np.concatenate(program.arrays(op))]


def _gather(program: Program, op: Operation) -> Sequence[Held]:
    tile, indices = program.arrays(op)
    return [np.take_along_axis(tile, indices, numbers(op, "axis")[0])]


def _same(program: Program, op: Operation) -> Sequence[Held]:
    """Another layout, or a wait for what is complete here at once: the values stay."""
    return [program.values[value] for value in op.operands]


HANDLERS: Mapping[str, Handler] = {
    "tt.get_program_id": _program_id,
    "tt.get_num_programs": _num_programs,
    "tt.make_range": _make_range,
    "tt.splat": _broadcast,
    "tt.broadcast": _broadcast,
    "tt.unsplat": _reshape,
    "tt.reshape": _reshape,
    "tt.expand_dims": _expand_dims,
    "tt.trans": _transpose,
    "tt.join": _join,
    "tt.split": _split,
    "tt.cat": _concatenate,
    "tt.gather": _gather,
    "ttg.convert_layout": _same,
    "ttng.warp_group_dot_wait": _same,
}
