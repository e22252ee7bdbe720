// Distributed layouts as linear maps. A layout is a struct with
//   rank, regs, warps, shape[rank], reg[log2 regs][rank], lane[5][rank], warp[log2 warps][rank]
// (arrays have at least one row): element `i` of thread (lane, warp) is at the XOR of the bases of all set bits. Rows
// of zeros in `lane` and `warp` mean that those threads hold the same elements.
#pragma once

namespace tw {
constexpr int max_rank = 4;

TW_BOTH int bits_of(int power_of_two) {
  int bits = 0;
  while ((1 << bits) < power_of_two) bits++;
  return bits;
}

template <class L> TW_BOTH int elements_of() {
  int n = 1;
  for (int d = 0; d < L::rank; d++) n *= L::shape[d];
  return n;
}

// A layout's bases as a value: device code has no arrays of a class.
template <class L> struct Bases {
  static constexpr int reg_bits = bits_of(L::regs), warp_bits = bits_of(L::warps);
  int shape[L::rank], reg[reg_bits + 1][L::rank], lane[5][L::rank], warp[warp_bits + 1][L::rank];
  TW_BOTH Bases() : shape{}, reg{}, lane{}, warp{} {
    for (int d = 0; d < L::rank; d++) {
      shape[d] = L::shape[d];
      for (int b = 0; b < reg_bits; b++) reg[b][d] = L::reg[b][d];
      for (int b = 0; b < 5; b++) lane[b][d] = L::lane[b][d];
      for (int b = 0; b < warp_bits; b++) warp[b][d] = L::warp[b][d];
    }
  }
};

// What the register index contributes to coordinate `d`.
template <class L> TW_BOTH int reg_part(int i, int d) {
  constexpr Bases<L> t{};
  int c = 0;
  TW_UNROLL for (int b = 0; b < t.reg_bits; b++) c ^= (i >> b & 1) ? t.reg[b][d] : 0;
  return c;
}

// What lane and warp contribute to coordinate `d`.
template <class L> TW_BOTH int thread_part(int lane, int warp, int d) {
  constexpr Bases<L> t{};
  int c = 0;
  TW_UNROLL for (int b = 0; b < 5; b++) c ^= (lane >> b & 1) ? t.lane[b][d] : 0;
  TW_UNROLL for (int b = 0; b < t.warp_bits; b++) c ^= (warp >> b & 1) ? t.warp[b][d] : 0;
  return c;
}

// Whether warps and rows of lanes lie as wgmma has those of its result and of A in registers (PTX ISA, "Register
// Fragments"): the four warps of a group hold 16 rows each, one after another.
template <class L> TW_BOTH bool rows_as_wgmma() {
  constexpr Bases<L> t{};
  if (L::rank != 2 || t.warp_bits < 2) return false;
  bool as = t.warp[0][0] == 16 && t.warp[0][1] == 0 && t.warp[1][0] == 32 && t.warp[1][1] == 0;
  for (int b = 0; b < 3; b++) as = as && t.lane[2 + b][0] == 1 << b && t.lane[2 + b][1] == 0;
  return as;
}

// Where a shared tile holds an element is linear in the bits of its coordinates, as the layout is: the offset of a
// register's element is the XOR of what the register and what the thread contribute. In bytes.
template <class L, class View> TW_BOTH int reg_offset(int i) {
  if constexpr (L::rank == 1) {
    return View::offset(reg_part<L>(i, 0));
  } else {
    return View::offset(reg_part<L>(i, 0), reg_part<L>(i, 1));
  }
}
template <class L, class View> TW_BOTH int thread_offset(int lane, int warp) {
  if constexpr (L::rank == 1) {
    return View::offset(thread_part<L>(lane, warp, 0));
  } else {
    return View::offset(thread_part<L>(lane, warp, 0), thread_part<L>(lane, warp, 1));
  }
}

// The bits that are set in the offset of some thread.
template <class L, class View> TW_BOTH uint32_t thread_bits() {
  uint32_t bits = 0;
  for (int b = 0; b < 5; b++) bits |= static_cast<uint32_t>(thread_offset<L, View>(1 << b, 0));
  for (int b = 0; (1 << b) < L::warps; b++) bits |= static_cast<uint32_t>(thread_offset<L, View>(0, 1 << b));
  return bits;
}
// The same of the threads that give stmatrix its addresses: rows 8 apart, columns 8 apart.
template <class View> TW_BOTH uint32_t fragment_bits() {
  return static_cast<uint32_t>(View::offset(8, 0) | View::offset(0, 8));
}
// Where register i of a thread with that offset lies, by the bits that threads' offsets have. What none of them has is
// added, not xored, so that it is the constant part of an address: few addresses have to be made and kept for a large
// tile. Small ones have few anyway, and loads that need no address of their own are made earlier than they are needed.
template <class L, class View> TW_BOTH uint32_t place_of(uint32_t thread, int i, uint32_t bits = thread_bits<L, View>()) {
  const uint32_t part = static_cast<uint32_t>(reg_offset<L, View>(i));
  if (L::regs <= 16) return thread ^ part;
  return (thread ^ (part & bits)) + (part & ~bits);
}

// Coordinates of the source element that element `d` of a result takes, for each kind of view.
template <int Dim> struct ExpandMap {
  template <class LS> static TW_BOTH int at(const int* d, int k) { return d[k < Dim ? k : k + 1]; }
};
struct BroadcastMap {
  template <class LS> static TW_BOTH int at(const int* d, int k) { return LS::shape[k] == 1 ? 0 : d[k]; }
};
struct SameMap {
  template <class LS> static TW_BOTH int at(const int* d, int k) { return d[k]; }
};
// Dimension k of the result is dimension P[k] of the source (tt.trans `order`).
template <int... P> struct PermuteMap {
  template <class LS> static TW_BOTH int at(const int* d, int k) {
    const int order[] = {P...};
    for (int j = 0; j < LS::rank; j++)
      if (order[j] == k) return d[j];
    return 0;
  }
};

// For each register of the result, the register of the same thread that holds its source element; `held` says whether
// every thread has all of them itself.
template <class LD, class LS, class M> struct Gather {
  int at[LD::regs];
  bool held;
  TW_BOTH Gather() : at{}, held(true) {
    for (int b = 0; b < 5; b++)
      for (int k = 0; k < LS::rank; k++)
        if (M::template at<LS>(LD::lane[b], k) != LS::lane[b][k]) held = false;
    for (int b = 0; (1 << b) < LD::warps; b++)
      for (int k = 0; k < LS::rank; k++)
        if (M::template at<LS>(LD::warp[b], k) != LS::warp[b][k]) held = false;
    for (int i = 0; i < LD::regs; i++) {
      int d[max_rank] = {};
      for (int k = 0; k < LD::rank; k++) d[k] = reg_part<LD>(i, k);
      int found = -1;
      for (int j = 0; j < LS::regs && found < 0; j++) {
        bool same = true;
        for (int k = 0; k < LS::rank; k++) same = same && reg_part<LS>(j, k) == M::template at<LS>(d, k);
        if (same) found = j;
      }
      at[i] = found < 0 ? 0 : found;
      held = held && found >= 0;
    }
  }
};

// How a reduction along `Axis` takes registers together: `into[i]` is the result's register for register i.
template <class LD, class LS, int Axis> struct Reduction {
  int into[LS::regs];
  int lanes, warps;  // masks of the lane and warp bits that the axis is spread over
  TW_BOTH Reduction() : into{}, lanes(0), warps(0) {
    for (int i = 0; i < LS::regs; i++) {
      into[i] = -1;
      for (int j = 0; j < LD::regs && into[i] < 0; j++) {
        bool same = true;
        for (int k = 0; k < LD::rank; k++) same = same && reg_part<LD>(j, k) == reg_part<LS>(i, k < Axis ? k : k + 1);
        if (same) into[i] = j;
      }
    }
    for (int b = 0; b < 5; b++)
      if (LS::lane[b][Axis]) lanes |= 1 << b;
    for (int b = 0; (1 << b) < LS::warps; b++)
      if (LS::warp[b][Axis]) warps |= 1 << b;
  }
};

// Shared memory that reduce() needs.
template <class T, class LD, class LS, int Axis> TW_BOTH int reduce_bytes() {
  return Reduction<LD, LS, Axis>().warps ? 32 * LS::warps * LD::regs * int(sizeof(T)) : 0;
}

// Whether a thread is the first of those that hold the same elements.
template <class L> TW_BOTH bool is_first_holder(int lane, int warp) {
  constexpr Bases<L> t{};
  int other_lanes = 0, other_warps = 0;
  TW_UNROLL for (int b = 0; b < 5; b++) {
    bool zero = true;
    TW_UNROLL for (int d = 0; d < L::rank; d++) zero = zero && t.lane[b][d] == 0;
    other_lanes |= zero ? 1 << b : 0;
  }
  TW_UNROLL for (int b = 0; b < t.warp_bits; b++) {
    bool zero = true;
    TW_UNROLL for (int d = 0; d < L::rank; d++) zero = zero && t.warp[b][d] == 0;
    other_warps |= zero ? 1 << b : 0;
  }
  return (lane & other_lanes) == 0 && (warp & other_warps) == 0;
}
}  // namespace tw
