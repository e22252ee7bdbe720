"""Ops that move elements, and reductions and scans with any region, against NumPy."""

from __future__ import annotations

import numpy as np
from interpret_snippets import address, elementwise, kernel, run_text, tile

MATRIX = np.arange(24.0).reshape(4, 6) ** 2 % 17


def of_matrix(lines: str, shape: str, size: int, rows: int = 4, columns: int = 6) -> np.ndarray:
    """Runs lines that make %r, of `shape`, of the matrix %m; the result is stored flat."""
    count = rows * columns
    values = MATRIX.reshape(-1)[:count]
    body = f"""\
{address("x", "x", count, "f32")}
%v = tt.load %x_at : {tile(count, "!tt.ptr<f32>")}
%m = tt.reshape %v : {tile(count, "f32")} -> tensor<{rows}x{columns}xf32>
{lines}
%flat = tt.reshape %r : tensor<{shape}xf32> -> {tile(size, "f32")}
{address("y", "y", size, "f32")}
tt.store %y_at, %flat : {tile(size, "!tt.ptr<f32>")}"""
    text = kernel("%x: !tt.ptr<f32>, %y: !tt.ptr<f32>", body)
    return run_text(text, {"x": values, "y": np.zeros(size)})["y"]


def test_transpose() -> None:
    op = "%r = tt.trans %m {order = array<i32: 1, 0>} : tensor<4x6xf32> -> tensor<6x4xf32>"
    assert of_matrix(op, "6x4", 24).tolist() == MATRIX.T.reshape(-1).tolist()


def test_expand_and_broadcast() -> None:
    lines = """\
%c = tt.reshape %m : tensor<1x6xf32> -> tensor<6xf32>
%e = tt.expand_dims %c {axis = 1 : i32} : tensor<6xf32> -> tensor<6x1xf32>
%r = tt.broadcast %e : tensor<6x1xf32> -> tensor<6x3xf32>"""
    assert of_matrix(lines, "6x3", 18, rows=1).tolist() == MATRIX[0].repeat(3).tolist()


def test_join_split_and_concatenate() -> None:
    lines = """\
%n = arith.addf %m, %m : tensor<4x6xf32>
%j = tt.join %m, %n : tensor<4x6xf32> -> tensor<4x6x2xf32>
%a, %b = tt.split %j : tensor<4x6x2xf32> -> tensor<4x6xf32>
%d = arith.subf %b, %a : tensor<4x6xf32>
%p = tt.reshape %d : tensor<4x6xf32> -> tensor<24xf32>
%q = tt.reshape %j : tensor<4x6x2xf32> -> tensor<48xf32>
%r = tt.cat %p, %q : tensor<24xf32>, tensor<48xf32> -> tensor<72xf32>"""
    flat = MATRIX.reshape(-1)
    wanted = [*flat, *np.stack([flat, 2 * flat], axis=1).reshape(-1)]
    assert of_matrix(lines, "72", 72).tolist() == wanted


def test_gather() -> None:
    index = np.array([5, 0, 0, 3, 2, 1])
    values = np.arange(6) * 10.0
    inputs = [("f32", values), ("i32", index)]
    op = "%r = tt.gather %a[%b] {axis = 0 : i32} : (tensor<$xf32>, tensor<$xi32>) -> tensor<$xf32>"
    assert elementwise(op, inputs, "f32").tolist() == values[index].tolist()


def test_reduce_along_each_axis() -> None:
    for axis, shape in ((0, "6"), (1, "4")):
        lines = f"""\
%r = "tt.reduce"(%m) <{{axis = {axis} : i32}}> ({{
^bb0(%p: f32, %q: f32):
  %s = arith.addf %p, %q : f32
  tt.reduce.return %s : f32
}}) : (tensor<4x6xf32>) -> tensor<{shape}xf32>"""
        assert of_matrix(lines, shape, int(shape)).tolist() == MATRIX.sum(axis).tolist()


def test_reduce_to_a_scalar_with_two_operands() -> None:
    """The greatest element and where it is first: the region compares and selects."""
    values = np.array([3.0, 9.0, -1.0, 9.0, 2.0, 9.0, 0.0])
    body = f"""\
{address("x", "x", 7, "f32")}
%v = tt.load %x_at : {tile(7, "!tt.ptr<f32>")}
%i = tt.make_range {{end = 7 : i32, start = 0 : i32}} : {tile(7, "i32")}
%r:2 = "tt.reduce"(%v, %i) <{{axis = 0 : i32}}> ({{
^bb0(%va: f32, %ia: i32, %vb: f32, %ib: i32):
  %more = arith.cmpf ogt, %vb, %va : f32
  %vr = arith.select %more, %vb, %va : f32
  %ir = arith.select %more, %ib, %ia : i32
  tt.reduce.return %vr, %ir : f32, i32
}}) : ({tile(7, "f32")}, {tile(7, "i32")}) -> (f32, i32)
tt.store %y, %r#0 : !tt.ptr<f32>
tt.store %z, %r#1 : !tt.ptr<i32>"""
    text = kernel("%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<i32>", body)
    got = run_text(text, {"x": values, "y": np.zeros(1), "z": np.zeros(1, int)})
    assert (got["y"][0], got["z"][0]) == (9.0, 1)


def test_reduce_keeps_the_order_of_what_does_not_commute() -> None:
    """The product of 2 x 2 integer matrices, as four operands, associates but does not commute."""
    rng = np.random.default_rng(6)
    matrices = rng.integers(-2, 3, (5, 2, 2))
    wanted = np.linalg.multi_dot(list(matrices))
    loads, types = [], ", ".join([tile(5, "i32")] * 4)
    for name in "abcd":
        loads.append(address(name, name, 5, "i32"))
        loads.append(f"%v{name} = tt.load %{name}_at : {tile(5, '!tt.ptr<i32>')}")
    region = []
    for row in "ac":
        for column in "bd":
            other = {"b": ("a", "c"), "d": ("b", "d")}[column]
            name = row if column == "b" else {"a": "b", "c": "d"}[row]
            second = {"a": "b", "c": "d"}[row]
            region.append(f"%p{name} = arith.muli %l{row}, %r{other[0]} : i32")
            region.append(f"%q{name} = arith.muli %l{second}, %r{other[1]} : i32")
            region.append(f"%s{name} = arith.addi %p{name}, %q{name} : i32")
    arguments = ", ".join(f"%{side}{name}: i32" for side in "lr" for name in "abcd")
    stores = "\n".join(f"tt.store %o{name}, %r#{index} : !tt.ptr<i32>" for index, name in enumerate("abcd"))
    body = f"""\
{chr(10).join(loads)}
%r:4 = "tt.reduce"(%va, %vb, %vc, %vd) <{{axis = 0 : i32}}> ({{
^bb0({arguments}):
{chr(10).join(region)}
  tt.reduce.return %sa, %sb, %sc, %sd : i32, i32, i32, i32
}}) : ({types}) -> (i32, i32, i32, i32)
{stores}"""
    signature = ", ".join(f"%{prefix}{name}: !tt.ptr<i32>" for prefix in ("", "o") for name in "abcd")
    flat = matrices.reshape(5, 4)
    arrays = {name: flat[:, index] for index, name in enumerate("abcd")}
    outputs = {f"o{name}": np.zeros(1, int) for name in "abcd"}
    got = run_text(kernel(signature, body), arrays | outputs)
    assert [got[f"o{name}"][0] for name in "abcd"] == wanted.reshape(-1).tolist()


def test_scan_both_ways() -> None:
    for reverse in ("false", "true"):
        lines = f"""\
%r = "tt.scan"(%m) <{{axis = 1 : i32, reverse = {reverse}}}> ({{
^bb0(%p: f32, %q: f32):
  %s = arith.addf %p, %q : f32
  tt.scan.return %s : f32
}}) : (tensor<4x6xf32>) -> tensor<4x6xf32>"""
        wanted = MATRIX[:, ::-1].cumsum(1)[:, ::-1] if reverse == "true" else MATRIX.cumsum(1)
        assert of_matrix(lines, "4x6", 24).tolist() == wanted.reshape(-1).tolist()


def test_select_by_a_scalar_and_by_a_tile() -> None:
    inputs = [("f32", np.array([1.0, 2.0])), ("f32", np.array([3.0, 4.0]))]
    lines = "%no = arith.constant false\n%r = arith.select %no, %a, %b : tensor<$xf32>"
    assert elementwise(lines, inputs, "f32").tolist() == [3.0, 4.0]
    inputs.append(("i1", np.array([True, False])))
    op = "%r = arith.select %c, %a, %b : tensor<$xi1>, tensor<$xf32>"
    assert elementwise(op, inputs, "f32").tolist() == [1.0, 4.0]
