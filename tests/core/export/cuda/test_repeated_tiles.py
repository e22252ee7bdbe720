"""A vector repeated over a tile of another layout than its users': only the vector is moved."""

from __future__ import annotations

import re
from pathlib import Path

from mock_runs import SAMPLES, build, needs_compiler, run_mock, write_case
from test_cuda_registers import registers

from core.export.cuda.folder import export_straight
from core.ir.source import load_module

FP8 = "gemm_fp8_sm90_m128n128k128-f8_v39_pre"
"""Its result is scaled by a vector of its rows and one of its columns."""

SPREAD = "#ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>"
REPEATS = re.compile(r"(%\w+) = tt\.broadcast (.*) -> tensor<128x128xf32, #mma>")
EXCHANGE = re.compile(r"tw::exchange\(g, (\w+), (\w+),")


def repeated_elsewhere(folder: Path) -> Path:
    """The sample with the vectors repeated in a blocked layout and the tiles converted, as older Triton writes it."""
    text = (SAMPLES / f"{FP8}.ttgir").read_text(encoding="utf-8")
    text, count = REPEATS.subn(
        r"\1_spread = tt.broadcast \2 -> tensor<128x128xf32, #spread>"
        "\n    "
        r"\1 = ttg.convert_layout \1_spread : tensor<128x128xf32, #spread> -> tensor<128x128xf32, #mma>",
        text,
    )
    assert count == 2
    for shape in ("128x1", "1x128"):
        text = text.replace(f"tensor<{shape}xf32, #mma>", f"tensor<{shape}xf32, #spread>")
    text = re.sub(r"(tensor<128xf32, #ttg\.slice<\{dim = \d, parent = )#mma", r"\1#spread", text)
    file = folder / f"{FP8}.ttgir"
    file.write_text(f"#spread = {SPREAD}\n{text}", encoding="utf-8")
    return file


@needs_compiler
def test_only_the_vector_goes_through_shared_memory(tmp_path: Path) -> None:
    module = load_module(repeated_elsewhere(tmp_path))
    exported = export_straight(module, "gemm_fp8", tmp_path)
    held = registers(exported.file.source, "compute")
    moved = [name for pair in EXCHANGE.findall(exported.file.source) for name in pair]
    assert len(moved) == 4 and max(held[name] for name in moved) < 128
    write_case(module, FP8, tmp_path)
    build(tmp_path)
    assert run_mock(tmp_path, 1)["ok"]
