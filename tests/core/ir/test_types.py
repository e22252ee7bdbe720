"""Type texts of all versions of Triton as values."""

from __future__ import annotations

import pytest

from core.ir.types import (
    MemDescType,
    OpaqueType,
    PointerType,
    ScalarType,
    TensorDescType,
    TensorType,
    TokenType,
    boolean_like,
    element_bits,
    expand_aliases,
    parse_type,
    pointee_like,
    same_type,
    split_top_level,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i1", ScalarType("i1")),
        ("f8E4M3FN", ScalarType("f8E4M3FN")),
        ("index", ScalarType("index")),
        ("!ttg.async.token", TokenType()),
        ("!tt.ptr<f16>", PointerType("f16")),
        ("!tt.ptr<f16, 3>", PointerType("f16", 3)),
        ("!tt.ptr<tensor<8x8xf16>>", PointerType("tensor<8x8xf16>")),
        ("tensor<f32>", TensorType((), "f32")),
        (
            "tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>",
            TensorType((128,), "f32", "#ttg.slice<{dim = 1, parent = #mma}>"),
        ),
        ("tensor<64x1x!tt.ptr<bf16>, #blocked>", TensorType((64, 1), "!tt.ptr<bf16>", "#blocked")),
        (
            "!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>",
            MemDescType((2, 128, 64), "f16", "#shared", "#smem", True, (2, 128, 64)),
        ),
        (
            "!ttg.memdesc<16x128xf16, #shared1, #smem, mutable, 32x128>",
            MemDescType((16, 128), "f16", "#shared1", "#smem", True, (32, 128)),
        ),
        ("!ttg.memdesc<1xi64, #s, #smem, 3>", MemDescType((1,), "i64", "#s", "#smem", False, (3,))),
        ("!tt.tensordesc<tensor<128x64xf16>>", TensorDescType((128, 64), "f16")),
        ("!tt.tensordesc<tensor<64x32xf8E5M2, #shared>>", TensorDescType((64, 32), "f8E5M2", "#shared")),
        ("!tt.tensordesc<64x32xf8E5M2, #shared>", TensorDescType((64, 32), "f8E5M2", "#shared")),
        ("!acme.thing<1, 2>", OpaqueType("!acme.thing<1, 2>")),
        ("tensor<", OpaqueType("tensor<")),
        ("!ttg.memdesc<4xf16>", OpaqueType("!ttg.memdesc<4xf16>")),
        ("", OpaqueType("")),
    ],
)
def test_parse_type(text: str, expected: object) -> None:
    assert parse_type(text) == expected


@pytest.mark.parametrize(
    ("element", "bits"),
    [
        ("i1", 1),
        ("i8", 8),
        ("f16", 16),
        ("bf16", 16),
        ("tf32", 32),
        ("f32", 32),
        ("f64", 64),
        ("f8E4M3FN", 8),
        ("f4E2M1FN", 4),
        ("index", 64),
        ("!tt.ptr<f16>", 64),
        ("si32", 32),
    ],
)
def test_element_bits(element: str, bits: int) -> None:
    assert element_bits(element) == bits


def test_element_bits_refuses_what_is_no_number() -> None:
    with pytest.raises(ValueError, match="token"):
        element_bits("!ttg.async.token")


def test_derived_types() -> None:
    pointers = "tensor<64x32x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #b}>>"
    assert pointee_like(pointers) == "tensor<64x32xf16, #ttg.slice<{dim = 0, parent = #b}>>"
    assert pointee_like("!tt.ptr<i32>") == "i32"
    assert pointee_like("tensor<4xf16>") == ""
    assert boolean_like("tensor<64xf32, #b>") == "tensor<64xi1, #b>"
    assert boolean_like("i32") == "i1"


def test_aliases() -> None:
    aliases = {"#mma": "#ttg.nvidia_mma<{versionMajor = 3}>", "#rows": "#ttg.slice<{dim = 1, parent = #mma}>"}
    expanded = "tensor<64xf32, #ttg.slice<{dim = 1, parent = #ttg.nvidia_mma<{versionMajor = 3}>}>>"
    assert expand_aliases("tensor<64xf32, #rows>", aliases) == expanded
    assert expand_aliases("tensor<64xf32, #mma1>", aliases) == "tensor<64xf32, #mma1>"
    assert same_type("tensor<64xf32,#rows>", expanded, aliases)
    assert not same_type("tensor<64xf32, #rows>", "tensor<64xf32, #mma>", aliases)


def test_aliases_that_multiply_stay_small() -> None:
    doubling = {f"#a{k}": f"[#a{k - 1}, #a{k - 1}]" for k in range(1, 60)}
    assert len(expand_aliases("#a59", doubling)) < 1 << 20
    assert expand_aliases("#loop", {"#loop": "#loop"}) == "#loop"


def test_split_top_level() -> None:
    assert split_top_level('a = [1, 2], b = "x, \\"y", c = (i32) -> i32') == [
        "a = [1, 2]",
        'b = "x, \\"y"',
        "c = (i32) -> i32",
    ]
