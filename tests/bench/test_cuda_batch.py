"""A batch runs to its end whatever its programs do, and the table says what they did."""

from __future__ import annotations

import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bench.cuda_batch_cases import LONGER, call_of, kernel_cases
from tests.bench.cuda_batch_table import read

RUN = Path(__file__).with_name("cuda_batch_run.py")
RIGHT = '{"case":"x","ok":true,"relative_error":{"c":2e-05},"ulps":{"c":0.5}}'
WRONG = '{"case":"x","ok":false,"relative_error":{"c":null},"ulps":{"c":null}}'
PRINTS = '#include <cstdio>\nint main() {{ std::puts(R"({})"); return {}; }}\n'
PROGRAMS = {
    "right": PRINTS.format(RIGHT, 0),
    "wrong": PRINTS.format(WRONG, 1),
    "silent": "int main() { return 3; }\n",
    "races": PRINTS.format(RIGHT, 0),
    "hangs": "int main() { for (volatile int i = 0;; i = i + 1) {} }\n",
    "bad": "int main() { return missing; }\n",
}
NVCC = """#!/bin/sh
[ "$1" = --version ] && echo "release 13.0, V13.0.88" && exit
echo "ptxas info    : Potential Performance Loss (C7512): 1 bytes stack frame" >&2
echo "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads" >&2
echo "ptxas info    : Used 168 registers, used 1 barriers" >&2
while [ "$1" != -o ]; do shift; done
exec g++ -x c++ kernel.cu -o "$2"
"""
SANITIZER = """#!/bin/sh
[ "$1" = --version ] && echo "Version 2025.3.1.0" && exit
if [ "$2" = racecheck ] && [ "$(basename "$PWD")" = races ]; then
  for word in "$@"; do [ "$word" = ./program ] && hazards=2; done
  echo "========= RACECHECK SUMMARY: ${{hazards:-0}} hazards displayed (${{hazards:-0}} errors, 0 warnings)"
  exit
elif [ "$2" = racecheck ]; then
  sleep 1000 &
  echo $$ $! >> {pids}
  wait
fi
echo "========= a line of $2"
echo "========= ERROR SUMMARY: 0 errors"
"""
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def row(name: str, **more: Any) -> dict[str, Any]:
    ready: dict[str, Any] = {"file": name, "way": "two groups", "program": name, "shared_bytes": 1024, "holes": []}
    return ready | {"cases": ["x.small", "x.long"], "not_run": "", "sanitize": 0} | more


def make_batch(folder: Path) -> None:
    rows = [row(name) for name in PROGRAMS]
    for one in rows:
        one["sanitize"] = {"right": 1, "races": 2}.get(one["program"], 0)
    rows.append(row("hole", holes=["tt.call line 3: no such operation here"]))
    rows.append({"file": "large", "way": "two groups", "program": "large", "refused": "too large", "sanitize": 0})
    texts = {f"{name}/kernel.cu": text for name, text in (PROGRAMS | {"hole": PROGRAMS["right"]}).items()}
    texts |= {"programs.json": json.dumps(rows), "cases/x.small": "", "cases/x.long": ""}
    folder.mkdir()
    pack(folder / "batch.tar.xz", texts)
    shutil.copy(RUN, folder / "run.py")


def pack(file: Path, texts: dict[str, str]) -> None:
    with tarfile.open(file, "w:xz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(text), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))


def fake(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    (folder / name).chmod(0o755)


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


@needs_compiler
def test_a_batch_ends_whatever_its_programs_do(tmp_path: Path) -> None:
    make_batch(tmp_path / "batch")
    tools, pids, out = tmp_path / "tools", tmp_path / "pids", tmp_path / "out"
    fake(tools, "nvcc", NVCC)
    fake(tools, "compute-sanitizer", SANITIZER.format(pids=pids))
    command = [sys.executable, str(tmp_path / "batch" / "run.py"), "--out", str(out), "--seconds", "15", "--jobs", "2"]
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    found = {one["program"]: one for one in rows if "way" in one}
    assert set(found) == {*PROGRAMS, "hole", "large"}
    right = found["right"]
    assert right["runs"]["small"]["ok"] and right["runs"]["long"]["ok"]
    assert (right["registers"], right["stack"], right["spilled"], right["messages"]) == (168, 8, 28, ["C7512"])
    assert found["wrong"]["runs"]["small"]["ok"] is False
    assert "code 3" in found["silent"]["runs"]["small"]["failure"]
    assert found["hangs"]["runs"]["small"]["failure"].startswith("more than")
    assert found["bad"]["nvcc"].startswith("error:") and "missing" in found["bad"]["nvcc"]
    assert found["bad"]["runs"] == found["hole"]["runs"] == {}
    looks = [one for one in rows if "tool" in one]
    said = {(one["program"], one["tool"], one["call"]): one["said"] for one in looks if not one.get("each")}
    again = {(one["program"], one["call"]): one["said"] for one in looks if one.get("each")}
    assert said[("right", "memcheck", "small")] == said[("right", "synccheck", "small")] == "0 errors"
    assert said[("right", "racecheck", "small")].startswith("more than")
    assert said[("races", "racecheck", "small")].startswith("2 hazards")
    assert {name: text[:9] for name, text in again.items()} == {
        ("races", "small"): "0 hazards",
        ("races", "long"): "0 hazards",
    }
    assert "a line of memcheck" in lzma.decompress((out / "sanitizer.log.xz").read_bytes()).decode()
    assert "12 bytes spill stores" in lzma.decompress((out / "builds.log.xz").read_bytes()).decode()
    time.sleep(0.2)
    assert not any(map(is_there, map(int, pids.read_text().split())))

    page = read(out / "results.jsonl")
    lines = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("|")}
    assert "168 registers, 8 B of stack, 28 B spilled, C7512 | c 2.0e-05, 0.5 ulps | c 2.0e-05, 0.5 ulps" in page
    assert "WRONG: c NaN" in lines["wrong"] and "FAILED: more than" in lines["hangs"]
    assert "refused: too large" in lines["large"] and "tt.call line 3" in lines["hole"]
    assert "exports: 8" in page and "refused with the reason: 1" in page and "right in all calls: 2" in page
    assert "memcheck 2025.3.1.0, small calls clean, of 2: 2" in page
    assert "racecheck 2025.3.1.0, small calls clean, of 2: 0" in page
    assert "racecheck 2025.3.1.0, long calls, each thread arrives clean, of 1: 1" in page


ITERATIONS = 13
LONG = (
    ("fa_fwd_sm90_d128m128n128-f16-causal_v39_pre", lambda case: (case.arguments[5] - 128) // 128),
    ("fa_fwd_sm90_d64m128n64-bf16-causal_v39_pre", lambda case: (case.arguments[5] - 128) // 64),
    ("fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre", lambda case: case.arguments[4] // 128),
    ("fa_bwd_dkdv_sm90_d128m64n128-f16-full_v39_pre", lambda case: case.arguments[8] // 64),
    ("fa_bwd_dq_sm90_d128m128n64-f16-full_v39_pre", lambda case: case.arguments[7] // 64),
    ("gemm_splitk_sm90_m64n128k64-f16_v39_pre", lambda case: case.arguments[5] // 64 // case.grid[2]),
    ("gemm_w8_sm90_m64n128k64-bf16_v39_pre", lambda case: case.arguments[6] // 64),
    ("gemm_tma_sm90_m128n128k64-f16_v39_pre", lambda case: case.arguments[5] // 64),
    ("gemm_fp8_blockscale_sm90_m128n128k128-f8_v39_pre", lambda case: case.arguments[3].shape[1]),
    ("layer_norm_sm90_n1024-bf16_v39_pre", lambda case: case.arguments[5] // 1024),
    ("linear_attn_sm90_c64k64v64-bf16_v39_pre", lambda case: case.arguments[4] // 64),
)


@pytest.mark.parametrize(("stem", "iterations"), LONG, ids=[stem for stem, _ in LONG])
def test_long_calls_have_the_iterations_asked_for(stem: str, iterations: Any) -> None:
    case = call_of(stem, ITERATIONS)
    assert ITERATIONS <= iterations(case) <= 2 * ITERATIONS + 2
    name = stem.split("_sm90")[0]
    assert name in LONGER or name.startswith("gemm")
    small = kernel_cases.case_for(f"{stem}.ttgir")
    assert len(case.arguments) == len(small.arguments)
