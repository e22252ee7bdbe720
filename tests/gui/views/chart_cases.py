"""Cases for the tests of the timeline views: graphs and schedules of real kernels, and random ones."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from core.graph.model import Block, Graph, GroupKind, InOrderIssue, Limits, Op, RegisterFile, Result, Rules, Space
from core.graph.read import load_graph
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.read import load_schedule

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"
NAMES = sorted(path.stem for path in (KERNELS / "schedules").glob("*.yaml") if not path.stem.endswith("__refused"))
HOPPER = "fa_fwd_hopper_2x64"
BLACKWELL = "fa_fwd_blackwell_2x128__roles"


@cache
def case(name: str) -> tuple[Graph, Schedule]:
    """A kernel's graph and legal schedule."""
    graph = load_graph(KERNELS / f"{name}.yaml")
    return graph, load_schedule(KERNELS / "schedules" / f"{name}.yaml", graph)


def random_case(seed: int) -> tuple[Graph, Schedule]:
    """Ops thrown anywhere, mostly illegal: overlaps on every lane, ops, blocks and latencies longer than II, empty
    ones, delays, a unit of capacity 2."""
    rng = random.Random(seed)
    ii = rng.randint(1, 40)
    ops: dict[str, Op] = {}
    places: dict[str, Placement] = {}
    for number in range(rng.randint(1, 12)):
        blocks = tuple(
            Block(rng.choice("xyz"), rng.randint(0, 5), rng.choice((0, 1, 3, 11, 50, 90)), rng.randint(1, 2))
            for _ in range(rng.randint(0, 3))
        )
        issue, latency = rng.choice((0, 1, 2, 7, 30, 95)), rng.choice((0, 1, 5, 20, 130))
        op = Op(f"op{number}", "k", 1, blocks, issue, latency, result=Result(Space.REGISTERS, 1), queue=9)
        ops[op.id] = op
        places[op.id] = Placement(rng.randint(0, 100), rng.choice(("g0", "g1")), rng.choice((0, 0, 4)))
    limits = Limits({"x": 1, "y": 2, "z": 1}, RegisterFile(65536, 255))
    graph = Graph("random", limits, (GroupKind("k", 4, 3),), ops, (), Rules(InOrderIssue.OFF))
    groups = {name: ScheduledGroup("k", 64) for name in ("g0", "g1", "unused")}
    return graph, Schedule(ii, groups, places)
