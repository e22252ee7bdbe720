"""What nvcc makes of an export, role by role: matrix ops are wgmma of the layout's shape, as many as the role program
has, in the group that the schedule names; and every arrival of a warp stands behind the meeting of its threads."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

import pytest
from mock_runs import SAMPLES
from reported_programs import REPORTED, program_of

from core.export.cuda.folder import export_program
from core.export.roles.build import build_roles, function_of
from core.export.roles.model import Issue, RoleProgram, Statement
from core.export.roles.walk import walk
from core.ir.model import Module, Value
from core.ir.source import load_module
from core.ir.types import MemDescType, TensorType, element_bits, parse_type
from core.toolchain.nvcc import find_nvcc, run_nvcc
from tests.core.export.roles.programs import sample, sample_loop

NVCC = find_nvcc()
pytestmark = pytest.mark.skipif(NVCC is None, reason="no nvcc")

PROJECTS = ["gemm_hopper", "attention_forward_hopper", "attention_backward_hopper", "linear_attention_hopper"]
FP8 = "gemm_fp8_sm90_m128n128k128-f8_v39_pre"
ALONE = """
extern "C" __global__ void __launch_bounds__({threads}, 1) alone_{function}(const __grid_constant__ Params p) {{
  extern __shared__ __align__(1024) unsigned char of_{function}[];
  {function}(p, *reinterpret_cast<Smem*>(of_{function}));
}}
"""
PTX_TYPES = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}


def ptx_of(folder: Path) -> Mapping[str, str]:
    """The PTX of each role of an exported folder, compiled by itself."""
    assert NVCC is not None
    roles = json.loads((folder / "export.json").read_text(encoding="utf-8"))["roles"]
    bodies = [ALONE.format(function=role["function"], threads=32 * role["warps"]) for role in roles]
    source, output = folder / "alone.cu", folder / "alone.ptx"
    source.write_text('#define TWILL_NO_DRIVER\n#include "kernel.cu"\n' + "".join(bodies), encoding="utf-8")
    outcome = run_nvcc(NVCC, ["-ptx", f"-I{folder}", "-o", str(output), str(source)], "sm_90a")
    assert outcome.code == 0, outcome.output
    text = output.read_text(encoding="utf-8")
    parts = re.split(r"\.entry (\w+)", text)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {role["name"]: found[f"alone_{role['function']}"] for role in roles}


def instructions(ptx: str) -> Counter[str]:
    """Matrix instructions by shape and operand type: `m64n128k16.f16`."""
    return Counter(
        f"{shape}.{element}"
        for shape, element in re.findall(r"wgmma\.mma_async\.sync\.aligned\.(m\d+n\d+k\d+)\.f32\.(\w+)\.", ptx)
    )


def expected(program: RoleProgram, warps: int, issues: list[Issue]) -> Counter[str]:
    """By the types of the text alone: M 64 for each warp group, N as the accumulator's layout names it, K 32 bytes."""
    found: Counter[str] = Counter()
    for issue in issues:
        a, b = (_operand(program.module, value) for value in issue.operation.operands[:2])
        encoding = re.search(r"instrShape = \[\d+, (\d+), \d+\]", _spelled(program.module, issue.operation.results[0]))
        assert encoding is not None
        n, k = int(encoding[1]), 256 // element_bits(b.element)
        (rows, depth), columns = a.shape, b.shape[1]
        count = rows * columns * depth // (64 * n * k) // (warps // 4)
        found[f"m64n{n}k{k}.{PTX_TYPES[b.element]}"] += count
    return found


def _operand(module: Module, value: Value) -> MemDescType | TensorType:
    type_ = parse_type(value.type, module.aliases)
    assert isinstance(type_, MemDescType | TensorType)
    return type_


def _spelled(module: Module, value: Value) -> str:
    """The type with its layout written out."""
    type_ = _operand(module, value)
    return module.aliases.get(type_.encoding.lstrip("#"), module.aliases.get(type_.encoding, type_.encoding))


def matrix_issues(program: RoleProgram) -> dict[str, list[Issue]]:
    return {role.name: [one for one in walk(role.statements) if is_matrix_op(one)] for role in program.roles}


def is_matrix_op(statement: Statement) -> TypeGuard[Issue]:
    return isinstance(statement, Issue) and statement.operation.name == "ttng.warp_group_dot"


def differences(program: RoleProgram, ptx: Mapping[str, str]) -> list[str]:
    """What is not as the role program and the layouts have it."""
    found: list[str] = []
    warps = {role.name: role.warps for role in program.roles}
    for role, issues in matrix_issues(program).items():
        wanted, there = expected(program, warps[role], issues), instructions(ptx[role])
        if wanted != there:
            found.append(f"{role}: {dict(there)} instead of {dict(wanted)}")
        if re.search(r"\bmma\.sync\b", ptx[role]):
            found.append(f"{role}: mma.sync")
    return found


@pytest.mark.parametrize("folder", PROJECTS)
def test_matrix_ops_are_wgmma_of_their_group(folder: str, tmp_path: Path) -> None:
    program, loop = sample(folder), sample_loop(folder)
    for role, issues in matrix_issues(program).items():
        for issue in issues:
            if issue.op is not None and issue.op in loop.schedule.ops:
                assert loop.schedule.ops[issue.op].group == role
    assert any(matrix_issues(program).values())
    export_program(program, tmp_path)
    assert differences(program, ptx_of(tmp_path)) == []


def test_fp8_in_program_order(tmp_path: Path) -> None:
    module = load_module(SAMPLES / f"{FP8}.ttgir")
    function = function_of(module)
    assert function is not None
    program = build_roles(module, function)
    export_program(program, tmp_path)
    assert differences(program, ptx_of(tmp_path)) == []


def test_a_matrix_op_that_is_not_issued_or_issued_elsewhere_is_noticed(tmp_path: Path) -> None:
    program = sample("gemm_hopper")
    export_program(program, tmp_path)
    kernel = tmp_path / "kernel.cu"
    text = kernel.read_text(encoding="utf-8")
    ptx = ptx_of(tmp_path)
    assert differences(program, {"load.0": ptx["compute.0"], "compute.0": ptx["load.0"]})
    kernel.write_text(re.sub(r"^ *tw::mma_ss\(.*\n", "", text, count=1, flags=re.MULTILINE), encoding="utf-8")
    assert len(differences(program, ptx_of(tmp_path))) == 1


# ---- arrivals

ARRIVAL = re.compile(r"^\s*mbarrier\.arrive\.shared\.b64")
MEETING = re.compile(r"^\s*bar\.warp\.sync")
ACCESS = re.compile(r"^\s*(@!?%p\d+ )?(ld\.(?!param)|st\.|stmatrix|red\.|atom\.)")


def unmet_arrivals(ptx: str) -> tuple[int, int]:
    """Arrivals of one thread for its warp, and how many of them have an access to memory between them and the warp's
    meeting: an arrival releases what its own thread did (PTX ISA, mbarrier.arrive), the meeting orders the rest."""
    lines, arrivals, unmet = ptx.splitlines(), 0, 0
    for at, line in enumerate(lines):
        if not ARRIVAL.match(line):
            continue
        arrivals += 1
        before = next((each for each in reversed(lines[:at]) if MEETING.match(each) or ACCESS.match(each)), "")
        unmet += not MEETING.match(before)
    return arrivals, unmet


@pytest.mark.parametrize("name", REPORTED)
def test_a_warp_meets_before_one_of_its_threads_arrives_for_it(name: str, tmp_path: Path) -> None:
    export_program(program_of(name), tmp_path)
    found = {role: unmet_arrivals(ptx) for role, ptx in ptx_of(tmp_path).items()}
    assert sum(arrivals for arrivals, _ in found.values()) > 4
    assert all(unmet == 0 for _, unmet in found.values()), found


def test_an_arrival_without_a_meeting_is_noticed(tmp_path: Path) -> None:
    export_program(program_of("product with 8-bit weights"), tmp_path)
    runtime = tmp_path / "twill" / "device_sync.cuh"
    text = runtime.read_text(encoding="utf-8")
    without = text.replace("bar_arrive(G, Bar& b) {\n  __syncwarp();\n", "bar_arrive(G, Bar& b) {\n")
    assert without != text
    runtime.write_text(without, encoding="utf-8")
    assert any(unmet for _, unmet in map(unmet_arrivals, ptx_of(tmp_path).values()))
