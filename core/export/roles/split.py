"""A function in which each tile op that a schedule splits is several ops, each on its part.

Parts have types of their own, so that nothing behind this needs to know of them. The text stays that of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.export.roles.places import Copies
from core.export.roles.split_links import numbers, shape_of
from core.export.roles.split_places import SplitPlaces
from core.ir.model import Block, Loop, Module, Operation, Region, Value
from core.ir.operations import category_of, data_positions
from core.ir.tiles import Category
from core.ir.types import MemDescType, TensorDescType, TensorType, element_bits, parse_type

_STORES = frozenset({"tt.descriptor_store", "tt.descriptor_reduce"})


@dataclass(frozen=True, slots=True)
class SplitFunction:
    """A module whose function is split, the function, and where its operations come from."""

    module: Module
    function: Operation
    copies: Copies


def split_function(module: Module, function: Operation, places: SplitPlaces) -> SplitFunction:
    """The split function in a module of its own."""
    return _Splitter(module, places).run(function)


@dataclass(slots=True)
class _Splitter:
    """One split. `values`: of each old value its new one, or its parts."""

    module: Module
    places: SplitPlaces
    values: dict[Value, tuple[Value, ...]] = field(default_factory=dict[Value, tuple[Value, ...]])
    copies: dict[tuple[Operation, int | None], Operation] = field(
        default_factory=dict[tuple[Operation, "int | None"], Operation]
    )
    loops: dict[Operation, Loop] = field(default_factory=dict[Operation, Loop])

    def run(self, function: Operation) -> SplitFunction:
        old = {loop.operation: loop for loop in self.module.loops}
        self.loops = old
        new_loops: dict[int, Loop] = {}
        copy = replace(function, regions=())
        copy.regions = tuple(self._region(region, copy, new_loops) for region in function.regions)
        top = self.module.operation
        root = replace(top, regions=())
        regions: list[Region] = []
        for region in top.regions:
            new = [
                Block(block.arguments, [copy if op is function else op for op in block.operations], root)
                for block in region.blocks
            ]
            regions.append(Region(tuple(new)))
        root.regions = tuple(regions)
        copy.block = next(block for region in root.regions for block in region.blocks if copy in block.operations)
        loops = tuple(new_loops.get(loop.index, loop) for loop in self.module.loops)
        return SplitFunction(replace(self.module, operation=root, loops=loops), copy, self.copies)

    def _region(self, region: Region, parent: Operation, loops: dict[int, Loop]) -> Region:
        return Region(tuple(self._block(block, parent, loops) for block in region.blocks))

    def _block(self, block: Block, parent: Operation, loops: dict[int, Loop]) -> Block:
        arguments = tuple(new for argument in block.arguments for new in self._define(argument))
        new = Block(arguments, [], parent)
        for op in block.operations:
            self._operation(op, new, loops)
        return new

    def _operation(self, op: Operation, block: Block, loops: dict[int, Loop]) -> None:
        if op.name in ("scf.for", "scf.if", "scf.while") or op.name in ("scf.yield", "scf.condition"):
            self._control(op, block, loops)
        elif op.results and op.results[0] in self.places.gathered:
            self._store_parts(op, block)
        elif op.operands and op.operands[0] in self.places.gathered:
            self._sum_parts(op, block)
        elif any(value in self.places.dimension for value in (*op.results, *op.operands)):
            for part in range(self.places.parts):
                self._part(op, part, block)
        else:
            operands = tuple(self.values[operand][0] for operand in op.operands)
            self._add(op, None, operands, [self._define(result)[0] for result in op.results], block)

    def _control(self, op: Operation, block: Block, loops: dict[int, Loop]) -> None:
        """Loops, branches, and what ends their blocks: a split value is as many as it has parts."""
        operands = tuple(new for operand in op.operands for new in self.values[operand])
        new = replace(op, operands=operands, results=(), regions=(), block=block)
        self.copies[op, None] = new
        new.regions = tuple(self._region(region, new, loops) for region in op.regions)
        results: list[Value] = []
        for result in op.results:
            for value in self._define(result):
                value.producer, value.index = new, len(results)
                results.append(value)
        new.results = tuple(results)
        block.operations.append(new)
        old = self.loops.get(op)
        if old is not None:
            loops[old.index] = self._loop(old, new)

    def _loop(self, old: Loop, new: Operation) -> Loop:
        def expanded(values: Sequence[Value]) -> tuple[Value, ...]:
            return tuple(part for value in values for part in self.values[value])

        body = new.regions[-1].blocks[0]
        return Loop(
            index=old.index,
            operation=new,
            depth=old.depth,
            body=body,
            induction=self.values[old.induction][0] if old.induction is not None else None,
            arguments=expanded(old.arguments),
            initial=expanded(old.initial),
            yielded=expanded(old.yielded),
            bounds=expanded(old.bounds),
        )

    def _define(self, value: Value) -> tuple[Value, ...]:
        """New values for one that is defined here."""
        dimension = self.places.dimension.get(value)
        if dimension is None:
            self.values[value] = (replace(value, producer=None),)
        else:
            type_ = self._part_type(value, dimension)
            parts = range(self.places.parts)
            self.values[value] = tuple(
                Value(f"{value.name}.{part}", type_, value.span, None, value.index) for part in parts
            )
        return self.values[value]

    def _part(self, op: Operation, part: int, block: Block) -> None:
        operands = [self._operand(op, position, part, block) for position in range(len(op.operands))]
        if part == 0:
            for result in op.results:
                self._define(result)
        results = [self.values[result][part] for result in op.results]
        attributes = op.attributes
        if op.name == "tt.make_range":
            size = shape_of(self.module, op.results[0])[0] // self.places.parts
            start = numbers(op.attributes["start"])[0] + part * size
            attributes = {**attributes, "start": f"{start} : i32", "end": f"{start + size} : i32"}
        if op.name in _STORES:
            self._shift(op, part, operands, block)
        self._add(replace(op, attributes=attributes), part, tuple(operands), results, block, of=op)

    def _operand(self, op: Operation, position: int, part: int, block: Block) -> Value:
        value = op.operands[position]
        if value in self.places.dimension:
            return self.values[value][part]
        new = self.values[value][0]
        dimension = self.places.sliced.get(value)
        if dimension is None or not self._takes_lines(op, position, dimension):
            return new
        first = part * shape_of(self.module, value)[dimension] // self.places.parts
        return self._slice(new, value, dimension, first, op, block)

    def _slice(self, new: Value, old: Value, dimension: int, first: int, near: Operation, block: Block) -> Value:
        """A part's lines of a whole buffer, from `first` on."""
        offsets = [first if at == dimension else 0 for at in range(len(shape_of(self.module, old)))]
        sliced = Value(f"{old.name}.{first}", self._part_type(old, dimension), old.span)
        slicing = self._new("ttg.memdesc_subslice", near, (new,), sliced, block)
        slicing.text_arguments = f"{old.name}{offsets}"
        return sliced

    def _store_parts(self, op: Operation, block: Block) -> None:
        """Each part goes to a shared tile of its own, as operand A of a matrix op."""
        result = op.results[0]
        type_ = parse_type(self.values[op.operands[0]][0].type, self.module.aliases)
        assert isinstance(type_, TensorType)  # a layout conversion is of registers
        bits = element_bits(type_.element)
        swizzle = min(128, type_.shape[-1] * bits // 8)
        layout = f"swizzlingByteWidth = {swizzle}, transposed = false, elementBitWidth = {bits}"
        tile = "".join(f"{size}x" for size in type_.shape) + type_.element
        memory = f"!ttg.memdesc<{tile}, #ttg.nvmma_shared<{{{layout}}}>, #ttg.shared_memory>"
        buffers: list[Value] = []
        for part, value in enumerate(self.values[op.operands[0]]):
            buffer = Value(f"{result.name}.{part}", memory, result.span)
            self.copies[op, part] = self._new("ttg.local_alloc", op, (value,), buffer, block)
            buffers.append(buffer)
        self.values[result] = tuple(buffers)

    def _sum_parts(self, op: Operation, block: Block) -> None:
        """A matrix op over all parts of operand A adds them one after another, each times its lines of operand B."""
        left, right = self.values[op.operands[0]], self.values[op.operands[1]][0]
        size = shape_of(self.module, op.operands[1])[0] // len(left)
        accumulator = self.values[op.operands[2]][0]
        result = op.results[0]
        for part, value in enumerate(left):
            last = part == len(left) - 1
            lines = self._slice(right, op.operands[1], 0, part * size, op, block)
            total = replace(result, producer=None) if last else Value(f"{result.name}.{part}", result.type, result.span)
            # A flag that starts the sum afresh holds for the first part only.
            flags = tuple(self.values[operand][0] for operand in op.operands[3:]) if part == 0 else ()
            new = self._new(op.name, op, (value, lines, accumulator, *flags), total, block, op.attributes)
            self.copies[op, None if last else part] = new
            accumulator = total
        self.values[result] = (accumulator,)

    def _takes_lines(self, op: Operation, position: int, dimension: int) -> bool:
        """Whether the op's part needs only its part of a whole buffer."""
        if category_of(op) is Category.MATRIX:
            split = self.places.dimension.get(op.results[0])
            return (position, dimension, split) in ((0, 0, 0), (1, 1, 1))
        return position in data_positions(op)

    def _shift(self, op: Operation, part: int, operands: list[Value], block: Block) -> None:
        """A store of a part: a descriptor of smaller tiles, and the coordinate of its first line."""
        tile = op.operands[-1]
        dimension = self.places.dimension[tile]
        size = shape_of(self.module, tile)[dimension] // self.places.parts
        descriptor, coordinate = op.operands[0], op.operands[1 + dimension]
        smaller = Value(f"{descriptor.name}.{part}", self._part_type(descriptor, dimension), descriptor.span)
        made = self._new("ttng.reinterpret_tensor_descriptor", op, (operands[0],), smaller, block)
        operands[0] = made.results[0]
        offset = Value(f"{coordinate.name}.by{part}", coordinate.type, coordinate.span)
        self._new("arith.constant", op, (), offset, block, {"value": str(part * size)})
        moved = Value(f"{coordinate.name}.{part}", coordinate.type, coordinate.span)
        self._new("arith.addi", op, (operands[1 + dimension], offset), moved, block)
        operands[1 + dimension] = moved

    def _new(
        self,
        name: str,
        near: Operation,
        operands: tuple[Value, ...],
        result: Value,
        block: Block,
        attributes: Mapping[str, str] | None = None,
    ) -> Operation:
        op = Operation(name, near.span, near.name_span, operands, (result,), attributes or {}, block=block)
        result.producer = op
        block.operations.append(op)
        return op

    def _add(
        self,
        op: Operation,
        part: int | None,
        operands: tuple[Value, ...],
        results: Sequence[Value],
        block: Block,
        of: Operation | None = None,
    ) -> None:
        new = replace(op, operands=operands, results=tuple(results), block=block)
        for index, result in enumerate(new.results):
            result.producer, result.index = new, index
        block.operations.append(new)
        self.copies[of or op, part] = new

    def _part_type(self, value: Value, dimension: int) -> str:
        """The type with one dimension shorter."""
        type_ = parse_type(value.type, self.module.aliases)
        assert isinstance(type_, TensorType | MemDescType | TensorDescType)  # what has dimensions
        shape = tuple(size // self.places.parts if at == dimension else size for at, size in enumerate(type_.shape))
        tile = "".join(f"{size}x" for size in shape) + type_.element
        encoding = f", {type_.encoding}" if type_.encoding else ""
        if isinstance(type_, TensorType):
            return f"tensor<{tile}{encoding}>"
        if isinstance(type_, TensorDescType):
            return f"!tt.tensordesc<{tile}{encoding}>"
        whole = "x".join(str(size) for size in (type_.allocation_shape or type_.shape))
        mutable = ", mutable" if type_.mutable else ""
        allocated = value.producer is not None and value.producer.name == "ttg.local_alloc"
        of = "" if allocated and value in self.places.dimension else f", {whole}"
        return f"!ttg.memdesc<{tile}{encoding}, {type_.memory_space}{mutable}{of}>"
