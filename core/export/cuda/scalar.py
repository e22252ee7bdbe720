"""One element: the C++ expression of an elementwise op, for scalars, tiles and reductions alike.

Integers wrap around, so they are added and multiplied as unsigned ones. Floats of fewer bits than f32 are computed in
f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core.export.cuda.elements import ElementError, cpp_type, is_float, is_pointer, literal, literals, unsigned_type
from core.ir.model import Operation
from core.ir.types import element_bits

Expression = Callable[[Operation, Sequence[str], Sequence[str], str], str]
"""Op, operands as C++ expressions, their elements, the result's element -> C++ expression. Raises ElementError."""

_MODULAR = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}
_BITWISE = {"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}
_FLOATING = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*"}
_SIGNED = {
    "arith.divsi": "{0} / {1}",
    "arith.remsi": "{0} % {1}",
    "arith.ceildivsi": "tw::ceil_div({0}, {1})",
    "arith.floordivsi": "tw::floor_div({0}, {1})",
    "arith.maxsi": "tw::max_of({0}, {1})",
    "arith.minsi": "tw::min_of({0}, {1})",
    "arith.shrsi": "{0} >> {1}",
    "math.absi": "{0} < 0 ? -{0} : {0}",
}
_UNSIGNED = {
    "arith.divui": "{0} / {1}",
    "arith.remui": "{0} % {1}",
    "arith.maxui": "tw::max_of({0}, {1})",
    "arith.minui": "tw::min_of({0}, {1})",
    "arith.shrui": "{0} >> {1}",
    "arith.shli": "{0} << {1}",
}
_FUNCTIONS = {
    "arith.maxnumf": "maxnum",
    "arith.minnumf": "minnum",
    "arith.maximumf": "maximum",
    "arith.minimumf": "minimum",
    "math.absf": "abs",
    "math.ceil": "ceil",
    "math.cos": "cos",
    "math.erf": "erf",
    "math.exp": "exp",
    "math.exp2": "exp2",
    "math.floor": "floor",
    "math.fma": "fma",
    "math.log": "log",
    "math.log2": "log2",
    "math.rsqrt": "rsqrt",
    "math.sin": "sin",
    "math.sqrt": "sqrt",
    "tt.precise_sqrt": "sqrt",
}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LIBDEVICE = {
    **{f"__nv_{name}f": name for name in ("tanh", "exp", "exp2", "log", "log2", "erf", "sin", "cos")},
    "__nv_fabsf": "abs",
    "__nv_rsqrtf": "rsqrt",
    "__nv_sqrtf": "sqrt",
}


def is_elementwise(op: Operation) -> bool:
    """Whether the op computes every element of its result from the same element of its operands."""
    return op.name in _HANDLERS


def expression(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    """The element of the result as C++. Raises ElementError if there is none."""
    handler = _HANDLERS.get(op.name)
    if handler is None:
        raise ElementError("this op")
    return handler(op, operands, elements, result)


def constant(op: Operation, element: str) -> str:
    """The C++ literal of `arith.constant` if all elements are the same. Raises ElementError."""
    found = literals(op.attributes.get("value") or op.text_arguments)
    if len(found) != 1:
        raise ElementError("a constant with different elements")
    return literal(found[0], element)


def _modular(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    if result == "i1":
        sign = {"arith.muli": "&"}.get(op.name, "^")
        return f"{operands[0]} {'!=' if sign == '^' else '&&'} {operands[1]}"
    unsigned = unsigned_type(result)
    left, right = (f"{unsigned}({operand})" for operand in operands)
    return f"{cpp_type(result)}({left} {_MODULAR[op.name]} {right})"


def _bitwise(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    return f"{cpp_type(result)}({operands[0]} {_BITWISE[op.name]} {operands[1]})"


def _signed(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    form = _SIGNED[op.name].format(*(f"{cpp_type(result)}({operand})" for operand in operands))
    return f"{cpp_type(result)}({form})"


def _unsigned(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    form = _UNSIGNED[op.name].format(*(f"{unsigned_type(result)}({operand})" for operand in operands))
    return f"{cpp_type(result)}({form})"


def _floating(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    left, right = _widened(operands, elements)
    return _rounded(f"{left} {_FLOATING[op.name]} {right}", result)


def _negate(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    return _rounded(f"-{_widened(operands, elements)[0]}", result)


def _divide(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    left, right = _widened(operands, elements)
    exact = result == "f64" or op.name == "tt.precise_divf"
    return _rounded(f"{left} / {right}" if exact else f"tw::fast_div({left}, {right})", result)


def _function(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    return _call(_FUNCTIONS[op.name], operands, elements, result)


def _library_function(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    symbol = op.attributes.get("symbol", "").strip('"')
    if symbol not in _LIBDEVICE or len(operands) != 1:
        raise ElementError(f"the function '{symbol}'")
    return _call(_LIBDEVICE[symbol], operands, elements, result)


def _call(name: str, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    if result == "f64":
        raise ElementError(f"{name} of f64")
    return _rounded(f"tw::{name}({', '.join(_widened(operands, elements))})", result)


def _compare_integers(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    predicate = op.text_arguments.split(",")[0].strip()
    sign = _COMPARE.get(predicate if predicate in _COMPARE else predicate[1:])
    if sign is None:
        raise ElementError(f"the predicate '{predicate}'")
    unsigned = predicate[0] == "u" or elements[0] == "i1"
    # i1 is signed: true is -1, so that "less" turns round.
    if elements[0] == "i1" and predicate[0] == "s":
        operands = operands[::-1]
    left, right = (f"{unsigned_type(elements[0])}({operand})" if unsigned else operand for operand in operands)
    return f"{left} {sign} {right}"


def _compare_floats(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    predicate = op.text_arguments.split(",")[0].strip()
    left, right = _widened(operands, elements)
    unordered = f"({left} != {left} || {right} != {right})"
    if predicate in ("true", "false"):
        return predicate
    if predicate in ("ord", "uno"):
        return unordered if predicate == "uno" else f"!{unordered}"
    sign = _COMPARE.get(predicate[1:])
    if sign is None:
        raise ElementError(f"the predicate '{predicate}'")
    ordered_is_implied = (predicate[0] == "o") != (sign == "!=")
    if ordered_is_implied:  # C++ compares are false, and != true, where an operand is NaN
        return f"{left} {sign} {right}"
    return (
        f"{left} {sign} {right} {'||' if predicate[0] == 'u' else '&&'} {'' if predicate[0] == 'u' else '!'}{unordered}"
    )


def _select(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    return f"{operands[0]} ? {operands[1]} : {operands[2]}"


def _convert(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    source, operand = elements[0], operands[0]
    if op.name in ("arith.extui", "arith.uitofp", "arith.index_castui"):
        operand = f"{unsigned_type(source)}({operand})"
    elif source == "i1":  # signed: true is -1
        operand = f"int32_t({operand} ? -1 : 0)"
    if op.name in ("arith.fptoui",):
        return f"{cpp_type(result)}(tw::to<{unsigned_type(result)}>({operand}))"
    if op.name == "arith.trunci" and result == "i1":
        return f"({operand} & 1) != 0"
    if not is_float(source) and not is_float(result):
        return f"{cpp_type(result)}({operand})"  # on the host too, for sizes of descriptors
    return f"tw::to<{cpp_type(result)}>({operand})"


def _shorten(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    """`arith.truncf` and `tt.fp_to_fp`: to nearest only."""
    words = [word for word in op.text_arguments.replace(",", " ").split() if word[0] not in "%=" and word != "rounding"]
    if words not in ([], ["rtne"], ["to_nearest_even"]):
        raise ElementError(f"the rounding mode '{' '.join(words)}'")
    return f"tw::to<{cpp_type(result)}>({operands[0]})"


def _bitcast(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    if is_pointer(elements[0]) and is_pointer(result):
        return f"reinterpret_cast<{cpp_type(result)}>({operands[0]})"
    if element_bits(elements[0]) != element_bits(result):
        raise ElementError(f"{elements[0]} read as {result}")
    return f"tw::bits_as<{cpp_type(result)}>({operands[0]})"


def _add_pointer(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
    return f"{operands[0]} + {operands[1]}"


def _widened(operands: Sequence[str], elements: Sequence[str]) -> list[str]:
    return [
        operand if element in ("f32", "f64") else f"tw::to<float>({operand})"
        for operand, element in zip(operands, elements, strict=True)
    ]


def _rounded(text: str, element: str) -> str:
    return text if element in ("f32", "f64") else f"tw::to<{cpp_type(element)}>({text})"


def _checked(handler: Expression) -> Expression:
    """With all types known before any text is made."""

    def run(op: Operation, operands: Sequence[str], elements: Sequence[str], result: str) -> str:
        for element in (*elements, result):
            cpp_type(element)
        return handler(op, operands, elements, result)

    return run


_CONVERSIONS = (
    *("arith.extf", "arith.extsi", "arith.extui", "arith.trunci", "arith.sitofp", "arith.uitofp"),
    *("arith.fptosi", "arith.fptoui", "arith.index_cast", "arith.index_castui"),
)
_HANDLERS: Mapping[str, Expression] = {
    name: _checked(handler)
    for names, handler in (
        (_MODULAR, _modular),
        (_BITWISE, _bitwise),
        (_SIGNED, _signed),
        (_UNSIGNED, _unsigned),
        (_FLOATING, _floating),
        (_FUNCTIONS, _function),
        (_CONVERSIONS, _convert),
        (("arith.truncf", "tt.fp_to_fp"), _shorten),
        (("arith.divf", "tt.precise_divf"), _divide),
        (("arith.bitcast", "tt.bitcast"), _bitcast),
        (("arith.negf",), _negate),
        (("arith.cmpi",), _compare_integers),
        (("arith.cmpf",), _compare_floats),
        (("arith.select",), _select),
        (("tt.addptr",), _add_pointer),
        (("tt.extern_elementwise",), _library_function),
    )
    for name in names
}
