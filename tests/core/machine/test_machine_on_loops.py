"""Our machines on real loops: resource bounds that follow from shapes, and no op left to the rule for the unknown."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from core.graph.model import GroupKind
from core.ir.loops import main_loop, obstacle
from core.ir.source import load_module
from core.ir.tile_loop import tile_loop
from core.machine.build import BuiltGraph, build_graph
from core.machine.load import find_machine

ROOT = Path(__file__).parents[3]
SAMPLES = sorted((ROOT / "tests" / "data" / "ttgir").glob("*.ttgir"))
CORPUS = next(
    (folder / "shared" / "ttgir" for folder in (ROOT, ROOT.parent) if (folder / "shared" / "ttgir").is_dir()), None
)
GROUPS = (GroupKind("load", 1, 1, variable_latency=True), GroupKind("compute", 4, 2))
MACHINE_OF = {"cuda:80": "h100", "cuda:90": "h100", "cuda:100": "b200"}


def built(path: Path) -> BuiltGraph | None:
    """The graph of the file's main loop on the machine of its target; None if there is nothing to schedule."""
    module = load_module(path)
    loop, _ = main_loop(module)
    if loop is None or obstacle(loop):
        return None
    return build_graph(tile_loop(module, loop), find_machine(MACHINE_OF[module.target], ROOT), GROUPS)


def busy(graph: BuiltGraph) -> Counter[str]:
    cycles: Counter[str] = Counter()
    for op in graph.graph.ops.values():
        for block in op.blocks:
            cycles[block.unit] += block.amount * block.duration
    return cycles


@pytest.mark.parametrize(
    ("name", "bound", "units"),
    [
        # four products of 64 x 128 x 128; two exponentials of 64 x 128 and of 64 rows, each row in four lanes
        ("fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre", "tensor_core", {"tensor_core": 2048, "sfu": 2 * (512 + 16)}),
        # four products of 128 x 128 x 128; two exponentials of 128 x 128 and of 128 rows
        ("fa_fwd_2q_sm100_d128m2x128n128-f16_v39_pre", "sfu", {"tensor_core": 2048, "sfu": 2 * (1024 + 8)}),
    ],
)
def test_resource_bound_of_attention_forward(name: str, bound: str, units: dict[str, int]) -> None:
    graph = built(ROOT / "tests" / "data" / "ttgir" / f"{name}.ttgir")
    assert graph is not None
    cycles = busy(graph)
    assert {unit: cycles[unit] for unit in units} == units
    assert max(cycles, key=lambda unit: cycles[unit]) == bound


def ops_without_own_rule(path: Path) -> list[str]:
    graph = built(path)
    if graph is None:
        return []
    assert not graph.diagnostics, path
    last = find_machine(MACHINE_OF[load_module(path).target], ROOT).costs[-1]
    return [op for op, source in graph.sources.items() if source.rule is not None and source.rule.ops == last.ops]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_op_of_a_sample_has_a_rule_of_its_own(path: Path) -> None:
    assert ops_without_own_rule(path) == []


@pytest.mark.long
@pytest.mark.skipif(CORPUS is None, reason="needs the TTGIR corpus in a folder 'shared' beside the checkout")
def test_every_op_of_the_corpus_has_a_rule_of_its_own() -> None:
    assert CORPUS is not None
    paths = sorted(CORPUS.glob("*.ttgir"))
    assert len(paths) > 400
    assert {path.name: ops for path in paths if (ops := ops_without_own_rule(path))} == {}
