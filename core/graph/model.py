"""The loop graph: everything the judge uses, as `twill.graph/1` files hold it.

Words are those of the literature: operation, dependence (latency, distance), functional unit, reservation
blocks, initiation interval. All numbers are integers >= 0, all times are cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Space(Enum):
    """Where a result lives; `amount` counts registers per thread, bytes or tensor-memory columns."""

    REGISTERS = "registers"
    SHARED = "shared"
    TENSOR = "tensor"
    NONE = "none"


class DependenceKind(Enum):
    """FLOW: the reader uses the value. ANTI and ORDER: time only, without hand-off."""

    FLOW = "flow"
    ANTI = "anti"
    ORDER = "order"


class InOrderIssue(Enum):
    """How strictly a warp group's issue intervals exclude one another (rule `issue`)."""

    STRONG = "strong"
    WEAK = "weak"
    OFF = "off"


class Pool(Enum):
    """How the register file is handed out: FLAT per group, or WARPGROUP as real GPUs do."""

    FLAT = "flat"
    WARPGROUP = "warpgroup"


@dataclass(frozen=True, slots=True)
class Block:
    """One rectangle of an op's reservation table: `amount` of `unit` in [start+offset, start+offset+duration)."""

    unit: str
    offset: int
    duration: int
    amount: int = 1


@dataclass(frozen=True, slots=True)
class Result:
    """Where an op's value lives and how much it takes: registers per thread, bytes, or columns."""

    space: Space = Space.NONE
    amount: int = 0


@dataclass(frozen=True, slots=True)
class Op:
    """One tile-level operation of the loop (`id` is stable under re-reading the same text)."""

    id: str
    kind: str
    needs_warps: int = 1
    blocks: tuple[Block, ...] = ()
    issue_cycles: int = 0
    latency: int = 0
    asynchronous: bool = False
    matrix: bool = False
    variable_latency: bool = False
    streaming: bool = False
    result: Result = Result()
    hand_off_cycles: int = 0
    hand_off_bytes: int = 0
    queue: int = 0
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Dependence:
    """`target` waits for `source` of `distance` iterations before; `release`: cycles after the reader's start
    at which the value may die as far as this reader goes. In files: `from`, `to`."""

    source: str
    target: str
    latency: int
    distance: int = 0
    kind: DependenceKind = DependenceKind.FLOW
    release: int = 0
    blocking: bool = False


@dataclass(frozen=True, slots=True)
class Pin:
    """What the project fixes of one op: its start, its group's name, or both."""

    start: int | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class GroupKind:
    """How many warp groups of a kind, of how many warps each, a schedule may use."""

    kind: str
    warps: int = 1
    count: int = 1
    variable_latency: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """The switchable rules of the model."""

    in_order_issue: InOrderIssue = InOrderIssue.STRONG
    isolate_matrix_issue: bool = False
    allow_hand_off: bool = True


@dataclass(frozen=True, slots=True)
class RegisterFile:
    """Words per SM; limit, granularity and words kept back (`overhead`) per thread."""

    file_words: int
    max_per_thread: int
    granularity: int = 1
    overhead: int = 0
    pool: Pool = Pool.FLAT


@dataclass(frozen=True, slots=True)
class Limits:
    """The machine's resolved numbers (`machine` in a graph file)."""

    units: Mapping[str, int]
    registers: RegisterFile
    shared_memory_bytes: int = 0
    tensor_memory_columns: int = 0
    fixed_shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """One loop to schedule. `ops` keeps the order of the text."""

    name: str
    machine: Limits
    groups: tuple[GroupKind, ...]
    ops: Mapping[str, Op]
    dependences: tuple[Dependence, ...] = ()
    rules: Rules = Rules()
    pins: Mapping[str, Pin] = field(default_factory=dict[str, Pin])

    def group_kind(self, kind: str) -> GroupKind:
        """The group kind of that name. Raises KeyError."""
        for group in self.groups:
            if group.kind == kind:
                return group
        raise KeyError(kind)
