// The energy-latency front of a network: what the whole network can reach when every layer may take any point
// of its own front. Layers run one after the other, so both costs add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright {

struct FrontCost {
  double cycles = 0;
  double energy = 0;
  bool operator==(const FrontCost&) const = default;
};

// Points that no other point beats or equals in both costs, by ascending cycles (and descending energy).
std::vector<FrontCost> pareto_front(std::vector<FrontCost> points);

struct NetworkFront {
  std::vector<FrontCost> points;
  // choice[point][layer]: which point of that layer's front it takes.
  std::vector<std::vector<int32_t>> choices;
  // Every attainable pair of costs is matched by a point with at most its cycles and at most (1 +
  // energy_slack) times its energy; 0: the front is exact.
  double energy_slack = 0;
};

// The front of sums of one point per layer. `layers` are fronts as pareto_front gives them, one per layer,
// equal layers as often as they occur; a layer without points has no mapping, then neither has the network.
// Sums are pruned after every layer; more than `max_points` of them are thinned to points that lose at most
// energy_slack in total, which is stated.
NetworkFront merge_fronts(const std::vector<std::vector<FrontCost>>& layers, size_t max_points = 20000);

}  // namespace tilewright
