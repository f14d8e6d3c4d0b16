// Earliest starts from the placed neighbours: predecessors bound from below, consumers (of earlier
// iterations, or where the wait is limited) from above; then the first free slot. Up to 64 slots a tile's
// free ones are one word.
#include "tilewright/cgra/heuristic/placement_state.h"

#include <algorithm>
#include <bit>

namespace tilewright::cgra {

PlacementState::PlacementState(const PlacementModel& model) : model_(&model) { reset(); }

void PlacementState::reset() {
  const size_t tiles = size_t(model_->tiles);
  places_.assign(size_t(model_->nodes), {-1, -1});
  history_.clear();
  history_.reserve(size_t(model_->nodes));
  taken_.assign(tiles * size_t(model_->ii), 0);
  taken_bits_.assign(tiles, 0);
  free_.assign(tiles, model_->tile_operations);
  kept_.assign(tiles, 0);
  blocked_.assign(model_->units.size() * tiles, 0);
  unit_tile_.assign(model_->units.size(), -1);
  unit_placed_.assign(model_->units.size(), 0);
}

bool PlacementState::fits(int node, int tile) const {
  if (!model_->allowed[size_t(node)][size_t(tile)] || blocked(node, tile)) return false;
  const size_t unit = size_t(model_->unit[size_t(node)]);
  if (unit_tile_[unit] >= 0) return unit_tile_[unit] == tile;
  return free_slots(tile) >= int(model_->units[unit].size());
}

int PlacementState::first_free(int tile, int low, int high) const {
  const int ii = model_->ii;
  if (ii <= 64) {
    const uint64_t all = ii == 64 ? ~uint64_t{0} : (uint64_t{1} << ii) - 1;
    const uint64_t open = ~taken_bits_[size_t(tile)] & all;
    if (open == 0) return kNever;
    const int slot = low % ii;
    const uint64_t later = open >> slot;
    const int time = low + (later != 0 ? std::countr_zero(later) : ii - slot + std::countr_zero(open));
    return time <= high ? time : kNever;
  }
  const int last = high - low < ii ? high : low + ii - 1;
  for (int time = low; time <= last; ++time) {
    if (!taken_[size_t(tile) * size_t(ii) + size_t(time % ii)]) return time;
  }
  return kNever;
}

int PlacementState::earliest(int node, int tile, int from) const {
  if (!fits(node, tile)) return kNever;
  const PlacementModel& m = *model_;
  int low = from, high = PlacementModel::kNoLimit;
  if (m.fixed_time[size_t(node)] >= 0) {
    if (low > m.fixed_time[size_t(node)]) return kNever;
    low = high = m.fixed_time[size_t(node)];
  }
  const bool limited = m.rules.delay != Delay::kUnbounded;
  for (const int id : m.incoming[size_t(node)]) {
    const Edge& edge = m.edges[size_t(id)];
    if (edge.from == node) {
      if (edge.distance * m.ii < m.latency_cycles) return kNever;
      if (limited && edge.distance * m.ii > m.most_gap(tile, tile)) return kNever;
      continue;
    }
    const Place there = places_[size_t(edge.from)];
    if (there.time < 0) continue;
    const int start = there.time - edge.distance * m.ii;
    low = std::max(low, start + m.latency_cycles + m.transfer[size_t(there.tile)][size_t(tile)]);
    if (limited) high = std::min(high, start + m.most_gap(there.tile, tile));
  }
  for (const int id : m.outgoing[size_t(node)]) {
    const Edge& edge = m.edges[size_t(id)];
    const Place there = places_[size_t(edge.to)];
    if (there.time < 0) continue;
    const int use = there.time + edge.distance * m.ii;
    high = std::min(high, use - m.latency_cycles - m.transfer[size_t(tile)][size_t(there.tile)]);
    if (limited) low = std::max(low, use - m.most_gap(tile, there.tile));
  }
  return low > high ? kNever : first_free(tile, low, high);
}

void PlacementState::block(size_t unit, int tile, int by) {
  for (const int other : model_->units_apart[unit])
    blocked_[size_t(other) * size_t(model_->tiles) + size_t(tile)] += by;
}

void PlacementState::place(int node, int tile, int time) {
  const size_t unit = size_t(model_->unit[size_t(node)]), t = size_t(tile);
  if (unit_placed_[unit]++ == 0) {
    unit_tile_[unit] = tile;
    kept_[t] += int(model_->units[unit].size());
    block(unit, tile, 1);
  }
  --kept_[t];
  --free_[t];
  places_[size_t(node)] = {tile, time};
  taken(tile, time) = 1;
  if (model_->ii <= 64) taken_bits_[t] |= uint64_t{1} << (time % model_->ii);
  history_.push_back({node, std::max(makespan(), time + model_->latency_cycles)});
}

void PlacementState::undo() {
  const int node = history_.back().node;
  history_.pop_back();
  const Place place = places_[size_t(node)];
  const size_t unit = size_t(model_->unit[size_t(node)]), t = size_t(place.tile);
  taken(place.tile, place.time) = 0;
  if (model_->ii <= 64) taken_bits_[t] &= ~(uint64_t{1} << (place.time % model_->ii));
  places_[size_t(node)] = {-1, -1};
  ++free_[t];
  ++kept_[t];
  if (--unit_placed_[unit] == 0) {
    unit_tile_[unit] = -1;
    kept_[t] -= int(model_->units[unit].size());
    block(unit, place.tile, -1);
  }
}

}  // namespace tilewright::cgra
