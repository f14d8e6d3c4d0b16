// Costing and choosing fused tilings. Energy separates into phases, so each class of phases takes the mapping
// of its own least energy: what a pinned tensor would cost in the outermost memory is the same for every
// mapping of a phase, and leaving it out afterwards does not change which is best.
#include "tilewright/spatial/network/fused_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tilewright/base/integer_math.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/spatial/mapspace/mapspace_text.h"

namespace tilewright {
namespace {

constexpr int kBufferLevel = 1;

// Loading a resident weight once.
Cost load_cost(const Workload& layer, const ArrayHardware& hardware, const CostRules& rules) {
  AccessCounts counts;
  const int64_t words = layer.data_spaces[kWeightSpace].element_count();
  SpaceTraffic load;
  load.space = kWeightSpace;
  load.parent = 0;
  load.child = kBufferLevel;
  load.reads = load.fills = load.row_fills = words;
  counts.traffic.push_back(load);
  counts.used_instances.assign(hardware.levels.size() + 1, 1);
  counts.tile_words.assign(hardware.levels.size() * layer.data_spaces.size(), 0);
  return cost_of_counts(layer, hardware, counts, rules);
}

double outermost(const Cost& cost) {
  const auto& by_role = cost.memory_energy[0];
  return by_role[0] + by_role[1] + by_role[2];
}

// No tiling with this plan needs less: its multiplications, what must cross the outermost port, and the
// intermediates' way into the buffer and out of it.
double energy_bound(const FusedPlan& plan, const ArrayHardware& hardware) {
  double operations = 0;
  for (const int64_t count : plan.operations) operations += double(count);
  const ArrayLevel &memory = hardware.levels[0], &buffer = hardware.levels[kBufferLevel];
  return operations * hardware.mac_energy +
         double(plan.input_words + plan.weight_words) * memory.read_energy +
         double(plan.output_words) * memory.update_energy + double(plan.made_words) * buffer.update_energy +
         double(plan.read_words) * buffer.read_energy;
}

// Whether the pinned tensors of every phase fit beside what is reserved.
bool may_fit(const LayerChain& chain, const FusedTiling& tiling, const FusedPlan& plan,
             const ArrayHardware& hardware, Accounting accounting) {
  const ArrayLevel& buffer = hardware.levels[kBufferLevel];
  return std::all_of(plan.classes.begin(), plan.classes.end(), [&](const PhaseClass& phase) {
    const uint32_t pinned = pinned_spaces(chain, tiling, phase.layer);
    std::vector<int64_t> extents;
    for (const Dimension& dimension : phase.workload.dimensions) extents.push_back(dimension.size);
    int64_t words = plan.reserved_words[size_t(phase.layer)];
    for (int space = 0; space < 3; ++space) {
      if ((pinned >> space & 1u) != 0) {
        words += buffer.copies * held_words(phase.workload.data_spaces[size_t(space)], extents, accounting);
      }
    }
    return words <= buffer.capacity_words;
  });
}

// The smallest tile of each number of tiles, thinned evenly to `most`, the whole rank included.
std::vector<int64_t> tile_extents_of(int64_t size, size_t most) {
  std::vector<int64_t> all;
  for (int64_t count = 1; count <= size; ++count) {
    const int64_t tile = ceil_div(size, count);
    if (all.empty() || tile < all.back()) all.push_back(tile);
  }
  if (all.size() <= most) return all;
  std::vector<int64_t> some;
  for (size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

}  // namespace

AccessCounts without_pinned_traffic(AccessCounts counts, uint32_t pinned) {
  std::erase_if(counts.traffic, [&](const SpaceTraffic& traffic) {
    return traffic.parent == 0 && traffic.child == kBufferLevel && (pinned >> traffic.space & 1u) != 0;
  });
  return counts;
}

uint32_t pinned_spaces(const LayerChain& chain, const FusedTiling& tiling, int layer) {
  uint32_t pinned = 0;
  if (layer > 0) pinned |= 1u << kInputSpace;
  if (layer + 1 < int(chain.size())) pinned |= 1u << kOutputSpace;
  if ((tiling.resident >> layer & 1u) != 0) pinned |= 1u << kWeightSpace;
  return pinned;
}

std::optional<Mapspace> phase_mapspace(const LayerChain& chain, const FusedTiling& tiling,
                                       const FusedPlan& plan, const PhaseClass& phase,
                                       const ArrayHardware& hardware, const FusionOptions& options) {
  Mapspace mapspace{phase.workload, hardware, {}, options.imperfect};
  if (options.constraints) {
    mapspace.constraints = options.constraints(phase.workload).constraints;
  }
  int64_t& capacity = mapspace.hardware.levels[kBufferLevel].capacity_words;
  capacity -= plan.reserved_words[size_t(phase.layer)];
  if (capacity <= 0) return {};
  const uint32_t pinned = pinned_spaces(chain, tiling, phase.layer);
  mapspace.constraints.resize(hardware.levels.size());
  mapspace.constraints[kBufferLevel].must_keep |= pinned;
  std::vector<int64_t>& outer = mapspace.constraints[0].temporal;
  outer.resize(phase.workload.dimensions.size(), kFree);
  for (int d = 0; d < phase.workload.dimension_count(); ++d) {
    for (int space = 0; space < 3; ++space) {
      if ((pinned >> space & 1u) == 0 || !phase.workload.depends_on(space, d)) continue;
      if (outer[size_t(d)] > 1) return {};
      outer[size_t(d)] = 1;
    }
  }
  Diagnostics contradictions;
  mapspace.verify(contradictions);
  if (!contradictions.ok()) return {};
  return mapspace;
}

const MapResult& FusionSearch::phase_mapping(const Mapspace& mapspace) {
  const std::string key = fmt::format("{}{}|{}", print_workload(mapspace.workload), print_mapspace(mapspace),
                                      mapspace.hardware.levels[kBufferLevel].capacity_words);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  MapperOptions mapper;
  mapper.rules = options_.rules;
  mapper.threads = options_.threads;
  mapper.time_limit_s = options_.phase_limit_s;
  mapper.deadline = options_.deadline;
  return known_[key] = find_mapping(mapspace, mapper);
}

std::optional<FusedResult> FusionSearch::cost(const LayerChain& chain, const FusedTiling& tiling) {
  FusedResult result;
  result.tiling = tiling;
  result.plan = plan_fusion(chain, tiling);
  result.proven = true;
  const std::vector<CountingNetwork> networks = counting_networks(hardware_);
  for (const PhaseClass& phase : result.plan.classes) {
    const auto mapspace = phase_mapspace(chain, tiling, result.plan, phase, hardware_, options_);
    if (!mapspace) return {};
    const MapResult& found = phase_mapping(*mapspace);
    if (found.status == MapStatus::kInfeasible || found.mapping.levels.empty()) return {};
    MappedPhase mapped{phase, found.mapping, {}, found.status == MapStatus::kOptimal};
    const AccessCounts counts =
        count_accesses(phase.workload, found.mapping, networks, options_.rules.accounting);
    mapped.cost = cost_of_counts(phase.workload, hardware_,
                                 without_pinned_traffic(counts, pinned_spaces(chain, tiling, phase.layer)),
                                 options_.rules);
    result.energy += double(phase.times) * mapped.cost.energy;
    result.cycles += double(phase.times) * double(mapped.cost.cycles);
    result.outermost_energy += double(phase.times) * outermost(mapped.cost);
    result.proven = result.proven && mapped.proven;
    result.phases.push_back(std::move(mapped));
  }
  for (size_t layer = 0; layer < chain.size(); ++layer) {
    result.recomputed_operations += result.plan.operations[layer] - chain[layer].operation_count();
    if ((tiling.resident >> layer & 1u) == 0) continue;
    const Cost load = load_cost(chain[layer], hardware_, options_.rules);
    result.energy += load.energy;
    result.cycles += double(load.cycles);
    result.outermost_energy += outermost(load);
  }
  return result;
}

std::vector<FusedTiling> candidate_tilings(const LayerChain& chain) {
  constexpr size_t kMostExtents = 8;
  constexpr int64_t kMostTiles = 4000;
  const std::vector<bool> tileable = tileable_ranks(chain), overlapping = overlapping_ranks(chain);
  std::vector<FusedTiling> extents = {{}};
  for (size_t r = 0; r < tileable.size(); ++r) {
    const int64_t size = chain.back().data_spaces[kOutputSpace].ranks[r].size;
    const std::vector<int64_t> choices =
        tileable[r] ? tile_extents_of(size, kMostExtents) : std::vector{size};
    std::vector<FusedTiling> next;
    for (const FusedTiling& tiling : extents) {
      for (const int64_t choice : choices) {
        next.push_back(tiling);
        next.back().tile.push_back(choice);
      }
    }
    extents = std::move(next);
  }
  std::vector<FusedTiling> result;
  for (FusedTiling tiling : extents) {
    if (tile_count(chain, tiling) > kMostTiles) continue;
    for (int retained = -1; retained < int(tileable.size()); ++retained) {
      if (retained >= 0) {
        const bool cut = tiling.tile[size_t(retained)] <
                         chain.back().data_spaces[kOutputSpace].ranks[size_t(retained)].size;
        if (!cut || !overlapping[size_t(retained)]) continue;
      }
      tiling.retained = retained;
      for (uint32_t resident = 0; resident < 1u << chain.size(); ++resident) {
        tiling.resident = resident;
        result.push_back(tiling);
      }
    }
  }
  return result;
}

std::optional<FusedResult> FusionSearch::best(const LayerChain& chain) {
  if (!cannot_fuse(chain, hardware_).empty()) return {};
  const Deadline deadline(options_.time_limit_s > 0 ? options_.time_limit_s : Deadline::kNoLimit,
                          options_.deadline);
  struct Candidate {
    FusedTiling tiling;
    double bound = 0;
  };
  std::vector<Candidate> candidates;
  FusedPlan walked;
  FusedTiling walked_tiling;  // candidates that differ in resident weights alone follow one another
  for (const FusedTiling& tiling : candidate_tilings(chain)) {
    if (deadline.over()) return {};
    if (tiling.tile != walked_tiling.tile || tiling.retained != walked_tiling.retained) {
      walked = plan_without_weights(chain, tiling);
      walked_tiling = tiling;
    }
    const FusedPlan plan = with_resident_weights(walked, chain, tiling.resident);
    if (may_fit(chain, tiling, plan, hardware_, options_.rules.accounting))
      candidates.push_back({tiling, energy_bound(plan, hardware_)});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
  std::optional<FusedResult> best;
  int costed = 0;
  bool all = true;
  for (const Candidate& candidate : candidates) {
    if (best && candidate.bound >= best->energy) break;
    if (deadline.over() || (options_.most_tilings > 0 && costed == options_.most_tilings)) {
      all = false;
      break;
    }
    ++costed;
    std::optional<FusedResult> result = cost(chain, candidate.tiling);
    if (!result) continue;
    all = all && result->proven;
    const bool better = !best || result->energy < best->energy ||
                        (result->energy == best->energy && result->cycles < best->cycles);
    if (better) best = std::move(result);
  }
  if (best) {
    best->tilings_costed = costed;
    best->tilings_known = int(candidates.size());
    best->proven = all;
  }
  return best;
}

}  // namespace tilewright
