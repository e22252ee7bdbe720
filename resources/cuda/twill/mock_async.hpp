// CPU stand-in for TMA and wgmma: copies arrive late, matrix operations run at once or at their wait.
#pragma once

namespace tw {
// A row-major tensor in global memory, outermost dimension first, strides in elements.
struct Map {
  void* base;
  int rank;
  int64_t shape[5], strides[5];
};
template <class T, int R>
Map make_map(const void* base, const int64_t (&shape)[R], const int64_t (&strides)[R], const int (&)[R], int) {
  Map m{const_cast<void*>(base), R, {}, {}};
  for (int i = 0; i < R; i++) m.shape[i] = shape[i], m.strides[i] = strides[i];
  return m;
}

namespace mock {
// The element at `start` plus (row, column) in the last two dimensions, null out of range.
template <class T> T* element_of(const Map& m, const std::vector<int>& start, int row, int col) {
  int64_t offset = 0;
  for (int k = 0; k < m.rank; k++) {
    const int64_t at = start[static_cast<std::size_t>(k)] + (k == m.rank - 1 ? col : k == m.rank - 2 ? row : 0);
    if (at < 0 || at >= m.shape[k]) return nullptr;
    offset += at * m.strides[k];
  }
  return static_cast<T*>(m.base) + offset;
}
template <class View, class F> void each_element(View, F f) {
  for (int r = 0; r < View::rows; r++)
    for (int c = 0; c < View::cols; c++) f(r, c);
}
template <class View> auto* shared_element(View view, int r, int c) {
  const int at[2] = {View::rank == 1 ? c : r, c};
  return view.at(at);
}
template <class View> void put_store(View view, int line, std::function<void()> store) {
  must_be_fenced(view);
  Accesses reads;
  note_until_waited(ranges_of(view), line, reads);
  block->current().flight.stores_open.push_back([store = std::move(store), reads] {
    store();
    waited(reads);
  });
}
// Copies to shared memory, which end with a phase of their barrier.
template <class View> void note_copy(Bar& full, View view, int line) {
  note(ranges_of(view), true, line, block->meeting(full).agent, static_cast<long>(full.phases) + 1, nullptr);
}
// A tensor map, and the line that passes it.
struct MapAt {
  const Map& map;
  int line;
  MapAt(const Map& map, int line = __builtin_LINE()) : map(map), line(line) {}
};
}  // namespace mock

template <class View, class... C> void tma_load(Bar& full, View view, const mock::MapAt& from, C... c) {
  using T = typename View::element;
  const Map map = from.map;
  if (reinterpret_cast<std::uintptr_t>(view.base) % 128) mock::block->fail("a bulk copy to shared memory that is not 128-byte aligned");
  mock::block->yield();
  mock::note_copy(full, view, from.line);
  std::memset(view.base, 0xff, View::bytes);
  const std::vector<int> start{static_cast<int>(c)...};
  mock::block->late.push_back([&full, view, map, start] {
    mock::each_element(view, [&](int row, int col) {
      const T* element = mock::element_of<T>(map, start, row, col);
      *mock::shared_element(view, row, col) = element ? *element : T{};
    });
    full.bytes -= View::bytes;
    mock::settle(full);
  });
}
template <class View, class... C> void tma_store(const mock::MapAt& to, View view, C... c) {
  using T = typename View::element;
  const Map map = to.map;
  const std::vector<int> start{static_cast<int>(c)...};
  mock::put_store(view, to.line, [view, map, start] {
    mock::each_element(view, [&](int row, int col) {
      if (T* into = mock::element_of<T>(map, start, row, col)) *into = *mock::shared_element(view, row, col);
    });
  });
}
template <class View, class... C> void tma_reduce_add(const mock::MapAt& to, View view, C... c) {
  using T = typename View::element;
  const Map map = to.map;
  const std::vector<int> start{static_cast<int>(c)...};
  mock::put_store(view, to.line, [view, map, start] {
    mock::each_element(view, [&](int row, int col) {
      if (T* into = mock::element_of<T>(map, start, row, col))
        *into = tw::to<T>(tw::to<float>(*into) + tw::to<float>(*mock::shared_element(view, row, col)));
    });
  });
}
inline void tma_store_commit() {
  mock::Flight& flight = mock::block->current().flight;
  flight.store_groups.push_back(std::move(flight.stores_open));
  flight.stores_open.clear();
}
template <int N> void tma_store_wait() {
  mock::Flight& flight = mock::block->current().flight;
  mock::block->yield();
  while (static_cast<int>(flight.store_groups.size()) > N) {
    for (const auto& store : flight.store_groups.front()) store();
    flight.store_groups.erase(flight.store_groups.begin());
  }
}

namespace mock {
// Accumulators of operations in flight: their true values, while the tile itself is poisoned.
inline thread_local std::map<const void*, std::pair<int, std::vector<float>>> accumulators;

template <class L, class A, class B>
void matrix_op(Tile<float, L>& d, bool accumulate, int depth, A a, B b, std::function<void()> check) {
  Flight& flight = block->current().flight;
  auto& [users, values] = accumulators[&d];
  if (users++ == 0) {
    values = d.e;
    std::fill(d.e.begin(), d.e.end(), poison<float>());
  }
  auto run = [&d, accumulate, depth, a, b, check] {
    check();
    auto& [users, values] = accumulators[&d];
    const int rows = L::shape[0], cols = L::shape[1];
    std::vector<float> right(static_cast<std::size_t>(depth * cols));
    for (int k = 0; k < depth; k++)
      for (int j = 0; j < cols; j++) right[static_cast<std::size_t>(k * cols + j)] = b(k, j);
    for (int i = 0; i < rows; i++) {
      float* out = &values[static_cast<std::size_t>(i * cols)];
      if (!accumulate) std::fill(out, out + cols, 0.0f);
      for (int k = 0; k < depth; k++) {
        const float left = a(i, k);
        for (int j = 0; j < cols; j++) out[j] += left * right[static_cast<std::size_t>(k * cols + j)];
      }
    }
    if (--users == 0) {
      d.e = values;
      accumulators.erase(&d);
    }
  };
  // in order: at once only if nothing older is in flight
  bool older = !flight.matrix_open.empty();
  for (const auto& group : flight.matrix_groups) older = older || !group.empty();
  if (!older && block->chance(2)) {
    run();
  } else {
    flight.matrix_open.push_back({&d, run});
  }
  block->yield();
}
}  // namespace mock

inline void mma_fence() {}
inline void mma_commit() {
  mock::Flight& flight = mock::block->current().flight;
  flight.matrix_reads.push_back(std::move(flight.matrix_reads_open));
  flight.matrix_reads_open.clear();
  flight.matrix_groups.push_back(std::move(flight.matrix_open));
  flight.matrix_open.clear();
}
template <int N> void mma_wait() {
  mock::Flight& flight = mock::block->current().flight;
  mock::block->yield();
  while (static_cast<int>(flight.matrix_groups.size()) > N) {
    for (const auto& op : flight.matrix_groups.front()) op.run();
    flight.matrix_groups.erase(flight.matrix_groups.begin());
    mock::waited(flight.matrix_reads.front());
    flight.matrix_reads.erase(flight.matrix_reads.begin());
  }
}
template <class G, class L, class VA, class VB> void mma_ss(G, Tile<float, L>& d, VA a, VB b, bool accumulate, int line = __builtin_LINE()) {
  static_assert(rows_as_wgmma<L>(), "the layout of a result of wgmma");
  static_assert(VA::rows == L::shape[0] && VB::cols == L::shape[1] && VA::cols == VB::rows, "shapes of a matrix operation");
  mock::note_until_waited(mock::ranges_of(a), line, mock::block->current().flight.matrix_reads_open);
  mock::note_until_waited(mock::ranges_of(b), line, mock::block->current().flight.matrix_reads_open);
  mock::matrix_op(
      d, accumulate, VA::cols, [a](int i, int k) { return operand_value(*a.at(i, k)); },
      [b](int k, int j) { return operand_value(*b.at(k, j)); },
      [a, b] {
        mock::must_be_fenced(a);
        mock::must_be_fenced(b);
      });
}
template <class G, class L, class TA, class LA, class VB>
void mma_rs(G, Tile<float, L>& d, Tile<TA, LA>& a, VB b, bool accumulate, int line = __builtin_LINE()) {
  static_assert(rows_as_wgmma<L>() && rows_as_wgmma<LA>(), "the layouts of a result and of A of wgmma");
  static_assert(LA::shape[0] == L::shape[0] && VB::cols == L::shape[1] && LA::shape[1] == VB::rows, "shapes of a matrix operation");
  mock::note_until_waited(mock::ranges_of(b), line, mock::block->current().flight.matrix_reads_open);
  mock::matrix_op(
      d, accumulate, VB::rows, [&a](int i, int k) { return operand_value(a.get(i * LA::shape[1] + k)); },
      [b](int k, int j) { return operand_value(*b.at(k, j)); }, [b] { mock::must_be_fenced(b); });
}
}  // namespace tw
