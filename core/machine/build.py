"""From tile ops and a machine to the graph that is scheduled, and where each of its numbers comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Protocol

from core.diagnostics import Diagnostic, Severity
from core.graph.model import DependenceKind, Graph, GroupKind, Op, Pin, Result, Rules, Space
from core.ir.tiles import Category, TileLoop, TileOp
from core.machine.build_dependences import dependences
from core.machine.costs import WARPS_OF_A_GROUP, OpCost, find_rule, op_cost
from core.machine.model import CostRule, Machine

PIECE_COLUMNS = 32
"""Columns of a rescale's pieces: its register values count no more, one register a column for 32-bit elements."""


_WITHOUT_COST = (Category.INVARIANT, Category.LOOP)
"""No rule says what these cost: nothing, and what the schedule of the inner loop says."""


class Override(Protocol):
    """Costs that replace those of the machine (cycles; None: the machine's)."""

    @property
    def latency(self) -> int | None: ...

    @property
    def issue_cycles(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class CostSource:
    """Where an op's numbers come from: the machine's rule (its `source` says who found them; None: no rule fits), and
    the names of the numbers that the project overrides."""

    rule: CostRule | None
    overridden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltGraph:
    """The graph, the source of each op's cost, and what the user should know: ops without a rule."""

    graph: Graph
    sources: Mapping[str, CostSource] = field(default_factory=dict[str, CostSource])
    diagnostics: tuple[Diagnostic, ...] = ()


def build_graph(
    tiles: TileLoop,
    machine: Machine,
    groups: Sequence[GroupKind],
    rules: Rules | None = None,
    *,
    overrides: Mapping[str, Override] | None = None,
    pins: Mapping[str, Pin] | None = None,
    name: str = "",
    loads_on_compute: bool | None = None,
) -> BuiltGraph:
    """The loop on a machine, for groups of these kinds.

    `loads_on_compute`: loads into registers stay on the group that reads them, which waits for them, instead of going
    to a load group and through shared memory. None: so it is in loops without matrix ops. `overrides` and `pins` are by
    op id; those of ops that are not there are left out.
    """
    stay = not tiles.has_matrix_ops if loads_on_compute is None else loads_on_compute
    costs: dict[str, OpCost] = {}
    warps: dict[str, int] = {}
    sources: dict[str, CostSource] = {}
    for op in tiles.ops.values():
        rule = None if op.category in _WITHOUT_COST else find_rule(machine, op)
        if stay and rule is not None and op.category is Category.LOAD and op.space is Space.REGISTERS:
            rule = replace(rule, asynchronous=True, blocking=True, variable_latency=False)
        warps[op.id] = _warps(rule, groups)
        override = (overrides or {}).get(op.id)
        costs[op.id] = _overridden(op_cost(rule, op, warps[op.id]), override)
        sources[op.id] = CostSource(rule, _overridden_names(override))
    _place_invariants(tiles, warps)
    amounts = {op.id: _amount(op, warps[op.id]) for op in tiles.ops.values()}
    edges = dependences(tiles, costs, amounts)
    read = {edge.target for edge in edges if edge.kind is DependenceKind.FLOW}
    ops = {
        op.id: _op(op, machine, costs[op.id], warps[op.id], amounts[op.id], op.id in read) for op in tiles.ops.values()
    }
    graph = Graph(
        name=name or tiles.module.file,
        machine=machine.limits(tiles.kept_bytes),
        groups=tuple(groups),
        ops=ops,
        dependences=edges,
        rules=rules or Rules(),
        pins={id_: pin for id_, pin in (pins or {}).items() if id_ in ops},
    )
    return BuiltGraph(graph, sources, tuple(_warnings(tiles, machine, costs)))


def _warps(rule: CostRule | None, groups: Sequence[GroupKind]) -> int:
    """What the rule needs; the smallest larger group where the project has none of 4 warps for a tile op."""
    needed = WARPS_OF_A_GROUP if rule is None else rule.needs_warps
    if needed < WARPS_OF_A_GROUP:
        return needed
    variable = rule is not None and rule.variable_latency
    fitting = (group.warps for group in groups if group.variable_latency == variable and group.warps >= needed)
    return min(fitting, default=needed)


def _place_invariants(tiles: TileLoop, warps: dict[str, int]) -> None:
    """A tile that a reader keeps is spread over the reader's group."""
    for op in tiles.ops.values():
        for operand in op.operands:
            if tiles.ops[operand.source].category is Category.INVARIANT:
                warps[operand.source] = warps[op.id]


def _amount(op: TileOp, warps: int) -> int:
    """Registers per thread, bytes or columns of the result."""
    if op.space is Space.SHARED:
        return sum(tile.bytes for tile in op.results)
    if op.space is Space.TENSOR:
        return sum(tile.columns for tile in op.results)
    registers = sum(tile.registers(warps) for tile in op.results)
    return min(registers, PIECE_COLUMNS) if op.in_pieces else registers


def _op(op: TileOp, machine: Machine, cost: OpCost, warps: int, amount: int, reads: bool) -> Op:
    in_registers = op.space is Space.REGISTERS
    size = sum(tile.bytes for tile in op.results) if in_registers else 0
    hand_off = machine.hand_off
    rule = cost.rule
    return Op(
        id=op.id,
        kind=op.kind,
        needs_warps=warps,
        blocks=cost.blocks,
        issue_cycles=cost.issue_cycles,
        latency=cost.latency,
        asynchronous=cost.asynchronous,
        matrix=rule is not None and rule.matrix,
        variable_latency=cost.variable_latency,
        streaming=cost.variable_latency and not reads,
        result=Result(op.space, amount),
        hand_off_cycles=ceil(hand_off.base + hand_off.per_kilobyte * size / 1024) if in_registers else 0,
        hand_off_bytes=size,
        queue=0 if rule is None else rule.queue,
        line=op.line,
    )


def _overridden(cost: OpCost, override: Override | None) -> OpCost:
    if override is None:
        return cost
    issue = cost.issue_cycles if override.issue_cycles is None else override.issue_cycles
    latency = cost.latency if override.latency is None else override.latency
    return replace(cost, issue_cycles=issue, latency=latency)


def _overridden_names(override: Override | None) -> tuple[str, ...]:
    if override is None:
        return ()
    given = {"latency": override.latency, "issue_cycles": override.issue_cycles}
    return tuple(name for name, value in given.items() if value is not None)


def _warnings(tiles: TileLoop, machine: Machine, costs: Mapping[str, OpCost]) -> Iterator[Diagnostic]:
    file = tiles.module.file
    for op in tiles.ops.values():
        cost = costs[op.id]
        if cost.unknown_element is not None:
            message = (
                f"{op.kind}: machine '{machine.name}' has no rate for {cost.unknown_element}; its unit counts 0 cycles"
            )
        elif cost.rule is None and op.category not in _WITHOUT_COST:
            message = f"{op.kind}: machine '{machine.name}' has no cost rule for it; it counts 0 cycles"
        elif op.category is Category.OPAQUE:
            message = f"{op.kind}: nothing is known of this op but its operands and results; its cost is a guess"
        else:
            continue
        hint = f"add a rule to the machine's costs, or 'overrides: {{{op.id}: {{latency: N}}}}' to the project"
        yield Diagnostic(Severity.WARNING, "no-cost-rule", message, file, op.line, hint=hint)
