"""Global memory: masks, bounds, atomics, descriptors; and what a kernel may be called with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interpret_snippets import address, kernel, run_text, tile

from core.diagnostics import Diagnostic, InputError
from core.ir.interpret import Precision, TensorDescriptor, parameters, run
from core.ir.parser import parse_module

COPY = kernel(
    "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32",
    f"""\
{address("x", "x", 8, "f32")}
{address("y", "y", 8, "f32")}
%limit = tt.splat %n : i32 -> {tile(8, "i32")}
%keep = arith.cmpi slt, %x_r, %limit : {tile(8, "i32")}
%other = arith.constant dense<7.0> : {tile(8, "f32")}
%v = tt.load %x_at, %keep, %other : {tile(8, "!tt.ptr<f32>")}
tt.store %y_at, %v : {tile(8, "!tt.ptr<f32>")}""",
)


def error_of(text: str, arguments: dict[str, Any], grid: tuple[int, ...] = (1,)) -> Diagnostic:
    with pytest.raises(InputError) as caught:
        run_text(text, arguments, grid)
    (found,) = caught.value.diagnostics
    assert found.file == "t.ttgir"
    return found


def test_masked_load() -> None:
    x = np.arange(3.0)
    got = run_text(COPY, {"x": x, "y": np.ones(8), "n": 3})
    assert got["y"].tolist() == [0, 1, 2, 7, 7, 7, 7, 7]
    assert list(got) == ["y"]
    assert x.tolist() == [0, 1, 2]


def test_what_a_masked_load_leaves_open_is_not_a_number() -> None:
    text = COPY.replace(", %other : tensor<8x!tt.ptr<f32>>", " : tensor<8x!tt.ptr<f32>>")
    got = run_text(text, {"x": np.arange(8.0), "y": np.zeros(8), "n": 6})["y"]
    assert got[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert np.isnan(got[6:]).all()


def test_out_of_bounds() -> None:
    found = error_of(COPY, {"x": np.arange(3.0), "y": np.ones(8), "n": 4})
    assert (found.code, found.line) == ("out-of-bounds", 12)
    assert "tt.load: element 3 of x, which has 3, is out of bounds" in found.message
    found = error_of(COPY, {"x": np.arange(8.0), "y": np.ones(7), "n": 8})
    assert "tt.store: element 7 of y" in found.message
    behind = COPY.replace("start = 0", "start = -1").replace("end = 8", "end = 7")
    found = error_of(behind, {"x": np.arange(8.0), "y": np.ones(8), "n": 8})
    assert "element -1 of x" in found.message


def test_the_pointee_must_be_the_element() -> None:
    text = kernel(
        "%x: !tt.ptr<f32>",
        """\
%p = tt.bitcast %x : !tt.ptr<f32> -> !tt.ptr<i32>
%v = tt.load %p : !tt.ptr<i32>""",
    )
    assert "x holds f32 and is accessed as i32" in error_of(text, {"x": np.zeros(1)}).message


def test_values_are_rounded_to_the_type_of_their_array() -> None:
    text = kernel(
        "%x: !tt.ptr<f16>, %s: f32, %y: !tt.ptr<f32>",
        """\
%v = tt.load %x : !tt.ptr<f16>
%w = arith.extf %v : f16 to f32
%r = arith.addf %w, %s : f32
tt.store %y, %r : !tt.ptr<f32>""",
    )
    arguments = {"x": np.array([0.1]), "s": 0.1, "y": np.zeros(1)}
    rounded_sum = float(np.float16(0.1)) + float(np.float32(0.1))
    assert run_text(text, arguments, precision=Precision.EXACT)["y"][0] == 0.2
    assert run_text(text, arguments, precision=Precision.CASTS)["y"][0] == float(np.float32(rounded_sum))


def test_integers_of_the_caller_wrap_to_the_type() -> None:
    text = kernel("%x: !tt.ptr<i8>, %y: !tt.ptr<i8>", "%v = tt.load %x : !tt.ptr<i8>\ntt.store %y, %v : !tt.ptr<i8>")
    got = run_text(text, {"x": np.array([200], np.uint8), "y": np.zeros(1, np.int8)})["y"]
    assert got.tolist() == [-56]


def atomic(kind: str, element: str, x: np.ndarray, indices: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    """Combines `values` with x[indices], all but the last; `before` is what the op gives back."""
    n = len(indices)
    pointers, values_type, mask = tile(n, f"!tt.ptr<{element}>"), tile(n, element), tile(n, "i1")
    body = f"""\
{address("i", "i", n, "i32")}
{address("v", "v", n, element)}
{address("b", "b", n, element)}
%index = tt.load %i_at : {tile(n, "!tt.ptr<i32>")}
%value = tt.load %v_at : {pointers}
%last = arith.constant dense<{n - 1}> : {tile(n, "i32")}
%keep = arith.cmpi slt, %i_r, %last : {tile(n, "i32")}
%p = tt.splat %x : !tt.ptr<{element}> -> {pointers}
%at = tt.addptr %p, %index : {pointers}, {tile(n, "i32")}
%old = tt.atomic_rmw {kind}, acq_rel, gpu, %at, %value, %keep : ({pointers}, {values_type}, {mask}) -> {values_type}
tt.store %b_at, %old, %keep : {pointers}"""
    text = kernel(f"%x: !tt.ptr<{element}>, %i: !tt.ptr<i32>, %v: !tt.ptr<{element}>, %b: !tt.ptr<{element}>", body)
    return run_text(text, {"x": x, "i": indices, "v": values, "b": np.zeros(n, x.dtype)})


@pytest.mark.parametrize(
    ("kind", "element"),
    [
        ("fadd", "f32"),
        ("max", "f32"),
        ("add", "i32"),
        ("max", "i32"),
        ("min", "i32"),
        ("umax", "i32"),
        ("umin", "i32"),
        ("and", "i32"),
        ("or", "i32"),
        ("xor", "i32"),
        ("exch", "i32"),
    ],
)
def test_atomics_take_turns_at_one_address(kind: str, element: str) -> None:
    mask = (1 << 32) - 1
    combine = {
        "fadd": lambda a, b: a + b,
        "add": lambda a, b: a + b,
        "max": max,
        "min": min,
        "umax": lambda a, b: max(a, b, key=lambda v: int(v) & mask),
        "umin": lambda a, b: min(a, b, key=lambda v: int(v) & mask),
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "exch": lambda a, b: b,
    }[kind]
    x, indices, values = np.array([5, -3, 0]), np.array([0, 1, 0, 0, 2, 1, 2]), np.array([4, -7, -9, 6, 2, 12, 50])
    if element == "f32":
        x, values = x.astype(float), values.astype(float)
    wanted, before = x.copy(), []
    for index, value in zip(indices[:-1], values[:-1], strict=True):
        before.append(wanted[index])
        wanted[index] = combine(wanted[index], value)
    got = atomic(kind, element, x, indices, values)
    assert got["x"].tolist() == wanted.tolist()
    assert got["b"][:-1].tolist() == before


DESCRIPTORS = """\
%v = tt.descriptor_load %s[%i, %j] : !tt.tensordesc<4x8xf32, #shared> -> tensor<4x8xf32>
tt.descriptor_store %t[%i, %j], %v : !tt.tensordesc<4x8xf32, #shared>, tensor<4x8xf32>
tt.descriptor_reduce add, %u[%i, %j], %v : !tt.tensordesc<4x8xf32, #shared>, tensor<4x8xf32>"""
SIGNATURE = ", ".join(f"%{name}: !tt.tensordesc<4x8xf32, #shared>" for name in "stu") + ", %i: i32, %j: i32"


@pytest.mark.parametrize("corner", [(0, 0), (2, 5), (-2, 3), (-1, -1), (4, 9), (7, 0)])
def test_descriptors_read_zeros_outside_and_leave_the_outside_alone(corner: tuple[int, int]) -> None:
    source, target = np.arange(1.0, 61).reshape(6, 10), np.full((6, 10), -1.0)
    i, j = corner
    wanted, added = target.copy(), target.copy()
    for row in range(max(i, 0), min(i + 4, 6)):
        for column in range(max(j, 0), min(j + 8, 10)):
            wanted[row, column] = source[row, column]
            added[row, column] += source[row, column]
    got = run_text(kernel(SIGNATURE, DESCRIPTORS), {"s": source, "t": target, "u": target, "i": i, "j": j})
    assert np.array_equal(got.get("t", target), wanted)
    assert np.array_equal(got.get("u", target), added)


def test_descriptor_of_a_part_of_an_array() -> None:
    storage = np.arange(60.0)
    part = TensorDescriptor(storage, shape=(3, 7), strides=(20, 1))
    target = np.zeros((4, 8))
    got = run_text(kernel(SIGNATURE, DESCRIPTORS), {"s": part, "t": target, "u": target, "i": 0, "j": 0})["t"]
    wanted = np.zeros((4, 8))
    wanted[:3, :7] = storage.reshape(3, 20)[:, :7]
    assert np.array_equal(got, wanted)


def test_descriptor_of_higher_rank_than_its_tile() -> None:
    body = """\
%z = arith.constant 0 : i32
%one = arith.constant 1 : i32
%v = tt.descriptor_load %s[%one, %z, %z] : !tt.tensordesc<1x4x8xf32, #shared> -> tensor<4x8xf32>
tt.descriptor_store %t[%z, %z], %v : !tt.tensordesc<4x8xf32, #shared>, tensor<4x8xf32>"""
    text = kernel("%s: !tt.tensordesc<1x4x8xf32, #shared>, %t: !tt.tensordesc<4x8xf32, #shared>", body)
    source = np.arange(64.0).reshape(2, 4, 8)
    assert np.array_equal(run_text(text, {"s": source, "t": np.zeros((4, 8))})["t"], source[1])


def test_descriptor_made_in_the_kernel_takes_its_sizes() -> None:
    body = """\
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i64
%c9 = arith.constant 9 : i64
%d = tt.make_tensor_descriptor %x, [%m, %n], [%c9, %c1] : <f32>, <4x8xf32, #shared>
%v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<4x8xf32, #shared> -> tensor<4x8xf32>
tt.descriptor_store %t[%c0, %c0], %v : !tt.tensordesc<4x8xf32, #shared>, tensor<4x8xf32>"""
    text = kernel("%x: !tt.ptr<f32>, %m: i32, %n: i32, %t: !tt.tensordesc<4x8xf32, #shared>", body)
    storage, wanted = np.arange(36.0), np.zeros((4, 8))
    wanted[:3, :5] = storage.reshape(4, 9)[:3, :5]
    assert np.array_equal(run_text(text, {"x": storage, "m": 3, "n": 5, "t": np.zeros((4, 8))})["t"], wanted)
    found = error_of(text.replace("[%c9, %c1]", "[%c1, %c9]"), {"x": storage, "m": 3, "n": 5, "t": np.zeros((4, 8))})
    assert "the last stride must be 1, it is 9" in found.message


def test_sizes_and_strides_that_follow_a_descriptor_are_filled_in() -> None:
    d = "!tt.tensordesc<4x8xf32, #shared>"
    signature = (
        f"%s: {d}, %s.shape.0: i32, %s.shape.1: i32, %s.stride.0: i64, %s.stride.1: i64, %n: i32, %y: !tt.ptr<i64>"
    )
    body = """\
%m = arith.extsi %s.shape.1 : i32 to i64
%b = arith.muli %m, %s.stride.0 : i64
%k = arith.extsi %n : i32 to i64
%r = arith.addi %b, %k : i64
tt.store %y, %r : !tt.ptr<i64>"""
    text = kernel(signature, body)
    module = parse_module(text, "t.ttgir")
    assert [parameter.name for parameter in parameters(module, "f")] == ["s", "n", "y"]
    source = TensorDescriptor(np.zeros(100), shape=(3, 7), strides=(20, 1))
    assert run(module, "f", {"s": source, "n": 5, "y": np.zeros(1, int)}, (1,))["y"][0] == 7 * 20 + 5


def test_grid_and_program_ids() -> None:
    body = """\
%i = tt.get_program_id x : i32
%j = tt.get_program_id y : i32
%k = tt.get_program_id z : i32
%m = tt.get_num_programs x : i32
%n = tt.get_num_programs y : i32
%a = arith.muli %k, %n : i32
%b = arith.addi %a, %j : i32
%c = arith.muli %b, %m : i32
%d = arith.addi %c, %i : i32
%p = tt.addptr %y, %d : !tt.ptr<i32>, i32
%one = arith.constant 1 : i32
%e = arith.addi %d, %one : i32
tt.store %p, %e : !tt.ptr<i32>"""
    got = run_text(kernel("%y: !tt.ptr<i32>", body), {"y": np.zeros(24, int)}, (4, 3, 2))["y"]
    assert got.tolist() == list(range(1, 25))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": None}, "no value is given for n"),
        ({"m": 3}, "m is no parameter"),
        ({"n": 1.5}, "n is of type i32: 1.5 is no value for it"),
        ({"n": 1 << 32}, "n is of type i32: 4294967296 is no value for it"),
        ({"x": 3}, "x is of type !tt.ptr<f32>: a int is no value for it"),
        ({"x": np.zeros(3, int)}, "x must hold f32: an array of int64 is given"),
        ({"n": np.zeros(3)}, "n is of type i32: a ndarray is no value for it"),
    ],
)
def test_wrong_calls(changes: dict[str, Any], message: str) -> None:
    arguments = {"x": np.arange(8.0), "y": np.ones(8), "n": 8} | changes
    found = error_of(COPY, {name: value for name, value in arguments.items() if value is not None})
    assert (found.code, found.line) == ("bad-call", 2)
    assert message in found.message


def test_wrong_grids_and_functions() -> None:
    arguments = {"x": np.arange(8.0), "y": np.ones(8), "n": 8}
    for grid in ((), (0,), (1, 1, 1, 1)):
        assert error_of(COPY, arguments, grid).code == "bad-call"
    with pytest.raises(InputError, match="no function 'g'"):
        run(parse_module(COPY, "t.ttgir"), "g", arguments, (1,))
