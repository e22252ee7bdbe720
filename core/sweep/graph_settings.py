"""Axes that change the graph: what it may use, and what its rules are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.graph.model import Graph, InOrderIssue, Limits, Rules, Space
from core.schedule.variations import with_group_counts, with_hand_off, with_register_limit, with_ring_depth
from core.sweep.setting import AxisError, Setting, check_known, read_count, read_positive


def registers(_: str, text: str) -> Setting:
    """Registers per thread at most."""
    limit = read_positive(text)
    return Setting(limit, graph=lambda graph: with_register_limit(graph, limit))


def groups(kind: str, text: str) -> Setting:
    """How many groups of a kind there may be."""
    count = read_count(text)

    def edit(graph: Graph) -> Graph:
        check_known(kind, [group.kind for group in graph.groups], "group kind")
        return with_group_counts(graph, {kind: count})

    return Setting(count, graph=edit)


def shared_memory(_: str, text: str) -> Setting:
    """Bytes of shared memory."""
    return _limit(read_count(text), lambda limits, size: replace(limits, shared_memory_bytes=size))


def tensor_memory(_: str, text: str) -> Setting:
    """Columns of tensor memory."""
    return _limit(read_count(text), lambda limits, size: replace(limits, tensor_memory_columns=size))


def capacity(unit: str, text: str) -> Setting:
    """How much of a unit can be in use at once."""

    def edit(limits: Limits, amount: int) -> Limits:
        check_known(unit, limits.units, "unit")
        return replace(limits, units={**limits.units, unit: amount})

    return _limit(read_count(text), edit)


def _limit(amount: int, edit: Callable[[Limits, int], Limits]) -> Setting:
    return Setting(amount, graph=lambda graph: replace(graph, machine=edit(graph.machine, amount)))


def hand_off(_: str, text: str) -> Setting:
    """Cycles of every hand-off."""
    cycles = read_count(text)
    return Setting(cycles, graph=lambda graph: with_hand_off(graph, cycles))


def rings(op: str, text: str) -> Setting:
    """Ring slots at most, of one value in shared memory or of each."""
    depth = read_positive(text)

    def edit(graph: Graph) -> Graph:
        shared = [name for name, one in graph.ops.items() if one.result.space is Space.SHARED]
        if op:
            check_known(op, shared, "value in shared memory")
        elif not shared:
            raise AxisError("the loop has no value in shared memory")
        for name in [op] if op else shared:
            try:
                graph = with_ring_depth(graph, name, depth)
            except ValueError as fault:
                raise AxisError(str(fault)) from None
        return graph

    return Setting(depth, graph=edit)


def rules(rule: str, text: str) -> Setting:
    """One of the rules of a project."""
    check_known(rule, ("allow_hand_off", "isolate_matrix_issue", "in_order_issue"), "rule")
    if rule == "in_order_issue":
        check_known(text, [mode.value for mode in InOrderIssue], "way of in-order issue")
        return _rule(text, lambda old: replace(old, in_order_issue=InOrderIssue(text)))
    if text not in ("true", "false"):
        raise AxisError(f"'{text}' is neither true nor false")
    on = text == "true"
    if rule == "allow_hand_off":
        return _rule(on, lambda old: replace(old, allow_hand_off=on))
    return _rule(on, lambda old: replace(old, isolate_matrix_issue=on))


def _rule(value: str | bool, edit: Callable[[Rules], Rules]) -> Setting:
    return Setting(value, graph=lambda graph: replace(graph, rules=edit(graph.rules)))
