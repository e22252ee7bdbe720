"""Sample texts with random faults: a graph or a diagnostic, never an internal error."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from core.diagnostics import InputError
from core.graph.model import GroupKind
from core.ir.parser import parse_module
from core.ir.subtile import subtile
from core.ir.tile_loop import tile_loop
from core.machine.build import build_graph
from core.machine.load import find_machine

SAMPLES = sorted((Path(__file__).parents[2] / "data" / "ttgir").glob("*_pre.ttgir"))
GROUPS = (GroupKind("load", 4, 1, variable_latency=True), GroupKind("matrix", 1, 1), GroupKind("compute", 4, 2))
OP_NAME = re.compile(r"= \"?([a-z]+\.[a-z_0-9]+)")
VALUE = re.compile(r"%[\w.#]+")
TYPE = re.compile(r"tensor<[^>]*>|!ttg\.memdesc<[^>]*>")
TYPES = ("f32", "!foo.bar", "i1", "tensor<4xf32>", "tensor<64x128x!tt.ptr<f32>>", "tensor<?x4xf99>", "tensor<0x4xf32>")


def spoil(line: str, names: list[str], chance: random.Random) -> str:
    """The line with one fault: an operand or the attributes gone, another op, shape or type."""
    match chance.randrange(5):
        case 0:
            values = list(VALUE.finditer(line))[1:]
            if values:
                gone = chance.choice(values)
                return line[: gone.start()] + line[gone.end() :].lstrip(", ")
            return line
        case 1:
            return re.sub(r"\{[a-z][^{}]*\}", "", line, count=1)
        case 2:
            return re.sub(r"\d+x\d+x", chance.choice(["64x", "7x5x", "1x1x", "2x128x128x"]), line, count=1)
        case 3:
            return re.sub(r"[a-z]+\.[a-z_0-9]+", chance.choice(names), line, count=1)
        case _:
            return TYPE.sub(chance.choice(TYPES), line, count=1)


@pytest.mark.parametrize("seed", range(8))
def test_a_spoilt_text_is_refused_or_built(seed: int):
    chance = random.Random(seed)
    names = sorted({match.group(1) for path in SAMPLES for match in OP_NAME.finditer(path.read_text())})
    machines = [find_machine(name, Path()) for name in ("h100", "b200")]
    outcomes: set[str] = set()
    for _ in range(25):
        path = chance.choice(SAMPLES)
        lines = path.read_text().splitlines()
        places = [at for at, line in enumerate(lines) if OP_NAME.search(line) and "scf." not in line]
        for at in chance.sample(places, chance.choice([1, 1, 2, 4])):
            lines[at] = spoil(lines[at], names, chance)
        try:
            module = parse_module("\n".join(lines), path.name)
            for loop in module.loops:
                tiles = tile_loop(module, loop)
                build_graph(tiles, machines["100" in module.target], GROUPS)
                outcomes.add("built")
                subtile(tiles, "m", 2)
        except InputError as fault:
            assert all(diagnostic.file == path.name for diagnostic in fault.diagnostics)
            outcomes.add("refused")
    assert outcomes == {"built", "refused"}
