// mbarriers, named barriers, register hand-over.
#pragma once

namespace tw {
using Bar = uint64_t;  // an mbarrier in shared memory

// `name` is for the mock's messages.
TW_CALL void bar_init(Bar& b, int count, const char* = "") { px::mbarrier_init(&b, static_cast<uint32_t>(count)); }
// After the inits, by the thread that made them: the asynchronous proxy sees them too.
TW_CALL void bar_init_fence() {
  px::fence_mbarrier_init(px::sem_release, px::scope_cluster);
  px::fence_proxy_async(px::space_shared);
}
TW_CALL void bar_wait(Bar& b, uint32_t parity) {
  while (!px::mbarrier_try_wait_parity(&b, parity)) {
  }
}
TW_CALL void bar_expect(Bar& b, int bytes) {
  (void)px::mbarrier_arrive_expect_tx(px::sem_release, px::scope_cta, px::space_shared, &b, static_cast<uint32_t>(bytes));
}
// After everything the group's threads did before: one arrival for each warp. For tools that do not follow an order
// through __syncwarp, TWILL_EACH_THREAD_ARRIVES makes it one for each thread.
#ifdef TWILL_EACH_THREAD_ARRIVES
constexpr int arrivals_of_warp = 32;
#else
constexpr int arrivals_of_warp = 1;
#endif
TW_BOTH int arrivals(int warps) { return warps * arrivals_of_warp; }
template <class G> TW_CALL void bar_arrive(G, Bar& b) {
  __syncwarp();
  if (arrivals_of_warp > 1 || G::lane() == 0) (void)px::mbarrier_arrive(&b);
}

// One cursor for each (ring, role, direction): use number `n` is slot n % S with parity n / S % 2.
template <int S> struct Cursor {
  int slot = 0;
  uint32_t parity = 0;
  TW_CALL void next() {
    if (++slot == S) {
      slot = 0;
      parity ^= 1;
    }
  }
};

TW_CALL void named_sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
TW_CALL void named_arrive(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
template <class G> TW_CALL void group_sync(G) {
  if constexpr (G::warps == 1) {
    __syncwarp();
  } else {
    named_sync(G::barrier, G::threads);
  }
}
TW_CALL void block_sync() { __syncthreads(); }

// True in one thread of the group's first warp.
template <class G> TW_CALL bool elected(G) {
  uint32_t p;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}\n" : "=r"(p));
  return p != 0 && G::thread() < 32;  // no shuffle here: one thread is left
}
template <int R> TW_CALL void registers_up() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R)); }
template <int R> TW_CALL void registers_down() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R)); }
// Makes ordinary stores to shared memory visible to TMA and the tensor core (each writer, before the barrier).
TW_CALL void async_fence() { px::fence_proxy_async(px::space_shared); }
}  // namespace tw
