// One step costs some hundred nanoseconds: everything per tile is a row of 16-bit numbers that compilers turn
// into vector instructions, everything per unit a word with a bit per tile.
#include "tilewright/cgra/learn/environment.h"

#include <algorithm>
#include <bit>

namespace tilewright::cgra {
namespace {

constexpr int kLanes = PlacementInstance::kLanes;
constexpr int16_t kNothing = -8192;  // of a maximum over no terms
constexpr int kFew = 3;              // tiles that leave a unit little choice

using Row = int16_t[PlacementInstance::kMostTiles];

// row[i] = max(row[i], add[i] + plus)
inline void raise(int16_t* row, const int16_t* add, int16_t plus, int width) {
  for (int block = 0; block < width; block += kLanes) {
    for (int i = 0; i < kLanes; ++i) {
      const int16_t sum = int16_t(add[block + i] + plus);
      row[block + i] = row[block + i] > sum ? row[block + i] : sum;
    }
  }
}

inline void lower(int16_t* row, const int16_t* add, int plus, int sign, int width) {
  for (int i = 0; i < width; ++i) row[i] = int16_t(std::min<int>(row[i], plus + sign * add[i]));
}

inline void fill(int16_t* row, int16_t value, int width) {
  for (int block = 0; block < width; block += kLanes) {
    for (int i = 0; i < kLanes; ++i) row[block + i] = value;
  }
}

}  // namespace

PlacementEnvironment::PlacementEnvironment(const PlacementInstance& instance,
                                           const EnvironmentOptions& options)
    : instance_(&instance), options_(options), rows_(options.slots_per_tile * instance.width) {
  const size_t width = size_t(instance.width), rows = size_t(rows_), nodes = size_t(instance.nodes());
  time_.resize(nodes);
  tile_.resize(nodes);
  open_slots_.resize(width);
  room_.resize(width);
  near_room_.resize(width);
  contested_.resize(width);
  forced_.resize(width);
  inverse_ii_ = (uint64_t{1} << 32) / uint64_t(instance.model.ii) + 1;
  roomy_.resize(size_t(instance.largest_unit) + 1);
  packed_.resize(roomy_.size());
  waiting_units_.resize(roomy_.size());
  closed_.resize(instance.model.units.size());
  unit_tile_.resize(closed_.size());
  low_.resize(width);
  high_.resize(width);
  start_.resize(rows);
  features_.resize(rows * kActionFeatures);
  valid_.resize(size_t(options.slots_per_tile));
  reset();
}

void PlacementEnvironment::reset() {
  const PlacementInstance& in = *instance_;
  const int tiles = in.model.tiles, ii = in.model.ii;
  std::fill(time_.begin(), time_.end(), int16_t(-1));
  std::fill(tile_.begin(), tile_.end(), int16_t(-1));
  const uint64_t slots = ii == 64 ? ~uint64_t{0} : (uint64_t{1} << ii) - 1;
  std::fill(open_slots_.begin(), open_slots_.end(), slots);
  std::fill(room_.begin(), room_.end(), int16_t(ii));
  std::fill(closed_.begin(), closed_.end(), uint64_t{0});
  std::fill(unit_tile_.begin(), unit_tile_.end(), int16_t(-1));
  const uint64_t every = tiles == 64 ? ~uint64_t{0} : (uint64_t{1} << tiles) - 1;
  std::fill(waiting_units_.begin(), waiting_units_.end(), 0);
  for (const auto& unit : in.model.units) {
    for (size_t k = 2; k <= unit.size(); ++k) ++waiting_units_[k];
  }
  for (size_t k = 1; k < roomy_.size(); ++k) {
    roomy_[k] = int(k) <= ii ? every : 0;
    packed_[k] = tiles * (ii / int(k));
  }
  for (size_t tile = 0; tile < near_room_.size(); ++tile)
    near_room_[tile] = int16_t(in.near_tiles[tile] * ii);
  position_ = makespan_ = 0;
  bound_ = in.bound;
  free_slots_ = tiles * ii;
  done_ = complete_ = false;
  for (const int16_t node : in.preplaced) {
    const auto& allowed = in.model.allowed[size_t(node)];
    put(node, int(std::find(allowed.begin(), allowed.end(), 1) - allowed.begin()),
        in.model.fixed_time[size_t(node)]);
  }
  observe();
}

void PlacementEnvironment::put(int node, int tile, int time) {
  const PlacementInstance& in = *instance_;
  const size_t unit = size_t(in.model.unit[size_t(node)]), t = size_t(tile);
  if (unit_tile_[unit] < 0) {
    const int size = int(in.model.units[unit].size());
    unit_tile_[unit] = int16_t(tile);
    const int before = room_[t], after = before - size;
    room_[t] = int16_t(after);
    const uint64_t bit = uint64_t{1} << tile;
    // Also where only later nodes of the unit must be apart: they will be here.
    for (const int16_t other : in.apart_units[unit]) closed_[size_t(other)] |= bit;
    for (int k = 1; k <= in.largest_unit; ++k) {
      if (k > after) roomy_[size_t(k)] &= ~bit;
      if (k > 1) packed_[size_t(k)] -= before / k - std::max(after, 0) / k;
      if (k > 1 && k <= size) --waiting_units_[size_t(k)];
    }
    const int16_t* near = &in.near[t * size_t(in.width)];
    for (int i = 0; i < in.width; ++i)
      near_room_[size_t(i)] = int16_t(near_room_[size_t(i)] - near[i] * size);
  }
  time_[size_t(node)] = int16_t(time);
  tile_[size_t(node)] = int16_t(tile);
  open_slots_[t] &= ~(uint64_t{1} << (time % in.model.ii));
  --free_slots_;
  makespan_ = std::max(makespan_, time + in.model.latency_cycles);
  bound_ = std::max(bound_, time + in.tail[size_t(node)]);
}

double PlacementEnvironment::end_in_dead_end() {
  done_ = true;
  choices_ = 0;
  return options_.dead_end_reward;
}

double PlacementEnvironment::reward_of(int node, int time, int old_bound) const {
  const double latency = instance_->model.latency_cycles;
  if (options_.reward == PlacementReward::kMakespan) return -(bound_ - old_bound) / latency;
  int operand = -1;
  for (const auto& limit : instance_->operands[size_t(node)])
    operand = std::max<int>(operand, time_[size_t(limit.node)] - limit.shift);
  if (operand < 0) return 0;
  const double took = std::max(1, time - operand);
  return options_.reward == PlacementReward::kPaper ? took / latency : 2 * latency / took;
}

double PlacementEnvironment::step(int row) {
  const int width = instance_->width, tile = row % width;
  if (((possible_[size_t(row / width)] >> tile) & 1) == 0) return end_in_dead_end();
  const int node = this->node(), time = start_[size_t(row)], old_bound = bound_;
  bound_ = std::max<int>(bound_, bound_ + features_[size_t(kBound * rows_ + row)]);
  put(node, tile, time);
  ++position_;
  const double reward = reward_of(node, time, old_bound);
  if (bound_ > PlacementInstance::kMostCycles) return reward + end_in_dead_end();
  observe();
  return done_ && !complete_ ? reward + options_.dead_end_reward : reward;
}

void PlacementEnvironment::observe() {
  if (position_ == instance_->decisions()) {
    done_ = complete_ = true;
    choices_ = 0;
    return;
  }
  const int node = this->node();
  limits(node);
  tiles_of(node);
  if (valid_[0] != 0) starts();
  possible_ = valid_;
  if (!options_.masked && valid_[0] != 0) offer_all();
  choices_ = 0;
  for (const uint64_t valid : valid_) choices_ += std::popcount(valid);
  if (choices_ == 0) {
    end_in_dead_end();
    return;
  }
  describe(node);
}

// Without a mask the policy sees a start for every action, also for those that a rule forbids.
void PlacementEnvironment::offer_all() {
  const int width = instance_->width, tiles = instance_->model.tiles;
  const uint64_t every = tiles == 64 ? ~uint64_t{0} : (uint64_t{1} << tiles) - 1;
  for (size_t k = 0; k < valid_.size(); ++k) {
    for (uint64_t left = every & ~valid_[k]; left != 0; left &= left - 1) {
      const size_t tile = size_t(std::countr_zero(left));
      start_[k * size_t(width) + tile] = int16_t(low_[tile] + int(k));
    }
    valid_[k] = every;
  }
}

void PlacementEnvironment::limits(int node) {
  const PlacementInstance& in = *instance_;
  const size_t width = size_t(in.width);
  const int fixed = in.model.fixed_time[size_t(node)];
  two_sided_ = fixed >= 0 || !in.others[size_t(node)].empty();
  fill(low_.data(), int16_t(std::max(fixed, 0)), in.width);
  for (const auto& limit : in.operands[size_t(node)]) {
    const size_t there = size_t(tile_[size_t(limit.node)]) * width;
    raise(low_.data(), &in.least[there], int16_t(time_[size_t(limit.node)] - limit.shift), in.width);
  }
  if (!two_sided_) return;
  fill(high_.data(), int16_t(fixed >= 0 ? fixed : 2 * PlacementInstance::kMostCycles), in.width);
  for (const auto& limit : in.others[size_t(node)]) {
    const size_t there = size_t(tile_[size_t(limit.node)]) * width;
    const int time = time_[size_t(limit.node)] + (limit.operand ? -limit.shift : limit.shift);
    if (limit.operand) {
      raise(low_.data(), &in.least[there], int16_t(time), in.width);
      if (!in.most.empty()) lower(high_.data(), &in.most[there], time, 1, in.width);
    } else {
      lower(high_.data(), &in.least_to[there], time, -1, in.width);
      for (size_t i = 0; !in.most.empty() && i < width; ++i)
        low_[i] = int16_t(std::max<int>(low_[i], time - in.most_to[there + i]));
    }
  }
}

void PlacementEnvironment::tiles_of(int node) {
  const PlacementInstance& in = *instance_;
  const size_t unit = size_t(in.model.unit[size_t(node)]);
  uint64_t tiles = in.allowed[unit] & ~closed_[unit];
  fill(contested_.data(), 0, in.width);
  if (unit_tile_[unit] >= 0) {
    tiles &= uint64_t{1} << unit_tile_[unit];
  } else {
    tiles &= roomy_[in.model.units[unit].size()];
    if (options_.look_ahead && tiles != 0) tiles = look_ahead(node, tiles);
  }
  std::fill(valid_.begin(), valid_.end(), uint64_t{0});
  valid_[0] = tiles;
}

uint64_t PlacementEnvironment::open_to(int unit) const {
  const size_t u = size_t(unit);
  if (unit_tile_[u] >= 0) return uint64_t{1} << unit_tile_[u];
  return instance_->allowed[u] & ~closed_[u] & roomy_[instance_->model.units[u].size()];
}

// What one step ahead shows to be a dead end: larger units that no longer find tiles, a later node whose last
// tile this one would take, siblings with as many tiles as members.
uint64_t PlacementEnvironment::look_ahead(int node, uint64_t tiles) {
  const PlacementInstance& in = *instance_;
  const size_t own = size_t(in.model.unit[size_t(node)]);
  const int size = int(in.model.units[own].size());
  for (int k = size + 1; k <= in.largest_unit; ++k) {
    if (packed_[size_t(k)] > waiting_units_[size_t(k)]) continue;
    for (uint64_t left = tiles; left != 0; left &= left - 1) {
      const int tile = std::countr_zero(left), room = room_[size_t(tile)];
      if (room / k != (room - size) / k) tiles &= ~(uint64_t{1} << tile);
    }
  }
  // Few tiles can be closed yet: no unit is down to its last ones.
  const int without_room = in.model.tiles - std::popcount(roomy_.back());
  if (!in.restricted && without_room + in.most_apart + kFew < in.model.tiles) return tiles;
  return without_crowding(node, tiles);
}

uint64_t PlacementEnvironment::without_crowding(int node, uint64_t tiles) {
  const PlacementInstance& in = *instance_;
  const size_t own = size_t(in.model.unit[size_t(node)]);
  const int size = int(in.model.units[own].size());
  const auto& apart = in.apart_units[own];
  fill(forced_.data(), 0, in.width);
  for (size_t unit = 0; unit < unit_tile_.size(); ++unit) {
    if (unit == own || unit_tile_[unit] >= 0) continue;
    const uint64_t open = open_to(int(unit));
    const int count = std::popcount(open), needs = int(in.model.units[unit].size());
    if (count > kFew) continue;
    for (uint64_t left = open; left != 0; left &= left - 1)
      contested_[size_t(std::countr_zero(left))] += int16_t(6 / count * needs);
    if (count != 1) continue;
    forced_[size_t(std::countr_zero(open))] += int16_t(needs);
    if (std::binary_search(apart.begin(), apart.end(), int16_t(unit))) tiles &= ~open;
  }
  for (uint64_t left = tiles; left != 0; left &= left - 1) {
    const size_t tile = size_t(std::countr_zero(left));
    if (room_[tile] - size < forced_[tile]) tiles &= ~(uint64_t{1} << tile);
  }
  for (const int16_t clique : in.cliques_of[size_t(node)]) {
    uint64_t open = 0;
    int waiting = 0;
    for (const int16_t other : in.cliques[size_t(clique)]) {
      if (other == node || time_[size_t(other)] >= 0) continue;
      open |= open_to(in.model.unit[size_t(other)]);
      ++waiting;
    }
    if (std::popcount(open) <= waiting) tiles &= ~open;
  }
  return tiles;
}

// Clocks from `time` until the tile's next free slot, II where there is none.
int PlacementEnvironment::wait_for_slot(int tile, int time) const {
  const int ii = instance_->model.ii, slot = time - ii * int((uint64_t(time) * inverse_ii_) >> 32);
  const uint64_t open = open_slots_[size_t(tile)], later = open >> slot;
  if (later != 0) return std::countr_zero(later);
  return open != 0 ? ii - slot + std::countr_zero(open) : ii;
}

int16_t PlacementEnvironment::next_wait(int tile, int start, bool several) const {
  const int ready = start + instance_->model.latency_cycles;
  int first = PlacementInstance::kMostSlots, second = first;
  for (const auto& near : instance_->around[size_t(tile)]) {
    const int wait = near.cycles + wait_for_slot(near.node, ready + near.cycles);
    second = std::min(second, std::max(first, wait));
    first = std::min(first, wait);
  }
  return int16_t(several ? second : first);
}

void PlacementEnvironment::starts() {
  const int ii = instance_->model.ii;
  for (uint64_t left = valid_[0]; left != 0; left &= left - 1) {
    const int tile = std::countr_zero(left);
    int low = low_[size_t(tile)], first = -1;
    for (size_t k = 0; k < valid_.size(); ++k) {
      const int start = low + wait_for_slot(tile, low);
      const bool fits = (k == 0 || start < first + ii) && (!two_sided_ || start <= high_[size_t(tile)]);
      start_[k * size_t(instance_->width) + size_t(tile)] = int16_t(start);
      const uint64_t bit = uint64_t{1} << tile;
      valid_[k] = fits ? valid_[k] | bit : valid_[k] & ~bit;
      if (!fits) break;
      if (k == 0) first = start;
      low = start + 1;
    }
  }
}

void PlacementEnvironment::describe(int node) {
  const PlacementInstance& in = *instance_;
  const int width = in.width;
  const size_t v = size_t(node);
  alignas(32) Row meets, mates, returns, partners;
  fill(meets, kNothing, width);
  fill(mates, kNothing, width);
  fill(returns, kNothing, width);
  fill(partners, 0, width);
  const auto row_of = [&](int tile) { return &in.distance[size_t(tile) * size_t(width)]; };
  for (const auto& kin : in.meets[v])
    raise(meets, row_of(tile_[size_t(kin.node)]), int16_t(time_[size_t(kin.node)] + kin.cycles), width);
  if (unit_tile_[size_t(in.model.unit[v])] < 0) {
    for (const auto& kin : in.mates[v])
      raise(mates, row_of(tile_[size_t(kin.node)]), int16_t(time_[size_t(kin.node)] + kin.cycles), width);
  }
  for (const auto& kin : in.returns[v])
    raise(returns, row_of(unit_tile_[size_t(in.model.unit[size_t(kin.node)])]), kin.cycles, width);
  for (const int16_t other : in.partners[v]) {
    const int16_t* way = row_of(tile_[size_t(other)]);
    for (int block = 0; block < width; block += kLanes) {
      for (int i = 0; i < kLanes; ++i) partners[block + i] = int16_t(partners[block + i] + way[block + i]);
    }
  }
  int16_t best = 2 * PlacementInstance::kMostCycles;
  for (uint64_t left = valid_[0]; left != 0; left &= left - 1)
    best = std::min(best, start_[size_t(std::countr_zero(left))]);
  const int16_t tail = in.tail[v], bound = int16_t(bound_);
  const auto feature = [&](int which, int row) { return &features_[size_t(which * rows_ + row)]; };
  for (int row = 0; row < rows_; row += kLanes) {
    const int at = row % width;
    int16_t *waits = feature(kWaits, row), *ends = feature(kEnds, row), *meet = feature(kMeets, row),
            *mate = feature(kMates, row), *back = feature(kReturns, row), *most = feature(kBound, row),
            *idle = feature(kIdle, row), *beside = feature(kPartners, row), *room = feature(kRoom, row),
            *near = feature(kNearRoom, row), *contested = feature(kContested, row),
            *border = feature(kBorder, row);
    const int16_t* start = &start_[size_t(row)];
    for (int i = 0; i < kLanes; ++i) {
      const int16_t s = start[i];
      waits[i] = int16_t(s - best);
      ends[i] = int16_t(s + tail - bound);
      meet[i] = int16_t(int16_t((s + meets[at + i] + 1) >> 1) - bound);
      mate[i] = int16_t(mates[at + i] - bound);
      back[i] = int16_t(s + returns[at + i] - bound);
      idle[i] = int16_t(s - low_[size_t(at + i)]);
    }
    for (int i = 0; i < kLanes; ++i) {
      const int16_t a = std::max(ends[i], meet[i]), b = std::max(mate[i], back[i]);
      most[i] = std::max<int16_t>(std::max(a, b), 0);
      beside[i] = partners[at + i];
      room[i] = room_[size_t(at + i)];
      contested[i] = contested_[size_t(at + i)];
      near[i] = near_room_[size_t(at + i)];
      border[i] = in.border[size_t(at + i)];
    }
  }
  const size_t consumers = in.model.outgoing[v].size();
  for (int row = 0; row < rows_ && consumers > 0; row += width) {
    for (uint64_t left = valid_[size_t(row / width)]; left != 0; left &= left - 1) {
      const int tile = std::countr_zero(left);
      *feature(kNext, row + tile) = next_wait(tile, start_[size_t(row + tile)], consumers > 1);
    }
  }
  if (consumers == 0) std::fill_n(feature(kNext, 0), rows_, int16_t(0));
  state_[kProgress] = float(position_) / float(in.decisions());
  state_[kExcess] = float(bound_ - in.bound) / float(in.model.latency_cycles);
  state_[kFreeSlots] = float(free_slots_) / float(in.model.tiles * in.model.ii);
  state_[kInterval] = 1.0f / float(in.model.ii);
  state_[kChoices] = float(choices_) / float(rows_);
}

int PlacementEnvironment::random_row(Random& random) const {
  int pick = int(((random.next() >> 32) * uint64_t(choices_)) >> 32);
  for (size_t k = 0;; ++k) {
    uint64_t valid = valid_[k];
    const int count = std::popcount(valid);
    if (pick >= count) {
      pick -= count;
      continue;
    }
    while (pick-- > 0) valid &= valid - 1;
    return int(k) * instance_->width + std::countr_zero(valid);
  }
}

std::vector<Place> PlacementEnvironment::places() const {
  std::vector<Place> places;
  for (size_t node = 0; node < time_.size(); ++node) places.push_back({tile_[node], time_[node]});
  return places;
}

}  // namespace tilewright::cgra
