"""`twill compile` and `twill run` with the nvcc of this machine, and where there is none."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.resources import data_folder
from core.toolchain.build import compile_kernel
from core.toolchain.gpu import gpus
from core.toolchain.nvcc import find_nvcc, is_architecture

NVCC = find_nvcc()
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="no nvcc")

SPILLING = """
__global__ void __launch_bounds__(1024, 2) spilling(float* p, int n) {
  float a[128];
#pragma unroll
  for (int i = 0; i < 128; i++) a[i] = p[threadIdx.x + 1024 * i];
  for (int k = 0; k < n; k++)
#pragma unroll
    for (int i = 0; i < 128; i++) a[i] = a[i] * a[(i + 1) % 128] + p[k];
#pragma unroll
  for (int i = 0; i < 128; i++) p[threadIdx.x + 1024 * i] = a[i];
}
"""
STACKED = """
__global__ void stacked(float* p, int n) {
  float a[32];
  for (int i = 0; i < 32; i++) a[i] = p[i];
  for (int i = 0; i < n; i++) a[i % 32] += a[(i * 7) % 32];
  p[0] = a[n % 32];
}
"""


def fake_nvcc(folder: Path, version: str) -> Path:
    """A program that answers `--version` as nvcc does."""
    folder.mkdir(parents=True)
    program = folder / "nvcc"
    program.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V{version}'\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_nvcc_is_looked_for_in_the_stated_order(tmp_path: Path) -> None:
    home = fake_nvcc(tmp_path / "home" / "bin", "13.0.1")
    on_path = fake_nvcc(tmp_path / "path", "13.0.2")
    packaged = fake_nvcc(tmp_path / "site" / "nvidia" / "cu13" / "bin", "13.0.3")
    path = {"PATH": f"{on_path.parent}{os.pathsep}{os.environ['PATH']}"}
    first = find_nvcc({**path, "CUDA_HOME": str(tmp_path / "home")}, [tmp_path / "site"])
    assert first is not None and (first.path, first.version) == (home, "13.0.1")
    second = find_nvcc({**path, "CUDA_HOME": str(tmp_path / "nothing")}, [tmp_path / "site"])
    assert second is not None and (second.path, second.version) == (on_path, "13.0.2")
    third = find_nvcc({"PATH": "/usr/bin:/bin"}, [tmp_path / "site"])
    assert third is not None and (third.path, third.version) == (packaged, "13.0.3")


def test_architectures() -> None:
    assert is_architecture("sm_90a") and is_architecture("sm_100f") and is_architecture("sm_80")
    assert not is_architecture("90a") and not is_architecture("sm_90a --help") and not is_architecture("")


def test_without_nvcc_the_command_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.commands.compile.find_nvcc", lambda: None)
    source = tmp_path / "kernel.cu"
    source.write_text("int main() {}\n", encoding="utf-8")
    assert main(["compile", str(source)]) == 5
    assert "nvidia-cuda-nvcc" in capsys.readouterr().err


def test_what_is_not_there_is_bad_input(tmp_path: Path) -> None:
    assert main(["compile", str(tmp_path / "nothing.cu")]) == 3
    assert main(["compile", str(tmp_path)]) == 3
    assert main(["run", str(tmp_path)]) == 3


def test_a_wrong_architecture_is_bad_usage(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text("int main() {}\n", encoding="utf-8")
    assert main(["compile", str(source), "--arch", "hopper"]) == 2


def compiled(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    """The command's exit code and document."""
    code = main(["compile", str(path), "--json", *options])
    return code, json.loads(capsys.readouterr().out)


@needs_nvcc
def test_an_error_is_told_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text("\n\n__global__ void f(float* p) { p[0] = nothing; }\n", encoding="utf-8")
    code, document = compiled(source, capsys)
    assert code == 1 and not document["ok"]
    assert [(one["line"], one["file"]) for one in document["diagnostics"]] == [(3, str(source))]


def exported(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The matrix product's export."""
    project = data_folder("projects") / "gemm_hopper"
    assert main(["export", str(project), "--format", "cuda", "-o", str(folder)]) == 0
    capsys.readouterr()
    return folder


def planted(file: Path, before: str, error: str) -> int:
    """Puts a line before the first one that begins so; returns its number."""
    lines = file.read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if line.lstrip().startswith(before))
    file.write_text("\n".join([*lines[:at], error, *lines[at:]]) + "\n", encoding="utf-8")
    return at + 1


@needs_nvcc
@pytest.mark.parametrize(
    ("file", "before", "error", "message"),
    [
        ("kernel.cu", "tw::mma_commit();", "undeclared_thing++;", 'identifier "undeclared_thing" is undefined'),
        ("twill/device_sync.cuh", "TW_CALL void named_sync", "int x = not_there;", '"not_there" is undefined'),
        ("twill/device_wgmma.cuh", "namespace tw {", '#include "not_there.inc"', "No such file"),
    ],
)
def test_an_error_in_an_export_is_told_at_its_file_and_line(
    file: str, before: str, error: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the kernel, in a header of the runtime, and one that the host's preprocessor finds."""
    folder = exported(tmp_path / "gemm", capsys)
    line = planted(folder / file, before, error)
    code, document = compiled(folder, capsys)
    assert code == 1
    first = document["diagnostics"][0]
    assert first["severity"] == "error" and message in first["message"]
    assert (Path(first["file"]).resolve(), first["line"]) == ((folder / file).resolve(), line)


@needs_nvcc
def test_matrix_ops_that_the_assembler_serialises_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without its waits the kernel reads accumulators under way: the assembler waits by itself and says so."""
    folder = exported(tmp_path / "gemm", capsys)
    kernel = folder / "kernel.cu"
    text = kernel.read_text(encoding="utf-8")
    kernel.write_text(re.sub(r"^ *tw::mma_wait<.*\n", "", text, flags=re.MULTILINE), encoding="utf-8")
    code, document = compiled(folder, capsys)
    assert code == 1 and not document["ok"]
    assert any(re.fullmatch(r"ptxas-C75\d\d", one["code"]) for one in document["diagnostics"])


@needs_nvcc
@pytest.mark.parametrize(("text", "wanted"), [(SPILLING, "spills"), (STACKED, "stack")])
def test_a_kernel_that_spills_or_needs_a_stack_is_refused(
    text: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text(text, encoding="utf-8")
    code, document = compiled(source, capsys)
    assert code == 1
    assert [one["code"] for one in document["diagnostics"]] == [wanted]


@needs_nvcc
def test_an_exported_kernel_compiles_and_each_role_fits_its_grant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = exported(tmp_path / "gemm", capsys)
    code, document = compiled(folder, capsys, "--roles")
    assert code == 0 and document["diagnostics"] == []
    described = json.loads((folder / "export.json").read_text(encoding="utf-8"))
    grants = {role["name"]: role["grant"] for role in described["roles"]}
    (one,) = document["kernels"]
    assert set(one["role_registers"]) == set(grants)
    for role, registers in one["role_registers"].items():
        assert 0 < registers <= grants[role]
    assert (one["function"], one["ok"], one["warnings"]) == ("kernel", True, [])
    assert one["dynamic_shared_bytes"] == described["shared_bytes"] and one["spill_store_bytes"] == 0
    for need in document["roles"]:
        planned = described["planned_registers"][need["role"]]
        assert (need["live"], need["overhead"]) == (planned["live"], planned["overhead"])
        assert need["seen_overhead"] == one["role_registers"][need["role"]] - planned["live"]


@needs_nvcc
def test_the_machine_code_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    assert NVCC is not None
    source, output = tmp_path / "kernel.cu", tmp_path / "kernel.cubin"
    source.write_text("__global__ void f(float* p) { p[0] = 1.0f; }\n", encoding="utf-8")
    build = compile_kernel(NVCC, source, "sm_90a", output)
    assert not build.failed
    assert output.read_bytes()[:4] == b"\x7fELF"


def test_a_kernel_with_holes_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kernel.cu").write_text("int main() {}\n", encoding="utf-8")
    hole = {"function": "hole_0", "op": "tt.gather", "line": 12, "reason": "no text", "text": ""}
    (tmp_path / "export.json").write_text(json.dumps({"roles": [], "holes": [hole]}), encoding="utf-8")
    assert main(["run", str(tmp_path)]) == 3
    said = capsys.readouterr().err
    assert "hole_0" in said and "line 12" in said


@needs_nvcc
@pytest.mark.skipif(bool(gpus()), reason="there is a GPU")
def test_without_a_gpu_nothing_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kernel.cu").write_text("int main() {}\n", encoding="utf-8")
    (tmp_path / "export.json").write_text(json.dumps({"roles": [], "holes": []}), encoding="utf-8")
    assert main(["run", str(tmp_path)]) == 5
    assert "GPU" in capsys.readouterr().err
