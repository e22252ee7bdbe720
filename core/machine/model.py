"""A machine as plain data: units, memories, warps and the cost rules of its operations (`twill.machine/1`).

Times are SM cycles. Rates are work per cycle of the whole SM, exact fractions, so that costs never depend on
rounding in floating point; durations are rounded up once, when a rule is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from core.graph.model import Limits, RegisterFile, Space

ANY = "any"  # the element class of a rate that holds for every type
ELEMENT_CLASSES = (ANY, "f64", "f32", "f16", "bf16", "f8", "f4", "i64", "i32", "i16", "i8", "i1")


def element_class(element_type: str) -> str:
    """The key of a rate for a TTGIR element type: `f8E4M3FN` is `f8`, `i32` itself, a pointer `i64`, else `any`."""
    if element_type.startswith("!tt.ptr"):
        return "i64"
    for narrow in ("f8", "f4"):
        if element_type.startswith(narrow):
            return narrow
    return element_type if element_type in ELEMENT_CLASSES else ANY


class Work(Enum):
    """What an op's cost is counted in.

    FMA: m·n·k multiply-adds (and batches) of a matrix op. ELEMENTS: those of the largest tile among operands and
    result, so a reduction counts its operand; elements that several threads hold count once per thread, a vector over
    64 rows in wgmma layout 256. BYTES: of the result if it is a tile, in registers or in a memory, else of the largest
    operand tile that is neither pointers nor a mask. NONE: no work, the cost is `fixed`.
    """

    FMA = "fma"
    ELEMENTS = "elements"
    BYTES = "bytes"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Unit:
    """A functional unit. `peak`: the most work per cycle by element class, for the lint; empty if unknown."""

    name: str
    capacity: int = 1
    work: Work = Work.NONE
    peak: Mapping[str, Fraction] | None = None
    source: str = ""
    line: int | None = None  # of the machine's file


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """`bytes` one block may use, of which every kernel keeps `fixed_bytes` for barriers and alignment."""

    bytes: int
    fixed_bytes: int = 0
    source: str = ""


@dataclass(frozen=True, slots=True)
class TensorMemory:
    """Columns of 128 lanes of 32 bits; 0 where the machine has none."""

    columns: int = 0
    source: str = ""


@dataclass(frozen=True, slots=True)
class Warps:
    """Warps of one SM at most, and named barriers a kernel may use (barrier 0 is kept for the whole block)."""

    max: int
    named_barriers: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class HandOff:
    """A register value through shared memory to another group: base + per_kilobyte · KiB cycles, rounded up."""

    base: Fraction
    per_kilobyte: Fraction
    source: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """When a rule holds; an empty field holds always.

    `first_operand_in`: memory of the first tile operand (A of a matrix op). `result_in`: memory the result goes to
    (`tt.load` into a ring of shared memory, or into registers). `operand`, `result`: element classes of the first tile
    operand and of the result. `combiner`: the op in the region of a `tt.reduce`; it holds if every op there but the
    return is named.
    """

    first_operand_in: tuple[Space, ...] = ()
    result_in: tuple[Space, ...] = ()
    operand: tuple[str, ...] = ()
    result: tuple[str, ...] = ()
    combiner: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitCost:
    """One block on a unit: duration = fixed + ceil(factor · work / rate).

    `rate`: work per cycle by element class, that of the first tile operand (of the result if there is none), else
    `any`. `factor`: instructions per piece of work (4 for an elementwise op of four instructions). The block begins
    with the op, or with `after` where the block before it in the rule ends.
    """

    unit: str
    work: Work = Work.NONE
    rate: Mapping[str, Fraction] | None = None
    factor: Fraction = Fraction(1)
    fixed: int = 0
    after: bool = False

    def rate_of(self, element: str) -> Fraction | None:
        """The rate for an element class, else that of `any`, else None (the rule does not know the type)."""
        rates = self.rate or {}
        return rates.get(element, rates.get(ANY))


@dataclass(frozen=True, slots=True)
class InstructionShape:
    """The piece that `per_instruction` counts, by default what one instruction does; None: no limit. An op counts the
    product of the ceilings of its shape over these.

    Matrix ops: rows (m), columns (n) and `depth_bytes` (k · bytes of an element of A). Copies: rows, and `row_bytes`
    of the tile's innermost dimension.
    """

    rows: int | None = None
    columns: int | None = None
    depth_bytes: int | None = None
    row_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """Cycles in which the issuing warp group does nothing else: base + per_instruction · instructions +
    per_kilobyte · KiB (as Work.BYTES), rounded up."""

    base: Fraction = Fraction(0)
    per_instruction: Fraction = Fraction(0)
    per_kilobyte: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles until a dependent op may start, never less than the end of the blocks.

    With `base`: base + per_kilobyte · KiB (as Work.BYTES), rounded up. Without: the later of the end of the blocks and
    the issue cycles, and `add`.
    """

    add: int = 0
    base: Fraction | None = None
    per_kilobyte: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class CostRule:
    """What ops of some kinds cost. `Machine.costs` is searched from the top; the first rule that holds counts.

    `ops`: shell patterns of op names (`arith.cmp*`). `issue` None: the op is busy until its blocks end (0 without
    blocks). `instruction` None: one instruction. `asynchronous`: the group goes on after the issue cycles. `blocking`:
    its readers need a blocking wait. `holds_operands`: operands in registers stay alive until its latency is over.
    `needs_warps`: warps of the group that runs it, at least. `queue`: cycles it may wait on its unit after its issue.
    """

    ops: tuple[str, ...]
    when: Condition = Condition()
    blocks: tuple[UnitCost, ...] = ()
    instruction: InstructionShape | None = None
    issue: Issue | None = None
    latency: Latency = Latency()
    asynchronous: bool = False
    blocking: bool = False
    holds_operands: bool = False
    variable_latency: bool = False
    matrix: bool = False
    needs_warps: int = 4
    queue: int = 0
    source: str = ""
    line: int | None = None  # of the machine's file


@dataclass(frozen=True, slots=True)
class Machine:
    """One SM of a GPU. `target` is what TTGIR modules name (`cuda:90`); `clock_mhz` is for display only."""

    name: str
    target: str
    clock_mhz: int
    clock_source: str
    units: Mapping[str, Unit]
    registers: RegisterFile
    registers_source: str
    shared_memory: SharedMemory
    tensor_memory: TensorMemory
    warps: Warps
    hand_off: HandOff
    costs: tuple[CostRule, ...]
    file: str = ""  # the file it was read from, for messages
    lines: Mapping[str, int] = field(default_factory=dict[str, int])  # of the file's top-level keys

    def limits(self, kept_shared_bytes: int = 0) -> Limits:
        """The resolved numbers of a graph; `kept_shared_bytes`: what the kernel keeps in shared memory all along,
        beside the machine's own `fixed_bytes`."""
        return Limits(
            units={name: unit.capacity for name, unit in self.units.items()},
            registers=self.registers,
            shared_memory_bytes=self.shared_memory.bytes,
            tensor_memory_columns=self.tensor_memory.columns,
            fixed_shared_bytes=self.shared_memory.fixed_bytes + kept_shared_bytes,
        )
