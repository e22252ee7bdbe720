"""What the text of an export keeps in registers, and what nvcc makes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mock_runs import PROJECTS, ROOT, SAMPLES, build, needs_compiler, run_mock, scheduled, write_case

from core.export.cuda.folder import export_program, export_schedules
from core.export.cuda.kernel import KernelFile, kernel_file
from core.export.roles.build import scheduled_program
from core.export.roles.places import ScheduledLoop
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.read import load_schedule
from core.toolchain.build import compile_kernel
from core.toolchain.nvcc import DEFAULT_ARCHITECTURE, find_nvcc

HOPPER = [
    ("attention_backward_hopper", "main"),
    pytest.param(
        "attention_backward_hopper",
        "two_key_tiles",
        marks=pytest.mark.xfail(
            strict=True, reason="the assembler delays arithmetic past the next matrix op, beyond 240 registers"
        ),
    ),
    ("attention_forward_hopper", "main"),
    ("attention_forward_hopper_overlapped", "main"),
    ("gemm_hopper", "main"),
    ("gemm_hopper_8_warps", "main"),
    ("linear_attention_hopper", "main"),
    ("swiglu_hopper", "main"),
    ("swiglu_hopper", "two_row_tiles"),
]
LAYOUT = re.compile(r"struct (\w+) \{[^}]*?regs = (\d+)")
TILE = re.compile(r"tw::Tile<([\w:* ]+), (\w+)> (\w+);")


def text_of(project: str) -> KernelFile:
    _, loop = scheduled(project)
    return kernel_file(scheduled_program([loop]))


def registers(source: str, role: str) -> dict[str, int]:
    """Elements per thread of each register tile of a role."""
    counts = {name: int(count) for name, count in LAYOUT.findall(source)}
    body = source.partition(f"void role_{role}(")[2].partition("\n}\n")[0]
    return {name: counts[layout] for _, layout, name in TILE.findall(body)}


def test_vectors_that_are_only_handed_over_are_spread_over_the_threads() -> None:
    """lse and delta: 64 numbers for 128 threads, which the text has 16 times in each row of threads."""
    held = registers(text_of("attention_backward_hopper").source, "load_0")
    assert held and set(held.values()) == {1}


def test_an_operand_that_goes_through_shared_memory_stays_there() -> None:
    """The transposed tile of eight warps: in registers each of two warp groups would hold all of it."""
    source = text_of("attention_backward_hopper").source
    assert "tw::exchange(" not in source
    (area,) = re.findall(r"unsigned char operand_(\w+)\[", source)
    assert area not in registers(source, "compute_0")
    stores = [line for line in source.splitlines() if f"s.operand_{area}" in line and "smem_store" in line]
    reads = [line for line in source.splitlines() if f"s.operand_{area}" in line and "mma_ss" in line]
    assert stores and len(reads) == len(stores)


@needs_compiler
def test_a_vector_is_handed_over_instead_of_the_tile_that_repeats_it(tmp_path: Path) -> None:
    """The schedule leaves the result of two groups' attention on one of them and its row sums on the other. With the
    sums repeated over all columns the kernel would need more shared memory than there is."""
    name = "fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre"
    opened = open_project(load_project(SAMPLES / f"{name}.ttgir", machine="h100"))
    assert opened.module is not None and opened.tiles is not None
    schedule = load_schedule(ROOT / "tests" / "data" / "cuda" / "attention_two_groups.yaml", opened.graph)
    loop = ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)
    export_schedules(opened.module, [loop], tmp_path)
    write_case(opened.module, name, tmp_path)
    build(tmp_path)
    assert run_mock(tmp_path, 1)["ok"]


@pytest.mark.long
@pytest.mark.skipif(find_nvcc() is None, reason="needs nvcc")
@pytest.mark.parametrize(("folder", "name"), HOPPER)
def test_projects_build_cleanly(folder: str, name: str, tmp_path: Path) -> None:
    """No spills, no stack, nothing serialised."""
    nvcc = find_nvcc()
    assert nvcc is not None
    project = load_project(PROJECTS / folder)
    opened = open_project(project.for_schedule(name))
    assert opened.tiles is not None
    schedule = load_schedule(project.schedules[name].file, opened.graph)
    loop = ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)
    export_program(scheduled_program([loop]), tmp_path)
    compiled = compile_kernel(nvcc, tmp_path / "kernel.cu", DEFAULT_ARCHITECTURE)
    assert not compiled.failed, [one.message for one in compiled.diagnostics]
