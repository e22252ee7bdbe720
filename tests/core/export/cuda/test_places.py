"""Addresses of a tile's elements in shared memory: a constant part that is added gives the same as xoring all of it."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from core.export.cuda.encodings import Blocked, DotOperand, Mma
from core.export.cuda.layouts import layout_of, permuted
from core.export.cuda.text import KernelText
from core.ir.source import load_module
from core.resources import data_folder

COMPILER = shutil.which("g++") or shutil.which("clang++")
SAMPLE = Path(__file__).parents[3] / "data" / "ttgir" / "axpby_sm90_n1024-f32_v39_pre.ttgir"
FRAGMENTS = (
    layout_of(Mma((4, 1), (16, 64, 16)), (64, 64)),
    layout_of(Mma((8, 1), (16, 128, 16)), (128, 128)),
    layout_of(Mma((4, 2), (16, 64, 16)), (128, 128)),
    layout_of(DotOperand(0, Mma((4, 1), (16, 64, 16)), 2), (64, 64)),
)
"""Layouts of results of matrix ops and operands of 16 bits, whose rows stmatrix stores; transposed its columns."""

TILES = (
    *((layout, 1) for layout in FRAGMENTS),
    *((permuted(layout, (1, 0)), 0) for layout in FRAGMENTS),
    *(
        (layout_of(Blocked(*encoding), shape), 2)
        for encoding, shape in (
            (((1, 8), (4, 8), (4, 1), (1, 0)), (128, 64)),
            (((4, 4), (1, 32), (4, 1), (1, 0)), (64, 128)),
            (((8, 1), (8, 4), (1, 4), (0, 1)), (64, 64)),
        )
    ),
)
ELEMENTS = ("float", "uint16_t", "unsigned char")
PROGRAM = """\
#include "twill.cuh"
#include <cstdio>
{layouts}
template <class L, class View> int wrong(int dim) {{
  int found = 0;
  for (int warp = 0; warp < L::warps; warp++)
    for (int lane = 0; lane < 32; lane++) {{
      const uint32_t thread = static_cast<uint32_t>(tw::thread_offset<L, View>(lane, warp));
      const uint32_t more = tw::thread_bits<L, View>() | tw::fragment_bits<View>();
      const int row = (lane & 7) + (lane & 8), col = (lane >> 4) * 8;
      const int base = tw::thread_offset<L, View>(0, warp);
      const uint32_t first = static_cast<uint32_t>(base ^ (dim ? View::offset(row, col) : View::offset(col, row)));
      for (int i = 0; i < L::regs; i++) {{
        const uint32_t part = static_cast<uint32_t>(tw::reg_offset<L, View>(i));
        found += tw::place_of<L, View>(thread, i) != (thread ^ part);
        if (dim == View::contiguous_dim && View::run == 8 && i % 8 == 0)
          found += tw::place_of<L, View>(first, i, more) != (first ^ part);
      }}
    }}
  return found;
}}
int main() {{
  int count = 0, found = 0;
{calls}
  std::printf("%d %d", count, found);
}}
"""


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_what_no_thread_has_in_its_offset_may_be_added(tmp_path: Path) -> None:
    """For all threads and registers, in every kind of shared tile, and for the addresses of stmatrix."""
    kernel = KernelText(load_module(SAMPLE))
    calls: list[str] = []
    for (layout, dimension), element in product(TILES, ELEMENTS):
        name, (rows, columns) = kernel.layout_name(layout), layout.shape
        views = [
            f"tw::SharedTile<{element}, {rows}, {columns}, {swizzle}, {transposed}>"
            for swizzle in (0, 32, 64, 128)
            for transposed in ("false", "true")
        ]
        views += [f"tw::Swizzled<{element}, {rows}, {columns}, 8, 2, 4, {flag}>" for flag in ("false", "true")]
        views.append(f"tw::Swizzled<{element}, {rows}, {columns}, 1, 1, 1, false>")
        calls += [f"  count++, found += wrong<{name}, {view}>({dimension});" for view in views]
    source = tmp_path / "places.cpp"
    source.write_text(
        PROGRAM.format(layouts="\n".join(kernel.layout_lines()), calls="\n".join(calls)), encoding="utf-8"
    )
    assert COMPILER is not None
    include = f"-I{data_folder('resources') / 'cuda'}"
    command = [
        COMPILER,
        "-std=c++17",
        "-O0",
        "-DTWILL_MOCK",
        "-pthread",
        include,
        str(source),
        "-o",
        str(tmp_path / "a"),
    ]
    (tmp_path / "wgmma.inc").write_text("", encoding="utf-8")
    subprocess.run([*command, f"-I{tmp_path}"], check=True)
    said = subprocess.run([str(tmp_path / "a")], check=True, capture_output=True, text=True).stdout
    assert said == f"{len(calls)} 0"
