"""The ops that Triton 3.3 to 3.9 prints in TTGIR, and what kind some of them are."""

from __future__ import annotations

MATRIX_OPS = frozenset(
    {"tt.dot", "tt.dot_scaled", "ttng.warp_group_dot", "ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"}
)
"""Ops that multiply matrices on the tensor core."""

LOOP_OPS = frozenset({"scf.for", "scf.while"})

CALL_OPS = frozenset({"tt.call", "func.call"})

BRANCH = "scf.if"

BRANCH_OPS = frozenset({BRANCH, "scf.index_switch", "cf.br", "cf.cond_br", "cf.switch"})
"""Control flow within a block of code, other than loops."""

_NAMES = {
    "arith": """addf addi addui_extended andi bitcast ceildivsi ceildivui cmpf cmpi constant convertf divf divsi divui
        extf extsi extui floordivsi fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui minimumf
        minnumf minsi minui mulf muli mulsi_extended mului_extended negf ori remf remsi remui scaling_extf
        scaling_truncf select shli shrsi shrui sitofp subf subi subui_extended truncf trunci uitofp xori""",
    "math": """absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil clampf copysign cos cosh ctlz ctpop cttz
        erf erfc exp exp2 expm1 floor fma fpowi ipowi isfinite isinf isnan isnormal log log10 log1p log2 powf round
        roundeven rsqrt sin sincos sinh sqrt tan tanh trunc""",
    "scf": """condition execute_region for forall forall.in_parallel if index_switch parallel reduce reduce.return
        while yield""",
    "cf": "assert br cond_br switch",
    "ub": "poison unreachable",
    "builtin": "module unrealized_conversion_cast",
    "func": "call func return",
    "gpu": "barrier block_id cluster_id thread_id",
    "tt": """addptr approx_divf assert atomic_cas atomic_load atomic_poll atomic_rmw atomic_store bitcast broadcast
        call cat clampf descriptor_gather descriptor_load descriptor_reduce descriptor_scatter descriptor_store dot
        dot_scaled elementwise_inline_asm expand_dims experimental_descriptor_gather experimental_descriptor_load
        experimental_descriptor_reduce experimental_descriptor_scatter experimental_descriptor_store
        experimental_tensormap_create experimental_tensormap_fenceproxy_acquire extern_elementwise fp_to_fp func
        gather get_num_programs get_program_id histogram int_to_ptr join load make_range make_tensor_descriptor
        make_tensor_ptr map_elementwise map_elementwise.return mulhiui precise_divf precise_sqrt print ptr_to_int
        reduce reduce.return reinterpret_tensor_descriptor reshape return scan scan.return splat split store trans
        unsplat advance""",
    "ttg": """async_commit_group async_copy_global_to_local async_wait barrier convert_layout fp4_to_fp
        global_scratch_alloc inline_asm local_alloc local_atomic_scatter_rmw local_barrier local_dealloc local_gather
        local_load local_scatter local_store mask mask.return memdesc_index memdesc_reinterpret memdesc_reshape
        memdesc_subslice memdesc_subview memdesc_trans predicate_stage upcast_fp8 warp_id warp_return warp_specialize
        warp_specialize.partitions warp_yield""",
    "ttng": """arrive_barrier async_copy_mbarrier_arrive async_shared_store async_tma_copy_global_to_local
        async_tma_copy_local_to_global async_tma_gather async_tma_reduce async_tma_scatter async_tma_store_wait
        barrier_expect clc_get_program_id clc_is_canceled clc_load_result clc_try_cancel clc_try_cancel_sync
        cluster_arrive cluster_barrier cluster_wait fence_async_shared fence_mbarrier_init_release_cluster
        init_barrier inval_barrier reinterpret_tensor_descriptor tc_gen5_commit tc_gen5_mma tc_gen5_mma_scaled
        tensormap_create tensormap_fenceproxy_acquire tmem_alloc tmem_copy tmem_load tmem_store tmem_subslice
        tmem_wait wait_barrier warp_group_dot warp_group_dot_wait""",
    "nvws": """aref.buffer aref.create aref.get aref.get.enter aref.get.exit aref.put aref.put.enter aref.put.exit
        aref.return consumer_release consumer_wait create_token descriptor_gather descriptor_load producer_acquire
        producer_commit warp_group warp_group.return warp_group.yield""",
    "proton": "record",
}

KNOWN_OPS = frozenset(f"{dialect}.{name}" for dialect, names in _NAMES.items() for name in names.split())
"""Ops that are read without a word; any other is kept as well, and named in a warning."""

COMPUTE_CAPABILITIES = frozenset({70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121})
"""NVIDIA's architectures since Volta, as `ttg.target` names them (`cuda:90`)."""
