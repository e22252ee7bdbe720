"""What the tile-op builder knows of single ops by name: their category, and how they use their operands."""

from __future__ import annotations

from core.ir.model import Operation
from core.ir.tiles import Category

_CATEGORIES = {
    Category.LOAD: (
        "tt.load",
        "tt.descriptor_load",
        "tt.experimental_descriptor_load",
        "tt.descriptor_gather",
        "ttng.async_tma_copy_global_to_local",
        "ttng.async_tma_gather",
        "ttg.async_copy_global_to_local",
    ),
    Category.MATRIX: (
        "ttng.warp_group_dot",
        "ttng.tc_gen5_mma",
        "ttng.tc_gen5_mma_scaled",
        "tt.dot",
        "tt.dot_scaled",
    ),
    Category.LOOP: ("scf.for",),
    Category.REDUCE: ("tt.reduce", "tt.scan"),
    Category.MOVE: (
        "ttg.convert_layout",
        "ttg.local_load",
        "ttg.local_store",
        "ttg.local_alloc",
        "ttng.tmem_load",
        "ttng.tmem_store",
        "ttng.tmem_alloc",
        "ttng.tmem_copy",
    ),
    Category.EFFECT: (
        "tt.store",
        "tt.descriptor_store",
        "tt.experimental_descriptor_store",
        "tt.descriptor_reduce",
        "tt.descriptor_scatter",
        "ttng.async_tma_copy_local_to_global",
        "ttng.async_tma_reduce",
        "ttng.async_tma_scatter",
        "tt.atomic_rmw",
        "tt.atomic_cas",
        "tt.print",
        "tt.assert",
        "gpu.barrier",
        "ttg.barrier",
    ),
    Category.ELEMENTWISE: (
        "tt.elementwise_inline_asm",
        "tt.extern_elementwise",
        "tt.clampf",
        "tt.fp_to_fp",
        "tt.precise_divf",
        "tt.precise_sqrt",
        "tt.mulhiui",
    ),
}
_CATEGORY_OF = {name: category for category, names in _CATEGORIES.items() for name in names}

BARRIERS = frozenset({"gpu.barrier", "ttg.barrier"})
"""Barriers of the whole block: accesses to shared memory do not move across them."""

ALLOCATIONS = frozenset({"ttg.local_alloc", "ttng.tmem_alloc"})
"""With a source they store it, without one they only name a buffer."""

TENSOR_CORE_5 = frozenset({"ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"})
"""Matrix ops whose result is a buffer of tensor memory that they are given."""

# They complete or announce what another op began; the dependences on that op say the same.
_IMPLIED = frozenset(
    {
        "ttg.async_commit_group",
        "ttg.async_wait",
        "ttg.local_dealloc",
        "ttng.arrive_barrier",
        "ttng.async_copy_mbarrier_arrive",
        "ttng.async_tma_store_wait",
        "ttng.barrier_expect",
        "ttng.fence",
        "ttng.fence_async_shared",
        "ttng.init_barrier",
        "ttng.inval_barrier",
        "ttng.tc_gen5_commit",
        "ttng.tmem_dealloc",
        "ttng.wait_barrier",
    }
)

# Scalars, descriptors and index tiles: every group that needs them computes them for itself.
_ADDRESS_MAKERS = frozenset(
    {
        "tt.addptr",
        "tt.get_num_programs",
        "tt.get_program_id",
        "tt.int_to_ptr",
        "tt.make_range",
        "tt.make_tensor_descriptor",
        "tt.ptr_to_int",
        "ttg.global_scratch_alloc",
        "ttng.reinterpret_tensor_descriptor",
    }
)


_LEAST_OPERANDS = {
    1: (
        *("tt.expand_dims", "tt.broadcast", "tt.splat", "tt.unsplat", "tt.trans", "tt.reshape", "tt.bitcast"),
        *("ttg.memdesc_trans", "ttg.memdesc_reshape", "ttg.memdesc_reinterpret", "ttg.memdesc_subslice"),
        *("ttg.convert_layout", "ttng.tmem_subslice", "ttng.tmem_load", "ttg.local_load", "tt.load", "tt.reduce"),
        *("tt.descriptor_load", "tt.experimental_descriptor_load", "arith.bitcast"),
    ),
    2: (
        *("ttg.memdesc_index", "ttg.memdesc_subview", "ttng.tmem_store", "ttg.local_store", "ttng.tmem_copy"),
        *("tt.store", "tt.atomic_rmw", "tt.descriptor_store", "tt.experimental_descriptor_store"),
        *("tt.descriptor_reduce", "tt.descriptor_scatter", "arith.mulf", "arith.addf", "arith.subf", "arith.cmpi"),
        *("arith.addi", "arith.subi", "arith.muli", "arith.xori", "arith.andi", "arith.ori"),
        *("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "tt.addptr"),
    ),
    3: ("arith.select", "tt.atomic_cas", "ttng.warp_group_dot", "tt.dot", *TENSOR_CORE_5),
}
_LEAST_OPERANDS_OF = {name: count for count, names in _LEAST_OPERANDS.items() for name in names}


def least_operands(op: Operation) -> int:
    """How many operands an op of that name has at least."""
    if op.name == "ttng.warp_group_dot_wait":
        return len(op.results)
    return _LEAST_OPERANDS_OF.get(op.name, 0)


def category_of(op: Operation) -> Category:
    """The category of an op that is scheduled; OPAQUE for what is not known."""
    known = _CATEGORY_OF.get(op.name)
    if known is None:
        return Category.ELEMENTWISE if is_pure(op) else Category.OPAQUE
    return known


def is_pure(op: Operation) -> bool:
    """Whether the op does nothing but compute its results, and could as well be computed twice."""
    arithmetic = op.name.startswith(("arith.", "math.")) or op.name in _ADDRESS_MAKERS
    return arithmetic or _CATEGORY_OF.get(op.name) in (Category.ELEMENTWISE, Category.REDUCE)


def is_implied(op: Operation) -> bool:
    """Whether the op only waits for, signals or names what other ops do."""
    if op.name in ALLOCATIONS and not op.operands:
        return True
    return op.name in _IMPLIED or "tensormap" in op.name


def data_positions(op: Operation) -> tuple[int, ...]:
    """The operands that `op` reads as data; from the others follow addresses, masks, flags or an order only."""
    count = len(op.operands)
    if op.name == "tt.load":
        return (2,) if count > 2 else ()
    if op.name in ("tt.store", "tt.atomic_rmw"):
        return (1,)
    if op.name == "tt.atomic_cas":
        return (1, 2)
    if op.name.startswith(("tt.descriptor_", "tt.experimental_descriptor_")):
        return () if op.name.endswith(("_load", "_gather")) else (count - 1,)
    if category_of(op) is Category.LOAD:
        return ()
    if op.name in TENSOR_CORE_5:
        return (0, 1)
    if category_of(op) is Category.MATRIX:
        return tuple(range(min(count, 3)))
    if op.name in ("ttng.tmem_store", "ttg.local_store"):
        return (0,)
    return tuple(range(count))
