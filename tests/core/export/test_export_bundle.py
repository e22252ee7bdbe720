"""The JSON bundle: each part is what its own module says, and the documents in it can be read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.export.bundle import bundle
from core.graph.read import load_graph, parse_graph
from core.schedule.check import check
from core.schedule.read import load_schedule, parse_schedule

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"


@pytest.mark.parametrize("name", ["fa_fwd_hopper_2x64", "fa_fwd_blackwell_2x128__roles", "figure_1"])
def test_a_bundle_is_enough_to_judge_again(name: str) -> None:
    graph = load_graph(KERNELS / f"{name}.yaml")
    schedule = load_schedule(KERNELS / "schedules" / f"{name}.yaml", graph)
    document = json.loads(json.dumps(bundle(graph, schedule)))
    again = parse_graph(json.dumps(document["graph"]), "bundle")
    assert again == graph
    assert parse_schedule(json.dumps(document["schedule"]), "bundle", again) == schedule
    assert document["check"] == check(graph, schedule).as_json() and document["check"]["legal"]
    assert document["graph"]["bounds"]["min_ii"] <= schedule.ii


def test_its_live_ranges_hold_the_peaks() -> None:
    graph = load_graph(KERNELS / "fa_fwd_blackwell_2x128__roles.yaml")
    schedule = load_schedule(KERNELS / "schedules" / "fa_fwd_blackwell_2x128__roles.yaml", graph)
    document = bundle(graph, schedule)
    live, peaks = document["live_ranges"], document["check"]["peaks"]

    def most(ranges: list[dict]) -> int:
        return max(
            sum(r["amount"] * sum(r["begin"] <= slot + k * schedule.ii < r["end"] for k in range(12)) for r in ranges)
            for slot in {r["begin"] % schedule.ii for r in ranges}
        )

    for group, ranges in live["registers"].items():
        overhead = 0 if group == "load0" else graph.machine.registers.overhead
        assert (most(ranges) if ranges else 0) + overhead == peaks["registers"][group]
    assert most(live["tensor_memory"]) == peaks["tensor_memory"]
    buffers = [*live["rings"], *live["hand_offs"]]
    assert sum(b["depth"] * b["amount"] for b in buffers) + graph.machine.fixed_shared_bytes == peaks["shared_memory"]
    assert set(document["figures"]["hand_offs"]["values"]) == {b["value"] for b in live["hand_offs"]}
