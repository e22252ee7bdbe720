"""Every loop of the TTGIR corpus that can be scheduled builds a graph; needs the corpus beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from core.graph.model import GroupKind
from core.ir.loops import obstacle
from core.ir.parser import parse_module
from core.ir.tile_loop import tile_loop
from core.ir.tiles import Category
from core.machine.build import build_graph
from core.machine.load import find_machine

ROOT = Path(__file__).parents[3]
CORPUS = next((folder for at in (ROOT, ROOT.parent) if (folder := at / "shared" / "ttgir").is_dir()), None)
GROUPS = (GroupKind("load", 4, 1, variable_latency=True), GroupKind("matrix", 1, 1), GroupKind("compute", 4, 2))


@pytest.mark.skipif(CORPUS is None, reason="needs the TTGIR corpus in a folder 'shared' beside the checkout")
def test_every_schedulable_loop_of_the_corpus_builds():
    assert CORPUS is not None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    manifest = yaml.load((CORPUS / "manifest.yaml").read_text(), Loader=loader)
    machines = {"cuda:100": find_machine("b200", Path()), "cuda:90": find_machine("h100", Path())}
    built = 0
    for entry in manifest["files"]:
        module = parse_module((CORPUS / entry["file"]).read_text(), entry["file"])
        machine = machines.get(module.target, machines["cuda:90"])
        expected = str(entry["expect"])
        main = entry["main_loop"]
        for loop, told in zip(module.loops, entry["loops"], strict=True):
            schedulable = expected.startswith("schedulable") and main["index"] == loop.index
            if obstacle(loop) is not None and not schedulable:
                continue
            tiles = tile_loop(module, loop)
            graph = build_graph(tiles, machine, GROUPS).graph
            # The matrix ops that Triton's own parser counts in the loop, no more and no less.
            assert sum(op.category is Category.MATRIX for op in tiles.ops.values()) == told["dots"], entry["file"]
            assert sum(op.matrix for op in graph.ops.values()) == told["dots"], entry["file"]
            built += 1
    assert built > 400
