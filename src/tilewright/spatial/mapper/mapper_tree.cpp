// Stages are enumerated dimension by dimension; a factor that makes a tile too large ends its dimension,
// because tiles only grow with factors.
#include "tilewright/spatial/mapper/mapper_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tilewright {
namespace {

constexpr double kMaxStageChildren = 8192;
constexpr double kMaxTableTiles = 20'000, kMaxTableWork = 300'000;
constexpr size_t kMaxTableScan = 512;

}  // namespace

// One expansion: the factors of one stage, for as many dimensions as keep the number of children small.
class MapTree::Stage {
 public:
  Stage(const MapTree& tree, const MapNode& node, const std::function<void(MapNode&&)>& child)
      : tree_(tree),
        choices_(tree.choices_),
        child_(child),
        node_(node),
        cover_(tree.cover_of(node)),
        level_(tree.choices_.level_of(node.slots)),
        spatial_(tree.choices_.kind_of(node.slots) == SlotKind::kX) {
    double children = 1;
    end_ = node.dimension;
    while (end_ < choices_.dimensions()) {
      const double more = width(end_);
      if (end_ > node.dimension && children * more > kMaxStageChildren) break;
      children *= more;
      ++end_;
    }
  }

  void run() { spatial_ ? spread(node_.dimension) : repeat(node_.dimension); }

 private:
  int64_t& factor(int slot, int d) { return node_.factors[size_t(slot * choices_.dimensions() + d)]; }

  double width(int d) const {
    const int64_t covered = cover_[size_t(d)];
    const double first = double(choices_.factors(node_.slots, d, covered).size());
    // Most pairs along x and y do not exist together; this is a guess at how many do.
    return spatial_ ? first * std::sqrt(double(choices_.factors(node_.slots + 1, d, covered).size())) : first;
  }

  void emit() {
    MapNode next = node_;
    next.dimension = end_;
    if (spatial_ && tree_.axes_alike_) {
      std::vector<int64_t> seen = cover_;
      if (end_ < choices_.dimensions()) seen.insert(seen.end(), {node_.x, node_.y});
      if (!seen_.insert(seen).second) return;
    }
    if (end_ == choices_.dimensions()) {
      next.slots += spatial_ ? 2 : 1;
      next.dimension = 0;
      next.x = next.y = 1;
      if (!tree_.settle(next)) return;
    }
    child_(std::move(next));
  }

  // Temporal factors.
  void repeat(int d) {
    if (d == end_) return emit();
    const int64_t covered = cover_[size_t(d)];
    for (const int64_t f : choices_.factors(node_.slots, d, covered)) {
      cover_[size_t(d)] = covered * f;
      if (!tree_.fits(node_.keeps, level_, cover_)) break;
      factor(node_.slots, d) = f;
      repeat(d + 1);
    }
    factor(node_.slots, d) = 1;
    cover_[size_t(d)] = covered;
  }

  // Spatial factors along x and y.
  void spread(int d) {
    if (d == end_) return emit();
    const ArrayLevel& machine = tree_.mapspace_.hardware.levels[size_t(level_)];
    const bool one_axis = choices_.constraints(level_).one_axis_per_dimension;
    const int64_t covered = cover_[size_t(d)], used_x = node_.x, used_y = node_.y;
    for (const int64_t fx : choices_.factors(node_.slots, d, covered)) {
      if (used_x * fx > machine.fanout_x) break;
      cover_[size_t(d)] = covered * fx;
      if (!tree_.fits(node_.keeps, level_, cover_)) break;
      for (const int64_t fy : choices_.factors(node_.slots + 1, d, covered * fx)) {
        if (used_y * fy > machine.fanout_y || (one_axis && fx > 1 && fy > 1)) break;
        cover_[size_t(d)] = covered * fx * fy;
        if (!tree_.fits(node_.keeps, level_, cover_)) break;
        factor(node_.slots, d) = fx;
        factor(node_.slots + 1, d) = fy;
        node_.x = used_x * fx;
        node_.y = used_y * fy;
        spread(d + 1);
      }
    }
    factor(node_.slots, d) = factor(node_.slots + 1, d) = 1;
    node_.x = used_x;
    node_.y = used_y;
    cover_[size_t(d)] = covered;
  }

  const MapTree& tree_;
  const MapspaceChoices& choices_;
  const std::function<void(MapNode&&)>& child_;
  MapNode node_;
  std::vector<int64_t> cover_;
  int level_;
  bool spatial_;
  int end_ = 0;
  std::set<std::vector<int64_t>> seen_;
};

MapTree::MapTree(const Mapspace& mapspace, const CostRules& rules, const Deadline* deadline)
    : mapspace_(mapspace),
      rules_(rules),
      choices_(mapspace, deadline),
      bounds_(mapspace, choices_, rules),
      evaluator_(mapspace, choices_, rules) {
  axes_alike_ = true;
  for (const ArrayLevel& level : mapspace.hardware.levels) {
    axes_alike_ = axes_alike_ && level.network.hop_energy == 0;
  }
  keeps_.push_back({});
  for (int l = 0; l < choices_.levels(); ++l) {
    std::vector<std::vector<uint32_t>> longer;
    for (const std::vector<uint32_t>& known : keeps_) {
      for (const uint32_t kept : choices_.keeps(l)) {
        longer.push_back(known);
        longer.back().push_back(kept);
      }
    }
    keeps_ = std::move(longer);
  }
  make_tables();
}

void MapTree::make_tables() {
  const int levels = choices_.levels();
  listed_.assign(size_t(levels), false);
  tables_.resize(keeps_.size() * size_t(levels));
  double work = 0;
  for (int l = 1; l < levels; ++l) {
    double tiles = 1;
    std::vector<std::vector<int64_t>> covers;
    for (int d = 0; d < choices_.dimensions(); ++d) {
      covers.push_back(choices_.covers(choices_.slot_of(l, SlotKind::kTemporal) + 1, d));
      tiles *= double(covers.back().size());
    }
    work += tiles * double(keeps_.size());
    if (tiles > kMaxTableTiles || work > kMaxTableWork) continue;
    listed_[size_t(l)] = true;
    std::vector<size_t> at(covers.size(), 0);
    std::vector<int64_t> cover(covers.size());
    while (true) {
      for (size_t d = 0; d < cover.size(); ++d) cover[d] = covers[d][at[d]];
      for (size_t k = 0; k < keeps_.size(); ++k) {
        if (!fits(int(k), l, cover)) continue;
        tables_[k * size_t(levels) + size_t(l)].push_back({bounds_.entry_energy(l, cover, keeps_[k]), cover});
      }
      size_t d = 0;
      while (d < at.size() && ++at[d] == covers[d].size()) at[d++] = 0;
      if (d == at.size()) break;
    }
  }
  for (std::vector<TableEntry>& table : tables_) {
    std::sort(table.begin(), table.end(),
              [](const TableEntry& a, const TableEntry& b) { return a.energy < b.energy; });
  }
}

std::vector<int64_t> MapTree::cover_of(const MapNode& node) const {
  const size_t dimensions = size_t(choices_.dimensions());
  std::vector<int64_t> cover(dimensions, 1);
  // In the middle of a stage, two slots more may be decided in part.
  const size_t known =
      size_t(std::min(node.slots + (node.dimension > 0 ? 2 : 0), choices_.slots())) * dimensions;
  for (size_t i = 0, d = 0; i < known; ++i, d = d + 1 == dimensions ? 0 : d + 1) {
    if (node.factors[i] != 1) cover[d] *= node.factors[i];
  }
  return cover;
}

int64_t MapTree::least_words(const MapNode& node, int level) const {
  const Workload& workload = mapspace_.workload;
  const size_t dimensions = size_t(choices_.dimensions());
  std::vector<int64_t> extents(dimensions, 1);
  const size_t inside = size_t(choices_.slot_of(level, SlotKind::kTemporal) + 1) * dimensions;
  for (size_t i = 0; i < std::min(inside, node.factors.size()); ++i) {
    extents[i % dimensions] =
        std::min(extents[i % dimensions] * node.factors[i], workload.dimensions[i % dimensions].size);
  }
  int64_t words = 0;
  for (int space = 0; space < workload.data_space_count(); ++space) {
    if ((keeps_[size_t(node.keeps)][size_t(level)] >> space & 1u) == 0) continue;
    words += held_words(workload.data_spaces[size_t(space)], extents, rules_.accounting) *
             mapspace_.hardware.levels[size_t(level)].copies;
  }
  return words;
}

bool MapTree::settle(MapNode& node) const {
  std::vector<int64_t> cover = cover_of(node);
  while (!complete(node)) {
    const bool spatial = choices_.kind_of(node.slots) == SlotKind::kX;
    const int level = choices_.level_of(node.slots), count = spatial ? 2 : 1;
    MapNode next = node;
    std::vector<int64_t> grown = cover;
    for (int slot = node.slots; slot < node.slots + count; ++slot) {
      int64_t used = 1;
      for (int d = 0; d < choices_.dimensions(); ++d) {
        const std::span<const int64_t> factors = choices_.factors(slot, d, grown[size_t(d)]);
        if (factors.size() != 1) return true;
        next.factors[size_t(slot * choices_.dimensions() + d)] = factors[0];
        grown[size_t(d)] *= factors[0];
        used *= factors[0];
      }
      const ArrayLevel& machine = mapspace_.hardware.levels[size_t(level)];
      if (spatial && used > (slot == node.slots ? machine.fanout_x : machine.fanout_y)) return false;
    }
    if (choices_.constraints(level).one_axis_per_dimension) return true;
    if (!fits(node.keeps, level, grown)) return false;
    node = std::move(next);
    node.slots += count;
    cover = std::move(grown);
  }
  return true;
}

void MapTree::roots(const std::function<void(MapNode&&)>& child) const {
  const std::vector<int64_t> ones(size_t(choices_.dimensions()), 1);
  for (size_t k = 0; k < keeps_.size(); ++k) {
    MapNode node;
    node.keeps = int(k);
    node.factors.assign(size_t(choices_.slots() * choices_.dimensions()), 1);
    if (fits(node.keeps, choices_.levels() - 1, ones) && settle(node)) child(std::move(node));
  }
}

void MapTree::expand(const MapNode& node, const std::function<void(MapNode&&)>& child) const {
  Stage(*this, node, child).run();
}

double MapTree::outer_energy(const MapNode& node, const std::vector<int64_t>& cover) const {
  const std::vector<uint32_t>& keeps = keeps_[size_t(node.keeps)];
  const int tile_level = choices_.levels() - node.slots / kSlotsPerLevel;
  double energy = 0;
  for (int l = 1; l < tile_level; ++l) {
    if (!listed_[size_t(l)]) {
      energy += bounds_.compulsory_energy(l, keeps);
      continue;
    }
    const std::vector<TableEntry>& table = tables_[size_t(node.keeps * choices_.levels() + l)];
    const auto around = [&](const TableEntry& entry) {
      for (size_t d = 0; d < cover.size(); ++d) {
        if (entry.cover[d] % cover[d] != 0) return false;
      }
      return true;
    };
    size_t at = 0;
    while (at < table.size() && at < kMaxTableScan && !around(table[at])) ++at;
    if (at == table.size()) return std::numeric_limits<double>::infinity();
    energy += table[at].energy;
  }
  return energy;
}

std::optional<CostBound> MapTree::bound(const MapNode& node) const {
  const double outer = outer_energy(node, cover_of(node));
  if (std::isinf(outer)) return {};
  CostBound bound = bounds_.bound({node.factors, node.slots, keeps_[size_t(node.keeps)]});
  bound.energy += outer;
  return bound;
}

void MapTree::leaves(const MapNode& node, const std::function<void(MapLeaf&&)>& leaf) const {
  SlotMapping flat{node.factors, keeps_[size_t(node.keeps)], {}};
  int64_t evaluations = 0;
  const auto measure = [&](const std::vector<std::vector<int>>& orders) {
    flat.orders = orders;
    if (evaluator_.fast()) return OrderMeasure{evaluator_.cost(flat).energy, {}};
    const AccessCounts counts = evaluator_.counts(flat);
    OrderMeasure out;
    out.energy = cost_of_counts(mapspace_.workload, mapspace_.hardware, counts, rules_).energy;
    for (const PortLoad& load : port_loads(mapspace_.workload, mapspace_.hardware, counts)) {
      out.words.push_back(double(load.words));
    }
    return out;
  };
  const auto settled = [&](int level, const std::vector<int>& inside) {
    return bounds_.settled(node.factors, flat.keeps, level, inside);
  };
  for (const OrderedMapping& found : best_orders(choices_, node.factors, measure, settled, evaluations)) {
    flat.orders = found.orders;
    const SlotCost cost = evaluator_.cost(flat);
    leaf({flat, cost.energy, cost.cycles});
  }
  evaluations_ += evaluations;
}

}  // namespace tilewright
