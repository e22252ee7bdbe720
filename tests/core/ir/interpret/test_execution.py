"""Control flow, calls, warp groups and barriers; errors that name the op and its line."""

from __future__ import annotations

import numpy as np
import pytest
from interpret_snippets import kernel, run_text

from core.diagnostics import Diagnostic, InputError

OUT = "%y: !tt.ptr<i32>, %n: i32"


def result_of(body: str, n: int, functions: str = "") -> int:
    return int(run_text(kernel(OUT, body, functions), {"y": np.zeros(1, int), "n": n})["y"][0])


def error_of(body: str, n: int = 0) -> Diagnostic:
    with pytest.raises(InputError) as caught:
        result_of(body, n)
    (found,) = caught.value.diagnostics
    assert (found.file, found.column is None) == ("t.ttgir", False)
    return found


@pytest.mark.parametrize("n", [0, 1, 5, 6])
def test_for(n: int) -> None:
    body = """\
%lo = arith.constant 1 : i32
%step = arith.constant 2 : i32
%a0 = arith.constant 0 : i32
%b0 = arith.constant 1 : i32
%r:2 = scf.for %i = %lo to %n step %step iter_args(%a = %a0, %b = %b0) -> (i32, i32)  : i32 {
  %s = arith.addi %a, %i : i32
  scf.yield %b, %s : i32, i32
}
%t = arith.muli %r#0, %n : i32
%u = arith.addi %t, %r#1 : i32
tt.store %y, %u : !tt.ptr<i32>"""
    a, b = 0, 1
    for i in range(1, n, 2):
        a, b = b, a + i
    assert result_of(body, n) == a * n + b


@pytest.mark.parametrize("n", [-3, 0, 4])
def test_if_with_and_without_results(n: int) -> None:
    body = """\
%z = arith.constant 0 : i32
%c = arith.cmpi sgt, %n, %z : i32
%r = scf.if %c -> (i32) {
  %d = arith.muli %n, %n : i32
  scf.yield %d : i32
} else {
  scf.yield %z : i32
}
tt.store %y, %r : !tt.ptr<i32>
scf.if %c {
  %e = arith.addi %r, %n : i32
  tt.store %y, %e : !tt.ptr<i32>
}"""
    assert result_of(body, n) == (n * n + n if n > 0 else 0)


def test_while() -> None:
    """The number of steps of n -> n / 2 or 3 n + 1 until 1."""
    body = """\
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%c2 = arith.constant 2 : i32
%c3 = arith.constant 3 : i32
%r:2 = scf.while (%m = %n, %k = %c0) : (i32, i32) -> (i32, i32) {
  %go = arith.cmpi ne, %m, %c1 : i32
  scf.condition(%go) %k, %m : i32, i32
} do {
^bb0(%k: i32, %m: i32):
  %odd = arith.remsi %m, %c2 : i32
  %is = arith.cmpi eq, %odd, %c1 : i32
  %up = arith.muli %m, %c3 : i32
  %up1 = arith.addi %up, %c1 : i32
  %half = arith.divsi %m, %c2 : i32
  %next = arith.select %is, %up1, %half : i32
  %steps = arith.addi %k, %c1 : i32
  scf.yield %next, %steps : i32, i32
}
tt.store %y, %r#0 : !tt.ptr<i32>"""
    n, steps = 27, 0
    while n != 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    assert result_of(body, 27) == steps


def test_call_of_a_function_that_calls_itself() -> None:
    factorial = """\
tt.func private @factorial(%k: i32) -> i32 {
  %one = arith.constant 1 : i32
  %more = arith.cmpi sgt, %k, %one : i32
  %r = scf.if %more -> (i32) {
    %less = arith.subi %k, %one : i32
    %rest = tt.call @factorial(%less) : (i32) -> i32
    %product = arith.muli %k, %rest : i32
    scf.yield %product : i32
  } else {
    scf.yield %one : i32
  }
  tt.return %r : i32
}
"""
    body = "%r = tt.call @factorial(%n) : (i32) -> i32\ntt.store %y, %r : !tt.ptr<i32>"
    assert result_of(body, 6, factorial) == 720


def test_unknown_ops_and_forms_are_errors_with_their_place() -> None:
    found = error_of("%z = arith.constant 0 : i32\n  %r = tt.frobnicate %n : i32")
    assert (found.code, found.line, found.column) == ("unsupported-op", 4, 8)
    assert found.message == "tt.frobnicate: the interpreter does not know this op"
    nested = '%t = arith.constant true\nscf.if %t {\n  tt.elementwise_inline_asm "nop" %n : i32 -> i32\n}'
    found = error_of(nested)
    assert (found.code, found.line) == ("unsupported-op", 5)
    assert "tt.elementwise_inline_asm" in found.message
    found = error_of("%a = arith.cmpi silly, %n, %n : i32")
    assert (found.code, "predicate 'silly'" in found.message) == ("unsupported-op", True)
    found = error_of("%z = arith.constant 0 : i32\nscf.for unsigned %i = %z to %n step %n  : i32 {\n}")
    assert (found.code, "unsigned bounds" in found.message) == ("unsupported-op", True)
    found = error_of("%a = arith.addi %n : i32")
    assert (found.code, found.line) == ("bad-execution", 3)


def test_a_result_must_have_the_shape_of_its_type() -> None:
    found = error_of("%a = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<4xi32>")
    assert "the range does not have the size of its type" in found.message
    found = error_of("%a = tt.splat %n : i32 -> tensor<4xi32>\n%b = arith.addi %a, %a : tensor<8xi32>")
    assert "the result %b does not have the shape of its type tensor<8xi32>" in found.message
    found = error_of("%a = tt.splat %n : i32 -> tensor<65536x65536xi32>")
    assert "tiles of 4294967296 elements" in found.message


def test_steps_and_assertions() -> None:
    loop = "%z = arith.constant 0 : i32\nscf.for %i = %z to %n step %z  : i32 {\n}"
    assert "the step must be positive, it is 0" in error_of(loop).message
    check = '%z = arith.constant 0 : i32\n%c = arith.cmpi slt, %z, %n : i32\ntt.assert %c, "n > 0" : i1'
    found = error_of(check)
    assert (found.code, found.line, '"n > 0"' in found.message) == ("assertion", 5, True)
    result_of(check + "\ntt.store %y, %n : !tt.ptr<i32>", 1)


BARRIER = "!ttg.memdesc<1xi64, #shared, #smem, mutable>"
TWO_GROUPS = f"""\
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%full = ttg.local_alloc : () -> {BARRIER}
%free = ttg.local_alloc : () -> {BARRIER}
ttng.init_barrier %full, 1 : {BARRIER}
ttng.init_barrier %free, 2 : {BARRIER}
%slot = ttg.local_alloc : () -> !ttg.memdesc<1xi32, #shared, #smem, mutable>
%sum = ttg.warp_specialize(%slot, %full, %free, %n)
default {{
  %z = arith.constant dense<0> : tensor<1xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (tensor<1xi32>)  : i32 {{
    %phase = arith.andi %i, %c1 : i32
    ttng.wait_barrier %full, %phase : {BARRIER}
    %v = ttg.local_load %slot : !ttg.memdesc<1xi32, #shared, #smem, mutable> -> tensor<1xi32>
    ttng.arrive_barrier %free, 2 : {BARRIER}
    %b = arith.addi %a, %a : tensor<1xi32>
    %s = arith.addi %b, %v : tensor<1xi32>
    scf.yield %s : tensor<1xi32>
  }}
  ttg.warp_yield %r : tensor<1xi32>
}}
partition0(%buffer: !ttg.memdesc<1xi32, #shared, #smem, mutable>, %f: {BARRIER}, %e: {BARRIER}, %m: i32) num_warps(4) {{
  %d0 = arith.constant 0 : i32
  %d1 = arith.constant 1 : i32
  scf.for %i = %d0 to %m step %d1  : i32 {{
    %phase = arith.andi %i, %d1 : i32
    %other = arith.xori %phase, %d1 : i32
    ttng.wait_barrier %e, %other : {BARRIER}
    %t = tt.splat %i : i32 -> tensor<1xi32>
    ttg.local_store %t, %buffer : tensor<1xi32> -> !ttg.memdesc<1xi32, #shared, #smem, mutable>
    ttng.arrive_barrier %f, 1 : {BARRIER}
  }}
  ttg.warp_return
}} : (!ttg.memdesc<1xi32, #shared, #smem, mutable>, {BARRIER}, {BARRIER}, i32) -> tensor<1xi32>
%p = tt.splat %y : !tt.ptr<i32> -> tensor<1x!tt.ptr<i32>>
tt.store %p, %sum : tensor<1x!tt.ptr<i32>>"""


def test_warp_groups_hand_over_values_in_order() -> None:
    """One slot, refilled only when it is free: 0, 1, 2... weighted by when they came."""
    total = 0
    for value in range(7):
        total = 2 * total + value
    assert result_of(TWO_GROUPS, 7) == total


def test_waits_that_never_end() -> None:
    found = error_of(TWO_GROUPS.replace("arrive_barrier %free, 2", "arrive_barrier %free, 1"), 3)
    assert (found.code, "waits on lines 15, 30" in found.message) == ("deadlock", True)
    lone = f"""\
%c0 = arith.constant 0 : i32
%b = ttg.local_alloc : () -> {BARRIER}
ttng.init_barrier %b, 1 : {BARRIER}
ttng.wait_barrier %b, %c0 : {BARRIER}"""
    found = error_of(lone)
    assert (found.code, found.line) == ("deadlock", 6)


def test_barriers_that_are_not_there_or_get_too_much() -> None:
    head = f"%c0 = arith.constant 0 : i32\n%b = ttg.local_alloc : () -> {BARRIER}\n"
    assert "no mbarrier" in error_of(f"{head}ttng.wait_barrier %b, %c0 : {BARRIER}").message
    init = f"{head}ttng.init_barrier %b, 2 : {BARRIER}\n"
    assert "more arrive" in error_of(f"{init}ttng.arrive_barrier %b, 3 : {BARRIER}").message
    gone = f"{init}ttng.inval_barrier %b : {BARRIER}\nttng.arrive_barrier %b, 1 : {BARRIER}"
    assert "no mbarrier" in error_of(gone).message
