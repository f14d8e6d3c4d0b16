#include "fused_walker.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace tilewright {
namespace {

using Coordinate = std::vector<int64_t>;
using Box = std::vector<int64_t>;

Coordinate coordinate(const DataSpace& space, const Box& point) {
  Coordinate result;
  for (const Rank& rank : space.ranks) {
    int64_t index = rank.offset;
    for (const ProjectionTerm& term : rank.terms) index += term.coefficient * point[size_t(term.dimension)];
    result.push_back(index);
  }
  return result;
}

bool is_stored(const DataSpace& space, const Coordinate& at) {
  for (size_t r = 0; r < at.size(); ++r) {
    if (at[r] < 0 || at[r] >= space.ranks[r].size) return false;
  }
  return true;
}

void for_each_point(std::span<const int64_t> begins, std::span<const int64_t> extents,
                    const std::function<void(const Box&)>& body) {
  Box point(begins.begin(), begins.end());
  while (true) {
    body(point);
    size_t d = point.size();
    while (d > 0 && ++point[d - 1] == begins[d - 1] + extents[d - 1]) {
      point[d - 1] = begins[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

// A number for every element of a model tensor.
int64_t element(int tensor, const Coordinate& at) {
  uint64_t hash = 0x9E3779B97F4A7C15u + uint64_t(tensor);
  for (const int64_t index : at) hash = (hash ^ uint64_t(index + 1000)) * 0xBF58476D1CE4E5B9u;
  return int64_t(hash >> 59) - 16;
}

using Elements = std::map<Coordinate, int64_t>;

class Walker {
 public:
  Walker(const LayerChain& chain, const FusedResult& fused, const ArrayHardware& hardware)
      : chain_(chain), fused_(fused), hardware_(hardware), buffer_(chain.size()) {
    walk_.operations.assign(chain.size(), 0);
    for_each_phase(chain, fused.tiling, [&](const FusedPhase& phase) { phases_.push_back(phase); });
    for (size_t layer = 0; layer < chain.size(); ++layer) {
      if ((fused.tiling.resident >> layer & 1u) == 0) continue;
      walk_.reads += chain[layer].data_spaces[kWeightSpace].element_count();
      resident_words_ += chain[layer].data_spaces[kWeightSpace].element_count();
    }
  }

  FusedWalk run() {
    for (size_t p = 0; p < phases_.size(); ++p) {
      run_phase(phases_[p]);
      drop_what_nobody_needs(p);
    }
    return std::move(walk_);
  }

 private:
  void problem(const std::string& text) {
    if (walk_.problems.size() < 5) walk_.problems.push_back(text);
  }

  const MappedPhase& mapped(const FusedPhase& phase) {
    for (const MappedPhase& candidate : fused_.phases) {
      if (candidate.phase.layer != phase.layer) continue;
      Box extents;
      for (const Dimension& dimension : candidate.phase.workload.dimensions)
        extents.push_back(dimension.size);
      if (extents == phase.extents) return candidate;
    }
    throw Error(ErrorKind::kInternal, "a phase without a mapping");
  }

  int64_t input_value(size_t layer, const Coordinate& at) {
    if (!is_stored(chain_[layer].data_spaces[kInputSpace], at)) return 0;
    if (layer == 0) return element(0, at);
    const auto found = buffer_[layer - 1].find(at);
    if (found == buffer_[layer - 1].end()) {
      problem(fmt::format("layer {} reads an element that is not in the buffer", layer));
      return 0;
    }
    return found->second;
  }

  void run_phase(const FusedPhase& phase) {
    const size_t layer = size_t(phase.layer);
    const Workload& workload = chain_[layer];
    const MappedPhase& nest = mapped(phase);
    const uint32_t pinned = pinned_spaces(chain_, fused_.tiling, phase.layer);
    const bool last = layer + 1 == chain_.size();
    Elements sums;  // partial sums of this phase
    std::array<std::set<Coordinate>, 3> tile;
    std::set<Coordinate> visited;  // outputs that were in the buffer before
    for_each_tile(nest.phase.workload, nest.mapping, 1,
                  [&](std::span<const int64_t> begins, std::span<const int64_t> extents) {
                    Box from(begins.begin(), begins.end());
                    for (size_t d = 0; d < from.size(); ++d) from[d] += phase.begins[d];
                    std::array<std::set<Coordinate>, 3> next;
                    for_each_point(from, extents, [&](const Box& point) {
                      ++walk_.operations[layer];
                      std::array<Coordinate, 3> at;
                      for (size_t s = 0; s < 3; ++s) {
                        at[s] = coordinate(workload.data_spaces[s], point);
                        next[s].insert(at[s]);
                      }
                      sums[at[kOutputSpace]] +=
                          input_value(layer, at[kInputSpace]) * element(int(layer) + 1, at[kWeightSpace]);
                    });
                    for (size_t s = 0; s < 3; ++s) {
                      if ((pinned >> s & 1u) != 0) continue;
                      for (const Coordinate& at : next[s]) {
                        if (tile[s].count(at) != 0) continue;
                        // A first visit of an output starts from zero; everything else is read.
                        if (s != size_t(kOutputSpace) || !visited.insert(at).second) ++walk_.reads;
                      }
                      if (s == size_t(kOutputSpace)) {
                        for (const Coordinate& at : tile[s]) walk_.updates += next[s].count(at) == 0 ? 1 : 0;
                      }
                    }
                    tile = next;
                    note_peak(layer, tile, pinned, sums, last);
                  });
    if (!last) {
      for (const auto& [at, value] : sums) buffer_[layer][at] = value;
      return;
    }
    walk_.updates += int64_t(tile[kOutputSpace].size());
    for (const auto& [at, value] : sums) {
      walk_.output[at] = value;
      ++walk_.made[at];
    }
  }

  // Words in the buffer: intermediates (the one in the making counts as it grows), resident weights, the
  // tiles that stream through.
  void note_peak(size_t layer, const std::array<std::set<Coordinate>, 3>& tile, uint32_t pinned,
                 const Elements& sums, bool last) {
    int64_t words = resident_words_;
    for (const Elements& tensor : buffer_) words += int64_t(tensor.size());
    if (!last) {
      for (const auto& [at, value] : sums) words += buffer_[layer].count(at) == 0 ? 1 : 0;
    }
    for (size_t s = 0; s < 3; ++s) {
      if ((pinned >> s & 1u) == 0) words += int64_t(tile[s].size());
    }
    walk_.peak_words = std::max(walk_.peak_words, words);
    if (words > hardware_.levels[1].capacity_words) problem(fmt::format("{} words in the buffer", words));
  }

  // After the phase number `p`: intermediates that no later phase reads before they are made again.
  void drop_what_nobody_needs(size_t p) {
    const size_t reader = size_t(phases_[p].layer);
    if (reader == 0) return;
    std::set<Coordinate> needed, made;
    for (size_t later = p + 1; later < phases_.size(); ++later) {
      const FusedPhase& phase = phases_[later];
      const size_t layer = size_t(phase.layer);
      if (layer != reader && layer + 1 != reader) continue;
      const DataSpace& space = chain_[layer].data_spaces[layer == reader ? kInputSpace : kOutputSpace];
      for_each_point(phase.begins, phase.extents, [&](const Box& point) {
        Coordinate at = coordinate(space, point);
        if (layer != reader) {
          made.insert(std::move(at));
        } else if (made.count(at) == 0) {
          needed.insert(std::move(at));
        }
      });
    }
    std::erase_if(buffer_[reader - 1], [&](const auto& entry) { return needed.count(entry.first) == 0; });
  }

  const LayerChain& chain_;
  const FusedResult& fused_;
  const ArrayHardware& hardware_;
  std::vector<FusedPhase> phases_;
  std::vector<Elements> buffer_;  // intermediate by layer that makes it
  int64_t resident_words_ = 0;
  FusedWalk walk_;
};

}  // namespace

FusedWalk walk_fused(const LayerChain& chain, const FusedResult& fused, const ArrayHardware& hardware) {
  return Walker(chain, fused, hardware).run();
}

std::map<std::vector<int64_t>, int64_t> plain_output(const LayerChain& chain) {
  Elements before;
  for (size_t layer = 0; layer < chain.size(); ++layer) {
    Elements sums;
    Box begins(chain[layer].dimensions.size(), 0), extents;
    for (const Dimension& dimension : chain[layer].dimensions) extents.push_back(dimension.size);
    for_each_point(begins, extents, [&](const Box& point) {
      const Coordinate in = coordinate(chain[layer].data_spaces[kInputSpace], point);
      const bool stored = is_stored(chain[layer].data_spaces[kInputSpace], in);
      const int64_t value = !stored ? 0 : layer == 0 ? element(0, in) : before.at(in);
      sums[coordinate(chain[layer].data_spaces[kOutputSpace], point)] +=
          value * element(int(layer) + 1, coordinate(chain[layer].data_spaces[kWeightSpace], point));
    });
    before = std::move(sums);
  }
  return before;
}

}  // namespace tilewright
