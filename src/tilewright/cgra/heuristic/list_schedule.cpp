// List scheduling over PlacementState. The order is fixed beforehand (a node's tail is longer than its
// consumers'), so ranks are positions and the genes reproduce it.
#include "tilewright/cgra/heuristic/list_schedule.h"

#include <algorithm>
#include <limits>

namespace tilewright::cgra {
namespace {

// Clocks of transfer between `node` on `tile` and all placed neighbours.
int pull(const PlacementState& state, int node, int tile) {
  const PlacementModel& model = state.model();
  int sum = 0;
  const auto add = [&](int other) {
    if (state.placed(other)) {
      sum += model.transfer[size_t(state.places()[size_t(other)].tile)][size_t(tile)];
    } else if (state.unit_tile(other) >= 0) {
      sum += model.transfer[size_t(state.unit_tile(other))][size_t(tile)];
    }
  };
  for (const int id : model.incoming[size_t(node)]) add(model.edges[size_t(id)].from);
  for (const int id : model.outgoing[size_t(node)]) add(model.edges[size_t(id)].to);
  return sum;
}

}  // namespace

std::optional<ListSchedule> list_schedule(const PlacementDecoder& decoder) {
  const PlacementModel& model = decoder.model();
  std::vector<int> order = model.topological;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return decoder.tail_cycles()[size_t(a)] > decoder.tail_cycles()[size_t(b)];
  });
  ListSchedule schedule;
  schedule.genes.tile.assign(model.units.size(), 0);
  schedule.genes.rank.assign(size_t(model.nodes), 0);
  PlacementState state(model);
  for (size_t i = 0; i < order.size(); ++i) {
    model.check();
    const int node = order[i];
    schedule.genes.rank[size_t(node)] = int16_t(i);
    int best = -1, best_time = std::numeric_limits<int>::max(), best_pull = 0;
    // From the middle outwards: the first placed leave room on both sides.
    for (const int16_t tile : decoder.nearest(model.tiles / 2)) {
      const int time = state.earliest(node, tile);
      if (time == PlacementState::kNever || time > best_time) continue;
      const int near = pull(state, node, tile);
      if (time == best_time && near >= best_pull) continue;
      best = tile;
      best_time = time;
      best_pull = near;
    }
    if (best < 0) return {};
    state.place(node, best, best_time);
    schedule.genes.tile[size_t(model.unit[size_t(node)])] = int16_t(best);
  }
  schedule.places = state.places();
  return schedule;
}

}  // namespace tilewright::cgra
