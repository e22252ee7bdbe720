// Global memory by pointers, atomics, tiles in shared memory, cp.async.
#pragma once

namespace tw {
template <int Bytes> struct Chunk;
template <> struct Chunk<1> { using type = unsigned char; };
template <> struct Chunk<2> { using type = unsigned short; };
template <> struct Chunk<4> { using type = unsigned int; };
template <> struct Chunk<8> { using type = uint2; };
template <> struct Chunk<16> { using type = uint4; };
template <class T, int V> union Pieces {
  typename Chunk<V * int(sizeof(T))>::type whole;
  T part[V];
  TW_CALL Pieces() {}
};

struct NoMask {
  TW_CALL bool get(int) const { return true; }
};

// tt.load. V consecutive registers are consecutive in memory, aligned, and share one mask value.
template <int V, class T, class L, bool P, class Ptr, class Mask, class Other>
TW_CALL void load(Tile<T, L, P>& d, const Ptr& ptrs, const Mask& mask, const Other& other) {
  TW_UNROLL for (int i = 0; i < L::regs; i += V) {
    Pieces<T, V> v;
    TW_UNROLL for (int k = 0; k < V; k++) v.part[k] = other.get(i + k);
    if (mask.get(i)) v.whole = *reinterpret_cast<const decltype(v.whole)*>(ptrs.get(i));
    TW_UNROLL for (int k = 0; k < V; k++) d.set(i + k, v.part[k]);
  }
}
template <int V, class T, class L, bool P, class Ptr> TW_CALL void load(Tile<T, L, P>& d, const Ptr& ptrs) {
  TW_UNROLL for (int i = 0; i < L::regs; i += V) {
    Pieces<T, V> v;
    v.whole = *reinterpret_cast<const decltype(v.whole)*>(ptrs.get(i));
    TW_UNROLL for (int k = 0; k < V; k++) d.set(i + k, v.part[k]);
  }
}

// tt.store: one of the threads that hold an element writes it.
template <int V, class G, class Ptr, class T, class L, bool P, class Mask = NoMask>
TW_CALL void store(G, const Ptr& ptrs, const Tile<T, L, P>& s, const Mask& mask = {}) {
  if (!is_first_holder<L>(G::lane(), G::warp())) return;
  TW_UNROLL for (int i = 0; i < L::regs; i += V) {
    Pieces<T, V> v;
    TW_UNROLL for (int k = 0; k < V; k++) v.part[k] = s.get(i + k);
    if (mask.get(i)) *reinterpret_cast<decltype(v.whole)*>(ptrs.get(i)) = v.whole;
  }
}

// tt.atomic_rmw fadd or add without a use of the old value.
template <class G, class Ptr, class T, class L, bool P, class Mask = NoMask>
TW_CALL void atomic_add(G, const Ptr& ptrs, const Tile<T, L, P>& s, const Mask& mask = {}) {
  if (!is_first_holder<L>(G::lane(), G::warp())) return;
  TW_UNROLL for (int i = 0; i < L::regs; i++)
    if (mask.get(i)) atomicAdd(ptrs.get(i), s.get(i));
}

// How many registers, from register 0 on, are neighbours along the contiguous dimension of the view: 2^k, at most `Run`.
template <class L, class View> TW_BOTH int vector_of() {
  int v = 1;
  for (int b = 0; (1 << b) < L::regs && v * 2 <= View::run; b++) {
    for (int d = 0; d < L::rank; d++)
      if (L::reg[b][d] != (d == View::contiguous_dim ? v : 0)) return v;
    v *= 2;
  }
  return v;
}

// Where the elements of a thread's registers lie in a shared tile.
template <class L, class View, class G> struct Places {
  unsigned char* base;
  uint32_t thread;
  TW_CALL Places(G, View view) : base(view.base), thread(made_here(thread_offset<L, View>(G::lane(), G::warp()))) {}
  template <class T> TW_CALL T* at(int i) const { return reinterpret_cast<T*>(base + place_of<L, View>(thread, i)); }
};

// Whether the tile has the accumulator's layout in its lowest bits, along dimension `Dim`: pairs of columns, rows 8
// apart, columns 8 apart.
template <class L, int Dim> TW_BOTH bool is_fragment() {
  if (L::rank != 2 || L::regs < 8) return false;
  const int reg[3][2] = {{0, 1}, {8, 0}, {0, 8}}, lane[5][2] = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  for (int b = 0; b < 3; b++)
    if (L::reg[b][1 - Dim] != reg[b][0] || L::reg[b][Dim] != reg[b][1]) return false;
  for (int b = 0; b < 5; b++)
    if (L::lane[b][1 - Dim] != lane[b][0] || L::lane[b][Dim] != lane[b][1]) return false;
  return true;
}

// ttg.local_alloc with a source, ttg.local_store. Other threads see it after a barrier, TMA and wgmma after async_fence()
// and a barrier. 16-bit accumulator fragments go by stmatrix.
template <class G, class View, class T, class L, bool P> TW_CALL void smem_store(G g, View view, const Tile<T, L, P>& s) {
  constexpr int dim = View::contiguous_dim;
  if constexpr (P && sizeof(T) == 2 && View::rank == 2 && is_fragment<L, dim>() && View::run >= 8) {
    const int lane = G::lane(), row = (lane & 7) + (lane & 8), col = (lane >> 4) * 8;
    const uint32_t thread = made_here(thread_offset<L, View>(0, G::warp()) ^ (dim == 1 ? View::offset(row, col) : View::offset(col, row)));
    constexpr uint32_t bits = thread_bits<L, View>() | fragment_bits<View>();
    TW_UNROLL for (int j = 0; j < L::regs / 8; j++) {
      const uint32_t a = static_cast<uint32_t>(__cvta_generic_to_shared(view.base + place_of<L, View>(thread, 8 * j, bits)));
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(s.w[4 * j]),
                   "r"(s.w[4 * j + 1]), "r"(s.w[4 * j + 2]), "r"(s.w[4 * j + 3])
                   : "memory");
    }
  } else {
    constexpr int V = vector_of<L, View>();
    const Places<L, View, G> places(g, view);
    TW_UNROLL for (int i = 0; i < L::regs; i += V) {
      Pieces<T, V> v;
      TW_UNROLL for (int k = 0; k < V; k++) v.part[k] = s.get(i + k);
      *places.template at<decltype(v.whole)>(i) = v.whole;
    }
  }
}

// ttg.local_load.
template <class G, class View, class T, class L, bool P> TW_CALL void smem_load(G g, Tile<T, L, P>& d, View view) {
  constexpr int V = vector_of<L, View>();
  const Places<L, View, G> places(g, view);
  TW_UNROLL for (int i = 0; i < L::regs; i += V) {
    Pieces<T, V> v;
    v.whole = *places.template at<const decltype(v.whole)>(i);
    TW_UNROLL for (int k = 0; k < V; k++) d.set(i + k, v.part[k]);
  }
}

// Pointer tile -> shared tile by cp.async; masked elements are zeros. V consecutive registers are consecutive in global
// memory; where fewer are neighbours in the shared tile, smaller copies are made, and elements of 1 or 2 bytes without a
// neighbour go through registers, since cp.async copies 4, 8 or 16 bytes.
template <int V, class G, class View, class Ptr, class Mask = NoMask>
TW_CALL void cp_async(G g, View view, const Ptr& ptrs, const Mask& mask = {}) {
  using T = typename View::element;
  using L = typename Ptr::layout;
  constexpr int shared = vector_of<L, View>(), W = shared < V ? shared : V, bytes = W * int(sizeof(T));
  const Places<L, View, G> places(g, view);
  TW_UNROLL for (int i = 0; i < L::regs; i += W) {
    if constexpr (bytes < 4) {
      Pieces<T, W> v;
      TW_UNROLL for (int k = 0; k < W; k++) v.part[k] = T{};
      if (mask.get(i)) v.whole = *reinterpret_cast<const decltype(v.whole)*>(ptrs.get(i));
      *places.template at<decltype(v.whole)>(i) = v.whole;
    } else {
      const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(places.template at<T>(i)));
      const int valid = mask.get(i) ? bytes : 0;
      if constexpr (bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(ptrs.get(i)), "r"(valid) : "memory");
      } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(ptrs.get(i)), "n"(bytes), "r"(valid) : "memory");
      }
    }
  }
  if constexpr (bytes < 4) __threadfence_block();
}
// All earlier cp.async of each thread arrive at the barrier when they are done: G::threads arrivals. What they wrote
// is seen by wgmma only after the reader's async_fence().
template <class G> TW_CALL void cp_async_arrive(G, Bar& b) {
  const uint32_t a = static_cast<uint32_t>(__cvta_generic_to_shared(&b));
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(a) : "memory");
}
}  // namespace tw
