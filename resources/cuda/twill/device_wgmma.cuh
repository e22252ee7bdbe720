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

// The descriptors of an operand whose contiguous dimension is K (`KContiguous`) or M/N. PTX ISA, "Matrix Descriptor
// Format": fields in units of 16 bytes; mode 1, 2, 3: 128, 64, 32 bytes of swizzle.
// Addresses in shared memory are below 2^18, so those of lines and steps of K are sums in the low word.
template <bool KContiguous, class View> struct Operand {
  static constexpr int stride = 8 * View::width, leading = KContiguous ? 16 : View::block_bytes;
  static constexpr uint32_t mode = View::swizzle == 128 ? 1 : View::swizzle == 64 ? 2 : View::swizzle == 32 ? 3 : 0;
  static constexpr uint32_t high = static_cast<uint32_t>(stride >> 4) | mode << 30;
  uint32_t low;

  TW_CALL Operand(View view, int first) {
    const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(view.base)) + offset(first, 0);
    low = made_here((address & 0x3ffff) >> 4 | static_cast<uint32_t>(leading >> 4) << 16);
  }
  // Line `first` on (a part of the lines, as bits), K step `step` of 32 bytes' worth.
  TW_BOTH static int offset(int first, int step) {
    constexpr int size = int(sizeof(typename View::element));
    const int byte = KContiguous ? step * 32 : first * size;
    return byte / View::width * View::block_bytes + byte % View::width + (KContiguous ? first : step * (32 / size)) * View::width;
  }
  TW_CALL uint64_t at(int first, int step) const {
    return static_cast<uint64_t>(low + static_cast<uint32_t>(offset(first, step) >> 4)) | static_cast<uint64_t>(high) << 32;
  }
};

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
  static_assert(rows_as_wgmma<L>(), "the layout of a result of wgmma");
  using F = Fragments<L>;
  using T = typename VA::element;
  constexpr int k = 32 / int(sizeof(T)), steps = VA::cols / k;
  const int w = F::groups > 1 ? G::warp() / 4 : 0;
  const Operand<!VA::transposed, VA> left(a, w * F::group_row);
  const Operand<VB::transposed, VB> right(b, w * F::group_col);
  TW_UNROLL for (int s = 0; s < steps; s++)
    TW_UNROLL for (int m = 0; m < F::m_blocks; m++)
      TW_UNROLL for (int n = 0; n < F::n_blocks; n++) {
        const int r = (m * F::n_blocks + n) * (F::n / 2);
        Wgmma<F::n, T, VA::transposed, !VB::transposed>::ss(&d.r[r], left.at(reg_part<L>(r, 0), s),
                                                           right.at(reg_part<L>(r, 1), s), s || accumulate);
      }
}

// D (+)= A B, A in registers with the accumulator's row blocks (dot_op layout).
template <class G, class L, class TA, class LA, class VB>
TW_CALL void mma_rs(G, Tile<float, L, false>& d, Tile<TA, LA>& a, VB b, bool accumulate) {
  static_assert(rows_as_wgmma<L>() && rows_as_wgmma<LA>(), "the layouts of a result and of A of wgmma");
  using F = Fragments<L>;
  constexpr int k = 32 / int(sizeof(TA)), steps = LA::shape[1] / k;
  const int w = F::groups > 1 ? G::warp() / 4 : 0;
  const Operand<VB::transposed, VB> right(b, w * F::group_col);
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
                                                   right.at(reg_part<L>(r, 1), s), s || accumulate);
      }
}
}  // namespace tw
