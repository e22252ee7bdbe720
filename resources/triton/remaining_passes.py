"""Runs what Triton 3.9 does to TTGIR after it has scheduled its loops, in a process of its own: a pass may abort.

  python remaining_passes.py INPUT OUTPUT CAPABILITY

As `make_ttgir` of Triton's NVIDIA backend (version 3.9.0, triton/backends/nvidia/compiler.py) from the pipeliner on,
without the passes that choose latencies, stages and partitions: those come from the input's attributes.
"""

import sys
from pathlib import Path

from triton._C.libtriton import ir, nvidia, passes
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

STAGES_OF_OTHER_LOOPS = 3  # Triton's default, for loops without attributes


def main(source, target, capability):
    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget("cuda", capability, 32)).load_dialects(context)
    module = ir.parse_mlir_module(source, context)
    module.context = context
    manager = ir.pass_manager(context)
    pipeline(manager, capability)
    clean_up(manager, capability)
    manager.run(module, "make_ttgir")
    Path(target).write_text(str(module), encoding="utf-8")


def pipeline(manager, capability):
    if capability // 10 >= 10:
        passes.ttgpuir.add_warp_specialize(manager, STAGES_OF_OTHER_LOOPS)
    passes.ttgpuir.add_pipeline(manager, STAGES_OF_OTHER_LOOPS, False)
    if capability // 10 >= 10:
        passes.ttgpuir.add_optimize_partition_warps(manager)
        passes.ttgpuir.add_combine_tensor_select_and_if(manager)
        passes.ttgpuir.add_hoist_tmem_alloc(manager, True)
        nvidia.passes.ttnvgpuir.add_remove_tmem_tokens(manager)


def clean_up(manager, capability):
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_loop_aware_cse(manager)
    passes.ttgpuir.add_optimize_dot_operands(manager, True)
    passes.ttgpuir.add_coalesce_async_copy(manager)
    nvidia.passes.ttnvgpuir.add_optimize_tmem_layouts(manager)
    nvidia.passes.ttnvgpuir.add_tmem_load_reduce(manager)
    nvidia.passes.ttnvgpuir.add_tma_lowering(manager)
    if capability // 10 >= 10:
        nvidia.passes.ttnvgpuir.add_lower_clc(manager)
    passes.ttgpuir.add_remove_layout_conversions(manager)
    nvidia.passes.ttnvgpuir.add_interleave_tmem(manager)
    passes.ttgpuir.add_reduce_data_duplication(manager)
    passes.ttgpuir.add_reorder_instructions(manager)
    passes.ttir.add_loop_aware_cse(manager)
    passes.common.add_symbol_dce(manager)
    nvidia.passes.ttnvgpuir.add_fence_insertion(manager, capability)
    nvidia.passes.ttnvgpuir.add_lower_mma(manager)
    nvidia.passes.ttnvgpuir.add_hoist_mbarrier_lifecycle(manager, capability)
    passes.common.add_sccp(manager)
    passes.common.add_cse(manager)
    passes.common.add_canonicalizer(manager)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
