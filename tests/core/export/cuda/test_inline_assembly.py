"""Inline assembly of a text is passed on only where the user allows it, and only as a literal that it cannot end."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from mock_runs import COMPILER, SAMPLES, build, kernel_of, needs_compiler, run_mock, write_case

from core.cli import main
from core.export.cuda.assembly import c_literal, read_assembly
from core.export.cuda.elements import ElementError
from core.export.cuda.folder import export_program, function_named
from core.export.cuda.holes import Hole, hole_function
from core.export.cuda.options import Options
from core.export.roles.build import build_roles
from core.ir.model import Module, Operation
from core.ir.source import load_module, parse_module
from core.toolchain.nvcc import find_nvcc, run_nvcc

NAME = "gemm_w8_sm90_m64n128k64-f16-asm_v39_pre"
FILE = SAMPLES / f"{NAME}.ttgir"
OP = "tt.elementwise_inline_asm"
NASTY = [
    'a"; system("x"); //',
    "\\",
    '\\"',
    "one\ntwo\r\tthree\0end",
    "??/ ??) ??'",
    'R"(x)" )" */ /*',
    "%0 %% {a|b}",
    "naïve ∞ 😀",
    "\x7f\x01123",
]


@needs_compiler
def test_a_literal_is_exactly_its_text(tmp_path: Path) -> None:
    """By the host compiler, with trigraphs on."""
    assert COMPILER is not None
    literals = ", ".join(f"{{{c_literal(text)}, sizeof({c_literal(text)}) - 1}}" for text in NASTY)
    source = f"""#include <cstdio>
#include <string>
int main() {{
  const std::pair<const char*, size_t> all[] = {{{literals}}};
  for (const auto& one : all) {{
    for (size_t i = 0; i < one.second; i++) std::printf("%02x", static_cast<unsigned char>(one.first[i]));
    std::puts("");
  }}
}}
"""
    (tmp_path / "literals.cpp").write_text(source, encoding="ascii")
    subprocess.run([COMPILER, "-std=c++14", "literals.cpp", "-o", "literals"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "literals"], check=True, capture_output=True, text=True).stdout
    assert [bytes.fromhex(line).decode("utf-8") for line in said.splitlines()] == NASTY


def operation(module: Module) -> Operation:
    return next(op for op in module.operation.walk() if op.name == OP)


def changed(old: str, new: str) -> Module:
    text = FILE.read_text(encoding="utf-8")
    assert old in text
    return parse_module(text.replace(old, new), FILE.name)


def test_operands_and_escapes_are_those_of_cpp() -> None:
    assembly = read_assembly(operation(load_module(FILE)))
    assert assembly.text == '{ .reg .b32 t; mov.b32 t, %1; cvt.rn.f32.s32 %0, t; } // quote: \\"x\\"'
    assert (assembly.result, assembly.operands, assembly.pure) == ("=f", ("r",), True)
    text = read_assembly(operation(changed("mov.b32 t, $1;", "mov.b32 %r, $1; $$x"))).text
    assert "mov.b32 %%r, %1; $x" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("packed_element = 1", "packed_element = 4", "several elements"),
        ('"=f,r"', '"=f,r,~{memory}"', "constraints"),
        ('"=f,r"', '"f,r"', "constraints"),
        ('"=f,r"', '"=f,r,r"', "constraints"),
        ("mov.b32 t, $1;", "mov.b32 t, $7;", "$7"),
        ("mov.b32 t, $1;", "mov.b32 t, ${1:x};", "$"),
    ],
)
def test_other_forms_are_refused_with_the_reason(old: str, new: str, reason: str) -> None:
    with pytest.raises(ElementError, match=reason.replace("$", r"\$")):
        read_assembly(operation(changed(old, new)))


def test_by_default_it_is_a_hole_with_its_place_and_reason(tmp_path: Path) -> None:
    module = load_module(FILE)
    program = build_roles(module, function_named(module, kernel_of(NAME)))
    exported = export_program(program, tmp_path)
    (hole,) = exported.file.holes
    assert (hole.op, hole.line, hole.column) == (OP, 64, 16) and "--allow-inline-asm" in hole.reason
    said = hole.diagnostic(module.file).format()
    assert f"{module.file}:64:16" in said and "--allow-inline-asm" in said
    code = [line for line in exported.file.source.splitlines() if not line.startswith("//")]
    assert not any("cvt.rn.f32.s32" in line for line in code)


def test_a_comment_that_ends_in_a_backslash_does_not_hide_the_next_line() -> None:
    hole = Hole("hole_x", OP, 1, 1, "no text", '%x = op "a\\\\\n  \\  \n b \\')
    lines = hole_function(hole, ["int x"])
    assert len(lines) == 7 and lines[4].startswith("TW_CALL void hole_x(int x)")
    assert not any(line.rstrip().endswith("\\") for line in lines)


def test_where_it_is_allowed_it_is_one_literal(tmp_path: Path) -> None:
    module = load_module(FILE)
    program = build_roles(module, function_named(module, kernel_of(NAME)))
    exported = export_program(program, tmp_path, Options(inline_assembly=True))
    assert exported.file.holes == ()
    (line,) = [line for line in exported.file.source.splitlines() if "asm(" in line]
    assert c_literal(read_assembly(operation(module)).text + "\n") in line


@needs_compiler
def test_the_cpu_says_that_it_cannot_run_it(tmp_path: Path) -> None:
    module = load_module(FILE)
    program = build_roles(module, function_named(module, kernel_of(NAME)))
    export_program(program, tmp_path, Options(inline_assembly=True))
    without = re.sub(rf"{OP} .*?(%wf : tensor<[^>]*>) -> ", r"arith.sitofp \1 to ", FILE.read_text(encoding="utf-8"))
    write_case(parse_module(without, FILE.name), NAME, tmp_path)
    build(tmp_path)
    assert "inline assembly does not run on the CPU" in run_mock(tmp_path, 1)["failure"]


@pytest.mark.skipif(find_nvcc() is None, reason="no nvcc")
def test_nvcc_takes_it_as_it_was(tmp_path: Path) -> None:
    nvcc = find_nvcc()
    assert nvcc is not None
    module = load_module(FILE)
    export_program(
        build_roles(module, function_named(module, kernel_of(NAME))), tmp_path, Options(inline_assembly=True)
    )
    output = tmp_path / "kernel.ptx"
    arguments = ["-ptx", "-DTWILL_NO_DRIVER", f"-I{tmp_path}", "-o", str(output), str(tmp_path / "kernel.cu")]
    outcome = run_nvcc(nvcc, arguments, "sm_90a")
    assert outcome.code == 0, outcome.output
    said = [line.strip() for line in output.read_text(encoding="utf-8").splitlines() if "cvt.rn.f32.s32" in line]
    assert said and all(line.endswith('// quote: \\"x\\"') for line in said)


def test_the_command_warns_at_the_place_and_takes_the_permission(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schedule = tmp_path / "schedule.yaml"
    solve = ["solve", str(FILE), "--machine", "h100", "--objective", "ii", "--limit-s", "60", "-o", str(schedule)]
    assert main(solve) == 0
    capsys.readouterr()
    export = ["export", str(FILE), "--machine", "h100", "--schedule", str(schedule), "--json"]
    assert main([*export, "--format", "cuda", "-o", str(tmp_path / "refused")]) == 0
    said = capsys.readouterr()
    (hole,) = json.loads(said.out)["holes"]
    assert hole["op"] == OP
    assert f"{FILE}:64:16: warning: {OP} is not lowered: inline assembly is passed on only" in said.err
    assert main([*export, "--format", "cuda", "--allow-inline-asm", "-o", str(tmp_path / "allowed")]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["holes"] == [] and "inline" not in said.err
    assert main([*export, "--format", "json", "--allow-inline-asm", "-o", str(tmp_path / "x.json")]) == 2
