// CPU stand-in for global and shared memory accesses.
#pragma once

namespace tw {
namespace mock {
// Ordinary stores are not seen by TMA and wgmma before a fence of their writer, those of cp.async before anyone's.
template <class View> Range range_of(View view) { return {view.base, view.base + View::bytes}; }
template <class View> void must_be_fenced(View view) {
  const auto overlaps = [view](const Range& r) { return r.first < view.base + View::bytes && view.base < r.second; };
  for (const Role& r : block->roles)
    for (const Range& range : r.flight.unfenced)
      if (overlaps(range)) block->fail("the asynchronous proxy reads what " + r.name + " wrote without a fence after it");
  for (const Range& range : block->copied)
    if (overlaps(range)) block->fail("the asynchronous proxy reads what cp.async wrote without a fence after it");
}
}  // namespace mock

struct NoMask {
  bool get(int) const { return true; }
};

template <int V, class T, class L, class Ptr, class Mask, class Other>
void load(Tile<T, L>& d, const Ptr& ptrs, const Mask& mask, const Other& other) {
  for (int i = 0; i < d.size; i++) d.set(i, mask.get(i) ? *ptrs.get(i) : other.get(i));
}
template <int V, class T, class L, class Ptr> void load(Tile<T, L>& d, const Ptr& ptrs) {
  for (int i = 0; i < d.size; i++) d.set(i, *ptrs.get(i));
}
template <int V, class G, class Ptr, class T, class L, class Mask = NoMask>
void store(G, const Ptr& ptrs, const Tile<T, L>& s, const Mask& mask = {}) {
  for (int i = 0; i < s.size; i++)
    if (mask.get(i)) *ptrs.get(i) = s.get(i);
}
template <class G, class Ptr, class T, class L, class Mask = NoMask>
void atomic_add(G, const Ptr& ptrs, const Tile<T, L>& s, const Mask& mask = {}) {
  for (int i = 0; i < s.size; i++)
    if (mask.get(i)) {
      if constexpr (is_small<T>::value) {
        *ptrs.get(i) = to<T>(to<float>(*ptrs.get(i)) + to<float>(s.get(i)));
      } else {
        *ptrs.get(i) += s.get(i);
      }
    }
}

template <class G, class View, class T, class L> void smem_store(G, View view, const Tile<T, L>& s) {
  mock::block->yield();
  mock::block->current().flight.unfenced.push_back(mock::range_of(view));
  for (int i = 0; i < s.size; i++) {
    int c[max_rank];
    mock::coordinates_of<L>(i, c);
    *view.at(c) = s.get(i);
  }
}
template <class G, class View, class T, class L> void smem_load(G, Tile<T, L>& d, View view) {
  mock::block->yield();
  for (int i = 0; i < d.size; i++) {
    int c[max_rank];
    mock::coordinates_of<L>(i, c);
    d.set(i, *view.at(c));
  }
}
// Arrives some time after cp_async_arrive.
template <int V, class G, class View, class Ptr, class Mask = NoMask>
void cp_async(G, View view, const Ptr& ptrs, const Mask& mask = {}) {
  using T = typename View::element;
  std::memset(view.base, 0xff, View::bytes);
  mock::block->copied.push_back(mock::range_of(view));
  mock::block->current().flight.copies_open.push_back([view, ptrs, mask] {
    for (int i = 0; i < Ptr::size; i++) {
      int c[max_rank];
      mock::coordinates_of<typename Ptr::layout>(i, c);
      *view.at(c) = mask.get(i) ? *ptrs.get(i) : T{};
    }
  });
}
template <class G> void cp_async_arrive(G, Bar& b) {
  mock::Flight& flight = mock::block->current().flight;
  mock::block->late.push_back([copies = std::move(flight.copies_open), &b] {
    for (const auto& copy : copies) copy();
    mock::arrive(b, G::threads);
  });
  flight.copies_open.clear();
}
}  // namespace tw
