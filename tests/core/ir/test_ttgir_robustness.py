"""Whatever the bytes: a module or an InputError, nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ttgir_corpus import SAMPLES, sample_rows

from core.diagnostics import InputError
from core.ir.inspect import inspect_module
from core.ir.parser import parse_module
from core.ir.source import load_module

PIECES = st.sampled_from(
    [
        *(
            "%a",
            "%b",
            "%a#1",
            "%a:2",
            "=",
            ":",
            ",",
            "->",
            "to",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "<",
            ">",
            "^bb0",
            "^bb1:",
        ),
        *(
            "#b",
            "!t",
            "@f",
            '"',
            '"s"',
            "tt.func",
            "scf.for",
            "scf.if",
            "scf.while",
            "else",
            "do",
            "module",
            "scf.yield",
        ),
        *("tt.return", "ttg.warp_specialize", "default", "partition0", "num_warps", "iter_args", "step", "loc", "i32"),
        *("attributes", "arith.addi", '"tt.reduce"(', "({", "})", "<{", "}>", "tensor<4xf32>", "tensor<", "dense<0>"),
        *("12", "0x1F", "-1.5e+3", "//", "\n", "{-#", "#-}", "cf.br", "cf.cond_br"),
    ]
)


def read(text: str) -> None:
    try:
        inspect_module(parse_module(text, "t.ttgir"))
    except InputError as fault:
        assert fault.diagnostics
        lines = text.count("\n") + 1
        for entry in fault.diagnostics:
            assert entry.line is not None and 1 <= entry.line <= lines
            assert entry.column is not None and entry.column >= 1


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=40))
@example(["%a", "=", "tt.return"])
@example(["scf.for", "%a", "=", "%b", "to", "%b", "step", "%b", "iter_args", "(", ")", "->", "(", ")", "{", "}"])
@example(["ttg.warp_specialize", "(", ")", "default", "{", "}", ":", "(", ")", "->", "(", ")"])
def test_pieces_of_text(pieces: list[str]) -> None:
    read(" ".join(pieces))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    read(text)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.ttgir"
    path.write_bytes(data)
    try:
        inspect_module(load_module(path))
    except InputError as fault:
        assert fault.diagnostics


@pytest.mark.parametrize("row", sample_rows(), ids=lambda row: row["file"].removesuffix(".ttgir"))
def test_damaged_files(row: dict[str, str]) -> None:
    text = (SAMPLES / row["file"]).read_text(encoding="utf-8")
    dice = random.Random(7)
    for _ in range(12):
        at = dice.randrange(len(text))
        read(text[:at])
        span = dice.randrange(1, 30)
        read(text[:at] + text[at + span :])
        read(text[:at] + dice.choice('%{}()<>"#:=,^@x0\n') + text[at + 1 :])
        other = dice.randrange(len(text))
        read(text[:at] + text[other : other + 40] + text[at:])


@pytest.mark.long
@pytest.mark.parametrize("row", sample_rows(), ids=lambda row: row["file"].removesuffix(".ttgir"))
def test_every_truncation(row: dict[str, str]) -> None:
    text = (SAMPLES / row["file"]).read_text(encoding="utf-8")
    for at in range(1, len(text), 97):
        read(text[:at])
