"""Accesses to shared memory that nothing orders are found by what orders them, not by luck: hand-overs with an order
left out, and those of the three programs of which racecheck reported hazards (tests/bench/results/racecheck.md)."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from mock_runs import COMPILER, build, kernel_of, needs_compiler, run_one, sized_case
from reported_programs import DATA, REPORTED, Reported, hand_offs, program_of

from core.export.cuda.batch import Case, checked_batch
from core.export.cuda.folder import export_program
from core.export.roles.model import RingKind, RoleProgram
from core.ir.interpret import parameters
from core.resources import data_folder

pytestmark = needs_compiler

EDGES = (
    "nothing left out",
    "no wait for a full slot",
    "no wait for a free slot",
    "full before the store",
    "free before the load",
    "a wait for the other parity",
    "no wait at a named barrier",
    "the threads of a role do not meet before they load",
    "the threads of a role do not meet before they store again",
    "free before the matrix op is done",
    "a store to where a copy is under way",
    "a store to what a bulk store still reads",
)


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[tuple[bool, str]]]:
    assert COMPILER is not None
    program = tmp_path_factory.mktemp("edges") / "edges"
    flags = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-pthread", "-DTWILL_MOCK"]
    include = f"-I{data_folder('resources') / 'cuda'}"
    subprocess.run([COMPILER, *flags, include, str(DATA / "mock_edges.cpp"), "-o", str(program)], check=True)
    text = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    found: dict[int, list[tuple[bool, str]]] = defaultdict(list)
    for line in text.splitlines():
        fault, _, accepted, message = line.split("|", 3)
        found[int(fault)].append((accepted == "1", message))
    return found


def test_right_edges_are_accepted_for_every_seed(edges: dict[int, list[tuple[bool, str]]]) -> None:
    assert sorted(edges) == list(range(len(EDGES)))
    assert len(edges[0]) == 12
    assert all(accepted for accepted, _ in edges[0]), edges[0]


@pytest.mark.parametrize("fault", range(1, len(EDGES)), ids=EDGES[1:])
def test_what_is_not_ordered_is_found_for_every_seed(edges: dict[int, list[tuple[bool, str]]], fault: int) -> None:
    assert len(edges[fault]) == 12
    for accepted, message in edges[fault]:
        assert not accepted
        assert "a race" in message or (EDGES[fault] == "a wait for the other parity" and "deadlock" in message)
    assert any(re.search(r"a race: \w+ \w+ shared memory at line \d+, which", message) for _, message in edges[fault])


# ---- the programs of which racecheck reported hazards


LEFT_OUT = """#include "twill.cuh"
#include <cstdlib>
static bool left_out(const char* wait) {
  const char* asked = std::getenv("LEFT_OUT");
  return asked && std::strcmp(asked, wait) == 0;
}
"""


@pytest.mark.parametrize("name", REPORTED)
def test_the_reported_edges_are_safe_and_race_without_their_waits(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wait alone may say what another one says too, so all waits of one role for another are left out at once: then
    nothing orders the tiles of these two in that direction."""
    one, program = REPORTED[name], program_of(name)
    rings = hand_offs(program)
    assert len(rings) == one.hand_offs
    assert one.own == sum(ring.kind is RingKind.OWN and ring.depth > 1 for ring in program.rings.values())
    export_program(program, tmp_path)
    kernel = tmp_path / "kernel.cu"
    text = kernel.read_text(encoding="utf-8").replace('#include "twill.cuh"\n', LEFT_OUT)
    waits: set[str] = set()
    for ring in rings:
        (consumer,) = ring.consumers
        for side, waiting, other in (("full", consumer, ring.producer), ("free", ring.producer, consumer)):
            wait = re.compile(rf"^( *)(tw::bar_wait\(s\.{ring.name}_{side}\[)", re.MULTILINE)
            text, count = wait.subn(rf'\1if (!left_out("{waiting} for {other}")) \2', text)
            assert count
            waits.add(f"{waiting} for {other}")
    kernel.write_text(text, encoding="utf-8")
    write_longer_case(one, program, tmp_path)
    build(tmp_path, ["-O1"])
    for seed in range(1, 9):
        answer = run_one(tmp_path, seed)
        assert answer["ok"], answer
    assert len(waits) == 2
    for wait in waits:
        monkeypatch.setenv("LEFT_OUT", wait)
        answers = [run_one(tmp_path, seed) for seed in range(1, 9)]
        assert not any(answer["ok"] for answer in answers), wait
        assert any("a race" in answer.get("failure", "") for answer in answers), (wait, answers)


def write_longer_case(one: Reported, program: RoleProgram, folder: Path) -> None:
    """A call of one program whose loop has more iterations than any ring has slots."""
    kernel = kernel_of(one.file.stem)
    element = "bf16" if "bf16" in one.file.stem else "f16"
    case = sized_case(kernel, one.sizes, element)
    names = [parameter.name for parameter in parameters(program.module, kernel)]
    arguments = dict(zip(names, case.arguments, strict=True))
    batch = checked_batch(program.module, kernel, [Case("longer", arguments, tuple(1 for _ in case.grid))])
    (folder / "cases.bin").write_bytes(batch)
