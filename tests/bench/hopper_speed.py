"""Exported kernels beside cuDNN's attention and cuBLAS on a Hopper GPU: one process, random order, medians.

    python tests/bench/hopper_speed.py attention:LABEL:FOLDER causal:LABEL:FOLDER gemm:LABEL:FOLDER ... [-o TABLE.md]

A FOLDER is what `twill export --format cuda` wrote; several of one kind take part in the same rounds. Needs nvcc and
torch, and nothing of this project, so that the folders and this file are all that a machine with the GPU must have.
The card is power-limited: only numbers of the same rounds compare. TFLOPS count the products of the unmasked elements.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import ctypes
import datetime
import json
import math
import random
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

BATCH, HEADS = 4, 32
NVCC = ("nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", "-shared", "-DTWILL_LIBRARY")
PIC = ("-Xcompiler", "-fPIC", "-Xcompiler", "-fno-gnu-unique")


@dataclass(frozen=True)
class Kernel:
    """An exported kernel, built as a library."""

    label: str
    code: ctypes.CDLL
    parameters: list[str]

    def launcher(self, grid: tuple[int, int, int], values: dict[str, Any]) -> Callable[[], None]:
        """A call that launches it on the current stream."""
        count = len(self.parameters)
        pointers, numbers, sizes = (
            (ctypes.c_void_p * count)(),
            (ctypes.c_double * count)(),
            (ctypes.c_int64 * (4 * count))(),
        )
        for index, name in enumerate(self.parameters):
            value = values[name]
            if isinstance(value, torch.Tensor):
                pointers[index] = value.data_ptr()
                sizes[4 * index : 4 * index + 4] = [*value.shape, *value.stride()]
            else:
                numbers[index] = value
        prepare, launch = self.code.twill_prepare, self.code.twill_launch
        prepare.restype = ctypes.c_void_p
        prepared = ctypes.c_void_p(prepare((ctypes.c_int * 3)(*grid), pointers, numbers, sizes))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        tensors = [value for value in values.values() if isinstance(value, torch.Tensor)]

        def call(_kept: object = tensors) -> None:
            launch(prepared, stream)

        return call


def build(kind: str, label: str, folder: Path, into: Path) -> Kernel:
    """Raises CalledProcessError with nvcc's messages."""
    out = into / f"{kind}_{label}.so"
    flags = [f"-I{folder}", f"-I{folder.parent / 'runtime'}"]
    subprocess.run([*NVCC, *PIC, *flags, str(folder / "kernel.cu"), "-o", str(out)], check=True, capture_output=True)
    about = json.loads((folder / "export.json").read_text())
    names = [a["name"] for a in about["arguments"] if a["kind"] not in ("size", "stride")]
    return Kernel(label, ctypes.CDLL(str(out)), names)


@dataclass(frozen=True)
class Task:
    """One problem size: what runs, by label, and the operations that count."""

    name: str
    flops: float
    calls: dict[str, Callable[[], Any]]
    result: torch.Tensor
    want: torch.Tensor


def attention(kernels: list[Kernel], length: int, *, causal: bool) -> Task:
    q, k, v = (torch.randn(BATCH, HEADS, length, 128, device="cuda", dtype=torch.float16) for _ in range(3))
    o = torch.full_like(q, float("nan"))

    def library() -> torch.Tensor:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    rows = {"q_desc": q, "k_desc": k, "v_desc": v, "o_desc": o}
    values: dict[str, Any] = {name: tensor.view(-1, 128) for name, tensor in rows.items()}
    values |= {
        "seq": length,
        "n_ctx": length,
        "scale": math.log2(math.e) / math.sqrt(128),
        "sm_scale": 1 / math.sqrt(128),
    }
    values["lse_ptr"] = torch.empty(BATCH * HEADS * length, 1, device="cuda")
    calls = {kernel.label: kernel.launcher((length // 128, BATCH * HEADS, 1), values) for kernel in kernels}
    flops = 4.0 * BATCH * HEADS * length * length * 128 * (0.5 if causal else 1.0)
    name = f"attention{', causal' if causal else ''}, {length}"
    return Task(name, flops, {**calls, "cuDNN": library}, o, library())


def gemm(kernels: list[Kernel], size: int, tile: tuple[int, int]) -> Task:
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.full_like(a, float("nan"))
    values: dict[str, Any] = {
        "a_desc": a,
        "b_desc": b,
        "c_desc": c,
        "k": size,
        "K": size,
        "M": size,
        "N": size,
        "m": size,
        "n": size,
    }
    calls = {kernel.label: kernel.launcher((size // tile[0] * (size // tile[1]), 1, 1), values) for kernel in kernels}
    return Task(f"product, {size}", 2.0 * size**3, {**calls, "cuBLAS": lambda: torch.mm(a, b)}, c, torch.mm(a, b))


def measure(task: Task, rounds: int) -> dict[str, float]:
    """Milliseconds of each, medians over `rounds` in random order. Checks every result against the library's."""
    for label, call in task.calls.items():
        task.result.fill_(float("nan"))
        call()
        torch.cuda.synchronize()
        if label not in ("cuDNN", "cuBLAS"):
            error = (task.result.float() - task.want.float()).norm() / task.want.float().norm()
            if not error < 4e-3:
                raise SystemExit(f"{task.name}: {label} is off by {error:.1e}")
    repeat = max(1, round(20e12 / task.flops))
    times: dict[str, list[float]] = {label: [] for label in task.calls}
    for _ in range(rounds):
        for label in random.sample(list(task.calls), len(task.calls)):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(repeat):
                task.calls[label]()
            end.record()
            torch.cuda.synchronize()
            times[label].append(begin.elapsed_time(end) / repeat)
    return {label: statistics.median(found) for label, found in times.items()}


def tasks(kinds: dict[str, list[Kernel]]) -> Iterator[Task]:
    for kind, causal in (("attention", False), ("causal", True)):
        for length in (2048, 4096, 8192, 16384) if kind in kinds else ():
            yield attention(kinds[kind], length, causal=causal)
            torch.cuda.empty_cache()
    for size in (4096, 8192) if "gemm" in kinds else ():
        yield gemm(kinds["gemm"], size, (128, 256))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="+", metavar="KIND:LABEL:FOLDER")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    given = [text.split(":", 2) for text in arguments.kernels]
    kinds: dict[str, list[Kernel]] = {}
    with tempfile.TemporaryDirectory() as into, concurrent.futures.ThreadPoolExecutor() as pool:
        built = list(pool.map(lambda g: build(g[0], g[1], Path(g[2]), Path(into)), given))
        for (kind, _, _), kernel in zip(given, built, strict=True):
            kinds.setdefault(kind, []).append(kernel)
        torch.manual_seed(1)
        random.seed(1)
        device = torch.cuda.get_device_properties(0)
        lines = [
            f"{datetime.date.today()}, {device.name} ({device.multi_processor_count} SMs), CUDA {torch.version.cuda}, "
            f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}; batch {BATCH}, heads {HEADS}, head "
            f"dimension 128, f16; products in bf16; medians of {arguments.rounds} rounds in random order.",
            "",
            "| problem | kernel | ms | TFLOPS | times the library |",
            "| --- | --- | ---: | ---: | ---: |",
        ]
        print("\n".join(lines), flush=True)
        for task in tasks(kinds):
            times = measure(task, arguments.rounds)
            library = next(ms for label, ms in times.items() if label in ("cuDNN", "cuBLAS"))
            for label, ms in times.items():
                line = f"| {task.name} | {label} | {ms:.3f} | {task.flops / ms * 1e-9:.0f} | {library / ms:.3f} |"
                print(line, flush=True)
                lines.append(line)
        if arguments.output:
            arguments.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
