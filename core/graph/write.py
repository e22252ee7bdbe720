"""Writes the graph value as a `twill.graph/1` document with every key."""

from __future__ import annotations

from typing import Any

from core.graph.model import Dependence, Graph, Op, Pin
from core.graph.schema import SCHEMA
from core.yaml_source import flow_text


def graph_document(graph: Graph) -> dict[str, Any]:
    """The document as plain data in the order of the format's example; what `twill graph --json` prints."""
    machine, registers = graph.machine, graph.machine.registers
    return {
        "schema": SCHEMA,
        "name": graph.name,
        "machine": {
            "units": dict(machine.units),
            "registers": {
                "file_words": registers.file_words,
                "max_per_thread": registers.max_per_thread,
                "granularity": registers.granularity,
                "overhead": registers.overhead,
                "pool": registers.pool.value,
            },
            "shared_memory_bytes": machine.shared_memory_bytes,
            "tensor_memory_columns": machine.tensor_memory_columns,
            "fixed_shared_bytes": machine.fixed_shared_bytes,
        },
        "groups": [
            {"kind": g.kind, "warps": g.warps, "count": g.count, "variable_latency": g.variable_latency}
            for g in graph.groups
        ],
        "rules": {
            "isolate_matrix_issue": graph.rules.isolate_matrix_issue,
            "in_order_issue": graph.rules.in_order_issue.value,
            "allow_hand_off": graph.rules.allow_hand_off,
        },
        "ops": {name: _op(op) for name, op in graph.ops.items()},
        "dependences": [_dependence(dependence) for dependence in graph.dependences],
        "pins": {name: _pin(pin) for name, pin in graph.pins.items()},
    }


def dump_graph(graph: Graph) -> str:
    """The YAML text: one line per machine key, group, op, dependence and pin. Equal graphs give equal bytes."""
    document = graph_document(graph)
    lines = [f"schema: {document['schema']}", f"name: {flow_text(document['name'])}", "machine:"]
    lines += _entries(document["machine"])
    lines += _section("groups", document["groups"])
    lines.append(f"rules: {flow_text(document['rules'])}")
    for key in ("ops", "dependences", "pins"):
        lines += _section(key, document[key])
    return "\n".join(lines) + "\n"


def _section(key: str, content: dict[str, Any] | list[Any]) -> list[str]:
    if not content:
        return [f"{key}: {flow_text(content)}"]
    if isinstance(content, dict):
        return [f"{key}:", *_entries(content)]
    return [f"{key}:", *(f"  - {flow_text(item)}" for item in content)]


def _entries(mapping: dict[str, Any]) -> list[str]:
    return [f"  {flow_text(key)}: {flow_text(value)}" for key, value in mapping.items()]


def _op(op: Op) -> dict[str, Any]:
    return {
        "kind": op.kind,
        **({"line": op.line} if op.line is not None else {}),
        "needs_warps": op.needs_warps,
        "blocks": [[b.unit, b.offset, b.duration, b.amount] for b in op.blocks],
        "issue_cycles": op.issue_cycles,
        "latency": op.latency,
        "asynchronous": op.asynchronous,
        "matrix": op.matrix,
        "variable_latency": op.variable_latency,
        "streaming": op.streaming,
        "result": {"space": op.result.space.value, "amount": op.result.amount},
        "hand_off_cycles": op.hand_off_cycles,
        "hand_off_bytes": op.hand_off_bytes,
        "queue": op.queue,
    }


def _dependence(dependence: Dependence) -> dict[str, Any]:
    return {
        "from": dependence.source,
        "to": dependence.target,
        "latency": dependence.latency,
        "distance": dependence.distance,
        "kind": dependence.kind.value,
        "release": dependence.release,
        "blocking": dependence.blocking,
    }


def _pin(pin: Pin) -> dict[str, Any]:
    return {
        **({"start": pin.start} if pin.start is not None else {}),
        **({"group": pin.group} if pin.group is not None else {}),
    }
