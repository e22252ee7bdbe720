"""Exported kernels beside cuDNN's attention and cuBLAS on a Hopper GPU: one process, random order, medians.

    python tests/bench/hopper_speed.py attention:LABEL:FOLDER causal:LABEL:FOLDER gemm:LABEL:FOLDER ... [-o TABLE.md]

A FOLDER is what `twill export --format cuda` wrote; several of one kind take part in the same rounds. Needs nvcc and
torch, and nothing of this project, so that the folders and this file are all that a machine with the GPU must have.
The card is power-limited: only numbers of the same rounds compare. TFLOPS count the products of the unmasked elements.
Busy: those products over what the tensor cores of all SMs could do in the cycles of the busiest SM, from its first to
its last clock, read in the kernel (median of launches between the rounds); the library has no such clock. A kernel with
another result than the library is named and not timed.
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
PEAK = 4096
"""Operations of one SM's tensor core in a cycle, f16 or bf16 (NVIDIA's H100 whitepaper)."""
NVCC = ("nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", "-shared", "-DTWILL_LIBRARY")
PIC = ("-Xcompiler", "-fPIC", "-Xcompiler", "-fno-gnu-unique")


@dataclass(frozen=True)
class Launcher:
    """A kernel with its arguments; `tensors` are only kept alive. `blocks`: at most."""

    code: ctypes.CDLL
    prepared: ctypes.c_void_p
    blocks: int
    tensors: list[torch.Tensor]

    def __call__(self) -> None:
        self.code.twill_launch(self.prepared, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

    def cycles(self) -> int:
        """Of the busiest SM in one launch, from the first clock of its blocks to the last."""
        clocks = torch.zeros(self.blocks, 3, dtype=torch.int64, device="cuda")
        self.code.twill_clocks(self.prepared, ctypes.c_void_p(clocks.data_ptr()))
        self()
        torch.cuda.synchronize()
        self.code.twill_clocks(self.prepared, None)
        spans: dict[int, tuple[int, int]] = {}
        for sm, first, last in clocks[clocks[:, 2] > 0].tolist():  # a persistent kernel has fewer blocks
            begin, end = spans.get(sm, (first, last))
            spans[sm] = (min(begin, first), max(end, last))
        return max(end - begin for begin, end in spans.values())


@dataclass(frozen=True)
class Kernel:
    """An exported kernel, built as a library."""

    label: str
    code: ctypes.CDLL
    parameters: list[str]

    def launcher(self, grid: tuple[int, int, int], values: dict[str, Any]) -> Launcher:
        """What launches it on the current stream."""
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
        prepare = self.code.twill_prepare
        prepare.restype = ctypes.c_void_p
        prepared = ctypes.c_void_p(prepare((ctypes.c_int * 3)(*grid), pointers, numbers, sizes))
        tensors = [value for value in values.values() if isinstance(value, torch.Tensor)]
        return Launcher(self.code, prepared, math.prod(grid), tensors)


def build(label: str, folder: Path, out: Path) -> Kernel:
    """Raises CalledProcessError with nvcc's messages."""
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


def measure(task: Task, rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds of each, and what part of the tensor cores' cycles is busy in ours: medians over `rounds` in random
    order. Checks every result against the library's."""
    for label, call in list(task.calls.items()):
        task.result.fill_(float("nan"))
        call()
        torch.cuda.synchronize()
        if label not in ("cuDNN", "cuBLAS"):
            error = (task.result.float() - task.want.float()).norm() / task.want.float().norm()
            if not error < 4e-3:
                print(f"{task.name}: {label} is off by {error:.1e}", flush=True)
                del task.calls[label]
    repeat = max(1, round(20e12 / task.flops))
    times: dict[str, list[float]] = {label: [] for label in task.calls}
    cycles: dict[str, list[int]] = {}
    for _ in range(rounds):
        for label in random.sample(list(task.calls), len(task.calls)):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(repeat):
                task.calls[label]()
            end.record()
            torch.cuda.synchronize()
            times[label].append(begin.elapsed_time(end) / repeat)
            call = task.calls[label]
            if isinstance(call, Launcher):
                cycles.setdefault(label, []).append(call.cycles())
    could = PEAK * torch.cuda.get_device_properties(0).multi_processor_count
    busy = {label: task.flops / (statistics.median(found) * could) for label, found in cycles.items()}
    return {label: statistics.median(found) for label, found in times.items()}, busy


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
        _, labels, folders = zip(*given, strict=True)
        outs = [Path(into, f"{number}.so") for number in range(len(given))]
        built = list(pool.map(build, labels, map(Path, folders), outs))
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
            "| problem | kernel | ms | TFLOPS | times the library | busy |",
            "| --- | --- | ---: | ---: | ---: | ---: |",
        ]
        print("\n".join(lines), flush=True)
        for task in tasks(kinds):
            times, busy = measure(task, arguments.rounds)
            library = next(ms for label, ms in times.items() if label in ("cuDNN", "cuBLAS"))
            for label, ms in times.items():
                part = f"{busy[label]:.1%}" if label in busy else ""
                speed = f"{ms:.3f} | {task.flops / ms * 1e-9:.0f} | {library / ms:.3f}"
                line = f"| {task.name} | {label} | {speed} | {part} |"
                print(line, flush=True)
                lines.append(line)
        if arguments.output:
            arguments.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
