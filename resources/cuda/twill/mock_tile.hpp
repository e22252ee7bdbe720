// CPU stand-in for register tiles: whole tiles, row-major.
#pragma once

namespace tw {
namespace mock {
// What nobody has written yet: NaN in every float type.
template <class T> T poison() {
  T t;
  std::memset(&t, 0xff, sizeof(T));
  if constexpr (std::is_same_v<T, bool>) t = true;
  return t;
}
template <class L> int offset_of(const int* c) {
  int n = 0;
  for (int k = 0; k < L::rank; k++) n = n * L::shape[k] + c[k];
  return n;
}
template <class L> void coordinates_of(int n, int* c) {
  for (int k = L::rank - 1; k >= 0; k--) c[k] = n % L::shape[k], n /= L::shape[k];
}
}  // namespace mock

template <class T, class L> struct Tile {
  using element = T;
  using layout = L;
  static constexpr int size = elements_of<L>();
  std::vector<T> e = std::vector<T>(size, mock::poison<T>());
  T get(int i) const { return e[static_cast<std::size_t>(i)]; }
  void set(int i, T v) { e[static_cast<std::size_t>(i)] = v; }
};
template <class L> struct Tile<bool, L> {
  using element = bool;
  using layout = L;
  static constexpr int size = elements_of<L>();
  std::vector<char> e = std::vector<char>(size, 1);
  bool get(int i) const { return e[static_cast<std::size_t>(i)] != 0; }
  void set(int i, bool v) { e[static_cast<std::size_t>(i)] = v; }
};

template <class T, class L> void pin(Tile<T, L>&) {}
template <class T, class L> void fill(Tile<T, L>& d, T v) {
  for (int i = 0; i < d.size; i++) d.set(i, v);
}
template <class T, class L> void copy(Tile<T, L>& d, const Tile<T, L>& s) { d = s; }

template <class T, class L> T source(const Tile<T, L>& t, int i) { return t.get(i); }
template <class T> T source(T scalar, int) { return scalar; }
template <class D, class L, class F, class... S> void map(Tile<D, L>& d, F f, const S&... s) {
  for (int i = 0; i < d.size; i++) d.set(i, f(source(s, i)...));
}
template <class D, class S, class L> void cast(Tile<D, L>& d, const Tile<S, L>& s) {
  for (int i = 0; i < d.size; i++) d.set(i, to<D>(s.get(i)));
}
template <int Dim, class G, class T, class L> void iota(G, Tile<T, L>& d, T start) {
  for (int i = 0; i < d.size; i++) {
    int c[max_rank];
    mock::coordinates_of<L>(i, c);
    d.set(i, static_cast<T>(start + static_cast<T>(c[Dim])));
  }
}

template <class M, class T, class LD, class LS> void gather(Tile<T, LD>& d, const Tile<T, LS>& s) {
  static_assert(Gather<LD, LS, M>().held, "the threads of both layouts hold different elements: exchange() is needed");
  Tile<T, LD> out;  // d may be s
  for (int i = 0; i < d.size; i++) {
    int c[max_rank], from[max_rank];
    mock::coordinates_of<LD>(i, c);
    for (int k = 0; k < LS::rank; k++) from[k] = M::template at<LS>(c, k);
    out.set(i, s.get(mock::offset_of<LS>(from)));
  }
  d = out;
}
template <int Dim, class D, class S> void expand(D& d, const S& s) { gather<ExpandMap<Dim>>(d, s); }
template <class D, class S> void broadcast(D& d, const S& s) { gather<BroadcastMap>(d, s); }
template <int... P, class D, class S> void permute(D& d, const S& s) { gather<PermuteMap<P...>>(d, s); }
template <class D, class S> void relabel(D& d, const S& s) { gather<SameMap>(d, s); }

namespace mock {
// The threads of a role write scratch memory, meet, read it, and meet.
template <class G, class W, class R>
void through_scratch(G g, void* scratch, std::size_t bytes, int line, W write, R read) {
  const unsigned char* from = static_cast<unsigned char*>(scratch);
  note({{from, from + bytes}}, true, line);
  write();
  group_sync(g);
  note({{from, from + bytes}}, false, line);
  read();
  group_sync(g);
}
}  // namespace mock

// The scratch is overwritten, as on the GPU, so that two values that share it wrongly are found.
template <class G, class T, class LD, class LS>
void exchange(G g, Tile<T, LD>& d, const Tile<T, LS>& s, void* scratch, int line = __builtin_LINE()) {
  T* p = static_cast<T*>(scratch);
  const auto write = [&] {
    for (int i = 0; i < s.size; i++) p[i] = s.get(i);
  };
  const auto read = [&] {
    for (int i = 0; i < d.size; i++) d.set(i, p[i]);
  };
  mock::through_scratch(g, scratch, sizeof(T) * static_cast<std::size_t>(s.size), line, write, read);
}

namespace mock {
template <int Axis, class T, class LD, class LS, class F> void combine(Tile<T, LD>& d, const Tile<T, LS>& s, F f) {
  std::vector<char> seen(static_cast<std::size_t>(d.size), 0);
  Tile<T, LD> out;
  for (int i = 0; i < s.size; i++) {
    int c[max_rank], into[max_rank];
    coordinates_of<LS>(i, c);
    for (int k = 0; k < LD::rank; k++) into[k] = c[k < Axis ? k : k + 1];
    const int j = offset_of<LD>(into);
    out.set(j, seen[static_cast<std::size_t>(j)] ? f(out.get(j), s.get(i)) : s.get(i));
    seen[static_cast<std::size_t>(j)] = 1;
  }
  d = out;
}
// How many threads hold parts of one result.
template <int Axis, class LD, class LS> int parts() {
  const Reduction<LD, LS, Axis> table{};
  return 1 << (__builtin_popcount(static_cast<unsigned>(table.lanes)) + __builtin_popcount(static_cast<unsigned>(table.warps)));
}
template <int Axis, class T, class LD, class LS, class G> void use_scratch(G g, void* scratch, int line) {
  if (const int bytes = reduce_bytes<T, LD, LS, Axis>(); bytes)
    through_scratch(
        g, scratch, static_cast<std::size_t>(bytes), line,
        [&] { std::memset(scratch, 0xff, static_cast<std::size_t>(bytes)); }, [] {});
}
}  // namespace mock

// Sums stay in parts: here all parts are alike, a power of two of them, so that putting them together twice, or never,
// gives wrong numbers.
template <int Axis, class T, class LD, class LS, class F> void reduce_own(Tile<T, LD>& d, const Tile<T, LS>& s, F f) {
  mock::combine<Axis>(d, s, f);
  for (int i = 0; i < d.size; i++) d.set(i, to<T>(to<float>(d.get(i)) / mock::parts<Axis, LD, LS>()));
}
template <int Axis, class LS, class G, class T, class LD, class F>
void reduce_threads(G g, Tile<T, LD>& d, F, void* scratch = nullptr, int line = __builtin_LINE()) {
  for (int i = 0; i < d.size; i++) d.set(i, to<T>(to<float>(d.get(i)) * mock::parts<Axis, LD, LS>()));
  mock::use_scratch<Axis, T, LD, LS>(g, scratch, line);
}
template <int Axis, class G, class T, class LD, class LS, class F>
void reduce(G g, Tile<T, LD>& d, const Tile<T, LS>& s, F f, void* scratch = nullptr, int line = __builtin_LINE()) {
  mock::combine<Axis>(d, s, f);
  mock::use_scratch<Axis, T, LD, LS>(g, scratch, line);
}
}  // namespace tw
