// The engine of the exact searches: branch and bound over a tree that the caller describes. Lanes (rounds.h)
// dive depth first, best child first, into the most promising open subtrees; what a lane leaves unfinished
// after its round goes back to one best-first frontier, from which the next round is dealt. When the frontier
// is full lanes keep their stacks, so memory stays bounded and the search degrades to depth first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/search/deadline.h"
#include "tilewright/search/objective.h"
#include "tilewright/search/result.h"
#include "tilewright/search/rounds.h"

namespace tilewright {

struct TreeOptions {
  int threads = 1;
  SearchLimits limits;       // evaluations may be exceeded by the leaves of one expansion per lane
  int lanes = 16;            // unlike the threads, lanes, quantum and max_open are part of the result
  int64_t quantum = 1024;    // expansions of a lane in a round; the first rounds are shorter
  int64_t max_open = 65536;  // lanes keep their stacks while so many nodes wait in the frontier

  // Throws an Error (invalid input) with every problem.
  void verify() const;
};

// What a problem reports its children to. `make` is called only if the child is kept.
template <typename Problem>
struct SinkShape {
  using Value = typename Problem::Value;
  bool prunes(const Value&) { return false; }
  template <typename Make>
  void branch(const Value&, Make&&) {}
  template <typename Make>
  void leaf(const Value&, Make&&) {}
};

// A tree to search. `roots` and `expand` are called by several threads at once and report to a sink.
//
// sink.branch(bound, make): an inner node make() and a lower bound of all leaves below it (raised to the
// parent's if that is higher).
//
// sink.leaf(value, make): a solution make() and its value.
//
// sink.prunes(bound): true if nothing bounded so is wanted, a chance to skip work before branching; counts
// one pruned node.
//
// Children must be a function of the node alone, but for those left out because of prunes(). Optional:
// `bool dominates(const Node& a, const Node& b) const` for two children of one node: below `a` there is, for
// every leaf below `b`, one that is not worse. Of a pair only the child with the lower bound (or, at equal
// bounds, the one reported first) is asked to dominate the other.
template <typename P>
concept TreeProblem = SearchValue<typename P::Value> && std::movable<typename P::Node> &&
    requires(const P& problem, const typename P::Node& node, SinkShape<P>& sink) {
  typename P::Solution;
  problem.roots(sink);
  problem.expand(node, sink);
};

template <typename P>
concept HasDominance = requires(const P& problem, const typename P::Node& a, const typename P::Node& b) {
  { problem.dominates(a, b) } -> std::convertible_to<bool>;
};

template <TreeProblem Problem, typename Record>
class TreeSearch;

// The sink of a lane. `Record` holds the best of what was found: prunes(value), offer(value, make) ->
// entered, merge(Record&&), empty().
template <TreeProblem Problem, typename Record>
class alignas(64) TreeLane {
 public:
  using Node = typename Problem::Node;
  using Value = typename Problem::Value;

  bool prunes(const Value& bound) {
    if (!shared_->prunes(bound) && !found_.prunes(bound)) return false;
    ++counts_.pruned;
    return true;
  }
  template <typename Make>
  void branch(const Value& bound, Make&& make) {
    const Value tight = parent_ ? tighter(*parent_, bound) : bound;
    const int64_t index = children_++;
    if (!prunes(tight)) stack_.push_back(Open{tight, index, make()});
  }
  template <typename Make>
  void leaf(const Value& value, Make&& make) {
    ++counts_.evaluations;
    ++counts_.valid;
    if (shared_->prunes(value) || found_.prunes(value)) return;
    found_.offer(value, std::forward<Make>(make));
    found_seconds_ = deadline_->seconds();
  }

 private:
  friend class TreeSearch<Problem, Record>;
  struct Open {
    Value bound;
    int64_t serial;
    Node node;
  };

  TreeLane(const Problem& problem, const Record& shared, const Deadline& deadline)
      : problem_(&problem), shared_(&shared), deadline_(&deadline), watch_(deadline) {}

  void roots() {
    problem_->roots(*this);
    settle(0);
  }

  void advance(int64_t nodes, int64_t evaluations) {
    const int64_t last_node = counts_.nodes + nodes, last_evaluation = counts_.evaluations + evaluations;
    while (!stack_.empty() && counts_.nodes < last_node && counts_.evaluations < last_evaluation) {
      if (watch_.expired()) return;
      Open open = std::move(stack_.back());
      stack_.pop_back();
      if (prunes(open.bound)) continue;
      ++counts_.nodes;
      const size_t first = stack_.size();
      parent_ = &open.bound;
      children_ = 0;
      if (!finishes(*deadline_, [&] { problem_->expand(open.node, *this); })) {
        // What the children leave of the node is not known: it stays open.
        stack_.erase(stack_.begin() + std::ptrdiff_t(first), stack_.end());
        stack_.push_back(std::move(open));
        return;
      }
      settle(first);
    }
  }

  // Orders the children from `first` on so that the best is on top, and drops dominated ones.
  void settle(size_t first) {
    const auto begin = stack_.begin() + std::ptrdiff_t(first);
    std::sort(begin, stack_.end(), [](const Open& a, const Open& b) {
      return b.bound < a.bound || (a.bound == b.bound && b.serial < a.serial);
    });
    if constexpr (HasDominance<Problem>) {
      size_t keep = stack_.size();
      for (size_t i = keep; i-- > first;) {
        const bool dominated =
            std::any_of(stack_.begin() + std::ptrdiff_t(keep), stack_.end(),
                        [&](const Open& kept) { return problem_->dominates(kept.node, stack_[i].node); });
        if (dominated) {
          ++counts_.pruned;
        } else if (--keep != i) {
          stack_[keep] = std::move(stack_[i]);
        }
      }
      stack_.erase(begin, stack_.begin() + std::ptrdiff_t(keep));
    }
  }

  const Problem* problem_;
  const Record* shared_;
  const Deadline* deadline_;
  DeadlineWatch watch_;
  std::vector<Open> stack_;
  Record found_;
  double found_seconds_ = 0;
  const Value* parent_ = nullptr;
  int64_t children_ = 0;
  SearchCounts counts_;
};

template <TreeProblem Problem, typename Record>
class TreeSearch {
 public:
  using Value = typename Problem::Value;

  TreeSearch(const Problem& problem, const TreeOptions& options, Record& record)
      : options_(options),
        record_(record),
        deadline_(options.limits.seconds, options.limits.deadline),
        crew_(options.threads) {
    for (int i = 0; i < options.lanes; ++i) lanes_.push_back(Lane(problem, record, deadline_));
  }

  // Searches until the tree is exhausted or a limit is reached. `after_round(improved_seconds)` is called
  // after every round, with the time of its last improvement or a negative number; it returns whether to go
  // on.
  template <typename AfterRound>
  void run(AfterRound&& after_round) {
    if (!finishes(deadline_, [&] { lanes_[0].roots(); })) {
      lanes_[0].stack_.clear();
      rootless_ = true;
    }
    slice_ = std::min<int64_t>(16, options_.quantum);
    bool more = finish_round(after_round);
    while (more && !rootless_ && !complete() && !limit_reached()) {
      advance_lanes();
      more = finish_round(after_round);
    }
  }

  // Whether every leaf was visited or pruned.
  bool complete() const {
    return !rootless_ && frontier_.empty() &&
           std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.stack_.empty(); });
  }
  // A lower bound of everything not yet visited; none when complete, or stopped before there was anything
  // open.
  std::optional<Value> open_bound() const {
    std::optional<Value> bound;
    const auto add = [&](const Value& value) { bound = bound ? lower(*bound, value) : value; };
    if constexpr (requires(const Value& v) { v.size(); }) {
      for (const Open& open : frontier_)
        add(open.bound);  // no order of arrays is the order of each objective
    } else if (!frontier_.empty()) {
      add(frontier_.front().bound);
    }
    for (const Lane& lane : lanes_) {
      for (const Open& open : lane.stack_) add(open.bound);
    }
    return bound;
  }
  const SearchCounts& counts() const { return counts_; }
  double seconds() const { return deadline_.seconds(); }

 private:
  using Lane = TreeLane<Problem, Record>;
  using Open = typename Lane::Open;

  // For the heap: lowest bound first, newest first among equals, which keeps plateaus depth first.
  static bool later(const Open& a, const Open& b) {
    return b.bound < a.bound || (a.bound == b.bound && a.serial < b.serial);
  }

  bool limit_reached() const {
    return deadline_.expired() || counts_.nodes >= options_.limits.nodes ||
           counts_.evaluations >= options_.limits.evaluations;
  }

  void advance_lanes() {
    deal();
    const int64_t lanes = int64_t(active_.size());
    const int64_t nodes = options_.limits.nodes - counts_.nodes;
    const int64_t evaluations = options_.limits.evaluations - counts_.evaluations;
    crew_.run(lanes, [&](int64_t i) {
      active_[size_t(i)]->advance(lane_share(nodes, lanes, i, slice_),
                                  lane_share(evaluations, lanes, i, SearchLimits::kNone));
    });
    slice_ = std::min(slice_ * 2, options_.quantum);
  }

  // Gives `hand_` subtrees in turn to each lane that has none. The number follows the size of the subtrees:
  // as many as keep the lanes at work for most of a round.
  void deal() {
    active_.clear();
    for (Lane& lane : lanes_) {
      if (lane.stack_.empty()) active_.push_back(&lane);
    }
    for (int64_t card = 0; card < hand_; ++card) {
      for (Lane* lane : active_) {
        if (frontier_.empty()) break;
        std::pop_heap(frontier_.begin(), frontier_.end(), later);
        lane->stack_.push_back(std::move(frontier_.back()));
        frontier_.pop_back();
      }
    }
    for (Lane* lane : active_) std::reverse(lane->stack_.begin(), lane->stack_.end());
    active_.clear();
    for (Lane& lane : lanes_) {
      if (!lane.stack_.empty()) active_.push_back(&lane);
    }
  }

  void adapt_hand(int64_t expanded) {
    const int64_t room = int64_t(lanes_.size()) * slice_;
    if (expanded < room / 2) {
      hand_ = std::min(hand_ * 2, kMostHand);
    } else if (expanded > room / 4 * 3) {
      hand_ = std::max<int64_t>(hand_ / 2, 1);
    }
  }

  template <typename AfterRound>
  bool finish_round(AfterRound&& after_round) {
    ++counts_.rounds;
    const int64_t before = counts_.nodes;
    double improved_seconds = -1;
    for (Lane& lane : lanes_) {
      counts_ += std::exchange(lane.counts_, {});
      if (lane.found_.empty()) continue;
      if (record_.merge(std::exchange(lane.found_, {}))) improved_seconds = lane.found_seconds_;
    }
    adapt_hand(counts_.nodes - before);
    for (Lane& lane : lanes_) release(lane);
    if (improved_seconds >= 0) prune_open();
    return after_round(improved_seconds);
  }

  void release(Lane& lane) {
    if (int64_t(frontier_.size()) >= options_.max_open) return;
    for (Open& open : lane.stack_) {
      open.serial = serial_++;
      frontier_.push_back(std::move(open));
      std::push_heap(frontier_.begin(), frontier_.end(), later);
    }
    lane.stack_.clear();
  }

  // After an improvement: what it closes must not count as open, neither for the bound nor for completeness.
  void prune_open() {
    const auto closed = [&](const Open& open) { return record_.prunes(open.bound); };
    for (Lane& lane : lanes_) counts_.pruned += int64_t(std::erase_if(lane.stack_, closed));
    const size_t erased = std::erase_if(frontier_, closed);
    if (erased > 0) std::make_heap(frontier_.begin(), frontier_.end(), later);
    counts_.pruned += int64_t(erased);
  }

  TreeOptions options_;
  Record& record_;
  Deadline deadline_;
  Crew crew_;
  std::vector<Lane> lanes_;
  std::vector<Lane*> active_;
  std::vector<Open> frontier_;
  static constexpr int64_t kMostHand = 1024;
  int64_t hand_ = 1;
  int64_t serial_ = 0;
  int64_t slice_ = 16;
  SearchCounts counts_;
  bool rootless_ = false;  // stopped before the roots were known
};

}  // namespace tilewright
