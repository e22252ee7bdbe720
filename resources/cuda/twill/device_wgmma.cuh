// Warp-group matrix operations: D in registers, A in shared memory or registers, B in shared memory.
#pragma once

namespace tw {
// Specialised in wgmma.inc, which holds the instructions of the export's shapes: `ss` and `rs` take the accumulator's
// N/2 registers, descriptors or A registers, and the scale of D (0 or 1).
template <int N, class T, bool TransA, bool TransB> struct Wgmma;
}  // namespace tw
#include "wgmma.inc"

namespace tw {
TW_CALL void mma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TW_CALL void mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> TW_CALL void mma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

// PTX ISA, "Matrix Descriptor Format": fields in units of 16 bytes; mode 1, 2, 3: 128, 64, 32 bytes of swizzle.
template <class View> TW_CALL uint64_t descriptor(uint32_t address, int leading, int stride) {
  constexpr uint64_t mode = View::swizzle == 128 ? 1 : View::swizzle == 64 ? 2 : View::swizzle == 32 ? 3 : 0;
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | static_cast<uint64_t>(leading >> 4) << 16 |
         static_cast<uint64_t>(stride >> 4) << 32 | mode << 62;
}

// An operand whose contiguous dimension is K (`KContiguous`) or M/N: line `first` on, K step `step` of 32 bytes' worth.
template <bool KContiguous, class View> TW_CALL uint64_t operand(View view, int first, int step) {
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(view.base));
  constexpr int block = View::block_bytes;
  if constexpr (KContiguous) {
    const int byte = step * 32;
    return descriptor<View>(base + first * View::width + byte / View::width * block + byte % View::width, 16, 8 * View::width);
  } else {
    const int byte = first * int(sizeof(typename View::element));
    constexpr int k = 32 / int(sizeof(typename View::element));
    return descriptor<View>(base + step * (k * View::width) + byte / View::width * block + byte % View::width, block, 8 * View::width);
  }
}

// How an accumulator is spread: N of one instruction, blocks of it along N and of 64 rows along M for each warp group.
template <class L> struct Fragments {
  static constexpr int groups = L::warps / 4;
  static constexpr int group_row = L::warps > 4 ? L::warp[2][0] : 0, group_col = L::warps > 4 ? L::warp[2][1] : 0;
  static constexpr int n_all = group_col ? L::shape[1] / groups : L::shape[1];
  static constexpr int n = n_all > 256 ? 256 : n_all, n_blocks = n_all / n;
  static constexpr int m_blocks = L::regs / (n_all / 2);
};

// D (+)= A B, both in shared memory. One commit group of the caller; nothing may touch the accumulator until its wait.
template <class G, class L, class VA, class VB> TW_CALL void mma_ss(G, Tile<float, L, false>& d, VA a, VB b, bool accumulate) {
  using F = Fragments<L>;
  using T = typename VA::element;
  constexpr int k = 32 / int(sizeof(T)), steps = VA::cols / k;
  const int w = F::groups > 1 ? G::warp() / 4 : 0;
  TW_UNROLL for (int s = 0; s < steps; s++)
    TW_UNROLL for (int m = 0; m < F::m_blocks; m++)
      TW_UNROLL for (int n = 0; n < F::n_blocks; n++) {
        const int r = (m * F::n_blocks + n) * (F::n / 2);
        Wgmma<F::n, T, VA::transposed, !VB::transposed>::ss(
            &d.r[r], operand<!VA::transposed>(a, w * F::group_row + reg_part<L>(r, 0), s),
            operand<VB::transposed>(b, w * F::group_col + reg_part<L>(r, 1), s), s || accumulate);
      }
}

// D (+)= A B, A in registers with the accumulator's row blocks (dot_op layout).
template <class G, class L, class TA, class LA, class VB>
TW_CALL void mma_rs(G, Tile<float, L, false>& d, Tile<TA, LA>& a, VB b, bool accumulate) {
  using F = Fragments<L>;
  constexpr int k = 32 / int(sizeof(TA)), steps = LA::shape[1] / k;
  const int w = F::groups > 1 ? G::warp() / 4 : 0;
  uint32_t* words;
  if constexpr (sizeof(TA) < 4) {
    words = a.w;
  } else {
    words = reinterpret_cast<uint32_t*>(a.r);
  }
  TW_UNROLL for (int s = 0; s < steps; s++)
    TW_UNROLL for (int m = 0; m < F::m_blocks; m++)
      TW_UNROLL for (int n = 0; n < F::n_blocks; n++) {
        const int r = (m * F::n_blocks + n) * (F::n / 2);
        Wgmma<F::n, TA, false, !VB::transposed>::rs(&d.r[r], &words[(m * steps + s) * 4],
                                                   operand<VB::transposed>(b, w * F::group_col + reg_part<L>(r, 1), s),
                                                   s || accumulate);
      }
}
}  // namespace tw
