// A role program written by hand: attention on tiles of 64 rows, one load role and one compute role, with faults to
// plant (`fault`). The mock runtime must run it right without a fault and find every fault.
#include <cstdio>
#include <cstdlib>

#include "twill.cuh"

struct Accumulator {  // 64 x 128, wgmma
  static constexpr int rank = 2, regs = 64, warps = 4, shape[2] = {64, 128};
  static constexpr int reg[6][2] = {{0, 1}, {8, 0}, {0, 8}, {0, 16}, {0, 32}, {0, 64}};
  static constexpr int lane[5][2] = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, warp[2][2] = {{16, 0}, {32, 0}};
};
struct Rows {  // its slice along the columns
  static constexpr int rank = 1, regs = 2, warps = 4, shape[1] = {64};
  static constexpr int reg[1][1] = {{8}}, lane[5][1] = {{0}, {0}, {1}, {2}, {4}}, warp[2][1] = {{16}, {32}};
};
struct Column {
  static constexpr int rank = 2, regs = 2, warps = 4, shape[2] = {64, 1};
  static constexpr int reg[1][2] = {{8, 0}}, warp[2][2] = {{16, 0}, {32, 0}};
  static constexpr int lane[5][2] = {{0, 0}, {0, 0}, {1, 0}, {2, 0}, {4, 0}};
};

enum Fault { None, NoFullWait, WaitTooWeak, EarlyRelease, NoRelease, NoFence, NoStoreWait, NoExpect, EarlyConversion, Faults };
constexpr int Rounds = 5, Length = 128 * Rounds, Depth = 128;
using Operand = tw::SharedTile<tw::f16, 128, 128, 128, false>;
using Query = tw::SharedTile<tw::f16, 64, 128, 128, false>;

struct Smem {
  alignas(1024) unsigned char q[Query::bytes];
  alignas(1024) unsigned char k[2][Operand::bytes];
  alignas(1024) unsigned char v[2][Operand::bytes];
  tw::Bar q_full, k_full[2], k_free[2], v_full[2], v_free[2];
};
struct Args {
  tw::Map q, k, v, o;
  int fault;
};

template <class G> void load_role(const Args& args, Smem& s, G g) {
  if (tw::elected(g)) {
    tw::bar_expect(s.q_full, Query::bytes);
    tw::tma_load(s.q_full, Query{s.q}, args.q, tw::program_id<0>() * 64, 0);
  }
  tw::Cursor<2> free;
  free.parity = 1;
  for (int i = 0; i < Rounds; i++) {
    tw::bar_wait(s.k_free[free.slot], free.parity);
    if (args.fault != NoExpect) tw::bar_expect(s.k_full[free.slot], Operand::bytes);
    tw::tma_load(s.k_full[free.slot], Operand{s.k[free.slot]}, args.k, i * 128, 0);
    tw::bar_wait(s.v_free[free.slot], free.parity);
    tw::bar_expect(s.v_full[free.slot], Operand::bytes);
    tw::tma_load(s.v_full[free.slot], Operand{s.v[free.slot]}, args.v, i * 128, 0);
    free.next();
  }
}

template <class G> void compute_role(const Args& args, Smem& s, G g) {
  const Query q{s.q};
  tw::bar_wait(s.q_full, 0);
  tw::Tile<float, Accumulator> scores, out, p, over;
  tw::Tile<float, Rows> top, sum, new_top, alpha, row;
  tw::Tile<float, Column> column;
  tw::Tile<tw::f16, Accumulator> half;
  tw::fill(out, 0.0f);
  tw::fill(sum, 0.0f);
  tw::fill(top, -1e30f);
  tw::Cursor<2> full;
  for (int i = 0; i < Rounds; i++) {
    const Operand k{s.k[full.slot]}, v{s.v[full.slot]};
    if (args.fault != NoFullWait) tw::bar_wait(s.k_full[full.slot], full.parity);
    tw::mma_fence();
    tw::mma_ss(g, scores, q, k.trans(), false);
    tw::mma_commit();
    if (args.fault == EarlyRelease) tw::bar_arrive(g, s.k_free[full.slot]);
    if (args.fault == WaitTooWeak) {
      tw::mma_wait<1>();
    } else {
      tw::mma_wait<0>();
    }
    if (args.fault != EarlyRelease && args.fault != NoRelease) tw::bar_arrive(g, s.k_free[full.slot]);
    tw::reduce<1>(g, row, scores, TW_FN(float a, float b) { return tw::maxnum(a, b); });
    tw::map(new_top, TW_FN(float a, float b) { return tw::maxnum(a, b); }, row, top);
    tw::expand<1>(column, new_top);
    tw::broadcast(over, column);
    tw::map(p, TW_FN(float a, float b) { return tw::exp2(a - b); }, scores, over);
    tw::map(alpha, TW_FN(float a, float b) { return tw::exp2(a - b); }, top, new_top);
    tw::reduce<1>(g, row, p, TW_FN(float a, float b) { return a + b; });
    tw::map(sum, TW_FN(float a, float b, float c) { return a * b + c; }, sum, alpha, row);
    tw::cast(half, p);
    tw::expand<1>(column, alpha);
    tw::broadcast(over, column);
    tw::map(out, TW_FN(float a, float b) { return a * b; }, out, over);
    tw::bar_wait(s.v_full[full.slot], full.parity);
    tw::mma_fence();
    tw::mma_rs(g, out, half, v, true);
    tw::mma_commit();
    if (args.fault == EarlyConversion) tw::cast(half, scores);
    tw::mma_wait<0>();
    tw::bar_arrive(g, s.v_free[full.slot]);
    tw::copy(top, new_top);
    full.next();
  }
  tw::expand<1>(column, sum);
  tw::broadcast(over, column);
  tw::map(out, TW_FN(float a, float b) { return a / b; }, out, over);
  tw::cast(half, out);
  tw::group_sync(g);  // the other warps are done with q too
  tw::smem_store(g, q, half);
  if (args.fault != NoFence) tw::async_fence();
  tw::group_sync(g);
  if (tw::elected(g)) {
    tw::tma_store(args.o, q, tw::program_id<0>() * 64, 0);
    tw::tma_store_commit();
    if (args.fault != NoStoreWait) tw::tma_store_wait<0>();
  }
}

// Prints, for each fault and seed: fault, seed, whether the run was accepted, the error, the mock's message.
int main() {
  std::vector<tw::f16> q(Length * Depth), k(q), v(q), o(q);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (auto* tensor : {&q, &k, &v})
    for (auto& e : *tensor) e = tw::f16::of(normal(random) * 0.3f);
  constexpr int Queries = 128;
  std::vector<double> want(Queries * Depth);
  for (int i = 0; i < Queries; i++) {
    std::vector<double> p(Length);
    double top = -1e30, sum = 0;
    for (int j = 0; j < Length; j++) {
      for (int d = 0; d < Depth; d++) p[j] += double(q[i * Depth + d].value()) * k[j * Depth + d].value();
      top = std::max(top, p[j]);
    }
    for (double& x : p) sum += x = std::exp2(x - top);
    for (int j = 0; j < Length; j++)
      for (int d = 0; d < Depth; d++) want[i * Depth + d] += p[j] / sum * v[j * Depth + d].value();
  }
  const auto map_of = [](std::vector<tw::f16>& x) { return tw::make_map<tw::f16>(x.data(), {Length, Depth}, {Depth, 1}, {64, 64}, 128); };
  auto s = std::make_unique<Smem>();
  for (int fault = None; fault < Faults; fault++)
    for (unsigned seed = 1; seed <= 6; seed++) {
      std::fill(o.begin(), o.end(), tw::f16{0x7fff});
      const Args args{map_of(q), map_of(k), map_of(v), map_of(o), fault};
      const auto report = tw::mock::launch({Queries / 64, 1, 1}, seed, [&](tw::mock::Block& b) {
        tw::bar_init(s->q_full, 1, "q full");
        for (int i = 0; i < 2; i++) {
          tw::bar_init(s->k_full[i], 1, "k full");
          tw::bar_init(s->v_full[i], 1, "v full");
          tw::bar_init(s->k_free[i], 4, "k free");
          tw::bar_init(s->v_free[i], 4, "v free");
        }
        b.roles.push_back({"load", 1, [&] { load_role(args, *s, tw::Group<0, 1, 1>{}); }});
        b.roles.push_back({"compute", 4, [&] { compute_role(args, *s, tw::Group<128, 4, 2>{}); }});
      });
      double error = 0, norm = 0;
      for (int i = 0; i < Queries * Depth; i++) {
        error += std::pow(o[i].value() - want[i], 2);
        norm += want[i] * want[i];
      }
      std::printf("%d|%u|%d|%.3e|%s\n", fault, seed, report.ok, std::sqrt(error / norm), report.message.c_str());
    }
}
