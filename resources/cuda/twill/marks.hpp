// Built with -DTWILL_TRACE, a kernel notes when each op of a scheduled loop began and ended: the first thread of each role
// of the first block, by the SM's clock (on the CPU: by how often the roles have changed). Without it marks are nothing.
#pragma once

#ifdef TWILL_TRACE
namespace tw {
struct Mark {
  int op, iteration;
  long long begin, end;
};
struct Marked {
  int loop;
  const char* op;
};
constexpr int most_marks = 4096;  // of a role; what comes later is not noted
#ifdef TWILL_MOCK
constexpr const char* clock_name = "changes";
#else
constexpr const char* clock_name = "cycles";
#endif

template <class G> class Marks {
 public:
  TW_CALL Marks(G, Mark* all, int role) : at_(all + role * most_marks), left_(all && mine() ? most_marks : 0) {}
  TW_CALL void begin(int op, int iteration) {
    if (left_ > 0) at_->op = op, at_->iteration = iteration, at_->begin = now();
  }
  TW_CALL void end() {
    if (left_ > 0) at_->end = now(), at_++, left_--;
  }

 private:
#ifdef TWILL_MOCK
  static bool mine() { return !mock::block->id[0] && !mock::block->id[1] && !mock::block->id[2]; }
  static long long now() { return mock::block->changes; }
#else
  TW_CALL static bool mine() { return G::thread() == 0 && !blockIdx.x && !blockIdx.y && !blockIdx.z; }
  TW_CALL static long long now() { return clock64(); }
#endif
  Mark* at_;
  int left_;
};
}  // namespace tw
#define TW_MARKS(p, role) tw::Marks<decltype(g)> twill_marks(g, (p).marks, role)
#define TW_BEGIN(op, iteration) twill_marks.begin(op, iteration)
#define TW_END() twill_marks.end()
#else
#define TW_MARKS(p, role)
#define TW_BEGIN(op, iteration)
#define TW_END()
#endif
