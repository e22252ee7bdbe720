"""Lowering of `tt.elementwise_inline_asm`: only where the user allows it, and its text only as an escaped literal.

Assembly of a text that somebody else wrote can do anything that the GPU lets a kernel do; so it is a hole by default.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from core.export.attribute_text import read_string
from core.export.cuda.context import Context, Lowerings
from core.export.cuda.elements import ElementError, cpp_type, element_bytes
from core.ir.model import Operation

REFUSED = "inline assembly is passed on only where it is allowed: --allow-inline-asm"

_TEXT = re.compile(r'\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_PERCENT_OR_OPERAND = re.compile(r"%|\$(?:\d+|\$|)")
_WIDTHS = {"h": 2, "r": 4, "f": 4, "l": 8, "d": 8}
_HELD_AS = {"h": "unsigned short", "r": "unsigned", "l": "unsigned long long", "f": "float", "d": "double"}
"""By constraint the type of a C++ operand (CUDA, "Inline PTX Assembly", constraints)."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What an op says: its text as C++ has it, the constraint of the result and of each operand, and whether the text
    may be left out where nobody needs its result."""

    text: str
    result: str
    operands: tuple[str, ...]
    pure: bool


def read_assembly(op: Operation) -> Assembly:
    """Raises ElementError for a form that is not passed on."""
    text = _TEXT.match(op.text_arguments)
    if text is None:
        raise ElementError("inline assembly without a text")
    if op.attributes.get("packed_element", "1").split()[0] != "1":
        raise ElementError("inline assembly for several elements at once")
    if len(op.results) != 1:
        raise ElementError("inline assembly with several results")
    result, *operands = (one.strip() for one in op.attributes.get("constraints", "").strip('"').split(","))
    plain = [result.removeprefix("=").removeprefix("&"), *operands]
    if not result.startswith("=") or any(one not in _WIDTHS for one in plain) or len(operands) != len(op.operands):
        raise ElementError(f"inline assembly with the constraints {op.attributes.get('constraints', '')}")
    return Assembly(_placeholders(read_string(text[1]), len(plain)), result, tuple(operands), "pure" in op.attributes)


def _placeholders(text: str, operands: int) -> str:
    """`$0` is `%0` in C++, `$$` a dollar, and what is `%` stays one. Raises ElementError."""

    def replaced(match: re.Match[str]) -> str:
        if match[0] == "%":
            return "%%"
        number = match[0][1:]
        if number == "$":
            return "$"
        if not number or int(number) >= operands:
            raise ElementError(f"inline assembly with the operand {match[0]}")
        return f"%{int(number)}"

    return _PERCENT_OR_OPERAND.sub(replaced, text)


def c_literal(text: str) -> str:
    """A C++ string literal of exactly this text, on one line and of ASCII only: nothing in it can end the literal."""
    parts: list[str] = []
    for byte in text.encode("utf-8"):
        char = chr(byte)
        if char in '"\\?':  # `?`: no trigraph
            parts.append(f"\\{char}")
        elif 32 <= byte < 127:
            parts.append(char)
        else:
            parts.append(f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


def _inline_assembly(context: Context) -> None:
    kernel, op = context.role.kernel, context.operation
    if not kernel.assembly_allowed:
        raise ElementError(REFUSED)
    assembly, target = read_assembly(op), context.target()
    sources = [context.tile(index) for index in range(len(op.operands))]
    for constraint, tile in zip((assembly.result[-1], *assembly.operands), (target, *sources), strict=True):
        if _WIDTHS[constraint] != element_bytes(tile.element):
            raise ElementError(f"inline assembly that has elements of {tile.element} in '{constraint}'")
    if any(tile.layout != target.layout for tile in sources):
        raise ElementError("inline assembly on tiles of several layouts")
    elements = [cpp_type(tile.element) for tile in sources]
    lines = partial(_function, assembly, cpp_type(target.element), elements)
    name = kernel.device_function(op, f"assembly_line_{op.name_span.line}", lines)
    parameters = ", ".join(f"{element} a{index}" for index, element in enumerate(elements))
    call = f"{name}({', '.join(f'a{index}' for index in range(len(elements)))})"
    arguments = "".join(f", {tile.text}" for tile in sources)
    context.line(f"tw::map({target.text}, TW_FN({parameters}) {{ return {call}; }}{arguments});")


def _function(assembly: Assembly, result: str, elements: Sequence[str], name: str) -> list[str]:
    """The lines of a device function of one element. The text ends with a new line: a comment in it would go on."""
    parameters = ", ".join(f"{element} x{index}" for index, element in enumerate(elements))
    held = [_HELD_AS[constraint] for constraint in assembly.operands]
    inputs = ", ".join(
        f'"{constraint}"(tw::bits_as<{kind}>(x{index}))'
        for index, (constraint, kind) in enumerate(zip(assembly.operands, held, strict=True))
    )
    keyword = "asm" if assembly.pure else "asm volatile"
    unused = "".join(f"(void)x{index}, " for index in range(len(elements)))
    return [
        f"TW_CALL {result} {name}({parameters}) {{",
        "#ifdef TWILL_MOCK",
        f'  {unused}tw::trap("{name}: inline assembly does not run on the CPU");',
        f"  return {result}{{}};",
        "#else",
        f"  {_HELD_AS[assembly.result[-1]]} r;",
        f'  {keyword}({c_literal(assembly.text + chr(10))} : "{assembly.result}"(r) : {inputs});',
        f"  return tw::bits_as<{result}>(r);",
        "#endif",
        "}",
    ]


LOWERINGS: Lowerings = {"tt.elementwise_inline_asm": _inline_assembly}
