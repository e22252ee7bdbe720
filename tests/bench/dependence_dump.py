"""Dependence graphs that another project dumped (schema `ddg-0.1`), read for their bounds alone.

A node takes its pipeline, one unit, for its `occupancy`; an edge has latency and distance. Registers, memories and
groups are not in the dump, and nothing limits them here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.graph.model import Block, Dependence, Graph, GroupKind, InOrderIssue, Limits, Op, RegisterFile, Rules

SCHEMA = "ddg-0.1"
NO_UNIT = "NONE"
NO_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Dumped:
    """A loop, and the bounds that the dump names itself."""

    graph: Graph
    min_ii: int
    res_mii: int
    rec_mii: int


def load_dump(file: Path) -> Dumped:
    """The one loop of a dump. Raises ValueError if it is another schema or has several loops."""
    dump = json.loads(file.read_text(encoding="utf-8"))
    if dump["schema_version"] != SCHEMA or len(dump["loops"]) != 1:
        raise ValueError(f"{file.name}: not one loop in schema {SCHEMA}")
    (loop,) = dump["loops"]
    nodes = [_op(node) for node in loop["ddg"]["nodes"]]
    edges = (_dependence(edge) for edge in loop["ddg"]["edges"])
    units = {block.unit: 1 for op in nodes for block in op.blocks}
    machine = Limits(units, RegisterFile(NO_LIMIT, NO_LIMIT))
    groups = (GroupKind("any", 4),)
    ops = {op.id: op for op in nodes}
    graph = Graph(file.stem, machine, groups, ops, tuple(edges), Rules(InOrderIssue.OFF))
    return Dumped(graph, loop["min_ii"], loop["res_mii"], loop["rec_mii"])


def _op(node: Mapping[str, Any]) -> Op:
    busy = node["pipeline"] != NO_UNIT and node["occupancy"]
    blocks = (Block(node["pipeline"], 0, node["occupancy"]),) if busy else ()
    return Op(str(node["id"]), node["op_kind"], blocks=blocks, latency=node["latency"])


def _dependence(edge: Mapping[str, Any]) -> Dependence:
    return Dependence(str(edge["src"]), str(edge["dst"]), edge["latency"], edge["distance"])
