// CPU stand-in for global and shared memory accesses.
#pragma once

namespace tw {
namespace mock {
// The bytes of a tile in shared memory: a part of a larger one is in pieces.
template <class View, class = void> struct InBlocks : std::false_type {};
template <class View> struct InBlocks<View, std::void_t<decltype(View::block_bytes)>> : std::true_type {};
template <class View> std::vector<Range> ranges_of(View view) {
  if constexpr (InBlocks<View>::value) {
    std::vector<Range> pieces;
    for (int i = 0; i < View::blocks; i++) {
      const unsigned char* from = view.base + i * View::block_bytes;
      const Range piece{from, from + View::lines * View::width};
      if (!pieces.empty() && pieces.back().second == piece.first) {
        pieces.back().second = piece.second;
      } else {
        pieces.push_back(piece);
      }
    }
    return pieces;
  } else {
    return {{view.base, view.base + View::bytes}};
  }
}
// Ordinary stores are not seen by TMA and wgmma before a fence of their writer, those of cp.async before anyone's.
template <class View> void must_be_fenced(View view) {
  const std::vector<Range> pieces = ranges_of(view);
  const auto reads = [&pieces](const Range& range) {
    return std::any_of(pieces.begin(), pieces.end(), [&range](const Range& piece) { return overlap(piece, range); });
  };
  for (const Role& r : block->roles)
    for (const Range& range : r.flight.unfenced)
      if (reads(range)) block->fail("the asynchronous proxy reads what " + r.name + " wrote without a fence after it");
  for (const Range& range : block->copied)
    if (reads(range)) block->fail("the asynchronous proxy reads what cp.async wrote without a fence after it");
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

template <class G, class View, class T, class L>
void smem_store(G, View view, const Tile<T, L>& s, int line = __builtin_LINE()) {
  mock::block->yield();
  mock::note(mock::ranges_of(view), true, line);
  for (const mock::Range& range : mock::ranges_of(view)) mock::block->current().flight.unfenced.push_back(range);
  for (int i = 0; i < s.size; i++) {
    int c[max_rank];
    mock::coordinates_of<L>(i, c);
    *view.at(c) = s.get(i);
  }
}
template <class G, class View, class T, class L>
void smem_load(G, Tile<T, L>& d, View view, int line = __builtin_LINE()) {
  mock::block->yield();
  mock::note(mock::ranges_of(view), false, line);
  for (int i = 0; i < d.size; i++) {
    int c[max_rank];
    mock::coordinates_of<L>(i, c);
    d.set(i, *view.at(c));
  }
}
// Arrives some time after cp_async_arrive.
template <int V, class G, class View, class Ptr, class Mask = NoMask>
void cp_async(G, View view, const Ptr& ptrs, const Mask& mask = {}, int line = __builtin_LINE()) {
  using T = typename View::element;
  const int me = mock::block->current().agent;
  mock::note(mock::ranges_of(view), true, line, me, mock::in_flight, &mock::block->current().flight.copies_noted);
  std::memset(view.base, 0xff, View::bytes);
  for (const mock::Range& range : mock::ranges_of(view)) mock::block->copied.push_back(range);
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
  for (const auto& access : flight.copies_noted) {
    access->agent = mock::block->meeting(b).agent;
    access->epoch = b.phases + 1;
  }
  flight.copies_noted.clear();
  mock::block->late.push_back([copies = std::move(flight.copies_open), &b] {
    for (const auto& copy : copies) copy();
    mock::arrive(b, G::threads);
  });
  flight.copies_open.clear();
}
}  // namespace tw
