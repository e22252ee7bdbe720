"""What the exported test program calls right: the norm of the error, and every single element."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from mock_runs import COMPILER, ROOT, needs_compiler

from core.ir.interpret.formats import Array, encoded, rounded
from core.resources import data_folder

pytestmark = needs_compiler
BOUNDS = {"f16": 1e-3, "bf16": 4e-3, "f32": 2e-5, "i32": 1e-3}
BITS = {"f16": 10, "bf16": 7, "f32": 23}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert COMPILER is not None
    built = tmp_path_factory.mktemp("compare") / "compare"
    source = ROOT / "tests" / "data" / "cuda" / "compare.cpp"
    include = f"-I{data_folder('resources') / 'cuda'}"
    command = [COMPILER, "-std=c++17", "-O0", "-DTWILL_MOCK", "-pthread", include, str(source), "-o", str(built)]
    subprocess.run(command, check=True)
    return built


def compared(program: Path, element: str, expected: Array, found: Array) -> tuple[bool, float, float]:
    """What the program says of arrays of an element."""
    codes = np.ascontiguousarray(encoded(found, element)).astype("<u8").reshape(-1, 1).view(np.uint8)
    text = codes[:, : BYTES[element]].tobytes().hex()
    line = " ".join([element, repr(BOUNDS[element]), str(expected.size), *map(repr, map(float, expected)), text])
    done = subprocess.run([str(program)], input=line, capture_output=True, text=True, check=True)
    ok, relative, ulps = done.stdout.split()
    return ok == "1", float(relative), float(ulps)


def numbers(element: str, count: int = 4096) -> Array:
    return rounded(np.random.default_rng(3).standard_normal(count), element)


@pytest.mark.parametrize("element", BITS)
def test_the_same_numbers_are_right(program: Path, element: str) -> None:
    values = numbers(element)
    assert compared(program, element, values, values) == (True, 0.0, 0.0)


@pytest.mark.parametrize("element", BITS)
def test_one_element_may_be_off_by_the_bound_and_four_units(program: Path, element: str) -> None:
    """The norm of so many elements does not show it."""
    expected = numbers(element)
    expected[7] = 2.0
    unit, mean = 2.0 ** (1 - BITS[element]), math.sqrt((expected * expected).mean())
    for units, right in ((4, True), (6, False)):
        found = expected.copy()
        found[7] = 2.0 + math.floor(BOUNDS[element] * mean / unit) * unit + units * unit
        ok, relative, ulps = compared(program, element, expected, found)
        assert (ok, relative < BOUNDS[element]) == (right, True)
        assert units - 1 <= ulps <= units


@pytest.mark.parametrize("element", ("f16", "bf16"))
def test_many_elements_off_by_few_units_are_wrong_by_the_norm(program: Path, element: str) -> None:
    """Each alone is within its limit."""
    expected = rounded(np.full(512, 1.0), element)
    ok, relative, ulps = compared(program, element, expected, expected + 2 * 2.0 ** -BITS[element])
    assert not ok and relative > BOUNDS[element] and ulps <= 4


def test_what_is_not_finite_is_wrong_unless_it_is_expected(program: Path) -> None:
    expected, found = numbers("f16", 64), numbers("f16", 64)
    found[5] = math.nan
    ok, relative, _ = compared(program, "f16", expected, found)
    assert not ok and math.isnan(relative)
    expected[5] = math.nan  # nobody writes it
    assert compared(program, "f16", expected, found)[0]
    expected[5] = found[5] = math.inf
    assert compared(program, "f16", expected, found)[0]


def test_integers_are_the_same(program: Path) -> None:
    expected = np.arange(1000, 5000).astype(np.float64)
    found = expected.astype(np.int64)
    assert compared(program, "i32", expected, found)[0]
    found[3] += 1
    assert not compared(program, "i32", expected, found)[0]
