"""Buffers in shared and tensor memory: views write through, copies count bytes, unwritten memory shows."""

from __future__ import annotations

import numpy as np
import pytest
from interpret_snippets import Array, address, kernel, run_text, tile

from core.diagnostics import InputError

RING = "!ttg.memdesc<3x4x8xf32, #shared, #smem, mutable>"
SLOT = "!ttg.memdesc<4x8xf32, #shared, #smem, mutable>"
TILE = "tensor<4x8xf32>"
BARRIER = "!ttg.memdesc<1xi64, #shared, #smem, mutable>"
DESCRIPTOR = "!tt.tensordesc<4x8xf32, #shared>"
HEAD = f"""\
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%c2 = arith.constant 2 : i32
%true = arith.constant true
%false = arith.constant false
%v = tt.descriptor_load %x[%c0, %c0] : {DESCRIPTOR} -> {TILE}"""
X = np.arange(1.0, 33).reshape(4, 8)


def after(lines: str, x: Array = X) -> Array:
    """Runs lines that make the tile %r of the tile %v."""
    store = f"tt.descriptor_store %y[%c0, %c0], %r : {DESCRIPTOR}, {TILE}"
    text = kernel(f"%x: {DESCRIPTOR}, %y: {DESCRIPTOR}", f"{HEAD}\n{lines}\n{store}")
    return run_text(text, {"x": x, "y": np.zeros((4, 8))})["y"]


def error_of(lines: str) -> str:
    with pytest.raises(InputError) as caught:
        after(lines)
    return caught.value.diagnostics[0].message


def test_slots_of_a_ring_are_views() -> None:
    lines = f"""\
%ring = ttg.local_alloc : () -> {RING}
%a = ttg.memdesc_index %ring[%c1] : {RING} -> {SLOT}
ttg.local_store %v, %a : {TILE} -> {SLOT}
%b = ttg.memdesc_index %ring[%c1] : {RING} -> {SLOT}
%r = ttg.local_load %b : {SLOT} -> {TILE}"""
    assert np.array_equal(after(lines), X)
    assert np.isnan(
        after(lines.replace("%b = ttg.memdesc_index %ring[%c1]", "%b = ttg.memdesc_index %ring[%c2]"))
    ).all()
    older = SLOT.replace(">", ", 3x4x8>")
    second = f"%b = ttg.memdesc_subview %ring[%c1, %c0, %c0] : {RING} -> {older}"
    assert np.array_equal(after(lines.replace(lines.splitlines()[3], second)), X)
    beyond = lines.replace("%ring[%c1]", "%ring[%c3]")
    assert "index 3 of a buffer of 3" in error_of(f"%c3 = arith.constant 3 : i32\n{beyond}")


def test_a_load_is_a_copy_and_a_freed_buffer_is_lost() -> None:
    lines = f"""\
%a = ttg.local_alloc %v : ({TILE}) -> {SLOT}
%r = ttg.local_load %a : {SLOT} -> {TILE}
ttg.local_dealloc %a : {SLOT}"""
    assert np.array_equal(after(lines), X)
    swapped = lines.splitlines()
    assert np.isnan(after("\n".join([swapped[0], swapped[2], swapped[1]]))).all()


def test_transposed_and_partial_views() -> None:
    across = "!ttg.memdesc<8x4xf32, #shared, #smem, mutable>"
    half = "!ttg.memdesc<4x4xf32, #shared, #smem, mutable, 4x8>"
    lines = f"""\
%a = ttg.local_alloc %v : ({TILE}) -> {SLOT}
%t = ttg.memdesc_trans %a {{order = array<i32: 1, 0>}} : {SLOT} -> {across}
%w = ttg.local_load %t : {across} -> tensor<8x4xf32>
%s = ttg.memdesc_subslice %a[0, 4] : {SLOT} -> {half}
%p = tt.trans %w {{order = array<i32: 1, 0>}} : tensor<8x4xf32> -> {TILE}
%z = arith.constant dense<0.0> : tensor<4x4xf32>
ttg.local_store %z, %s : tensor<4x4xf32> -> {half}
%q = ttg.local_load %a : {SLOT} -> {TILE}
%r = arith.addf %p, %q : {TILE}"""
    wanted = 2 * X
    wanted[:, 4:] = X[:, 4:]
    assert np.array_equal(after(lines), wanted)
    assert "a part (4, 4) at (0, 5) of a buffer (4, 8)" in error_of(lines.replace("[0, 4]", "[0, 5]"))


def test_reshaped_buffer() -> None:
    flat = "!ttg.memdesc<2x16xf32, #shared, #smem, mutable>"
    lines = f"""\
%a = ttg.local_alloc %v : ({TILE}) -> {SLOT}
%f = ttg.memdesc_reshape %a : {SLOT} -> {flat}
%w = ttg.local_load %f : {flat} -> tensor<2x16xf32>
%d = arith.addf %w, %w : tensor<2x16xf32>
ttg.local_store %d, %f : tensor<2x16xf32> -> {flat}
%r = ttg.local_load %a : {SLOT} -> {TILE}"""
    assert np.array_equal(after(lines), 2 * X)


def test_tensor_memory() -> None:
    tmem = "!ttg.memdesc<4x8xf32, #tmem, #ttng.tensor_memory, mutable>"
    part = "!ttg.memdesc<4x4xf32, #tmem, #ttng.tensor_memory, mutable, 4x8>"
    lines = f"""\
%a, %token = ttng.tmem_alloc : () -> ({tmem}, !ttg.async.token)
%t1 = ttng.tmem_store %v, %a[%token], %true : {TILE} -> {tmem}
%d = arith.addf %v, %v : {TILE}
%t2 = ttng.tmem_store %d, %a[%t1], %false : {TILE} -> {tmem}
%s = ttng.tmem_subslice %a {{N = 4 : i32}} : {tmem} -> {part}
%z = arith.constant dense<0.0> : tensor<4x4xf32>
ttng.tmem_store %z, %s, %true : tensor<4x4xf32> -> {part}
%r, %t3 = ttng.tmem_load %a[%t2] : {tmem} -> {TILE}"""
    wanted = X.copy()
    wanted[:, 4:] = 0
    assert np.array_equal(after(lines), wanted)


COPY = f"""\
%a = ttg.local_alloc : () -> {SLOT}
%b = ttg.local_alloc : () -> {BARRIER}
ttng.init_barrier %b, 1 : {BARRIER}
ttng.barrier_expect %b, 128, %true : {BARRIER}
ttng.async_tma_copy_global_to_local %x[%c1, %c0] %a, %b, %true : {DESCRIPTOR}, {BARRIER} -> {SLOT}
ttng.wait_barrier %b, %c0 : {BARRIER}
%r = ttg.local_load %a : {SLOT} -> {TILE}"""


def test_copy_of_a_box_counts_its_bytes() -> None:
    """4 x 8 x 4 bytes; the row that is outside the tensor counts too."""
    wanted = np.zeros((4, 8))
    wanted[:3] = X[1:]
    assert np.array_equal(after(COPY), wanted)
    assert "never ends" in error_of(COPY.replace("%b, 128", "%b, 256"))
    assert "never ends" in error_of(COPY.replace("%a, %b, %true", "%a, %b, %false"))
    assert "never ends" in error_of(COPY.replace("%b, 128, %true", "%b, 128, %false"))
    skipped = COPY.replace("%true", "%false").replace("%b, %c0 :", "%b, %c0, %false :")
    assert np.isnan(after(skipped)).all()


def test_phases_alternate() -> None:
    twice = COPY.replace(
        "%r = ", f"ttng.barrier_expect %b, 0, %true : {BARRIER}\nttng.wait_barrier %b, %c1 : {BARRIER}\n%r = "
    )
    assert np.array_equal(after(twice)[:3], X[1:])
    assert "never ends" in error_of(
        twice.replace(f"ttng.wait_barrier %b, %c1 : {BARRIER}", f"ttng.wait_barrier %b, %c0 : {BARRIER}")
    )


def test_copy_to_a_tensor() -> None:
    """%y is written by the copy and added to by the reduction; then %r goes on top of rows 0 to 3."""
    lines = f"""\
%a = ttg.local_alloc %v : ({TILE}) -> {SLOT}
ttng.async_tma_copy_local_to_global %y[%c0, %c0] %a : {DESCRIPTOR}, {SLOT}
ttng.async_tma_reduce add, %y[%c1, %c2] %a : {DESCRIPTOR}, {SLOT}
ttng.async_tma_store_wait {{pendings = 0 : i32}}
%r = tt.descriptor_load %y[%c0, %c0] : {DESCRIPTOR} -> {TILE}"""
    wanted = X.copy()
    wanted[1:, 2:] += X[:3, :6]
    assert np.array_equal(after(lines), wanted)


def test_copy_from_pointers_with_mask_and_other() -> None:
    buffer, pointers = "!ttg.memdesc<8xf32, #shared, #smem, mutable>", tile(8, "!tt.ptr<f32>")
    body = f"""\
{address("x", "x", 8, "f32")}
{address("y", "y", 8, "f32")}
%limit = arith.constant dense<5> : {tile(8, "i32")}
%keep = arith.cmpi slt, %x_r, %limit : {tile(8, "i32")}
%other = arith.constant dense<9.0> : {tile(8, "f32")}
%a = ttg.local_alloc : () -> {buffer}
%t = ttg.async_copy_global_to_local %x_at, %a mask %keep other %other : {pointers} -> <8xf32, #shared, #smem, mutable>
%g = ttg.async_commit_group tokens %t
%w = ttg.async_wait %g {{num = 0 : i32}}
%r = ttg.local_load %a token %w : {buffer} -> {tile(8, "f32")}
tt.store %y_at, %r : {tile(8, "!tt.ptr<f32>")}"""
    text = kernel("%x: !tt.ptr<f32>, %y: !tt.ptr<f32>", body)
    got = run_text(text, {"x": np.arange(5.0), "y": np.zeros(8)})["y"]
    assert got.tolist() == [0, 1, 2, 3, 4, 9, 9, 9]
    open_text = text.replace(" other %other", "")
    assert np.isnan(run_text(open_text, {"x": np.arange(5.0), "y": np.zeros(8)})["y"][5:]).all()


def test_tensor_map_made_in_the_kernel() -> None:
    """Sizes and strides come fastest first, and strides in bytes."""
    types = "(!tt.ptr<i8>, !tt.ptr<f32>, i32, i32, i32, i32, i64, i32, i32) -> ()"
    body = f"""\
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%c3 = arith.constant 3 : i32
%c4 = arith.constant 4 : i32
%c5 = arith.constant 5 : i32
%c8 = arith.constant 8 : i32
%row = arith.constant 36 : i64
%m = ttg.global_scratch_alloc {{alignment = 128 : i32, nbytes = 128 : i32}} : !tt.ptr<i8>
ttng.tensormap_create %m, %p, [%c8, %c4], [%c5, %c3], [%row], [%c1, %c1] {{elem_type = 7 : i32}} : {types}
ttng.tensormap_fenceproxy_acquire %m : !tt.ptr<i8>
%d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to {DESCRIPTOR}
%v = tt.descriptor_load %d[%c0, %c0] : {DESCRIPTOR} -> {TILE}
tt.descriptor_store %y[%c0, %c0], %v : {DESCRIPTOR}, {TILE}"""
    storage, wanted = np.arange(36.0), np.zeros((4, 8))
    wanted[:3, :5] = storage.reshape(4, 9)[:3, :5]
    text = kernel(f"%p: !tt.ptr<f32>, %y: {DESCRIPTOR}", body)
    assert np.array_equal(run_text(text, {"p": storage, "y": np.zeros((4, 8))})["y"], wanted)
    with pytest.raises(InputError, match="no tensor map was made at %m"):
        run_text(
            "\n".join(line for line in text.splitlines() if "tensormap_create" not in line), {"p": storage, "y": wanted}
        )
