"""Broken and hostile files: what is said of them, and where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from ttgir_corpus import DATA, SAMPLES, load_yaml

from core.diagnostics import Diagnostic, InputError, Severity
from core.ir.inspect import inspect_module
from core.ir.lexer import MAX_NESTING
from core.ir.loops import main_loop
from core.ir.parser import MAX_REGIONS, parse_module
from core.ir.source import MAX_BYTES, load_module

BAD = DATA / "bad"
ROWS: list[dict[str, Any]] = load_yaml(BAD / "expected.yaml")


def matches(diagnostic: Diagnostic, wanted: dict[str, Any]) -> bool:
    said = f"{diagnostic.message} {diagnostic.hint or ''}"
    return (
        diagnostic.code == wanted["code"]
        and diagnostic.line == wanted["line"]
        and all(word in said for word in wanted["words"])
    )


def errors_of(text: str) -> list[Diagnostic]:
    with pytest.raises(InputError) as caught:
        parse_module(text, "t.ttgir")
    return [entry for entry in caught.value.diagnostics if entry.severity is Severity.ERROR]


def test_every_bad_file_has_a_row() -> None:
    assert {row["file"] for row in ROWS} == {path.name for path in BAD.glob("*.ttgir")}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_bad_file(row: dict[str, Any]) -> None:
    path = BAD / row["file"]
    if row["outcome"] == "error":
        with pytest.raises(InputError) as caught:
            load_module(path)
        assert all(entry.file == str(path) for entry in caught.value.diagnostics)
        assert any(matches(entry, row) for entry in caught.value.diagnostics), str(caught.value)
        return
    report = inspect_module(load_module(path))
    if "warning" in row:
        assert any(matches(entry, row["warning"]) for entry in report.diagnostics), report.diagnostics
    if "same_as" in row:
        twin = inspect_module(load_module(SAMPLES / row["same_as"]))
        assert report.ops_total == twin.ops_total
        assert report.loops == twin.loops


def test_one_line_of_five_megabytes() -> None:
    """A sound module on one line, padded with constants."""
    sound = (SAMPLES / "gemm_tma_sm90_m128n128k64-f16_v39_pre.ttgir").read_text(encoding="utf-8")
    head, body = sound.split("attributes {noinline = false} {\n", 1)
    count = 130_000
    padding = " ".join(f"%pad{index} = arith.constant {index} : i32" for index in range(count))
    text = f"{head}attributes {{noinline = false}} {{ {padding} {body}".replace("\n", " ")
    assert len(text) > 5_000_000
    module = parse_module(text, "t.ttgir")
    twin = inspect_module(parse_module(sound, "t.ttgir"))
    report = inspect_module(module)
    assert report.ops_total == {**twin.ops_total, "arith.constant": twin.ops_total["arith.constant"] + count}
    assert report.loops[0].ops == twin.loops[0].ops


def test_a_message_does_not_print_a_long_line() -> None:
    padding = " ".join(f"%pad{index} = arith.constant {index} : i32" for index in range(1000))
    for fault in ("%a = acme.a %nope : i32", "%a = acme.a ]", "%a = " + "x" * 10_000):
        (said,) = errors_of(f"tt.func @f() {{ {padding} {fault} tt.return }}")
        assert said.line == 1
        assert len(said.format()) < 300


@pytest.mark.parametrize("count", [MAX_REGIONS + 10, 20_000])
def test_deep_regions(count: int) -> None:
    opened = "\n".join("scf.if %c {" for _ in range(count))
    text = f"tt.func @f(%c: i1) {{\n{opened}\n{'}' * count}\ntt.return\n}}\n"
    (fault,) = errors_of(text)
    assert fault.code == "nesting-too-deep"
    assert fault.line == 1 + MAX_REGIONS


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("{a = ", "}"), ("[", "]"), ("(", ")"), ("#x<", ">"), ("tensor<1x", ">"), ("<", ">")],
)
@pytest.mark.parametrize("closed", [True, False])
def test_deep_brackets(opening: str, closing: str, closed: bool) -> None:
    deep = opening * 20_000 + (closing * 20_000 if closed else "")
    text = f"tt.func @f() {{\n  acme.op {{x = {deep}}} : i32\n  tt.return\n}}\n"
    (fault,) = errors_of(text)
    assert fault.code == "nesting-too-deep"
    assert fault.line == 2


def test_brackets_below_the_limit_are_read() -> None:
    depth = MAX_NESTING - 10
    text = f'module {{\n"acme.op"() {{x = {"#y<" * depth}1{">" * depth}}} : () -> ()\n}}\n'
    module = parse_module(text, "t.ttgir")
    (op,) = module.operation.regions[0].blocks[0].operations
    assert op.attributes["x"] == "#y<" * depth + "1" + ">" * depth


def test_huge_result_group() -> None:
    (fault,) = errors_of("%a:99999999999 = acme.op : i32\n")
    assert fault.line == 1


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty-file"),
        (b" \n\n", "empty-file"),
        (b"// nothing\n", "empty-file"),
        (b"module {\n\xff\xfe}\n", "not-text"),
        ("module {\n}\n".encode("utf-16"), "not-text"),
        (b"hello world\n", "unexpected-token"),
        (b"module {\n  $x\n}\n", "unexpected-character"),
    ],
)
def test_files_that_are_none(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "input.ttgir"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        load_module(path)
    assert caught.value.diagnostics[0].code == code


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.ttgir", tmp_path):
        with pytest.raises(InputError) as caught:
            load_module(path)
        assert caught.value.diagnostics[0].code == "cannot-read"


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.ttgir"
    path.touch()
    os.truncate(path, MAX_BYTES + 1)
    with pytest.raises(InputError) as caught:
        load_module(path)
    assert caught.value.diagnostics[0].code == "file-too-large"


def test_main_loop_of_two_is_the_first() -> None:
    module = load_module(BAD / "two_loops.ttgir")
    main, candidates = main_loop(module)
    assert main is module.loops[0]
    assert candidates == module.loops
