"""The Chrome trace: nothing overlaps within a lane, nothing is lost, flows bind to the slices they mean."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.export.trace import chrome_trace
from core.graph.model import Graph
from core.graph.read import load_graph, parse_graph
from core.schedule.edits import move_op
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.read import load_schedule

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"
NAMES = sorted(path.stem for path in (KERNELS / "schedules").glob("*.yaml") if "refused" not in path.stem)


def load(name: str) -> tuple[Graph, Schedule]:
    graph = load_graph(KERNELS / f"{name}.yaml")
    return graph, load_schedule(KERNELS / "schedules" / f"{name}.yaml", graph)


def of(document: dict[str, Any], phase: str) -> list[dict[str, Any]]:
    return [event for event in document["traceEvents"] if event["ph"] == phase]


def lanes(document: dict[str, Any]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    found: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for event in of(document, "X"):
        found[event["pid"], event["tid"]].append(event)
    return found


def assert_sound(graph: Graph, schedule: Schedule, iterations: int) -> None:
    document = chrome_trace(graph, schedule, iterations)
    assert json.loads(json.dumps(document)) == document
    for events in lanes(document).values():
        ordered = sorted(events, key=lambda event: event["ts"])
        for one, following in pairwise(ordered):
            assert one["ts"] + one["dur"] <= following["ts"] and one["ts"] < following["ts"]
    assert_nothing_lost(document, graph, schedule, iterations)
    assert_flows_bind(document, graph, iterations)


def assert_nothing_lost(document: dict[str, Any], graph: Graph, schedule: Schedule, iterations: int) -> None:
    wanted: Counter[tuple[Any, ...]] = Counter()
    for name, op in graph.ops.items():
        place = schedule.ops[name]
        for iteration in range(iterations):
            begin = place.start + iteration * schedule.ii
            wanted[name, iteration, "issue", begin, op.issue_cycles] += 1
            wanted[name, iteration, "latency", begin + place.delay, op.latency] += 1
            for block in op.blocks:
                wanted[name, iteration, "unit", begin + place.delay + block.offset, block.duration] += 1
    found = Counter((e["args"]["op"], e["args"]["iteration"], e["cat"], e["ts"], e["dur"]) for e in of(document, "X"))
    assert found == wanted
    processes = {e["pid"]: e["args"]["name"] for e in of(document, "M") if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]) for e in of(document, "M") if e["name"] == "thread_name"}
    for event in of(document, "X"):
        assert (event["pid"], event["tid"]) in threads
        if event["cat"] == "unit":
            assert processes[event["pid"]].removeprefix("unit ") in graph.machine.units
        else:
            assert processes[event["pid"]].startswith(f"group {schedule.ops[event['args']['op']].group} (")


def assert_flows_bind(document: dict[str, Any], graph: Graph, iterations: int) -> None:
    starts, ends = ({e["id"]: e for e in of(document, phase)} for phase in ("s", "f"))
    assert starts.keys() == ends.keys()
    assert len(starts) == sum(max(0, iterations - d.distance) for d in graph.dependences)
    by_lane = lanes(document)
    pairs: Counter[tuple[str, str, int]] = Counter()
    for number, start in starts.items():
        end = ends[number]
        assert end["bp"] == "e" and start["ts"] <= end["ts"]
        ops = []
        for event in (start, end):
            inside = [
                s["args"]
                for s in by_lane[event["pid"], event["tid"]]
                if s["ts"] <= event["ts"] < s["ts"] + max(1, s["dur"])
            ]
            assert len(inside) == 1
            ops.append((inside[0]["op"], inside[0]["iteration"]))
        wanted = {(start["args"]["from"], 0), (start["args"]["to"], start["args"]["distance"])}
        first = min(iteration for _, iteration in ops) if start["args"]["distance"] else ops[0][1]
        assert {(op, iteration - first) for op, iteration in ops} == wanted
        pairs[start["args"]["from"], start["args"]["to"], start["args"]["distance"]] += 1
    wanted_pairs: Counter[tuple[str, str, int]] = Counter()
    for d in graph.dependences:
        wanted_pairs[d.source, d.target, d.distance] += max(0, iterations - d.distance)
    assert pairs == +wanted_pairs


@pytest.mark.parametrize("name", NAMES)
def test_the_kernels_schedules(name: str) -> None:
    graph, schedule = load(name)
    for iterations in (1, 4):
        assert_sound(graph, schedule, iterations)


def test_illegal_schedules_lose_nothing_either() -> None:
    graph, schedule = load("fa_fwd_hopper_2x64")
    chance = random.Random(7)
    for _ in range(20):
        schedule = move_op(schedule, chance.choice(list(schedule.ops)), chance.randint(0, 6000))
        assert_sound(graph, schedule, 3)


def test_a_group_may_be_named_like_a_unit_and_ops_may_take_no_time() -> None:
    graph = parse_graph(
        "schema: twill.graph/1\nmachine: {units: {tma: 1}}\ngroups: [{kind: tma}]\n"
        "ops: {a: {blocks: [[tma, 0, 2], [tma, 1, 2]], queue: 1}, b: {}}\n"
        "dependences: [{from: a, to: b}, {from: b, to: b, distance: 1}]",
        "g.yaml",
    )
    places = {"a": Placement(0, "tma", 1), "b": Placement(0, "tma")}
    schedule = Schedule(1, {"tma": ScheduledGroup("tma", 0)}, places)
    assert_sound(graph, schedule, 3)
    document = chrome_trace(graph, schedule, 3)
    names = [e["args"]["name"] for e in of(document, "M") if e["name"] == "process_name"]
    assert names == ["group tma (1 warp)", "unit tma"]


def test_no_iterations_and_unused_groups() -> None:
    graph, schedule = load("gemm")
    spare = replace(schedule, groups={**schedule.groups, "spare": ScheduledGroup("compute", 8)})
    document = chrome_trace(graph, spare, 0)
    assert of(document, "X") == [] and of(document, "s") == []
    assert "group spare (4 warps)" in [e["args"].get("name") for e in of(document, "M")]


def test_events_are_in_the_order_of_time() -> None:
    graph, schedule = load("gemm")
    times = [e["ts"] for e in chrome_trace(graph, schedule, 5)["traceEvents"] if e["ph"] != "M"]
    assert times == sorted(times)
