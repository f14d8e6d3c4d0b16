// Recognises mapspaces of the lattice solver: every test here is a property that its bounds rely on. What
// does not matter (dimensions of size 1, roles of storage) is folded away.
#include "tilewright/spatial/lattice/lattice_case.h"

#include <algorithm>
#include <cstdlib>

namespace tilewright::lattice {
namespace {

constexpr int64_t kMaxDimensionSize = int64_t{1} << 20, kMaxWindow = int64_t{1} << 23;

// Main memory, an optional buffer, register files; every level stores something, only one fans out.
bool find_levels(const Mapspace& mapspace, LatticeCase& result) {
  const std::vector<ArrayLevel>& levels = mapspace.hardware.levels;
  if (levels.size() != 2 && levels.size() != 3) return false;
  result.has_middle = levels.size() == 3;
  result.top = 0;
  result.low = int(levels.size()) - 1;
  result.middle = result.low - 1;
  for (int level = 0; level <= result.low; ++level) {
    const ArrayLevel& machine = levels[size_t(level)];
    const bool fans_out = machine.fanout_x * machine.fanout_y > 1;
    if (fans_out && level != result.middle) return false;
    if (fans_out && (!machine.network.multicast || !machine.network.reduction)) return false;
    if (machine.network.hop_energy != 0) return false;
    if (machine.read_words_per_cycle != 0 || machine.write_words_per_cycle != 0) return false;
    for (const double limit : machine.network.words_per_cycle) {
      if (limit != 0) return false;
    }
    if (level > 0 && machine.capacity_words == kUnlimitedWords) return false;
  }
  result.fanout_x = levels[size_t(result.middle)].fanout_x;
  result.fanout_y = levels[size_t(result.middle)].fanout_y;
  return true;
}

bool find_dimensions(const Workload& workload, LatticeCase& result) {
  for (int d = 0; d < workload.dimension_count(); ++d) {
    const int64_t size = workload.dimensions[size_t(d)].size;
    result.operations *= double(size);
    if (size == 1) continue;
    if (size > kMaxDimensionSize) return false;
    result.dimensions.push_back(d);
    result.sizes.push_back(size);
  }
  return result.dimension_count() <= kMaxDimensions;
}

// One term counts whole ranges of the other (groups of channels): elements are pairs of both indices.
bool is_nested(const CaseRank& rank, const std::vector<int64_t>& sizes) {
  const auto range = [&](int k) { return rank.coefficient[k] * sizes[size_t(rank.dimension[k])]; };
  return rank.coefficient[0] >= range(1) || rank.coefficient[1] >= range(0);
}

std::optional<CaseSpace> find_space(const Workload& workload, int space, const LatticeCase& dimensions) {
  const bool exact = dimensions.accounting == Accounting::kExact;
  const DataSpace& data = workload.data_spaces[size_t(space)];
  CaseSpace result;
  result.space = space;
  result.output = data.is_output;
  for (const Rank& rank : data.ranks) {
    CaseRank factor;
    factor.terms = 0;
    for (const ProjectionTerm& term : rank.terms) {
      const auto place =
          std::find(dimensions.dimensions.begin(), dimensions.dimensions.end(), term.dimension);
      if (place == dimensions.dimensions.end()) continue;
      if (factor.terms == 2) return std::nullopt;
      const int d = int(place - dimensions.dimensions.begin());
      factor.dimension[factor.terms] = d;
      factor.coefficient[factor.terms] = std::abs(term.coefficient);
      ++factor.terms;
      result.relevant |= 1u << d;
    }
    if (factor.terms > 0) result.boxes.push_back(factor);
    if (factor.terms == 2 && (data.is_output || exact) && is_nested(factor, dimensions.sizes)) {
      result.ranks.push_back({1, {factor.dimension[0], 0}, {factor.coefficient[0], 1}});
      result.ranks.push_back({1, {factor.dimension[1], 0}, {factor.coefficient[1], 1}});
      continue;
    }
    if (factor.terms == 2 && data.is_output) return std::nullopt;
    for (int k = 0; k < factor.terms && factor.terms == 2; ++k) {
      if (factor.coefficient[k] * dimensions.sizes[size_t(factor.dimension[k])] > kMaxWindow)
        return std::nullopt;
    }
    result.windowed = result.windowed || factor.terms == 2;
    if (factor.terms > 0) result.ranks.push_back(factor);
  }
  result.irrelevant = ((1u << dimensions.dimension_count()) - 1) & ~result.relevant;
  return result;
}

// A loop belongs to at most one space that ignores it: then at most one space is at rest at a level.
bool irrelevant_sets_are_disjoint(const LatticeCase& result) {
  uint32_t seen = 0;
  for (const CaseSpace& space : result.spaces) {
    if ((seen & space.irrelevant) != 0) return false;
    seen |= space.irrelevant;
  }
  return true;
}

bool has_one_window_space(const LatticeCase& result) {
  int windows = 0;
  for (const CaseSpace& space : result.spaces) windows += space.windowed ? 1 : 0;
  return windows <= 1;
}

BoundaryWeights boundary_weights(const ArrayHardware& hardware, int parent, int child, bool output,
                                 const CostRules& rules) {
  const ArrayLevel& from = hardware.levels[size_t(parent)];
  const ArrayLevel& to = hardware.levels[size_t(child)];
  const double delivery = hardware.levels[size_t(child - 1)].network.delivery_energy;
  const double fill = to.fill_energy + delivery;
  if (!output) return {from.read_energy, fill, 0, 0};
  const double drain = delivery + (rules.charge_drain_reads ? to.read_energy : 0);
  return {from.update_energy + from.read_energy, drain + fill, from.read_energy, fill};
}

bool find_spaces(const Mapspace& mapspace, const CostRules& rules, LatticeCase& result) {
  const Workload& workload = mapspace.workload;
  if (workload.data_space_count() != kMaxSpaces) return false;
  for (int s = 0; s < workload.data_space_count(); ++s) {
    std::optional<CaseSpace> space = find_space(workload, s, result);
    if (!space) return false;
    const size_t role = size_t(data_role(workload, s));
    const ArrayHardware& hardware = mapspace.hardware;
    space->low_reserved = hardware.levels[size_t(result.low)].role_capacity_words[role];
    if (result.has_middle) {
      space->middle_reserved = hardware.levels[size_t(result.middle)].role_capacity_words[role];
      space->top_to_middle = boundary_weights(hardware, result.top, result.middle, space->output, rules);
    }
    space->middle_to_low = boundary_weights(hardware, result.middle, result.low, space->output, rules);
    space->top_to_low = boundary_weights(hardware, result.top, result.low, space->output, rules);
    if (space->output) result.output = s;
    result.spaces.push_back(std::move(*space));
  }
  return (result.accounting == Accounting::kTimeloop || has_one_window_space(result)) &&
         irrelevant_sets_are_disjoint(result);
}

uint32_t constraint_mask(const Mapspace& mapspace, int level, uint32_t LevelConstraints::*member) {
  return mapspace.constraints.empty() ? 0 : mapspace.constraints[size_t(level)].*member;
}

// Sets of spaces (bits in the workload's order, which is the case's) that `level` may keep.
std::vector<uint32_t> allowed_masks(const Mapspace& mapspace, int level) {
  const ArrayLevel& machine = mapspace.hardware.levels[size_t(level)];
  const Hierarchy hierarchy = array_hierarchy(mapspace.hardware, mapspace.workload);
  const uint32_t may = hierarchy.levels[size_t(level)].may_keep;
  const uint32_t must = constraint_mask(mapspace, level, &LevelConstraints::must_keep);
  const uint32_t must_not = constraint_mask(mapspace, level, &LevelConstraints::must_bypass);
  std::vector<uint32_t> result;
  for (uint32_t mask = 0; mask < (1u << kMaxSpaces); ++mask) {
    bool allowed = (mask & must) == must && (mask & must_not) == 0 && (mask & ~may) == 0;
    for (int s = 0; s < kMaxSpaces; ++s) {
      const uint32_t role = 1u << uint32_t(data_role(mapspace.workload, s));
      allowed = allowed && ((mask >> s & 1u) != 0 || (machine.must_keep & role) == 0);
    }
    if (allowed) result.push_back(mask);
  }
  return result;
}

int64_t factor_of(const std::vector<int64_t>& factors, int dimension) {
  return factors.empty() ? kFree : factors[size_t(dimension)];
}

bool find_constraints(const Mapspace& mapspace, LatticeCase& result) {
  const std::vector<uint32_t> low_masks = allowed_masks(mapspace, result.low);
  if (low_masks != std::vector<uint32_t>{(1u << kMaxSpaces) - 1}) return false;
  result.middle_masks = result.has_middle ? allowed_masks(mapspace, result.middle) : std::vector<uint32_t>{0};
  if (!result.has_middle) result.fixed_top.fill(1);
  if (mapspace.constraints.empty()) return true;
  for (int level = 0; level <= result.low; ++level) {
    const LevelConstraints& constraints = mapspace.constraints[size_t(level)];
    if (!constraints.innermost.empty()) return false;
    for (int d = 0; d < mapspace.workload.dimension_count(); ++d) {
      const auto place = std::find(result.dimensions.begin(), result.dimensions.end(), d);
      const int64_t temporal = factor_of(constraints.temporal, d);
      const int64_t x = factor_of(constraints.spatial_x, d), y = factor_of(constraints.spatial_y, d);
      if (place == result.dimensions.end() || level != result.middle) {
        if (x > 1 || y > 1) return false;
      }
      if (place == result.dimensions.end()) {
        if (temporal > 1) return false;
        continue;
      }
      const size_t i = size_t(place - result.dimensions.begin());
      if (level == result.low) result.fixed_low[i] = temporal;
      if (level == result.middle) {
        result.fixed_middle[i] = temporal;
        result.fixed_x[i] = x;
        result.fixed_y[i] = y;
        result.one_axis_per_dimension = constraints.one_axis_per_dimension;
      }
      if (result.has_middle && level == result.top) result.fixed_top[i] = temporal;
    }
  }
  return true;
}

void find_capacities(const Mapspace& mapspace, LatticeCase& result) {
  const Hierarchy hierarchy = array_hierarchy(mapspace.hardware, mapspace.workload, result.accounting);
  for (const HierarchyLevel& level : hierarchy.levels) result.stores_boxes = level.stores_gaps;
  const std::vector<ArrayLevel>& levels = mapspace.hardware.levels;
  const auto shared = [&](int level) {
    return levels[size_t(level)].capacity_words / levels[size_t(level)].copies;
  };
  result.low_capacity = shared(result.low);
  if (result.has_middle) result.middle_capacity = shared(result.middle);
  for (CaseSpace& space : result.spaces) {
    if (space.low_reserved >= 0) space.low_reserved /= levels[size_t(result.low)].copies;
    if (space.middle_reserved >= 0) space.middle_reserved /= levels[size_t(result.middle)].copies;
  }
}

}  // namespace

std::optional<LatticeCase> lattice_case(const Mapspace& mapspace, const MapperOptions& options) {
  LatticeCase result;
  result.mapspace = &mapspace;
  result.deadline = options.deadline;
  result.accounting = options.rules.accounting;
  if (!find_levels(mapspace, result) || !find_dimensions(mapspace.workload, result) ||
      !find_spaces(mapspace, options.rules, result) || !find_constraints(mapspace, result)) {
    return std::nullopt;
  }
  find_capacities(mapspace, result);
  const ArrayHardware& hardware = mapspace.hardware;
  const ArrayLevel& low = hardware.levels[size_t(result.low)];
  const double delivery = low.network.delivery_energy;
  const double inputs = double(result.space_count() - 1) * (low.read_energy + delivery);
  const double read_back = low.read_energy;  // within the arithmetic's reach: no delivery
  result.arithmetic_energy =
      result.operations * (hardware.mac_energy + inputs + low.update_energy + delivery + read_back);
  result.first_update_saving = read_back;
  return result;
}

}  // namespace tilewright::lattice
