// Hand-overs of a tile through shared memory, each with what orders it left out or moved (`fault`): the mock must find
// every fault for every seed, also where late and early happen to go well, and nothing without one.
#include <cstdio>

#include "twill.cuh"

struct Square {  // 64 x 64, wgmma
  static constexpr int rank = 2, regs = 32, warps = 4, shape[2] = {64, 64};
  static constexpr int reg[5][2] = {{0, 1}, {8, 0}, {0, 8}, {0, 16}, {0, 32}};
  static constexpr int lane[5][2] = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, warp[2][2] = {{16, 0}, {32, 0}};
};
using View = tw::SharedTile<tw::f16, 64, 64, 128, false>;
using Values = tw::Tile<tw::f16, Square>;
constexpr int Rounds = 6;

enum Fault {
  None,
  NoFullWait,
  NoFreeWait,
  FullBeforeStore,
  FreeBeforeLoad,
  WrongParity,
  NoNamedWait,
  NoMeetingBeforeLoad,
  NoMeetingBeforeStore,
  FreeBeforeMatrixWait,
  StoreIntoCopy,
  StoreUnderBulkStore,
  Faults
};
struct Smem {
  alignas(1024) unsigned char ring[2][View::bytes];
  alignas(1024) unsigned char own[View::bytes];
  alignas(1024) unsigned char named[View::bytes];
  alignas(1024) unsigned char loaded[View::bytes];
  tw::Bar full[2], free[2], loaded_full;
};

template <class G> void writer(Smem& s, const tw::Map& out, int fault, G g) {
  Values v;
  tw::Cursor<2> wait, arrive;
  for (int i = 0; i < Rounds; i++) {
    tw::fill(v, tw::f16::of(float(i)));
    if (fault != NoFreeWait) tw::bar_wait(s.free[wait.slot], wait.parity ^ 1);
    if (fault == FullBeforeStore) tw::bar_arrive(g, s.full[arrive.slot]);
    tw::smem_store(g, View{s.ring[wait.slot]}, v);
    tw::async_fence();
    if (fault != FullBeforeStore) tw::bar_arrive(g, s.full[arrive.slot]);
    wait.next(), arrive.next();
  }
  // a tile for itself, in another layout
  for (int i = 0; i < 2; i++) {
    if (fault != NoMeetingBeforeStore) tw::group_sync(g);
    tw::smem_store(g, View{s.own}, v);
    if (fault != NoMeetingBeforeLoad) tw::group_sync(g);
    tw::smem_load(g, v, View{s.own});
  }
  tw::smem_store(g, View{s.named}, v);
  tw::async_fence();
  tw::named_arrive(3, 256);
  // a tile that leaves by the copy engine, and its memory again
  tw::group_sync(g);
  tw::smem_store(g, View{s.own}, v);
  tw::async_fence();
  tw::group_sync(g);
  tw::tma_store(out, View{s.own}, 0, 0);
  tw::tma_store_commit();
  if (fault != StoreUnderBulkStore) tw::tma_store_wait<0>();
  tw::group_sync(g);
  tw::smem_store(g, View{s.own}, v);
  if (fault == StoreUnderBulkStore) tw::tma_store_wait<0>();
}

template <class G> void reader(Smem& s, const tw::Map& out, int fault, G g) {
  Values v;
  tw::Tile<float, Square> sum;
  tw::Cursor<2> wait, arrive;
  for (int i = 0; i < Rounds; i++) {
    const View tile{s.ring[wait.slot]};
    if (fault != NoFullWait) tw::bar_wait(s.full[wait.slot], fault == WrongParity ? wait.parity ^ 1 : wait.parity);
    if (fault == FreeBeforeLoad) tw::bar_arrive(g, s.free[arrive.slot]);
    if (i % 2) {
      tw::smem_load(g, v, tile);
    } else {
      tw::mma_fence();
      tw::mma_ss(g, sum, tile, tile, false);
      tw::mma_commit();
      if (fault == FreeBeforeMatrixWait) tw::bar_arrive(g, s.free[arrive.slot]);
      tw::mma_wait<0>();
    }
    if (fault != FreeBeforeLoad && !(fault == FreeBeforeMatrixWait && i % 2 == 0)) tw::bar_arrive(g, s.free[arrive.slot]);
    wait.next(), arrive.next();
  }
  // a tile that the copy engine brings
  tw::bar_expect(s.loaded_full, View::bytes);
  tw::tma_load(s.loaded_full, View{s.loaded}, out, 0, 0);
  if (fault == StoreIntoCopy) tw::smem_store(g, View{s.loaded}, v);
  tw::bar_wait(s.loaded_full, 0);
  tw::smem_load(g, v, View{s.loaded});
  if (fault == NoNamedWait) {
    tw::named_arrive(3, 256);
  } else {
    tw::named_sync(3, 256);
  }
  tw::smem_load(g, v, View{s.named});
}

// Prints, for each fault and seed: fault, seed, whether the run was accepted, the mock's message.
int main() {
  std::vector<tw::f16> data(64 * 64);
  const tw::Map out = tw::make_map<tw::f16>(data.data(), {64, 64}, {64, 1}, {64, 64}, 128);
  auto s = std::make_unique<Smem>();
  for (int fault = None; fault < Faults; fault++)
    for (unsigned seed = 1; seed <= 12; seed++) {
      const auto report = tw::mock::launch({1, 1, 1}, seed, [&](tw::mock::Block& b) {
        for (int i = 0; i < 2; i++) {
          tw::bar_init(s->full[i], 4, "full");
          tw::bar_init(s->free[i], 4, "free");
        }
        tw::bar_init(s->loaded_full, 1, "loaded");
        b.roles.push_back({"writer", 4, [&] { writer(*s, out, fault, tw::Group<0, 4, 1>{}); }});
        b.roles.push_back({"reader", 4, [&] { reader(*s, out, fault, tw::Group<128, 4, 2>{}); }});
      });
      std::printf("%d|%u|%d|%s\n", fault, seed, report.ok ? 1 : 0, report.message.c_str());
    }
}
