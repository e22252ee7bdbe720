"""The runtime's CPU stand-in: right where the role program is right, and every planted fault is found."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from core.resources import data_folder

SOURCE = Path(__file__).parents[3] / "data" / "cuda" / "mock_attention.cpp"
FAULTS = (
    "none",
    "no wait for a full slot",
    "a wait that lets the operation run on",
    "a slot released before its reader is done",
    "a slot never released",
    "no fence before a bulk store",
    "no wait for a bulk store's reads",
    "no bytes expected",
    "an operand overwritten under its reader",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[tuple[bool, float, str]]]:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program = tmp_path_factory.mktemp("mock") / "mock_attention"
    flags = [
        "-std=c++17",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pthread",
        "-DTWILL_MOCK",
        f"-I{data_folder('resources') / 'cuda'}",
    ]
    subprocess.run([compiler, *flags, str(SOURCE), "-o", str(program)], check=True)
    text = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    found: dict[int, list[tuple[bool, float, str]]] = defaultdict(list)
    for line in text.splitlines():
        fault, _, accepted, error, message = line.split("|", 4)
        found[int(fault)].append((accepted == "1", float(error), message))
    return found


def test_a_right_program_gives_right_numbers_for_every_order(runs: dict[int, list[tuple[bool, float, str]]]) -> None:
    assert len(runs[0]) == 6
    for accepted, error, message in runs[0]:
        assert accepted, message
        assert error < 1e-3  # f16 operands and results, against float64


@pytest.mark.parametrize("fault", range(1, len(FAULTS)), ids=FAULTS[1:])
def test_a_planted_fault_is_found(runs: dict[int, list[tuple[bool, float, str]]], fault: int) -> None:
    found = [not accepted or not error < 1e-3 for accepted, error, _ in runs[fault]]
    assert len(found) == 6
    assert any(found)


def test_a_deadlock_names_roles_barriers_and_lines(runs: dict[int, list[tuple[bool, float, str]]]) -> None:
    messages = [message for accepted, _, message in runs[4] if not accepted]
    assert messages
    assert all("load waits for k free at line" in m and "compute waits for k full at line" in m for m in messages)
