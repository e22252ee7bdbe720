"""The shape of a `twill.machine/1` file: keys, types and ranges, before names are resolved."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from core.machine.model import ANY
from core.yaml_source import Count, PositiveCount

SCHEMA = "twill.machine/1"

Flag = Annotated[bool, Field(strict=True)]
Number = Annotated[float, Field(strict=True, ge=0, le=1e9, allow_inf_nan=False)]
PositiveNumber = Annotated[float, Field(strict=True, gt=0, le=1e9, allow_inf_nan=False)]
ElementClass = Literal["any", "f64", "f32", "f16", "bf16", "f8", "f4", "i64", "i32", "i16", "i8", "i1"]
WorkName = Literal["fma", "elements", "bytes", "none"]
SpaceName = Literal["registers", "shared", "tensor", "none"]


def _list_of_one(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _for_any_element(value: Any) -> Any:
    return {ANY: value} if isinstance(value, int | float) and not isinstance(value, bool) else value


Names = Annotated[
    list[str],
    Field(min_length=1),
    BeforeValidator(_list_of_one, json_schema_input_type=str | list[str]),
]
Spaces = Annotated[
    list[SpaceName],
    Field(min_length=1),
    BeforeValidator(_list_of_one, json_schema_input_type=SpaceName | list[SpaceName]),
]
Elements = Annotated[
    list[ElementClass],
    Field(min_length=1),
    BeforeValidator(_list_of_one, json_schema_input_type=ElementClass | list[ElementClass]),
]
Rates = Annotated[
    dict[ElementClass, PositiveNumber],
    Field(min_length=1),
    BeforeValidator(_for_any_element, json_schema_input_type=PositiveNumber | dict[ElementClass, PositiveNumber]),
]


class Section(BaseModel):
    """A mapping of the document: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")


class ClockSection(Section):
    """`clock_mhz`."""

    value: PositiveCount
    source: str = ""


class UnitSection(Section):
    """One entry of `units`."""

    capacity: PositiveCount = 1
    work: WorkName = "none"
    peak: Rates | None = None
    source: str = ""


class RegisterSection(Section):
    """`registers`."""

    file_words: PositiveCount
    max_per_thread: Annotated[int, Field(strict=True, ge=1, le=255)]
    granularity: PositiveCount = 1
    overhead: Count = 0
    pool: Literal["flat", "warpgroup"] = "flat"
    source: str = ""


class SharedMemorySection(Section):
    """`shared_memory`."""

    bytes: Count
    fixed_bytes: Count = 0
    source: str = ""


class TensorMemorySection(Section):
    """`tensor_memory`."""

    columns: Count = 0
    source: str = ""


class WarpSection(Section):
    """`warps`."""

    max: PositiveCount
    named_barriers: Count = 0
    source: str = ""


class HandOffSection(Section):
    """`hand_off`."""

    base: Number
    per_kilobyte: Number = 0
    source: str = ""


class ConditionSection(Section):
    """`when` of a cost rule."""

    first_operand_in: Spaces | None = None
    result_in: Spaces | None = None
    operand: Elements | None = None
    result: Elements | None = None
    combiner: Names | None = None


class BlockSection(Section):
    """One entry of `blocks` of a cost rule."""

    unit: str
    work: WorkName = "none"
    rate: Rates | None = None
    factor: PositiveNumber = 1
    fixed: Count = 0
    after: Flag = False


class InstructionSection(Section):
    """`instruction` of a cost rule."""

    rows: PositiveCount | None = None
    columns: PositiveCount | None = None
    depth_bytes: PositiveCount | None = None
    row_bytes: PositiveCount | None = None


class IssueSection(Section):
    """`issue` of a cost rule."""

    base: Number = 0
    per_instruction: Number = 0
    per_kilobyte: Number = 0


class LatencySection(Section):
    """`latency` of a cost rule: `add`, or `base` and `per_kilobyte`."""

    add: Count = 0
    base: Number | None = None
    per_kilobyte: Number = 0


class CostSection(Section):
    """One entry of `costs`. A rule with one block has the block's keys itself, one with several has `blocks`."""

    op: Names
    when: ConditionSection = ConditionSection()
    unit: str | None = None
    work: WorkName = "none"
    rate: Rates | None = None
    factor: PositiveNumber = 1
    fixed: Count = 0
    blocks: list[BlockSection] | None = None
    instruction: InstructionSection | None = None
    issue: IssueSection | None = None
    latency: LatencySection = LatencySection()
    asynchronous: Flag = False
    blocking: Flag = False
    holds_operands: Flag = False
    variable_latency: Flag = False
    matrix: Flag = False
    needs_warps: Literal[1, 4, 8] = 4
    queue: Count = 0
    source: str = ""


class MachineDocument(Section):
    """The whole file."""

    version: Literal["twill.machine/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1)]
    target: str = ""
    clock_mhz: ClockSection
    units: Annotated[dict[str, UnitSection], Field(min_length=1)]
    registers: RegisterSection
    shared_memory: SharedMemorySection
    tensor_memory: TensorMemorySection = TensorMemorySection()
    warps: WarpSection
    hand_off: HandOffSection
    costs: Annotated[list[CostSection], Field(min_length=1)]
