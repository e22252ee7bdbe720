// The bulk tensor copy engine: descriptor loads and stores. One thread issues (see `elected`).
#pragma once

namespace tw {
// Innermost coordinate first, moved by `step` elements along the innermost dimension.
template <class... C> struct Coordinates {
  static constexpr int n = sizeof...(C);
  int at[n];
  TW_CALL Coordinates(int step, C... c) {
    const int outermost_first[n] = {static_cast<int>(c)...};
    TW_UNROLL for (int i = 0; i < n; i++) at[i] = outermost_first[n - 1 - i] + (i == 0 ? step : 0);
  }
};

// Box: the view's lines by its swizzle width, one copy for each block of columns. Coordinates outermost first.
// The barrier's transaction count (bar_expect) is View::bytes whatever lies out of range, which reads as zero.
template <class View, class... C> TW_CALL void tma_load(Bar& full, View view, const Map& map, C... c) {
  constexpr int step = View::width / int(sizeof(typename View::element));
  TW_UNROLL for (int b = 0; b < View::blocks; b++) {
    const Coordinates<C...> k(b * step, c...);
    px::cp_async_bulk_tensor(px::space_cluster, px::space_global, view.base + b * View::block_bytes, &map, k.at, &full);
  }
}
template <class View, class... C> TW_CALL void tma_store(const Map& map, View view, C... c) {
  constexpr int step = View::width / int(sizeof(typename View::element));
  TW_UNROLL for (int b = 0; b < View::blocks; b++) {
    const Coordinates<C...> k(b * step, c...);
    px::cp_async_bulk_tensor(px::space_global, px::space_shared, &map, k.at, view.base + b * View::block_bytes);
  }
}
template <class View, class... C> TW_CALL void tma_reduce_add(const Map& map, View view, C... c) {
  constexpr int step = View::width / int(sizeof(typename View::element));
  TW_UNROLL for (int b = 0; b < View::blocks; b++) {
    const Coordinates<C...> k(b * step, c...);
    px::cp_reduce_async_bulk_tensor(px::space_global, px::space_shared, px::op_add, &map, k.at,
                                    view.base + b * View::block_bytes);
  }
}
TW_CALL void tma_store_commit() { px::cp_async_bulk_commit_group(); }
// Until at most N store groups of this thread still read shared memory.
template <int N> TW_CALL void tma_store_wait() { px::cp_async_bulk_wait_group_read(px::n32_t<N>{}); }
}  // namespace tw
