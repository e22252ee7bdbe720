// What orders two accesses to shared memory on the CPU stand-in: vector clocks (Fidge, Mattern 1988). Of two accesses to
// the same bytes, one of them a write, one must be known to whoever makes the other, or they race, in whatever order the
// seed ran them. Known is what came before an arrival that a wait has seen, and so on through others.
// The warps of a role are alike, so one clock stands for all: what they did themselves they know of one another only
// from where they met. Copies that arrive late are the barrier's own accesses, known with the phase that they complete.
#pragma once
#include <climits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tw {
namespace mock {
using Range = std::pair<const unsigned char*, const unsigned char*>;
inline bool overlap(const Range& a, const Range& b) { return a.first < b.second && b.first < a.second; }
inline bool covers(const Range& all, const Range& part) { return all.first <= part.first && part.second <= all.second; }

// By agent (a role or a barrier): the last of its epochs that is known.
class Known {
 public:
  long of(int agent) const {
    const auto found = epochs_.find(agent);
    return found == epochs_.end() ? 0 : found->second;
  }
  void learn(int agent, long epoch) {
    long& last = epochs_[agent];
    if (last < epoch) last = epoch;
  }
  void learn(const Known& other) {
    for (const auto& [agent, epoch] : other.epochs_) learn(agent, epoch);
  }

 private:
  std::map<int, long> epochs_;
};

// Arrivals of the current phase of a barrier, and of all that are complete.
struct Meeting {
  int agent = 0;
  Known gathered, complete;
  void end_phase() {
    complete.learn(gathered);
    gathered = {};
  }
};

constexpr long in_flight = LONG_MAX;  // the epoch of what nobody can know yet
struct Access {
  Range range;
  bool writes;
  int agent;
  long epoch;
  std::string by;
  int line;
};
using Accesses = std::vector<std::shared_ptr<Access>>;

class Order {
 public:
  int new_agent() { return agents_++; }
  long now(int role) { return 1 + past_[role]; }
  const Known& known(int role) { return known_[role]; }

  // What a role did so far is known to those who see this arrival.
  void release(int role, Known& into) {
    into.learn(known_[role]);
    into.learn(role, now(role));
    past_[role]++;
  }
  void acquire(int role, const Known& from) { known_[role].learn(from); }
  // The threads of a role meet.
  void meet(int role) {
    known_[role].learn(role, now(role));
    past_[role]++;
  }

  // Notes an access of `role`, or one that it starts (`agent`, `epoch`: whose it is then). The fault, if it races.
  std::string note(int role, const Access& access, Accesses* noted = nullptr) {
    const Known& known = known_[role];
    for (const auto& other : accesses_)
      if ((other->writes || access.writes) && overlap(other->range, access.range) && known.of(other->agent) < other->epoch)
        return "a race: " + access.by + verb(access) + " shared memory at line " + std::to_string(access.line) + ", which " +
               other->by + verb(*other) + " at line " + std::to_string(other->line) + ", and nothing orders the two";
    // What is ordered before a write need not be remembered: who knows the write knows it too.
    for (std::size_t i = accesses_.size(); i-- > 0;) {
      const Access& other = *accesses_[i];
      const bool again = !access.writes && !other.writes && other.agent == access.agent && other.epoch != in_flight &&
                         access.epoch != in_flight && other.range == access.range;
      if (again || (access.writes && covers(access.range, other.range))) accesses_.erase(accesses_.begin() + static_cast<long>(i));
    }
    accesses_.push_back(std::make_shared<Access>(access));
    if (noted) noted->push_back(accesses_.back());
    return "";
  }

 private:
  static std::string verb(const Access& access) { return access.writes ? " writes" : " reads"; }
  int agents_ = 0;
  std::map<int, long> past_;  // by role: arrivals so far
  std::map<int, Known> known_;
  Accesses accesses_;
};
}  // namespace mock
}  // namespace tw
