"""The shape of a `twill.graph/1` document: keys, types and ranges, before names are resolved."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool
from pydantic_core import PydanticCustomError

from core.graph.model import DependenceKind, InOrderIssue, Pool, Space
from core.yaml_source import Count, PositiveCount

SCHEMA = "twill.graph/1"

Warps = Annotated[int, Field(strict=True, ge=1, le=64)]
"""Warps of one group: an SM has room for no more."""


def _block_with_amount(row: Any) -> Any:
    if not isinstance(row, list) or len(row) not in (3, 4):  # pyright: ignore[reportUnknownArgumentType]
        raise PydanticCustomError("block_shape", "a block is [unit, offset, duration, amount]")
    return row if len(row) == 4 else [*row, 1]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _off_is_false(value: Any) -> Any:
    """YAML 1.1 reads a bare `off` as false."""
    return InOrderIssue.OFF if value is False else value


BlockRow = Annotated[
    tuple[str, Count, Count, Count],
    BeforeValidator(
        _block_with_amount,
        json_schema_input_type=Annotated[list[str | Count], Field(min_length=3, max_length=4)],
    ),
]


class Section(BaseModel):
    """A mapping of the document: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")


class RegisterSection(Section):
    """`machine.registers`."""

    file_words: Count = 0
    max_per_thread: Count = 0
    granularity: PositiveCount = 1
    overhead: Count = 0
    pool: Pool = Pool.FLAT


class MachineSection(Section):
    """`machine`: resolved numbers."""

    units: dict[str, Count] = {}
    registers: RegisterSection = RegisterSection()
    shared_memory_bytes: Count = 0
    tensor_memory_columns: Count = 0
    fixed_shared_bytes: Count = 0


class GroupSection(Section):
    """One entry of `groups`."""

    kind: str
    warps: Warps = 1
    count: Count = 1
    variable_latency: StrictBool = False


class RulesSection(Section):
    """`rules`."""

    isolate_matrix_issue: StrictBool = False
    in_order_issue: Annotated[InOrderIssue, BeforeValidator(_off_is_false)] = InOrderIssue.STRONG
    allow_hand_off: StrictBool = True


class ResultSection(Section):
    """`result` of an op."""

    space: Space = Space.NONE
    amount: Count = 0


class OpSection(Section):
    """One value of `ops`."""

    kind: str = ""
    line: Count | None = None
    needs_warps: Count = 1
    blocks: list[BlockRow] = []
    issue_cycles: Count = 0
    latency: Count = 0
    asynchronous: StrictBool = False
    matrix: StrictBool = False
    variable_latency: StrictBool = False
    streaming: StrictBool = False
    result: ResultSection = ResultSection()
    hand_off_cycles: Count = 0
    hand_off_bytes: Count = 0
    queue: Count = 0


class DependenceSection(Section):
    """One entry of `dependences`; a missing latency or release follows from the ops."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    latency: Count | None = None
    distance: Count = 0
    kind: DependenceKind = DependenceKind.FLOW
    release: Count | None = None
    blocking: StrictBool = False


class PinSection(Section):
    """One value of `pins`."""

    start: Count | None = None
    group: str | None = None


class GraphDocument(Section):
    """The whole file. `bounds` is what `twill graph` adds for its reader; it bears on nothing."""

    version: Literal["twill.graph/1"] = Field(alias="schema")
    name: str = ""
    machine: MachineSection = MachineSection()
    groups: list[GroupSection] = []
    rules: RulesSection = RulesSection()
    ops: dict[str, OpSection] = {}
    dependences: list[DependenceSection] = []
    pins: dict[str, PinSection] = {}
    bounds: Any = None
