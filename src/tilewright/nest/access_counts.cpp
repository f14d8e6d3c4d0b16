// Every word that moves does so when some temporal loop advances (or at the first step, or after the last).
// When loop i advances, the temporal loops inside it fall back from their last index to their first, so what
// the tiles before and after have in common depends on i and on where the loops outside stand, and that only
// near a dimension's end. A tile is a product over ranks and a dimension belongs to one rank, so
//   words fetched when i advances = product over ranks of all elements - product of those not fetched,
// where an element of a rank is not fetched if every instance that wants it has had it; sums over positions
// of the loops outside are products over ranks of sums over positions of that rank's dimensions. Dimensions
// that the data space does not depend on multiply by the number of positions where an instance works.
#include "tilewright/nest/access_counts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tilewright/nest/footprint.h"
#include "tilewright/nest/reuse.h"

namespace tilewright {
namespace {

using Wide = __int128;

[[noreturn]] void refuse() {
  throw Error(ErrorKind::kInvalidInput, "an access count of this mapping exceeds 2^63 - 1");
}
Wide times(Wide a, Wide b) {
  if (a == int64_t(a) && b == int64_t(b)) return Wide(int64_t(a)) * int64_t(b);
  Wide out;
  if (__builtin_mul_overflow(a, b, &out)) refuse();
  return out;
}
Wide plus(Wide a, Wide b) {
  Wide out;
  if (__builtin_add_overflow(a, b, &out)) refuse();
  return out;
}
int64_t narrow(Wide a) {
  if (a > Wide(std::numeric_limits<int64_t>::max())) refuse();
  return int64_t(a);
}

// Words that move between a parent and a child; instances of one group share.
struct Moved {
  Wide fetched = 0, drained = 0;
};

// What a loop is when loop `advancing` goes up by one.
enum class LoopPart : uint8_t {
  kOutside,   // stands anywhere, before and after
  kAdvances,  // goes up by one
  kRestarts,  // from its last index to 0
  kTogether,  // of instances that share words
};

// What is counted between a parent and a child. One object serves all of a mapping's pairs, for its buffers.
class Boundary {
 public:
  Boundary(const Workload& workload, Accounting accounting)
      : workload_(workload), timeloop_(accounting == Accounting::kTimeloop) {
    for (const Dimension& dimension : workload.dimensions) sizes_.push_back(dimension.size);
  }

  void enter(std::span<const NestLoop> loops, int space, int child, bool arithmetic) {
    const DataSpace& data = workload_.data_spaces[size_t(space)];
    rules_ = {timeloop_, timeloop_ && !data.is_output};
    arithmetic_ = arithmetic;
    depends_.assign(sizes_.size(), false);
    for (const Rank& rank : data.ranks) {
      for (const ProjectionTerm& term : rank.terms) depends_[size_t(term.dimension)] = true;
    }
    tile_.assign(sizes_.size(), 1);
    loops_.clear();
    innermost_mover_ = -1;
    for (const NestLoop& loop : loops) {
      if (loop.level < child) {
        if (loop.temporal && depends_[size_t(loop.dimension)]) innermost_mover_ = int(loops_.size());
        loops_.push_back(loop);
      } else {
        int64_t& tile = tile_[size_t(loop.dimension)];
        tile = std::min(sizes_[size_t(loop.dimension)], tile * loop.factor);
      }
    }
    parts_.resize(loops_.size());
    list_factors(data);
  }

  const std::vector<NestLoop>& loops() const { return loops_; }

  // Words that move while instances share that differ only in the spatial loops of `together` (by loop).
  Moved moved(const std::vector<bool>& together) {
    Moved total;
    if (arithmetic_) {
      for (size_t i = 0; i < loops_.size(); ++i) parts_[i] = spatial_part(i, together);
      total.fetched = total.drained = event(-1).fetched;
      return total;
    }
    // The first tile is fetched whole, the last one drained whole; the moves in between.
    set_parts(-1, together);
    total = event(-1);
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (!loops_[i].temporal || int(i) > innermost_mover_) continue;
      set_parts(int(i), together);
      const Moved moves = event(int(i));
      total.fetched = plus(total.fetched, moves.fetched);
      total.drained = plus(total.drained, moves.drained);
    }
    return total;
  }

  // Elements that a group of instances ever holds, summed over the groups.
  Wide distinct(const std::vector<bool>& together) {
    for (size_t i = 0; i < loops_.size(); ++i) {
      parts_[i] = loops_[i].temporal ? LoopPart::kTogether : spatial_part(i, together);
    }
    Wide total = 1;
    for (Factor& factor : in_use())
      total = times(total, factor.relevant ? distinct_of(factor) : sums_of(factor).new_all);
    return total;
  }

 private:
  struct Sums {
    Wide new_all = 1, new_part = 0, old_all = 1, old_part = 0;
  };
  // A rank, or a dimension that the data space does not depend on: counts are products over these. Its sums
  // follow from the parts of its own loops, which few events change.
  struct Factor {
    bool relevant = true;               // a rank
    std::vector<ProjectionTerm> terms;  // of more than one iteration
    std::vector<size_t> loops;          // by index into loops_
    std::vector<std::pair<uint64_t, Sums>> known;
  };
  static constexpr size_t kMostRemembered = 32;  // loops of a factor, two bits each

  std::span<Factor> in_use() { return std::span(factors_).first(factor_count_); }

  void list_factors(const DataSpace& data) {
    factor_count_ = 0;
    for (const Rank& rank : data.ranks) add_factor(true, rank.terms);
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (!depends_[d]) add_factor(false, std::array{ProjectionTerm{int(d), 1}});
    }
  }
  // Those that are 1 at any time are left out.
  void add_factor(bool relevant, std::span<const ProjectionTerm> terms) {
    if (factor_count_ == factors_.size()) factors_.emplace_back();
    Factor& factor = factors_[factor_count_];
    factor.relevant = relevant;
    factor.terms.clear();
    factor.loops.clear();
    factor.known.clear();
    for (const ProjectionTerm& term : terms) {
      if (sizes_[size_t(term.dimension)] > 1) factor.terms.push_back(term);
    }
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (involves(factor, loops_[i].dimension)) factor.loops.push_back(i);
    }
    if (!(relevant ? factor.terms.empty() : factor.loops.empty())) ++factor_count_;
  }

  static LoopPart spatial_part(size_t i, const std::vector<bool>& together) {
    return together[i] ? LoopPart::kTogether : LoopPart::kOutside;
  }
  void set_parts(int advancing, const std::vector<bool>& together) {
    for (size_t i = 0; i < loops_.size(); ++i) {
      parts_[i] = !loops_[i].temporal   ? spatial_part(i, together)
                  : int(i) < advancing  ? LoopPart::kOutside
                  : int(i) == advancing ? LoopPart::kAdvances
                                        : LoopPart::kRestarts;
    }
  }

  // Sums over the positions of the loops outside, as parts_ says.
  Moved event(int advancing) {
    Wide new_all = 1, new_kept = 1, old_all = 1, old_kept = 1;
    for (Factor& factor : in_use()) {
      Sums sums = sums_of(factor);
      const bool moves =
          factor.relevant && advancing >= 0 && involves(factor, loops_[size_t(advancing)].dimension);
      if (timeloop_ && advancing == innermost_mover_ && moves) {
        sums.new_all = sums.new_part;
        sums.old_all = sums.old_part;
      }
      new_all = times(new_all, sums.new_all);
      old_all = times(old_all, sums.old_all);
      new_kept = times(new_kept, sums.new_all - sums.new_part);
      old_kept = times(old_kept, sums.old_all - sums.old_part);
    }
    if (timeloop_ || advancing < 0) return {new_all, old_all};
    return {new_all - new_kept, old_all - old_kept};
  }

  static bool involves(const Factor& factor, int dimension) {
    for (const ProjectionTerm& term : factor.terms) {
      if (term.dimension == dimension) return true;
    }
    return false;
  }

  Sums sums_of(Factor& factor) {
    if (factor.loops.size() > kMostRemembered) return counted_sums(factor);
    uint64_t parts = 0;
    for (const size_t i : factor.loops) parts = parts << 2 | uint64_t(parts_[i]);
    for (const auto& [of, sums] : factor.known) {
      if (of == parts) return sums;
    }
    factor.known.emplace_back(parts, counted_sums(factor));
    return factor.known.back().second;
  }

  Sums counted_sums(const Factor& factor) {
    read_terms(factor);
    Sums sums{0, 0, 0, 0};
    if (!factor.relevant) {
      // Positions where an instance works; all that is held there stays.
      for (const Room& at : rooms_[0]) sums.new_all += at.room > axes_[0].new_offset ? at.count : 0;
      sums.old_all = sums.new_all;
      return sums;
    }
    for_each_position(factor.terms.size(), rules_, [&](Wide count, const RankMoves& moves) {
      sums.new_all = plus(sums.new_all, times(count, moves.new_all));
      sums.new_part = plus(sums.new_part, times(count, moves.new_part));
      sums.old_all = plus(sums.old_all, times(count, moves.old_all));
      sums.old_part = plus(sums.old_part, times(count, moves.old_part));
    });
    return sums;
  }

  // One dimension as parts_ sees it.
  void read_dimension(const Factor& factor, const ProjectionTerm& term, RankAxis& axis,
                      std::vector<Stride>& together, std::vector<Room>& rooms) {
    outside_.clear();
    together.clear();
    axis = {};
    axis.coefficient = term.coefficient;
    axis.tile = tile_[size_t(term.dimension)];
    int64_t reach = axis.tile;
    for (const size_t i : factor.loops) {
      const NestLoop& loop = loops_[i];
      if (loop.dimension != term.dimension) continue;
      switch (parts_[i]) {
        case LoopPart::kOutside:
          outside_.push_back({loop.step, loop.factor});
          break;
        case LoopPart::kAdvances:
          if (loop.factor > 2) outside_.push_back({loop.step, loop.factor - 1});
          axis.new_offset = loop.step;
          break;
        case LoopPart::kRestarts:
          axis.old_offset += (loop.factor - 1) * loop.step;
          break;
        case LoopPart::kTogether:
          together.push_back({loop.step, loop.factor, loop.level});
          reach += (loop.factor - 1) * loop.step;
          break;
      }
    }
    reach += std::max(axis.old_offset, axis.new_offset);
    positions_by_room(sizes_[size_t(term.dimension)], outside_, reach, rooms);
    axis.instances = together;
  }

  void read_terms(const Factor& factor) {
    const size_t terms = factor.terms.size();
    if (axes_.size() < terms) {
      axes_.resize(terms);
      together_.resize(terms);
      rooms_.resize(terms);
    }
    for (size_t t = 0; t < terms; ++t)
      read_dimension(factor, factor.terms[t], axes_[t], together_[t], rooms_[t]);
  }

  // Calls body(count, moves) for the positions of the dimensions of a rank, alike ones at once.
  template <typename Body>
  void for_each_position(size_t terms, RankRules rules, Body&& body) {
    choice_.assign(terms, 0);
    while (true) {
      Wide count = 1;
      for (size_t t = 0; t < terms; ++t) {
        const Room& at = rooms_[t][choice_[t]];
        axes_[t].room = at.room;
        count = times(count, at.count);
      }
      body(count, counter_.moves(std::span(axes_).first(terms), rules));
      size_t t = terms;
      while (t-- > 0) {
        if (++choice_[t] < rooms_[t].size()) break;
        choice_[t] = 0;
      }
      if (t == size_t(-1)) return;
    }
  }

  // Elements of one rank that groups ever hold. Every iteration belongs to one group, so where no two
  // iterations meet in an element the groups share out the whole range.
  Wide distinct_of(const Factor& factor) {
    Wide iterations = 1;
    scratch_.terms.clear();
    for (const ProjectionTerm& term : factor.terms) {
      iterations = times(iterations, sizes_[size_t(term.dimension)]);
      scratch_.terms.push_back(term);
    }
    if (rank_footprint(scratch_, sizes_) == iterations) return iterations;
    read_terms(factor);
    const size_t terms = factor.terms.size();
    // Instances that adjoin are one long tile: their union is all that matters here.
    for (size_t t = 0; t < terms; ++t) {
      std::vector<Stride>& loops = together_[t];
      while (!loops.empty() && loops.back().step <= axes_[t].tile) {
        axes_[t].tile += (loops.back().count - 1) * loops.back().step;
        loops.pop_back();
      }
      axes_[t].instances = loops;
    }
    Wide total = 0;
    for_each_position(terms, {}, [&](Wide count, const RankMoves& moves) {
      total = plus(total, times(count, moves.new_all));
    });
    return total;
  }

  const Workload& workload_;
  bool timeloop_;
  std::vector<int64_t> sizes_;  // by dimension
  RankRules rules_;
  bool arithmetic_ = false;
  std::vector<bool> depends_;
  std::vector<int64_t> tile_;
  std::vector<NestLoop> loops_;  // outside the child's tile
  std::vector<LoopPart> parts_;
  int innermost_mover_ = -1;
  std::vector<Factor> factors_;
  size_t factor_count_ = 0;
  RankCounter counter_;
  Rank scratch_;
  std::vector<Stride> outside_;
  std::vector<RankAxis> axes_;
  std::vector<std::vector<Stride>> together_;
  std::vector<std::vector<Room>> rooms_;
  std::vector<size_t> choice_;
};

SpaceTraffic traffic_of(Boundary& boundary, std::span<const NestLoop> loops, bool output, int space,
                        int parent, int child, std::span<const CountingNetwork> networks) {
  const bool arithmetic = child == int(networks.size());
  boundary.enter(loops, space, child, arithmetic);
  const size_t count = boundary.loops().size();
  std::vector<bool> nobody(count), siblings(count), row(count), readers(count), updaters(count);
  for (size_t i = 0; i < count; ++i) {
    const NestLoop& loop = boundary.loops()[i];
    if (loop.temporal || loop.level < parent) continue;
    siblings[i] = true;
    row[i] = !loop.along_y;
    readers[i] = networks[size_t(loop.level)].multicast;
    updaters[i] = networks[size_t(loop.level)].reduction;
  }
  std::vector<std::pair<const std::vector<bool>*, Moved>> known;
  const auto moved = [&](const std::vector<bool>& together) {
    for (const auto& entry : known) {
      if (*entry.first == together) return entry.second;
    }
    known.push_back({&together, boundary.moved(together)});
    return known.back().second;
  };
  SpaceTraffic traffic;
  traffic.space = space;
  traffic.parent = parent;
  traffic.child = child;
  const Moved alone = moved(nobody), in_rows = moved(row);
  Wide reads = moved(readers).fetched, fills = alone.fetched, row_fills = in_rows.fetched;
  if (output) {
    const Wide updates = moved(updaters).drained;
    traffic.updates = narrow(updates);
    traffic.drains = narrow(alone.drained);
    traffic.row_drains = narrow(in_rows.drained);
    reads = (arithmetic ? updates : reads) - boundary.distinct(siblings);
    fills = arithmetic ? 0 : fills - boundary.distinct(nobody);
    row_fills = arithmetic ? 0 : row_fills - boundary.distinct(row);
  }
  traffic.reads = narrow(reads);
  traffic.fills = narrow(fills);
  traffic.row_fills = narrow(row_fills);
  return traffic;
}

// Positions of those loops of each dimension that `wanted` accepts, beginning inside the dimensions.
template <typename Wanted>
int64_t positions(const Workload& workload, std::span<const NestLoop> loops, Wanted&& wanted) {
  Wide total = 1;
  std::vector<Stride> strides;
  std::vector<Room> rooms;
  for (int d = 0; d < workload.dimension_count(); ++d) {
    strides.clear();
    for (const NestLoop& loop : loops) {
      if (loop.dimension == d && wanted(loop)) strides.push_back({loop.step, loop.factor});
    }
    positions_by_room(workload.dimensions[size_t(d)].size, strides, 1, rooms);
    Wide along = 0;
    for (const Room& at : rooms) along += at.count;
    total = times(total, along);
  }
  return narrow(total);
}

}  // namespace

AccessCounts count_accesses(const Workload& workload, const Mapping& mapping,
                            std::span<const CountingNetwork> networks, Accounting accounting) {
  const int levels = mapping.level_count();
  TILEWRIGHT_CHECK(int(networks.size()) == levels, "one network per level");
  const std::vector<NestLoop> loops = nest_loops(workload, mapping);
  AccessCounts counts;
  counts.operations = workload.operation_count();
  counts.steps = positions(workload, loops, [](const NestLoop& loop) { return loop.temporal; });
  for (int l = 0; l <= levels; ++l) {
    counts.used_instances.push_back(
        positions(workload, loops, [&](const NestLoop& loop) { return !loop.temporal && loop.level < l; }));
  }
  const size_t dimensions = workload.dimensions.size(), spaces = workload.data_spaces.size();
  const std::vector<int64_t> extents = tile_extents(workload, mapping);
  counts.tile_words.assign(size_t(levels) * spaces, 0);
  Boundary boundary(workload, accounting);
  for (size_t s = 0; s < spaces; ++s) {
    int parent = 0;
    for (int l = 0; l <= levels; ++l) {
      if (l < levels && l > 0 && !mapping.levels[size_t(l)].keeps_space(int(s))) continue;
      if (l < levels) {
        const auto tile = std::span(extents).subspan(size_t(l) * dimensions, dimensions);
        counts.tile_words[size_t(l) * spaces + s] = held_words(workload.data_spaces[s], tile, accounting);
      }
      if (l == 0) continue;
      const bool output = workload.data_spaces[s].is_output;
      counts.traffic.push_back(traffic_of(boundary, loops, output, int(s), parent, l, networks));
      parent = l;
    }
  }
  return counts;
}

}  // namespace tilewright
