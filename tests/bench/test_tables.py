"""What the tables of measurements rest on: which kept runs count, what is compared, how a foreign graph is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.graph.read import load_graph
from core.schedule.bounds import bounds
from tests.bench import model_runs
from tests.bench.dependence_dump import load_dump
from tests.bench.model_runs import ORDER, Case, Measure, measured, paper_runs
from tests.bench.models import OPEN, TWO_MACHINES, factor
from tests.bench.outcome_questions import Asker
from tests.bench.report import KERNELS, Kept, machine

GRAPH = load_graph(KERNELS / "figure_1.yaml")


def case(kept: Kept, measure: Measure = Measure.MISSING, limit_s: float = 60.0) -> Case:
    return Case("figure_1", GRAPH, limit_s, kept, measure)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "runs.jsonl", resume=False)


def counted(one: Case, limit_s: float, *, decided: bool, runs: list[float]) -> None:
    def run() -> dict[str, Any]:
        runs.append(limit_s)
        return {"decided": decided, "answer": "-"}

    measured(one, "paper sat", limit_s, run)


def test_a_kept_time_out_counts_for_its_limit_and_no_higher(kept: Kept) -> None:
    runs: list[float] = []
    for limit_s in (20.0, 20.0, 10.0, 600.0, 600.0):
        counted(case(kept), limit_s, decided=False, runs=runs)
    assert runs == [20.0, 600.0]


def test_a_verdict_counts_for_every_limit_but_on_its_machine_only(kept: Kept) -> None:
    runs: list[float] = []
    for limit_s in (20.0, 600.0):
        counted(case(kept), limit_s, decided=True, runs=runs)
    assert runs == [20.0]
    key = Kept.key(GRAPH, "paper sat")
    known = kept.get(key)
    assert known is not None
    kept.put(key, {**known, "machine": "another"})
    counted(case(kept), 20.0, decided=True, runs=runs)
    assert runs == [20.0, 20.0]


def test_the_table_alone_measures_nothing_and_again_only_its_model(kept: Kept) -> None:
    runs: list[float] = []
    counted(case(kept, Measure.NOTHING), 20.0, decided=True, runs=runs)
    counted(case(kept, Measure.EXACT), 20.0, decided=True, runs=runs)
    assert runs == []
    for _ in range(2):
        counted(case(kept, Measure.PAPER), 20.0, decided=True, runs=runs)
    assert runs == [20.0, 20.0]


def test_tactics_share_the_limit_and_none_has_longer_than_the_best(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ends without a verdict, the second with one at once, so the third has no more than that."""
    limits: dict[str, float] = {}

    def run_paper(one: Case, tactic: str, limit_s: float) -> dict[str, Any]:
        limits[tactic] = limit_s
        return {"tactic": tactic, "decided": tactic == ORDER[1], "answer": "-"}

    monkeypatch.setattr(model_runs, "run_paper", run_paper)
    runs = paper_runs(case(kept, limit_s=90.0))
    assert limits[ORDER[0]] == 30.0
    assert limits[ORDER[1]] == pytest.approx(45.0, abs=1.0)
    assert limits[ORDER[2]] == runs[1]["cpu_s"]


def run(cpu_s: float, *, decided: bool = True, on: str = "here") -> dict[str, Any]:
    return {"cpu_s": cpu_s, "decided": decided, "machine": on}


def test_factors() -> None:
    exact = run(2.0)
    assert factor([run(30.0), run(20.0)], exact, "cpu_s") == "10"
    assert factor([run(30.0), run(20.0, decided=False)], exact, "cpu_s") == "15"
    assert factor([run(30.0, decided=False), run(20.0, decided=False)], exact, "cpu_s") == "≥ 10"
    assert factor([run(20.0, on="there")], exact, "cpu_s") == TWO_MACHINES
    assert factor([], exact, "cpu_s") == factor([run(20.0)], None, "cpu_s") == OPEN


def test_a_foreign_dependence_graph(tmp_path: Path) -> None:
    """Two ops of 30 and 20 cycles on one unit; a cycle of 30 + 45 cycles over one iteration; a view without cycles."""

    def node(number: int, pipeline: str, occupancy: int, latency: int) -> dict[str, Any]:
        return {"id": number, "op_kind": "x", "pipeline": pipeline, "occupancy": occupancy, "latency": latency}

    def edge(source: int, target: int, latency: int, distance: int) -> dict[str, int]:
        return {"src": source, "dst": target, "latency": latency, "distance": distance}

    nodes = [node(0, "TC", 30, 30), node(1, "TC", 20, 45), node(2, "NONE", 0, 0)]
    edges = [edge(0, 1, 30, 0), edge(1, 0, 45, 1), edge(1, 2, 45, 0)]
    loop = {"ddg": {"nodes": nodes, "edges": edges}, "min_ii": 75, "res_mii": 50, "rec_mii": 75}
    file = tmp_path / "loop.json"
    file.write_text(json.dumps({"schema_version": "ddg-0.1", "loops": [loop]}), encoding="utf-8")
    dumped = load_dump(file)
    found = bounds(dumped.graph)
    assert (found.min_ii, found.res_mii, found.rec_mii) == (dumped.min_ii, dumped.res_mii, dumped.rec_mii)
    assert len(dumped.graph.ops) == 3
    file.write_text(json.dumps({"schema_version": "ddg-0.2", "loops": [loop]}), encoding="utf-8")
    with pytest.raises(ValueError):
        load_dump(file)


def test_runs_say_where_they_were_measured(kept: Kept) -> None:
    counted(case(kept), 20.0, decided=True, runs=[])
    known = kept.get(Kept.key(GRAPH, "paper sat"))
    assert known is not None and known["machine"] == machine()


def test_a_question_about_one_ii_is_kept_apart_from_the_search(kept: Kept) -> None:
    """The paper's search of figure 1 ends at II 2; asked of II 1 alone, its system is infeasible."""
    asker = Asker(60.0, kept, kept)
    assert asker.paper_at(GRAPH, 1).text.startswith("infeasible")
    assert asker.paper(GRAPH).text.startswith("feasible: 2, 4 ")
    assert asker.paper_at(GRAPH, 1).text.startswith("infeasible")


def test_a_time_out_of_the_other_table_is_asked_again_only_for_a_higher_limit(kept: Kept, tmp_path: Path) -> None:
    models = Kept(tmp_path / "models.jsonl", resume=False)
    for tactic in ORDER:
        run = {"tactic": tactic, "decided": False, "answer": "time-out", "limit_s": 20.0, "cpu_s": 20.0}
        models.put(Kept.key(GRAPH, f"paper {tactic}"), {**run, "machine": machine()})
    assert Asker(60.0, kept, models).paper(GRAPH).text == "time-out (sat 20 s, default 20 s, qffd 20 s)"
    assert Asker(90.0, kept, models).paper(GRAPH).text.startswith("feasible: 2, 4 ")
