"""A loop that is in no sample: neither attention nor a plain product. The generator knows ops, not kernels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from mock_runs import ROOT, build, needs_compiler, run_all

from core.export.cuda.batch import Case, checked_batch
from core.export.cuda.folder import export_schedules
from core.export.cuda.options import Options
from core.export.roles.places import ScheduledLoop
from core.graph.model import GroupKind
from core.ir.interpret import Precision, run
from core.ir.model import Module
from core.ir.source import load_module
from core.ir.tile_loop import tile_loop
from core.machine.build import build_graph
from core.machine.load import find_machine
from core.solve.events import Level, SolveOptions
from core.solve.solve import solve

pytestmark = needs_compiler

FILE = ROOT / "tests" / "data" / "cuda" / "waves.ttgir"
DECAY = 0.75


def scheduled(module: Module) -> ScheduledLoop:
    """The loop with the solver's schedule for one warp of loads and one warp group."""
    groups = (GroupKind("load", 1, 1, variable_latency=True), GroupKind("compute", 4, 1))
    tiles = tile_loop(module, module.loops[0])
    graph = build_graph(tiles, find_machine("h100", Path()), groups).graph
    solved = solve(graph, SolveOptions(objective=(Level.II,), limit_s=60.0))
    assert solved.schedule is not None
    return ScheduledLoop(tiles, graph, solved.schedule)


def arguments_for(iterations: int) -> dict[str, np.ndarray | int | float]:
    rng = np.random.default_rng(iterations)
    x, w = (rng.standard_normal(shape).astype(np.float16).astype(float) for shape in ((128, 64), (64 * iterations, 64)))
    return {
        "x_desc": x,
        "w_desc": w if iterations else np.zeros((64, 64)),
        "y_desc": np.zeros((128, 64)),
        "peak_ptr": np.zeros(128),
        "n": iterations,
        "decay": DECAY,
    }


def formula(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the kernel is for, in float64."""
    acc, total, peak = np.zeros((len(x), 64)), np.zeros(len(x)), np.full(len(x), -np.inf)
    for tile in w.reshape(-1, 64, 64):
        c = np.cos(x @ tile.T)
        acc = acc * DECAY + np.abs(c) @ tile
        total, peak = total + np.abs(c).sum(1), np.maximum(peak, c.max(1))
    return acc / total[:, None], peak


def test_the_interpreter_knows_it() -> None:
    given = arguments_for(3)
    found = run(load_module(FILE), "waves", given, (2,), precision=Precision.EXACT)
    y, peak = formula(np.asarray(given["x_desc"]), np.asarray(given["w_desc"]))
    assert np.allclose(found["y_desc"], y, rtol=1e-12) and np.allclose(found["peak_ptr"], peak, rtol=1e-12)


@pytest.mark.parametrize("options", [Options(), Options(persistent=True, sums_in_parts=False)])
def test_exported_and_right_for_every_trip_count(options: Options, tmp_path: Path) -> None:
    """Trip counts of fewer iterations than overlap, and of more than the rings have slots."""
    module = load_module(FILE)
    loop = scheduled(module)
    assert len({place.start // loop.schedule.ii for place in loop.schedule.ops.values()}) > 1  # a pipeline
    exported = export_schedules(module, [loop], tmp_path, options)
    assert not exported.file.holes
    described = json.loads((tmp_path / "export.json").read_text(encoding="utf-8"))
    assert bool(described["sums_in_parts"]) == options.sums_in_parts
    cases = [Case(f"n{count}", arguments_for(count), (2,)) for count in (1, 2, 3, 4, 9)]
    (tmp_path / "cases.bin").write_bytes(checked_batch(module, "waves", cases))
    build(tmp_path)
    answers = run_all(tmp_path)
    assert len(answers) == len(cases) and all(answer["ok"] for answer in answers), answers
