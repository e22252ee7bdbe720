"""How many neighbouring elements one instruction may take of an access by pointers.

What is known of an integer or pointer tile along each dimension, in the manner of Triton's axis analysis: `runs` of
elements that each are one more than the one before (a pointer: one element further), the power of two that `divides`
the first element of every run (a pointer: its bytes), and how many neighbours are the `same`: all powers of two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from core.export.cuda.context import Vectors
from core.export.cuda.elements import element_bytes, is_pointer, literals, pointee
from core.export.cuda.layouts import Layout
from core.ir.model import Loop, Module, Operation, Value
from core.ir.types import TensorType, parse_type

_MOST = 1 << 30  # zero is divided by everything
_MOST_BYTES = 16  # of one access
_ROUNDS = 8  # until what loops carry no longer changes: each one at least halves something
_DIVISIBILITY = re.compile(r"tt\.divisibility\s*=\s*(\d+)")
_MASK = {"tt.load": 1, "tt.store": 2}
_SPLITS_FAIRLY = ("slt", "sge", "ult", "uge")  # a run below an aligned bound is below it as a whole


@dataclass(frozen=True, slots=True)
class Along:
    """What is known along one dimension."""

    runs: int = 1
    divides: int = 1
    same: int = 1

    @property
    def every(self) -> int:
        """What divides every element."""
        return self.divides if self.runs == 1 else 1

    def joined(self, other: Along) -> Along:
        """What holds for both."""
        runs = min(self.runs, other.runs)
        return Along(runs, gcd(_cut(self, runs), _cut(other, runs)), min(self.same, other.same))


Known = tuple[Along, ...]
"""Of each dimension; of a scalar one entry."""

_NOTHING = Along()


def vectors_of(module: Module, function: Operation) -> Vectors:
    """For each access of the function, and the layout of its pointers, the width of its instructions in elements."""
    analysis = _Analysis(module, function)

    def width(op: Operation, layout: Layout) -> int:
        return analysis.width(op, layout)

    return width


def _cut(along: Along, runs: int) -> int:
    """What divides the first element of every piece of that length of a run."""
    return along.divides if runs >= along.runs else gcd(along.divides, runs)


class _Analysis:
    def __init__(self, module: Module, function: Operation) -> None:
        self._module = module
        self._loops: Mapping[Operation, Loop] = {loop.operation: loop for loop in module.loops}
        self._known: dict[Value, Known] = {}
        self._shapes: dict[Value, tuple[int, ...]] = {}
        block = function.regions[0].blocks[0]
        arguments = block.arguments
        ends = [*(value.span.start for value in arguments[1:]), len(module.text)]
        for value, end in zip(arguments, ends, strict=True):
            close = module.text.find("{\n", value.span.end)
            found = _DIVISIBILITY.search(module.text, value.span.end, min(end, close if close > 0 else end))
            self._known[value] = (Along(1, _power(int(found.group(1))) if found else 1, 1),)
        for _ in range(_ROUNDS):
            before = dict(self._known)
            self._block(block.operations)
            if before == self._known:
                return
        self._known.clear()  # it does not settle: nothing is known

    def width(self, op: Operation, layout: Layout) -> int:
        """The width for an access with pointers of that layout."""
        pointers = op.operands[0]
        type_ = self._type(pointers)
        if not isinstance(type_, TensorType) or not layout.register:
            return 1
        dimension = next(index for index, step in enumerate(layout.register[0]) if step)
        along = self.of(pointers)[dimension]
        size = element_bytes(pointee(type_.element))
        found = min(_run_of(layout, dimension), along.runs, along.divides // size or 1, _MOST_BYTES // size)
        mask = _MASK.get(op.name, len(op.operands))
        if mask < len(op.operands):
            found = min(found, self.of(op.operands[mask])[dimension].same)
        return max(1, found)

    def of(self, value: Value) -> Known:
        """What is known of a value."""
        return self._known.get(value) or (_NOTHING,) * max(1, len(self._shape(value)))

    def _type(self, value: Value):
        return parse_type(value.type, self._module.aliases)

    def _shape(self, value: Value) -> tuple[int, ...]:
        if value not in self._shapes:
            type_ = self._type(value)
            self._shapes[value] = type_.shape if isinstance(type_, TensorType) else ()
        return self._shapes[value]

    def _block(self, operations: Sequence[Operation]) -> None:
        for op in operations:
            loop = self._loops.get(op)
            if op.name == "scf.for" and loop is not None:
                self._for(op, loop)
                continue
            for region in op.regions:
                for block in region.blocks:
                    self._block(block.operations)
            handler = _HANDLERS.get(op.name)
            if handler is not None and len(op.results) == 1 and self._is_known_type(op.results[0]):
                self._known[op.results[0]] = handler(self, op)

    def _is_known_type(self, value: Value) -> bool:
        type_ = self._type(value)
        element = type_.element if isinstance(type_, TensorType) else getattr(type_, "name", value.type)
        return is_pointer(element) or element.startswith("i")

    def _for(self, op: Operation, loop: Loop) -> None:
        if loop.induction is not None:
            lower, step = self.of(loop.bounds[0])[0], self.of(loop.bounds[2])[0]
            self._known[loop.induction] = (Along(1, gcd(lower.divides, step.divides), 1),)
        for argument, initial in zip(loop.arguments, loop.initial, strict=True):
            if argument not in self._known:
                self._known[argument] = self.of(initial)
        self._block(loop.body.operations)
        for argument, yielded, result in zip(loop.arguments, loop.yielded, op.results, strict=True):
            both = zip(self._known[argument], self.of(yielded), strict=True)
            self._known[argument] = self._known[result] = tuple(one.joined(other) for one, other in both)

    # ---- operations

    def constant(self, op: Operation) -> Known:
        found = literals(op.attributes.get("value") or op.text_arguments)
        shape = self._shape(op.results[0])
        if len(found) != 1 or any(mark in found[0] for mark in ".x"):
            return (_NOTHING,) * max(1, len(shape))
        number = int({"true": "1", "false": "0"}.get(found[0], found[0]))
        return tuple(Along(1, _power(number), size) for size in shape or (1,))

    def make_range(self, op: Operation) -> Known:
        (size,) = self._shape(op.results[0])
        start = int(re.findall(r"-?\d+", op.attributes["start"])[0])
        return (Along(size, _power(start), 1),)

    def splat(self, op: Operation) -> Known:
        (scalar,) = self.of(op.operands[0])
        return tuple(Along(1, scalar.divides, size) for size in self._shape(op.results[0]))

    def expand_dims(self, op: Operation) -> Known:
        known = list(self.of(op.operands[0]))
        axis = int(re.findall(r"-?\d+", op.attributes["axis"])[0])
        known.insert(axis, Along(1, max(along.every for along in known), 1))
        return tuple(known)

    def broadcast(self, op: Operation) -> Known:
        before, shape = self._shape(op.operands[0]), self._shape(op.results[0])
        return tuple(
            Along(1, along.divides, new) if old != new else along
            for along, old, new in zip(self.of(op.operands[0]), before, shape, strict=True)
        )

    def transpose(self, op: Operation) -> Known:
        order = [int(number) for number in re.findall(r"\d+", op.attributes["order"].partition("i32:")[2])]
        known = self.of(op.operands[0])
        return tuple(known[dimension] for dimension in order)

    def same(self, op: Operation) -> Known:
        return self.of(op.operands[0])

    def add(self, op: Operation) -> Known:
        left, right = self.of(op.operands[0]), self.of(op.operands[1])
        return tuple(_sum(one, other) for one, other in zip(left, right, strict=True))

    def subtract(self, op: Operation) -> Known:
        left, right = self.of(op.operands[0]), self.of(op.operands[1])
        return tuple(_sum(one, Along(1, other.every, other.same)) for one, other in zip(left, right, strict=True))

    def add_pointer(self, op: Operation) -> Known:
        type_ = self._type(op.results[0])
        size = element_bytes(pointee(type_.element if isinstance(type_, TensorType) else op.results[0].type))
        left, right = self.of(op.operands[0]), self.of(op.operands[1])
        return tuple(
            _sum(one, Along(other.runs, other.divides * size, other.same), size)
            for one, other in zip(left, right, strict=True)
        )

    def multiply(self, op: Operation) -> Known:
        left, right = self.of(op.operands[0]), self.of(op.operands[1])
        return tuple(
            Along(1, min(_MOST, one.every * other.every), min(one.same, other.same))
            for one, other in zip(left, right, strict=True)
        )

    def remainder(self, op: Operation) -> Known:
        """Of a run by a bound that all of it shares and that a piece of the run divides."""
        left, right = self.of(op.operands[0]), self.of(op.operands[1])
        found: list[Along] = []
        for one, other in zip(left, right, strict=True):
            runs = min(one.runs, other.same, other.every) if self._shape(op.results[0]) else 1
            runs = min(runs, _aligned(one, runs))
            found.append(Along(runs, gcd(_cut(one, runs), other.every), min(one.same, other.same)))
        return tuple(found)

    def compare(self, op: Operation) -> Known:
        predicate = op.text_arguments.split(",")[0].strip()
        left, right = self.of(op.operands[0]), self.of(op.operands[1])
        found: list[Along] = []
        for one, other in zip(left, right, strict=True):
            same = min(one.same, other.same)
            if predicate in _SPLITS_FAIRLY:
                # below a bound that aligned pieces of a run share and divide
                runs = min(one.runs, other.same, other.every)
                same = max(same, min(runs, _aligned(one, runs)))
            found.append(Along(1, 1, same))
        return tuple(found)

    def only_same(self, op: Operation) -> Known:
        known = [self.of(operand) for operand in op.operands]
        return tuple(Along(1, 1, min(along.same for along in dimension)) for dimension in zip(*known, strict=True))


def _sum(one: Along, other: Along, size: int = 1) -> Along:
    """`size`: bytes that a run goes on by."""
    runs = max(min(one.runs, other.same), min(one.same, other.runs))
    left, right = (_cut(along, runs) if size == 1 else _cut_bytes(along, runs, size) for along in (one, other))
    return Along(runs, gcd(left, right), min(one.same, other.same))


def _cut_bytes(along: Along, runs: int, size: int) -> int:
    return along.divides if runs >= along.runs else gcd(along.divides, runs * size)


def _aligned(along: Along, runs: int) -> int:
    """The largest piece of a run, at most `runs` long, at whose multiples every run begins."""
    return max(1, gcd(along.divides, runs))


def _power(number: int) -> int:
    """The largest power of two that divides a number."""
    return min(_MOST, number & -number) if number else _MOST


def _run_of(layout: Layout, dimension: int) -> int:
    """How many registers from the first on are neighbours along a dimension."""
    length = 1
    for basis in layout.register:
        if basis != tuple(length if index == dimension else 0 for index in range(len(basis))):
            break
        length *= 2
    return length


_Handler = Callable[[_Analysis, Operation], Known]
_HANDLERS: Mapping[str, _Handler] = {
    "arith.constant": _Analysis.constant,
    "tt.make_range": _Analysis.make_range,
    "tt.splat": _Analysis.splat,
    "tt.expand_dims": _Analysis.expand_dims,
    "tt.broadcast": _Analysis.broadcast,
    "tt.trans": _Analysis.transpose,
    "ttg.convert_layout": _Analysis.same,
    "arith.extsi": _Analysis.same,
    "arith.extui": _Analysis.same,
    "arith.index_cast": _Analysis.same,
    "arith.trunci": _Analysis.same,
    "arith.addi": _Analysis.add,
    "arith.subi": _Analysis.subtract,
    "arith.muli": _Analysis.multiply,
    "arith.remsi": _Analysis.remainder,
    "arith.remui": _Analysis.remainder,
    "tt.addptr": _Analysis.add_pointer,
    "arith.cmpi": _Analysis.compare,
    "arith.andi": _Analysis.only_same,
    "arith.ori": _Analysis.only_same,
    "arith.xori": _Analysis.only_same,
    "arith.select": _Analysis.only_same,
}
