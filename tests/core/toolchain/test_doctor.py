"""`twill doctor` on machines with and without tools, which programs on a PATH of our own stand for."""

from __future__ import annotations

import json
import stat
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.toolchain.gpu import Gpu, gpus
from core.toolchain.nvcc import Nvcc, find_nvcc


def program(folder: Path, name: str, says: str, code: int = 0) -> None:
    """A program that says this whatever it is asked."""
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\nexit {code}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a shell, `cat`, and what a test puts into the folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "cat").symlink_to("/bin/cat")
    monkeypatch.setenv("PATH", str(folder))

    def in_folder() -> Nvcc | None:
        """Not the one that this machine may have in a place that is looked at always."""
        found = find_nvcc({"PATH": str(folder)}, [])
        return found if found is not None and found.path.parent == folder else None

    monkeypatch.setattr("core.toolchain.tools.find_nvcc", in_folder)
    return folder


def answer(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any], str]:
    code = main(["doctor", "--json", *options])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


def possible(document: dict[str, Any]) -> set[str]:
    return {purpose["name"] for purpose in document["purposes"] if purpose["possible"]}


def tool(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in document["tools"] if one["name"] == name)


def test_a_bare_machine_is_told_what_to_install(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, said = answer(capsys)
    assert code == 0 and said == ""
    assert possible(document) & {"compile", "mock", "run"} == set()
    assert not tool(document, "nvcc")["found"] and "nvidia-cuda-nvcc" in tool(document, "nvcc")["install"]
    assert not tool(document, "C++ compiler")["found"]


def test_what_is_needed_and_missing_ends_with_exit_code_5(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(machine, "g++", "g++ (Distribution 1) 12.2.0")
    code, document, said = answer(capsys, "--need", "run", "mock")
    assert code == 5
    assert "run needs nvcc" in said and "run needs Hopper GPU" in said and "mock needs" not in said
    assert "nvidia-cuda-nvcc" in said
    assert tool(document, "C++ compiler")["version"] == "12.2.0"
    assert "mock" in possible(document)
    assert answer(capsys, "--need", "mock")[0] == 0


def test_a_machine_with_everything_can_run(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(machine, "clang++", "clang version 17.0.1")
    program(machine, "nvcc", "Cuda compilation tools, release 13.0, V13.0.88")
    program(machine, "nvidia-smi", "NVIDIA H200, 9.0, 580.159.04")
    code, document, _ = answer(capsys, "--need", "run", "compile", "mock")
    assert code == 0
    assert {"run", "compile", "mock"} <= possible(document)
    assert (tool(document, "nvcc")["version"], tool(document, "nvcc")["place"]) == ("13.0.88", str(machine / "nvcc"))
    assert (tool(document, "Hopper GPU")["version"], tool(document, "Hopper GPU")["place"]) == (
        "580.159.04",
        "NVIDIA H200",
    )


def test_a_gpu_of_another_kind_is_named(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(machine, "nvidia-smi", "NVIDIA A100, 8.0, 535.1")
    _, document, _ = answer(capsys)
    assert "NVIDIA A100 (8.0)" in tool(document, "Hopper GPU")["install"]
    assert gpus() == [Gpu("NVIDIA A100", "8.0", "535.1")]


def test_programs_that_fail_are_not_there(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(machine, "nvidia-smi", "NVIDIA-SMI has failed, 1, 2", code=9)
    program(machine, "g++", "g++ 12.2.0", code=1)
    _, document, _ = answer(capsys)
    assert not tool(document, "Hopper GPU")["found"] and not tool(document, "C++ compiler")["found"]


def test_a_missing_package_is_named_with_its_command(
    machine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("core.toolchain.tools.version", none)
    code, document, said = answer(capsys, "--need", "solve")
    assert code == 5 and "pip install ortools" in said
    assert "window" not in possible(document)


def test_an_unknown_purpose_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--need", "everything"]) == 2


def test_the_text_has_tools_purposes_and_what_to_install(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "C++ compiler: install g++ or clang++" in said
    assert "compile exported kernels" in said
