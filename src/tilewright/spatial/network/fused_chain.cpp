// The geometry of fused tiles. Ranges are propagated backwards through the input projections; each rank is
// independent of the others, so a tile is a range per rank and layer.
#include "tilewright/spatial/network/fused_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tilewright/base/integer_math.h"
#include "tilewright/nest/footprint.h"

namespace tilewright {
namespace {

const std::vector<Rank>& output_ranks(const Workload& layer) { return layer.data_spaces[kOutputSpace].ranks; }
const std::vector<Rank>& input_ranks(const Workload& layer) { return layer.data_spaces[kInputSpace].ranks; }

// The dimension that alone and one for one walks along an output rank; -1: none does. Dimensions of one
// iteration do not count.
int walking_dimension(const Workload& layer, const Rank& rank) {
  int found = -1;
  for (const ProjectionTerm& term : rank.terms) {
    const int64_t size = layer.dimensions[size_t(term.dimension)].size;
    if (size == 1 && rank.size > 1) continue;
    if (found >= 0 || term.coefficient != 1) return -1;
    found = term.dimension;
  }
  const bool whole = found >= 0 && rank.offset == 0 && layer.dimensions[size_t(found)].size == rank.size;
  return whole ? found : -1;
}

bool reads_along(const Rank& rank, int dimension) {
  return std::any_of(rank.terms.begin(), rank.terms.end(),
                     [&](const ProjectionTerm& term) { return term.dimension == dimension; });
}

int64_t words(const std::vector<IndexRange>& ranges) {
  int64_t product = 1;
  for (const IndexRange& range : ranges) product *= range.size();
  return product;
}

// Tiles along one rank of the last output.
struct RankTiles {
  int64_t size = 1, tile = 1;
  int64_t count() const { return ceil_div(size, tile); }
  IndexRange range(int64_t index) const { return {index * tile, std::min(size, (index + 1) * tile) - 1}; }
};

class TileWalk {
 public:
  TileWalk(const LayerChain& chain, const FusedTiling& tiling,
           const std::function<void(const FusedPhase&)>& body)
      : chain_(chain), tiling_(tiling), body_(body), tileable_(tileable_ranks(chain)) {
    const std::vector<Rank>& ranks = output_ranks(chain.back());
    for (size_t r = 0; r < ranks.size(); ++r) {
      const int64_t tile = tileable_[r] ? std::min(tiling.tile[r], ranks[r].size) : ranks[r].size;
      tiles_.push_back({ranks[r].size, std::max<int64_t>(tile, 1)});
      if (int(r) != tiling.retained) order_.push_back(r);
    }
    if (tiling.retained >= 0) order_.push_back(size_t(tiling.retained));
    made_up_to_.assign(chain.size(), -1);
    for (const Workload& layer : chain) {
      std::vector<int>& dimensions = walking_.emplace_back();
      for (const Rank& rank : output_ranks(layer)) dimensions.push_back(walking_dimension(layer, rank));
    }
  }

  void run() {
    std::vector<int64_t> index(tiles_.size(), 0);
    while (true) {
      // A new sweep along the retained rank starts with nothing made.
      if (tiling_.retained >= 0 && index[size_t(tiling_.retained)] == 0) {
        std::fill(made_up_to_.begin(), made_up_to_.end(), -1);
      }
      run_tile(index);
      size_t at = order_.size();
      while (at > 0 && ++index[order_[at - 1]] == tiles_[order_[at - 1]].count()) index[order_[--at]] = 0;
      if (at == 0) return;
    }
  }

 private:
  void run_tile(const std::vector<int64_t>& index) {
    std::vector<FusedPhase> phases;
    std::vector<IndexRange> needed;  // of the output of the layer at hand
    for (size_t r = 0; r < tiles_.size(); ++r) needed.push_back(tiles_[r].range(index[r]));
    for (size_t layer = chain_.size(); layer-- > 0;) {
      const Workload& workload = chain_[layer];
      std::vector<IndexRange> made = needed;
      if (tiling_.retained >= 0 && layer + 1 < chain_.size()) {
        const size_t r = size_t(tiling_.retained);
        made[r].first = std::max(made[r].first, made_up_to_[layer] + 1);
        made_up_to_[layer] = std::max(made_up_to_[layer], needed[r].last);
      }
      if (!phases.empty()) {
        phases.back().read_words = words(needed);
        phases.back().retained_words = words(needed) - words(made);
      }
      // Nothing but padding, or all of it left by earlier tiles: the layers before have nothing to do either.
      if (words(made) == 0) break;
      FusedPhase phase;
      phase.layer = int(layer);
      phase.made_words = words(made);
      phase.begins.assign(workload.dimensions.size(), 0);
      for (const Dimension& dimension : workload.dimensions) phase.extents.push_back(dimension.size);
      for (size_t r = 0; r < made.size(); ++r) {
        if (!tileable_[r]) continue;
        const size_t dimension = size_t(walking_[layer][r]);
        phase.begins[dimension] = made[r].first;
        phase.extents[dimension] = made[r].size();
      }
      needed.clear();
      for (const Rank& rank : input_ranks(workload)) {
        needed.push_back(stored_part(rank, bounding_range(rank, phase.begins, phase.extents)));
      }
      phases.push_back(std::move(phase));
    }
    for (size_t p = phases.size(); p-- > 0;) body_(phases[p]);
  }

  const LayerChain& chain_;
  const FusedTiling& tiling_;
  const std::function<void(const FusedPhase&)>& body_;
  std::vector<bool> tileable_;
  std::vector<RankTiles> tiles_;
  std::vector<std::vector<int>> walking_;  // by layer and output rank
  std::vector<size_t> order_;              // ranks, outermost loop first
  std::vector<int64_t> made_up_to_;        // by layer: last index along the retained rank in this sweep
};

// The layer restricted to a phase; equal phases give equal workloads.
Workload cut(const Workload& layer, const FusedPhase& phase) {
  Workload result = layer;
  for (size_t d = 0; d < result.dimensions.size(); ++d) result.dimensions[d].size = phase.extents[d];
  const std::vector<int64_t> origin(phase.begins.size(), 0);
  for (DataSpace& space : result.data_spaces) {
    for (Rank& rank : space.ranks) {
      rank.offset = 0;
      const IndexRange range = bounding_range(rank, origin, phase.extents);
      rank.offset = -range.first;
      rank.size = range.size();
    }
  }
  return result;
}

}  // namespace

std::string cannot_fuse(const LayerChain& chain, const ArrayHardware& hardware) {
  if (chain.size() < 2 || chain.size() > 32) return "a chain has 2 to 32 layers";
  for (const Workload& layer : chain) {
    if (layer.data_spaces.size() != 3 || !layer.data_spaces[kOutputSpace].is_output) {
      return fmt::format("'{}' has no input, weight and output", layer.name);
    }
  }
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    const std::vector<Rank>&made = output_ranks(chain[i]), &read = input_ranks(chain[i + 1]);
    const bool meet = made.size() == read.size() &&
                      std::equal(made.begin(), made.end(), read.begin(),
                                 [](const Rank& a, const Rank& b) { return a.size == b.size; });
    if (!meet)
      return fmt::format("the output of '{}' has a different shape from the input of '{}'", chain[i].name,
                         chain[i + 1].name);
  }
  if (hardware.levels.size() < 2) return "there is no buffer below the outermost memory";
  const ArrayLevel& buffer = hardware.levels[1];
  if (hardware.instances(1) != 1)
    return fmt::format("there are {} instances of '{}'", hardware.instances(1), buffer.name);
  if (buffer.capacity_words == kUnlimitedWords || buffer.capacity_words == 0)
    return fmt::format("'{}' has no capacity of its own", buffer.name);
  for (const int64_t reserved : buffer.role_capacity_words) {
    if (reserved != kUnlimitedWords) return fmt::format("'{}' reserves storage by data type", buffer.name);
  }
  if ((buffer.may_keep & 7u) != 7u) return fmt::format("'{}' may not keep all data", buffer.name);
  return "";
}

std::vector<bool> tileable_ranks(const LayerChain& chain) {
  std::vector<bool> tileable(output_ranks(chain.back()).size(), true);
  for (size_t r = 0; r < tileable.size(); ++r) {
    for (size_t layer = 0; layer < chain.size() && tileable[r]; ++layer) {
      if (r >= output_ranks(chain[layer]).size()) {
        tileable[r] = false;
        break;
      }
      const int dimension = walking_dimension(chain[layer], output_ranks(chain[layer])[r]);
      tileable[r] = dimension >= 0 && (layer == 0 || reads_along(input_ranks(chain[layer])[r], dimension));
    }
  }
  return tileable;
}

std::vector<bool> overlapping_ranks(const LayerChain& chain) {
  const std::vector<bool> tileable = tileable_ranks(chain);
  std::vector<bool> overlapping(tileable.size(), false);
  for (size_t layer = 1; layer < chain.size(); ++layer) {
    for (size_t r = 0; r < tileable.size(); ++r) {
      if (!tileable[r]) continue;
      // A step along the rank moves the window by less than it spans.
      const Rank& rank = input_ranks(chain[layer])[r];
      const int walking = walking_dimension(chain[layer], output_ranks(chain[layer])[r]);
      std::vector<int64_t> one(chain[layer].dimensions.size(), 1), origin(one.size(), 0);
      int64_t step = 0;
      for (const ProjectionTerm& term : rank.terms) {
        if (term.dimension == walking) {
          step = std::abs(term.coefficient);
        } else {
          one[size_t(term.dimension)] = chain[layer].dimensions[size_t(term.dimension)].size;
        }
      }
      if (bounding_range(rank, origin, one).size() > step) overlapping[r] = true;
    }
  }
  return overlapping;
}

int64_t tile_count(const LayerChain& chain, const FusedTiling& tiling) {
  const std::vector<bool> tileable = tileable_ranks(chain);
  int64_t count = 1;
  for (size_t r = 0; r < tileable.size(); ++r) {
    if (!tileable[r]) continue;
    const int64_t size = output_ranks(chain.back())[r].size, tile = std::min(size, tiling.tile[r]);
    count *= ceil_div(size, tile);
  }
  return count;
}

void for_each_phase(const LayerChain& chain, const FusedTiling& tiling,
                    const std::function<void(const FusedPhase& phase)>& body) {
  TileWalk(chain, tiling, body).run();
}

FusedPlan plan_fusion(const LayerChain& chain, const FusedTiling& tiling) {
  return with_resident_weights(plan_without_weights(chain, tiling), chain, tiling.resident);
}

FusedPlan plan_without_weights(const LayerChain& chain, const FusedTiling& tiling) {
  FusedPlan plan;
  const size_t layers = chain.size();
  plan.operations.assign(layers, 0);
  plan.phases.assign(layers, 0);
  plan.phase_weight_words.assign(layers, 0);
  for (const Workload& layer : chain) {
    plan.least_weight_words.push_back(layer.data_spaces[kWeightSpace].element_count());
  }
  plan.tiles = tile_count(chain, tiling);
  std::vector<int64_t> retained(layers, 0);  // most words of each intermediate kept from tile to tile
  std::vector<int64_t> gaps(layers, 0);      // words held that the reader's footprint leaves out
  std::map<std::pair<int, std::vector<int64_t>>, size_t> known;
  for_each_phase(chain, tiling, [&](const FusedPhase& phase) {
    const size_t layer = size_t(phase.layer);
    const auto [entry, fresh] = known.try_emplace({phase.layer, phase.extents}, plan.classes.size());
    if (fresh) plan.classes.push_back({phase.layer, cut(chain[layer], phase), 0});
    ++plan.classes[entry->second].times;
    ++plan.phases[layer];
    const int64_t touched = footprint(chain[layer].data_spaces[kInputSpace], phase.extents);
    if (layer == 0) {
      plan.input_words += touched;
    } else {
      retained[layer - 1] = std::max(retained[layer - 1], phase.retained_words);
      gaps[layer] = std::max(gaps[layer], phase.read_words - touched);
      plan.read_words += std::min(phase.read_words, touched);
    }
    (layer + 1 == layers ? plan.output_words : plan.made_words) += phase.made_words;
  });
  for (const PhaseClass& shape : plan.classes) {
    const size_t layer = size_t(shape.layer);
    plan.operations[layer] += shape.times * shape.workload.operation_count();
    const int64_t weights = shape.workload.data_spaces[kWeightSpace].element_count();
    plan.phase_weight_words[layer] += shape.times * weights;
    plan.least_weight_words[layer] = std::min(plan.least_weight_words[layer], weights);
  }
  plan.reserved_words = gaps;
  for (size_t layer = 0; layer < layers; ++layer) {
    for (size_t other = 0; other < layers; ++other) {
      // The intermediate that `other` reads is in its own tile.
      if (layer + 1 != other) plan.reserved_words[other] += retained[layer];
    }
  }
  return plan;
}

FusedPlan with_resident_weights(FusedPlan plan, const LayerChain& chain, uint32_t resident) {
  for (size_t layer = 0; layer < chain.size(); ++layer) {
    const int64_t weights = chain[layer].data_spaces[kWeightSpace].element_count();
    const bool stays = (resident >> layer & 1u) != 0;
    plan.weight_words += stays ? weights : plan.phase_weight_words[layer];
    for (size_t other = 0; stays && other < chain.size(); ++other) {
      // Its own phase holds the part it needs among its tiles.
      plan.reserved_words[other] += weights - (other == layer ? plan.least_weight_words[layer] : 0);
    }
  }
  return plan;
}

}  // namespace tilewright
