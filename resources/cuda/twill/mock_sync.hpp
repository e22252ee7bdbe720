// CPU stand-in for a thread block: every role is a thread, one runs at a time, and at each synchronisation the seed
// chooses who goes on and which late copies arrive. Runs with the same seed are the same.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mock_order.hpp"

namespace tw {
// An mbarrier: arrivals and bytes that its current phase still lacks, and how many phases are complete.
struct Bar {
  int count, pending;
  long bytes;
  uint32_t phases;
  const char* name;
};

namespace mock {
struct Stop {};  // unwinds the roles of a failed block

struct MatrixOp {
  const void* accumulator;
  std::function<void()> run;
};
// What a role has in flight.
struct Flight {
  std::vector<std::vector<MatrixOp>> matrix_groups;  // committed, oldest first
  std::vector<MatrixOp> matrix_open;
  std::vector<Accesses> matrix_reads;  // of each of matrix_groups: tiles that they read until their wait
  Accesses matrix_reads_open;
  std::vector<std::vector<std::function<void()>>> store_groups;
  std::vector<std::function<void()>> stores_open, copies_open;
  Accesses copies_noted;  // of copies_open
  std::vector<Range> unfenced;  // written, not yet visible to TMA and wgmma
};
struct Role {
  std::string name;
  int warps;
  std::function<void()> body;
  std::function<bool()> until{};  // what it waits for; empty: it can go on
  std::string waits_for{};
  bool done = false;
  int agent = 0;
  Flight flight{};
};
struct Named {
  int arrived = 0, generation = 0;
  Meeting meeting{};
};

class Block {
 public:
  Block(const int (&id)[3], const int (&grid)[3], unsigned seed) : random_(seed) {
    std::copy(id, id + 3, this->id);
    std::copy(grid, grid + 3, this->grid);
  }
  int id[3], grid[3];
  Named named[16];
  std::vector<std::function<void()>> late;  // copies under way, in no order
  std::vector<Range> copied;                // by cp.async, since anyone's fence
  std::vector<Role> roles;
  std::string failure;
  long long changes = 0;  // how often a role was chosen
  Order order;
  std::map<const Bar*, Meeting> meetings;  // of mbarriers

  Meeting& meeting(const Bar& b) {
    const auto [found, fresh] = meetings.try_emplace(&b);
    if (fresh) found->second.agent = order.new_agent();
    return found->second;
  }
  bool chance(int one_in) { return random_() % static_cast<unsigned>(one_in) == 0; }

  // Runs the roles to their ends. False: `failure` says why not.
  bool run();

  // Lets others run; returns when `until` holds and the seed chooses this role again.
  void wait(std::function<bool()> until, std::string what) {
    Role& me = current();
    me.until = std::move(until);
    me.waits_for = std::move(what);
    std::unique_lock lock(mutex_);
    choose();
    turn(lock, me);
    me.until = nullptr;
  }
  void yield() { wait([] { return true; }, ""); }
  [[noreturn]] void fail(const std::string& what) {
    if (failure.empty()) failure = current().name + ": " + what;
    throw Stop{};
  }
  Role& current() { return roles[static_cast<std::size_t>(running_)]; }

 private:
  void turn(std::unique_lock<std::mutex>& lock, Role& me) {
    changed_.wait(lock, [&] { return &current() == &me || !failure.empty(); });
    if (!failure.empty()) throw Stop{};
  }
  // Picks the next role; runs late copies now and then, and all it takes if nobody can go on.
  void choose() {
    if (!late.empty() && chance(3)) arrive();
    for (;;) {
      std::vector<int> ready;
      bool all_done = true;
      for (std::size_t i = 0; i < roles.size(); i++) {
        all_done = all_done && roles[i].done;
        if (!roles[i].done && (!roles[i].until || roles[i].until())) ready.push_back(static_cast<int>(i));
      }
      if (!ready.empty()) {
        running_ = ready[random_() % ready.size()];
        changes++;
        break;
      }
      if (all_done) break;
      if (late.empty()) {
        failure = "deadlock:";
        for (const Role& r : roles)
          if (!r.done) failure += " " + r.name + " waits for " + r.waits_for + ";";
        break;
      }
      arrive();
    }
    changed_.notify_all();
  }
  void arrive() {
    const std::size_t i = random_() % late.size();
    const auto copy = std::move(late[i]);
    late.erase(late.begin() + static_cast<long>(i));
    copy();
  }
  void end(Role& me) {
    std::unique_lock lock(mutex_);
    me.done = true;
    try {
      if (failure.empty()) choose();
    } catch (const Stop&) {
    }
    changed_.notify_all();
  }

  std::mt19937 random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
};

inline thread_local Block* block = nullptr;

inline bool Block::run() {
  std::vector<std::thread> threads;
  for (Role& role : roles) role.agent = order.new_agent();
  for (Role& role : roles)
    threads.emplace_back([this, &role] {
      block = this;
      try {
        {
          std::unique_lock lock(mutex_);
          turn(lock, role);
        }
        role.body();
        if (!role.flight.store_groups.empty() || !role.flight.stores_open.empty())
          fail("ends while its bulk stores still read shared memory");
        if (!role.flight.matrix_groups.empty() || !role.flight.matrix_open.empty()) fail("ends with matrix operations in flight");
      } catch (const Stop&) {
      }
      end(role);
    });
  for (std::thread& t : threads) t.join();
  return failure.empty();
}

struct Report {
  bool ok;
  std::string message;
};

// Runs every block of a grid, one after another; `prepare` fills a block's roles.
template <class F> Report launch(const int (&grid)[3], unsigned seed, F prepare) {
  for (int z = 0; z < grid[2]; z++)
    for (int y = 0; y < grid[1]; y++)
      for (int x = 0; x < grid[0]; x++) {
        const int id[3] = {x, y, z};
        Block b(id, grid, seed + static_cast<unsigned>(x + 131 * y + 17161 * z));
        prepare(b);
        if (!b.run())
          return {false, "block " + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ": " + b.failure};
      }
  return {true, ""};
}

inline std::string name_of(const Bar& b) { return b.name && *b.name ? b.name : "an mbarrier"; }
inline void settle(Bar& b) {
  if (b.pending < 0) block->fail("more arrivals than it counts at " + name_of(b));
  if (b.pending == 0 && b.bytes == 0) {
    b.phases++, b.pending = b.count;
    Meeting& meeting = block->meeting(b);
    meeting.end_phase();
    meeting.complete.learn(meeting.agent, b.phases);
  }
}
inline void arrive(Bar& b, int n) {
  b.pending -= n;
  settle(b);
}
// The role at hand arrives, and with it what it knows.
inline void arrive_role(Bar& b, int n) {
  block->order.release(block->current().agent, block->meeting(b).gathered);
  arrive(b, n);
}

// Notes accesses of the role at hand, or of `agent`, that it starts.
inline void note(const std::vector<Range>& ranges, bool writes, int line, int agent, long epoch, Accesses* noted) {
  const Role& me = block->current();
  for (const Range& range : ranges) {
    const std::string fault = block->order.note(me.agent, {range, writes, agent, epoch, me.name, line}, noted);
    if (!fault.empty()) block->fail(fault);
  }
}
inline void note(const std::vector<Range>& ranges, bool writes, int line) {
  const int me = block->current().agent;
  note(ranges, writes, line, me, block->order.now(me), nullptr);
}
// A read that the tensor core or the copy engine does until it is waited for.
inline void note_until_waited(const std::vector<Range>& ranges, int line, Accesses& noted) {
  note(ranges, false, line, block->current().agent, in_flight, &noted);
}
inline void waited(const Accesses& accesses) {
  const int me = block->current().agent;
  for (const auto& access : accesses) access->epoch = block->order.now(me);
}
inline std::string at_line(const std::string& what, int line) { return what + " at line " + std::to_string(line); }
}  // namespace mock

template <int Axis> int program_id() { return mock::block->id[Axis]; }
template <int Axis> int num_programs() { return mock::block->grid[Axis]; }
inline void trap(const char* what) { mock::block->fail(what); }

inline void bar_init(Bar& b, int count, const char* name = "") { b = Bar{count, count, 0, 0, name}; }
inline int arrivals(int warps) { return warps; }
inline void bar_init_fence() {}
inline void bar_wait(Bar& b, uint32_t parity, int line = __builtin_LINE()) {
  mock::block->wait([&b, parity] { return (b.phases & 1) != parity; }, mock::at_line(mock::name_of(b), line));
  mock::block->order.acquire(mock::block->current().agent, mock::block->meeting(b).complete);
}
inline void bar_expect(Bar& b, int bytes) {
  b.bytes += bytes;
  mock::arrive_role(b, 1);
}
template <class G> void bar_arrive(G, Bar& b) {
  mock::arrive_role(b, G::warps);
  mock::block->yield();
}

template <int S> struct Cursor {
  int slot = 0;
  uint32_t parity = 0;
  void next() {
    if (++slot == S) slot = 0, parity ^= 1;
  }
};

inline void named_arrive(int id, int threads) {
  mock::Named& n = mock::block->named[id];
  n.arrived += 32 * mock::block->current().warps;
  mock::block->order.release(mock::block->current().agent, n.meeting.gathered);
  if (n.arrived > threads) mock::block->fail("named barrier " + std::to_string(id) + " got more arrivals than it counts");
  if (n.arrived == threads) {
    n.arrived = 0, n.generation++;
    n.meeting.end_phase();
  }
}
inline void named_sync(int id, int threads, int line = __builtin_LINE()) {
  mock::Named& n = mock::block->named[id];
  const int generation = n.generation;
  named_arrive(id, threads);
  mock::block->wait([&n, generation] { return n.generation != generation; }, mock::at_line("a named barrier", line));
  mock::block->order.acquire(mock::block->current().agent, n.meeting.complete);
}
template <class G> void group_sync(G) {
  mock::block->order.meet(mock::block->current().agent);
  mock::block->yield();
}
inline void block_sync() {}
template <class G> bool elected(G) { return true; }
template <int R> void registers_up() {}
template <int R> void registers_down() {}
inline void async_fence() {
  mock::block->current().flight.unfenced.clear();
  mock::block->copied.clear();
}
}  // namespace tw
