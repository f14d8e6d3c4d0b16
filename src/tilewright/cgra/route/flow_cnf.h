// Presence of values in the time-expanded fabric as a formula, for places that are given and for places that
// are still variables alike.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tilewright/cgra/route/routing_task.h"
#include "tilewright/cgra/sat/cnf.h"

namespace tilewright::cgra {

// A value's presence is only ever implied towards its source: a value that is at a tile was there a clock ago
// (a register), came by a link, or was computed there. So requesting presence at sinks yields a tree of
// routes, and what is not requested costs nothing.
class FlowCnf {
 public:
  // `fabric` and `cnf` outlive this.
  FlowCnf(const RoutingFabric& fabric, int ii, Cnf& cnf);

  // How one value enters the fabric and where it may be.
  struct Value {
    int first_clock = 0, last_clock = 0;
    // Literal for "computed on `tile`, result there at `clock`"; 0: not possible.
    std::function<int(int tile, int clock)> source;
    // Literal for "computed on `tile`" (such values leave without passing); 0: not possible.
    std::function<int(int tile)> home;
    // Whether presence can lead to a sink at all; nothing is encoded elsewhere.
    std::function<bool(int tile, int clock)> useful;
  };
  // Its id: 0, 1, ...
  int add(const Value& value);
  // Literal for the presence of value `id` at `tile` and `clock`; 0: it cannot be there.
  int at(int id, int tile, int clock) const;
  // The limits of links, passing values and registers; once, after all values.
  void limit_resources();
  // A literal that holds.
  int always() const { return true_; }

  // The route that a satisfying assignment (holds(literal)) gives value `id` to `sink`, where at() holds.
  Route trace(int id, RouteStep sink, const std::function<bool(int)>& holds) const;

 private:
  struct Tracks {
    Value value;
    std::vector<int> level;  // [clock][hops][tile]: present after at most so many links within the clock
    std::vector<int> step;   // [clock][hops - 1][link]: taken as that hop; without hops: taken
    std::vector<int> wait;   // [clock][tile]: stays until the next clock
  };

  int levels() const { return fabric_->hops + 1; }
  int steps() const { return fabric_->hops == 0 ? 1 : fabric_->hops; }
  // `tracks`: Tracks or const Tracks.
  auto& level(auto& tracks, int clock, int hops, int tile) const {
    return tracks.level[(size_t(clock - tracks.value.first_clock) * levels() + hops) * fabric_->tiles + tile];
  }
  auto& step(auto& tracks, int clock, int hops, int link) const {
    return tracks
        .step[(size_t(clock - tracks.value.first_clock) * steps() + hops) * fabric_->links.size() + link];
  }
  auto& wait(auto& tracks, int clock, int tile) const {
    return tracks.wait[size_t(clock - tracks.value.first_clock) * fabric_->tiles + tile];
  }
  int any_of(std::span<const int> reasons);
  void arrive(Tracks& tracks, int clock);
  void spread(Tracks& tracks, int clock);
  void leave(Tracks& tracks, int clock);
  void stay(Tracks& tracks, int clock);
  void pass(Tracks& tracks, int clock, int tile, std::span<const int> links);
  int slot(int clock) const { return ((clock % ii_) + ii_) % ii_; }

  const RoutingFabric* fabric_;
  int ii_;
  Cnf* cnf_;
  int true_ = 0;
  std::vector<Tracks> values_;
  std::vector<std::vector<int>> on_link_, waiting_, passing_;  // [link or tile][slot]: literals
};

}  // namespace tilewright::cgra
