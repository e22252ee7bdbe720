"""Workers: processes end whatever they do, and a Dask cluster gives what processes here give."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, wait
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from core.cli import main
from core.graph.model import Graph
from core.project.load import load_project
from core.resources import data_folder
from core.solve.events import SolveOptions
from core.sweep.axes import parse_axes
from core.sweep.cluster import Seldom, cluster_workers
from core.sweep.outcome import solve_point
from core.sweep.points import Point, sweep_points
from core.sweep.run import solve_points
from core.sweep.workers import local_workers

if TYPE_CHECKING:
    from dask.distributed import LocalCluster

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"
FIGURE_1 = data_folder("projects") / "paper_figure_1"


class _Sleeps:
    """Stands for a graph that keeps its worker for a minute, deaf to any wish to stop."""

    def __reduce__(self) -> tuple[Any, ...]:
        return time.sleep, (60,)


class _Ends:
    """Stands for a graph that ends its worker, as running out of memory does."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (3,)


def point(graph: object) -> Point:
    (real,) = sweep_points(load_project(FIGURE_1), parse_axes(["registers=3"]), SolveOptions())[0]
    return replace(real, graph=cast(Graph, graph))


def slow_points() -> tuple[Point, ...]:
    project = load_project(KERNELS / "fa_fwd_hopper_2x64.yaml")
    return sweep_points(project, parse_axes(["registers=180,176,172,168"]), SolveOptions())[0]


def test_a_worker_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.sweep.workers._STOP_S", 0.2)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), local_workers(2) as submit:
        future = submit(cast(Graph, _Sleeps()), SolveOptions())
        while not multiprocessing.active_children():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert multiprocessing.active_children() == []
    assert time.monotonic() - began < 50
    assert wait([future], timeout=10).done


def test_a_worker_that_dies_is_no_answer_and_ends_no_one_else() -> None:
    with local_workers(1) as submit:
        ((done, fault),) = solve_points([point(_Ends())], SolveOptions(), submit)
    assert done.values == {"registers": 3}
    assert isinstance(fault, BrokenExecutor)
    assert multiprocessing.active_children() == []


def test_a_missing_extra_is_exit_code_5(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    code = main(["sweep", str(FIGURE_1), "--over", "registers=3", "--cluster", "localhost:8786"])
    output = capsys.readouterr()
    assert (code, output.out) == (5, "")
    assert "pip install 'twill-explorer[cluster]'" in output.err


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


def test_a_cluster_of_two_processes_gives_the_same_rows(
    capsys: pytest.CaptureFixture[str], cluster: LocalCluster, tmp_path: Path
) -> None:
    def rows(*where: str) -> list[dict[str, Any]]:
        results = tmp_path / f"{len(where)}.jsonl"
        over = ("--over", "registers=3,2,1", "groups.compute=1,2")
        assert main(["sweep", str(FIGURE_1), "--json", *over, "--resume", str(results), *where]) == 0
        output = capsys.readouterr()
        found = [json.loads(line) for line in output.out.splitlines()]
        assert len(results.read_text().splitlines()) == 7
        return [{key: value for key, value in row.items() if key != "seconds"} for row in found]

    assert rows("--cluster", cluster.scheduler_address) == rows()


def test_the_cluster_is_asked_seldom_and_a_yes_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    now, answers = [0.0], [False, False, True]
    monkeypatch.setattr("core.sweep.cluster.time", SimpleNamespace(monotonic=lambda: now[0]))

    class Event:
        def is_set(self) -> bool:
            return answers.pop(0)

    stopped = Seldom(cast(Any, Event()))
    seen: list[tuple[float, int]] = []
    while not stopped():
        seen.append((now[0], len(answers)))
        now[0] += 0.25
    assert seen == [(0, 2), (0.25, 2), (0.5, 1), (0.75, 1)]
    now[0] += 10
    assert stopped()
    assert answers == []


def test_nothing_begins_after_a_stop() -> None:
    (first, *_) = slow_points()
    with pytest.raises(CancelledError):
        solve_point(first.graph, SolveOptions(), lambda: True)


def searching() -> bool:
    """Whether the solver is at work in this process."""
    return any(thread.name == "solver" for thread in threading.enumerate())


def test_cancel_ends_the_work_on_a_cluster(cluster: LocalCluster) -> None:
    from dask.distributed import Client

    with Client(cluster, set_as_default=False) as client:
        with pytest.raises(KeyboardInterrupt), cluster_workers(cluster.scheduler_address) as submit:
            futures = [submit(slow.graph, SolveOptions()) for slow in slow_points()]
            deadline = time.monotonic() + 60
            while not all(client.run(searching).values()) and time.monotonic() < deadline:
                time.sleep(0.02)
            raise KeyboardInterrupt
        assert time.monotonic() < deadline
        assert all(future.cancelled() for future in futures)
        for worker in client.run(os.getpid):  # each of them is free long before the limit of a point
            assert client.submit(abs, -7, pure=False, workers=[worker]).result(timeout=60) == 7
