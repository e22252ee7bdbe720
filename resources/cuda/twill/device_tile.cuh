// Tiles in registers: elementwise operations, views, reductions, exchanges.
#pragma once

namespace tw {
// How many elements share a 32-bit register; predicates and pointers do not.
template <class T> TW_BOTH int packed() {
  if (__is_same(T, bool) || sizeof(T) >= 4) return 1;
  return 4 / int(sizeof(T));
}
template <class T> struct Raw;
template <> struct Raw<f16> { using type = unsigned short; };
template <> struct Raw<bf16> { using type = unsigned short; };
template <> struct Raw<e4m3> { using type = unsigned char; };
template <> struct Raw<e5m2> { using type = unsigned char; };
template <> struct Raw<int8_t> { using type = unsigned char; };
template <> struct Raw<uint8_t> { using type = unsigned char; };
template <> struct Raw<int16_t> { using type = unsigned short; };
template <> struct Raw<uint16_t> { using type = unsigned short; };

template <class D, class S> TW_CALL D bits_as(S s) {
  static_assert(sizeof(D) == sizeof(S), "same size");
  D d;
  __builtin_memcpy(&d, &s, sizeof(D));
  return d;
}

template <class T, class L, bool Packed = (packed<T>() > 1 && L::regs >= packed<T>())> struct Tile {
  using element = T;
  using layout = L;
  T r[L::regs];
  TW_CALL T get(int i) const { return r[i]; }
  TW_CALL void set(int i, T v) { r[i] = v; }
};
template <class T, class L> struct Tile<T, L, true> {
  using element = T;
  using layout = L;
  static constexpr int per = packed<T>(), words = L::regs / per;
  using raw = typename Raw<T>::type;
  uint32_t w[words];
  TW_CALL T get(int i) const { return bits_as<T>(static_cast<raw>(w[i / per] >> (32 / per * (i % per)))); }
  TW_CALL void set(int i, T v) {
    const int shift = 32 / per * (i % per);
    const uint32_t mask = (per == 2 ? 0xffffu : 0xffu) << shift;
    w[i / per] = (w[i / per] & ~mask) | (static_cast<uint32_t>(bits_as<raw>(v)) << shift);
  }
};

// The compiler may not move a use of the tile over this point.
template <class T, class L, bool P> TW_CALL void pin(Tile<T, L, P>& t) {
  if constexpr (P) {
    TW_UNROLL for (int i = 0; i < Tile<T, L, P>::words; i++) asm volatile("" : "+r"(t.w[i])::"memory");
  } else if constexpr (__is_same(T, float)) {
    TW_UNROLL for (int i = 0; i < L::regs; i++) asm volatile("" : "+f"(t.r[i])::"memory");
  } else if constexpr (sizeof(T) == 4) {
    TW_UNROLL for (int i = 0; i < L::regs; i++) asm volatile("" : "+r"(reinterpret_cast<uint32_t&>(t.r[i]))::"memory");
  }
}

template <class T, class L, bool P> TW_CALL void fill(Tile<T, L, P>& d, T v) {
  TW_UNROLL for (int i = 0; i < L::regs; i++) d.set(i, v);
}
template <class T, class L, bool P> TW_CALL void copy(Tile<T, L, P>& d, const Tile<T, L, P>& s) { d = s; }

template <class T, class L, bool P> TW_CALL T source(const Tile<T, L, P>& t, int i) { return t.get(i); }
template <class T> TW_CALL T source(T scalar, int) { return scalar; }

// d = f(s...), element by element; a source is a tile of the same layout or a scalar.
template <class D, class L, bool P, class F, class... S> TW_CALL void map(Tile<D, L, P>& d, F f, const S&... s) {
  TW_UNROLL for (int i = 0; i < L::regs; i++) d.set(i, f(source(s, i)...));
}

// Conversions; two floats become a packed pair with one instruction.
template <class D, class S, class L, bool PD, bool PS> TW_CALL void cast(Tile<D, L, PD>& d, const Tile<S, L, PS>& s) {
  if constexpr (PD && __is_same(S, float) && __is_same(D, f16)) {
    TW_UNROLL for (int i = 0; i < L::regs / 2; i++)
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d.w[i]) : "f"(s.r[2 * i + 1]), "f"(s.r[2 * i]));
  } else if constexpr (PD && __is_same(S, float) && __is_same(D, bf16)) {
    TW_UNROLL for (int i = 0; i < L::regs / 2; i++)
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d.w[i]) : "f"(s.r[2 * i + 1]), "f"(s.r[2 * i]));
  } else {
    TW_UNROLL for (int i = 0; i < L::regs; i++) d.set(i, to<D>(s.get(i)));
  }
}

// start + coordinate `Dim` (tt.make_range).
template <int Dim, class G, class T, class L, bool P> TW_CALL void iota(G, Tile<T, L, P>& d, T start) {
  const T base = start + static_cast<T>(thread_part<L>(G::lane(), G::warp(), Dim));
  // bases of threads and registers have no bit in common unless they repeat each other
  TW_UNROLL for (int i = 0; i < L::regs; i++) d.set(i, static_cast<T>(base + static_cast<T>(reg_part<L>(i, Dim))));
}

template <class M, class T, class LD, class LS, bool PD, bool PS>
TW_CALL void gather(Tile<T, LD, PD>& d, const Tile<T, LS, PS>& s) {
  constexpr Gather<LD, LS, M> table{};
  static_assert(table.held, "the threads of both layouts hold different elements: exchange() is needed");
  TW_UNROLL for (int i = 0; i < LD::regs; i++) d.set(i, s.get(table.at[i]));
}
template <int Dim, class D, class S> TW_CALL void expand(D& d, const S& s) { gather<ExpandMap<Dim>>(d, s); }
template <class D, class S> TW_CALL void broadcast(D& d, const S& s) { gather<BroadcastMap>(d, s); }
template <int... P, class D, class S> TW_CALL void permute(D& d, const S& s) { gather<PermuteMap<P...>>(d, s); }
template <class D, class S> TW_CALL void relabel(D& d, const S& s) { gather<SameMap>(d, s); }

// A register's and a thread's part of the row-major number of an element in a tile of that layout's shape.
template <class L> TW_BOTH int reg_number(int i) {
  int n = 0;
  for (int k = 0; k < L::rank; k++) n = n * Bases<L>().shape[k] + reg_part<L>(i, k);
  return n;
}
template <class L> TW_BOTH int thread_number(int lane, int warp) {
  int n = 0;
  TW_UNROLL for (int k = 0; k < L::rank; k++) n = n * Bases<L>().shape[k] + thread_part<L>(lane, warp, k);
  return n;
}

// Through shared memory: `scratch` holds the whole tile and may be used again at once.
template <class G, class T, class LD, class LS, bool PD, bool PS>
TW_CALL void exchange(G g, Tile<T, LD, PD>& d, const Tile<T, LS, PS>& s, void* scratch) {
  T* p = static_cast<T*>(scratch);
  const uint32_t from = made_here(thread_number<LS>(G::lane(), G::warp()));
  TW_UNROLL for (int i = 0; i < LS::regs; i++) p[from ^ reg_number<LS>(i)] = s.get(i);
  group_sync(g);
  const uint32_t to = made_here(thread_number<LD>(G::lane(), G::warp()));
  TW_UNROLL for (int i = 0; i < LD::regs; i++) d.set(i, p[to ^ reg_number<LD>(i)]);
  group_sync(g);
}

template <class T> TW_CALL T shuffle_xor(T v, int mask) {
  if constexpr (sizeof(T) == 2) {
    return bits_as<T>(static_cast<unsigned short>(__shfl_xor_sync(0xffffffffu, bits_as<unsigned short>(v), mask)));
  } else if constexpr (sizeof(T) == 1) {
    return bits_as<T>(static_cast<unsigned char>(__shfl_xor_sync(0xffffffffu, bits_as<unsigned char>(v), mask)));
  } else {
    return __shfl_xor_sync(0xffffffffu, v, mask);
  }
}

// The part of tt.reduce along `Axis` that needs no other thread: each thread combines its own registers, in two chains.
template <int Axis, class T, class LD, class LS, class F, bool PD, bool PS>
TW_CALL void reduce_own(Tile<T, LD, PD>& d, const Tile<T, LS, PS>& s, F f) {
  constexpr Reduction<LD, LS, Axis> table{};
  T chain[LD::regs][2];
  int seen[LD::regs];
  TW_UNROLL for (int j = 0; j < LD::regs; j++) seen[j] = 0;
  TW_UNROLL for (int i = 0; i < LS::regs; i++) {
    const int j = table.into[i];
    const int c = seen[j] & 1;
    chain[j][c] = seen[j] < 2 ? s.get(i) : f(chain[j][c], s.get(i));
    seen[j]++;
  }
  TW_UNROLL for (int j = 0; j < LD::regs; j++) d.set(j, seen[j] > 1 ? f(chain[j][0], chain[j][1]) : chain[j][0]);
}

// The rest of it: the parts of all threads of a tile of layout `LS`, over lanes and then warps, in place. `scratch`:
// reduce_bytes, 0 unless warps are spread along the axis.
template <int Axis, class LS, class G, class T, class LD, class F, bool PD>
TW_CALL void reduce_threads(G g, Tile<T, LD, PD>& d, F f, void* scratch = nullptr) {
  constexpr Reduction<LD, LS, Axis> table{};
  TW_UNROLL for (int j = 0; j < LD::regs; j++) {
    T v = d.get(j);
    TW_UNROLL for (int b = 0; b < 5; b++)
      if (table.lanes >> b & 1) v = f(v, shuffle_xor(v, 1 << b));
    d.set(j, v);
  }
  if constexpr (table.warps != 0) {
    T* p = static_cast<T*>(scratch);
    const int lane = G::lane(), warp = G::warp();
    TW_UNROLL for (int j = 0; j < LD::regs; j++) p[(warp * LD::regs + j) * 32 + lane] = d.get(j);
    group_sync(g);
    TW_UNROLL for (int j = 0; j < LD::regs; j++) {
      const int rest = warp & ~table.warps;
      T v{};
      bool any = false;
      TW_UNROLL for (int m = 0; m < LS::warps; m++) {
        if ((m & ~table.warps) == 0) {
          const T x = p[((rest | m) * LD::regs + j) * 32 + lane];
          v = any ? f(v, x) : x;
          any = true;
        }
      }
      d.set(j, v);
    }
    group_sync(g);
  }
}

// tt.reduce along `Axis`, `f` its combining function.
template <int Axis, class G, class T, class LD, class LS, class F, bool PD, bool PS>
TW_CALL void reduce(G g, Tile<T, LD, PD>& d, const Tile<T, LS, PS>& s, F f, void* scratch = nullptr) {
  reduce_own<Axis>(d, s, f);
  reduce_threads<Axis, LS>(g, d, f, scratch);
}
}  // namespace tw
