"""The values of `arith.constant`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from core.ir.interpret.errors import not_interpreted
from core.ir.interpret.formats import Array, decoded, is_float, rounded, wrapped
from core.ir.interpret.program import Held, Program
from core.ir.model import Operation

_LITERAL = re.compile(r"true|false|-?0x[0-9A-Fa-f]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")


def constant(program: Program, op: Operation) -> Sequence[Held]:
    """`true`, `-1 : i32`, `dense<0xFF800000> : tensor<...>`, `dense<[[1, 2], [3, 4]]> : tensor<...>`.

    A float is a value of its stated type in every precision: the text means that value.
    """
    text = op.attributes.get("value") or op.text_arguments
    found = _LITERAL.findall(text)
    if not found or '"' in text:
        raise not_interpreted(f"the constant {text}")
    element = program.element(op.results[0])
    values = np.array([_number(literal, element) for literal in found])
    values = rounded(values, element) if is_float(element) else wrapped(values, element)
    shape = program.shape(op.results[0])
    return [np.broadcast_to(values[0], shape) if len(found) == 1 else values.reshape(shape)]


def _number(literal: str, element: str) -> float | int | Array:
    """A literal as a number; hexadecimal digits are the bits of a float."""
    if literal in ("true", "false"):
        return int(literal == "true")
    if "0x" in literal:
        code = int(literal, 16)
        return decoded(np.asarray(code, np.uint64), element) if is_float(element) else code
    return float(literal) if is_float(element) else int(literal)
