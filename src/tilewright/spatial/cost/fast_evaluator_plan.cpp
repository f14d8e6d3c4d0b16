// Compiling: ranks are sorted into those whose tiles are disjoint and those that slide; for the latter
// everything that depends on the tile and its spatial copies is tabulated with the counter of nest/reuse.h.
#include "tilewright/spatial/cost/fast_evaluator_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/nest/footprint.h"
#include "tilewright/nest/reuse.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxTable = int64_t{1} << 24;
// Elements that the counts of overlaps list. Those of long filters would take longer than many a search.
constexpr int64_t kMaxListed = int64_t{1} << 23;
constexpr int64_t kNoEnd = int64_t{1} << 60;  // room beyond every tile

std::vector<int64_t> divisors_of(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) out.push_back(d);
  }
  return out;
}

class PlanCompiler {
 public:
  PlanCompiler(const Workload& workload, const ArrayHardware& hardware, const CostRules& rules,
               FastPlan& plan)
      : workload_(workload), hardware_(hardware), rules_(rules), plan_(plan) {}

  bool compile() {
    plan_.timeloop = rules_.accounting == Accounting::kTimeloop;
    plan_.levels = int(hardware_.levels.size());
    plan_.dimensions = workload_.dimension_count();
    if (plan_.levels < 2 || plan_.levels > kFlatLevels || plan_.dimensions > kFlatDimensions) return false;
    return workload_.data_space_count() == kFastSpaces && read_dimensions() && read_levels() &&
           read_spaces() && counts_fit() && fill_lanes();
  }

 private:
  bool read_dimensions() {
    for (int d = 0; d < kFlatDimensions; ++d) {
      const int64_t size = d < plan_.dimensions ? workload_.dimensions[size_t(d)].size : 1;
      if (size > 65535) return false;
      sizes_.push_back(size);
      plan_.size[size_t(d)] = FastWhole(size);
      if (size > 1) plan_.used.add(d);
      divisors_.push_back(divisors_of(size));
      plan_.divisor[size_t(d)].assign(size_t(size) + 1, 0);
      for (size_t i = 0; i < divisors_.back().size(); ++i) {
        plan_.divisor[size_t(d)][size_t(divisors_.back()[i])] = uint8_t(i);
      }
    }
    return true;
  }

  bool read_levels() {
    const Hierarchy hierarchy = array_hierarchy(hardware_, workload_, rules_.accounting);
    int fans = 0;
    for (size_t l = 0; l < hardware_.levels.size(); ++l) {
      const ArrayLevel& from = hardware_.levels[l];
      const HierarchyLevel& limits = hierarchy.levels[l];
      FastLevel& to = plan_.level[l];
      for (const double limit : from.network.words_per_cycle) {
        if (limit != 0) return false;
      }
      if (from.read_words_per_cycle != 0 || from.write_words_per_cycle != 0 || from.network.hop_energy != 0) {
        return false;
      }
      const auto words = [&](int64_t bits) { return FastWhole(bits / hardware_.word_bits / limits.copies); };
      to.unlimited = limits.capacity_bits == kUnlimited;
      if (!to.unlimited) to.shared_words = words(limits.capacity_bits);
      for (size_t s = 0; s < kFastSpaces; ++s) {
        const int64_t reserved = limits.space_capacity_bits[s];
        to.reserved_words[s] = reserved == kUnlimited ? FastWhole(-1) : words(reserved);
        const auto role = size_t(data_role(workload_, int(s)));
        if ((from.must_keep >> role & 1u) != 0) to.must_keep |= 1u << s;
      }
      to.may_keep = limits.may_keep;
      to.read_energy = from.read_energy;
      to.fill_energy = from.fill_energy;
      to.update_energy = from.update_energy;
      to.drain_energy = rules_.charge_drain_reads ? from.read_energy : 0;
      to.delivery_energy = from.network.delivery_energy;
      if (from.fanout_x * from.fanout_y == 1) continue;
      ++fans;
      plan_.spatial_level = int(l);
      plan_.fanout_x = FastWhole(from.fanout_x);
      plan_.fanout_y = FastWhole(from.fanout_y);
      plan_.multicast = from.network.multicast;
      plan_.reduction = from.network.reduction;
    }
    if (fans == 0) plan_.spatial_level = plan_.levels - 1;
    // Between a parent above the fan-out and a child two levels below it tiles would not adjoin.
    return fans <= 1 && (plan_.timeloop || plan_.spatial_level >= plan_.levels - 2);
  }

  bool read_spaces() {
    uint32_t roles = 0;
    plan_.blocks = true;
    for (int s = 0; s < kFastSpaces; ++s) {
      FastSpace& space = plan_.space[size_t(s)];
      space.is_output = workload_.data_spaces[size_t(s)].is_output;
      space.role = int(data_role(workload_, s));
      roles |= 1u << space.role;
      for (const Rank& rank : workload_.data_spaces[size_t(s)].ranks) {
        if (!read_rank(rank, space)) return false;
      }
      if (!plan_.timeloop && space.slides > 0) plan_.blocks = false;
      for (const int d : plan_.used) {
        if ((space.plain >> d & 1u) != 0) space.plain_dimensions.add(d);
        if ((space.relevant >> d & 1u) == 0) space.other_dimensions.add(d);
      }
    }
    return roles == 7u;
  }

  bool read_rank(const Rank& whole, FastSpace& space) {
    Rank rank = whole;
    std::erase_if(rank.terms, [&](const ProjectionTerm& t) { return sizes_[size_t(t.dimension)] == 1; });
    int64_t iterations = 1;
    for (const ProjectionTerm& term : rank.terms) {
      space.relevant |= 1u << term.dimension;
      iterations *= sizes_[size_t(term.dimension)];
    }
    if (rank.terms.empty()) return true;
    // Where no two iterations meet, tiles are disjoint. With boxes only steps of one leave no gaps.
    const bool apart = rank_footprint(rank, sizes_) == iterations;
    const bool boxed = plan_.timeloop && !space.is_output;
    const bool unit = rank.terms.size() == 1 && std::abs(rank.terms[0].coefficient) == 1;
    // Kernels have no boxes of outputs, which tiles of several terms or with steps take room for.
    if (space.is_output && plan_.timeloop && !unit) return false;
    if (apart && (!boxed || unit)) {
      for (const ProjectionTerm& term : rank.terms) space.plain |= 1u << term.dimension;
      if (space.is_output) space.elements = FastWhole(space.elements.whole * iterations);
      return true;
    }
    if (space.is_output || space.slides == kFastSliding || rank.terms.size() > 2) return false;
    if (rank.terms.size() == 1) {
      if (plan_.dimensions == kFlatDimensions) return false;
      rank.terms.push_back({kFlatDimensions - 1, rank.terms[0].coefficient < 0 ? -1 : 1});
      // The kernel works out tiles of the dimensions in use alone.
      const auto used = plan_.used;
      if (std::find(used.begin(), used.end(), kFlatDimensions - 1) == used.end()) {
        plan_.used.add(kFlatDimensions - 1);
      }
    }
    if ((rank.terms[0].coefficient < 0) != (rank.terms[1].coefficient < 0)) return false;
    FastSliding& slide = space.sliding[size_t(space.slides++)];
    const int64_t a = std::abs(rank.terms[0].coefficient), b = std::abs(rank.terms[1].coefficient);
    slide.x = rank.terms[0].dimension;
    slide.y = rank.terms[1].dimension;
    slide.x_coefficient = FastWhole(a);
    slide.y_coefficient = FastWhole(b);
    slide.coefficients[size_t(slide.x)] = double(a);
    slide.coefficients[size_t(slide.y)] = double(b);
    space.sliding_dimensions |= 1u << slide.x | 1u << slide.y;
    slide.x_reduced = FastWhole(a / std::gcd(a, b));
    slide.y_reduced = FastWhole(b / std::gcd(a, b));
    gaps_ *= double(a) * double(b);
    return tabulate(slide, a, b);
  }

  bool tabulate(FastSliding& slide, int64_t a, int64_t b) {
    const std::vector<int64_t>&xs = divisors_[size_t(slide.x)], &ys = divisors_[size_t(slide.y)];
    slide.x_divisors = slide.x_spatial = int(xs.size());
    slide.y_divisors = slide.y_spatial = int(ys.size());
    const size_t tiles = xs.size() * ys.size(), cells = tiles * tiles;
    if (int64_t(cells) > kMaxTable) return false;
    slide.distinct_tiles.assign(cells, 0);
    slide.overlap.assign(tiles, 0);
    slide.unfetched.assign(cells, 0);
    const int64_t copies = plan_.fanout_x.whole * plan_.fanout_y.whole;
    for (size_t x = 0; x < xs.size(); ++x) {
      for (size_t y = 0; y < ys.size(); ++y) {
        if (!plan_.timeloop) {
          slide.overlap[x * ys.size() + y] = int32_t(slide.values.size());
          if (!append_kept(slide, a, b, xs[x], ys[y], 1, 1)) return false;
        }
        for (size_t i = 0; i < xs.size(); ++i) {
          for (size_t j = 0; j < ys.size(); ++j) {
            const bool fit = xs[x] * xs[i] <= sizes_[size_t(slide.x)] &&
                             ys[y] * ys[j] <= sizes_[size_t(slide.y)] && xs[i] * ys[j] <= copies;
            if (!fit) continue;
            const size_t cell = fast_cell(slide, x, i, y, j);
            const Stride along_x{xs[x], xs[i]}, along_y{ys[y], ys[j]};
            const RankAxis points[] = {{a, kNoEnd, 1, 0, 0, std::span(&along_x, 1)},
                                       {b, kNoEnd, 1, 0, 0, std::span(&along_y, 1)}};
            slide.distinct_tiles[cell] = int32_t(counter_.moves(points, {}).new_all);
            if (plan_.timeloop) continue;
            slide.unfetched[cell] = int32_t(slide.values.size());
            if (!append_kept(slide, a, b, xs[x], ys[y], xs[i], ys[j])) return false;
          }
        }
      }
    }
    return true;
  }

  // The union of the copies less what any copy lacks, had the tiles been 0, 1, ... elements further on.
  bool append_kept(FastSliding& slide, int64_t a, int64_t b, int64_t x, int64_t y, int64_t copies_x,
                   int64_t copies_y) {
    const int64_t length = a * (x - 1) + b * (y - 1) + 1;
    listed_ += length * (8 + copies_x * copies_y * std::min(x, y));
    if (listed_ > kMaxListed) return false;
    const Stride along_x{x, copies_x}, along_y{y, copies_y};
    for (int64_t shift = 0; shift <= length; ++shift) {
      const RankAxis axes[] = {{a, kNoEnd, x, 0, 0, std::span(&along_x, 1)},
                               {b, kNoEnd, y, 0, 0, std::span(&along_y, 1)},
                               {1, kNoEnd, 1, shift, 0, {}}};
      const RankMoves moves = counter_.moves(axes, {});
      slide.values.push_back(int32_t(moves.new_all - moves.new_part));
    }
    return true;
  }

  bool fill_lanes() {
    for (size_t d = 0; d < kFlatDimensions; ++d) plan_.size_lanes[d] = plan_.size[d].real;
    for (auto& lanes : plan_.plain_lanes) lanes.fill(0);
    plan_.other_lanes.fill(0);
    for (size_t s = 0; s < kFastSpaces; ++s) {
      const FastSpace& space = plan_.space[s];
      for (const int d : space.plain_dimensions) plan_.plain_lanes[s][size_t(d)] = -1;
      if (!space.is_output) continue;
      for (const int d : space.other_dimensions) plan_.other_lanes[size_t(d)] = -1;
    }
    plan_.functions = avx512_functions(plan_.levels, plan_.spatial_level);
    if (plan_.functions.single == nullptr)
      plan_.functions = avx2_functions(plan_.levels, plan_.spatial_level);
    if (plan_.functions.single == nullptr) {
      plan_.functions = portable_functions(plan_.levels, plan_.spatial_level);
    }
    return true;
  }

  bool counts_fit() {
    plan_.operations = FastWhole(workload_.operation_count());
    plan_.mac_energy = hardware_.mac_energy;
    return plan_.operations.real * gaps_ < 0x1.0p53;
  }

  const Workload& workload_;
  const ArrayHardware& hardware_;
  const CostRules& rules_;
  FastPlan& plan_;
  std::vector<int64_t> sizes_;
  std::vector<std::vector<int64_t>> divisors_;
  RankCounter counter_;
  double gaps_ = 1;
  int64_t listed_ = 0;
};

}  // namespace

std::unique_ptr<FastPlan> compile_fast_plan(const Workload& workload, const ArrayHardware& hardware,
                                            const CostRules& rules) {
  auto plan = std::make_unique<FastPlan>();
  if (!PlanCompiler(workload, hardware, rules, *plan).compile()) return nullptr;
  return plan;
}

}  // namespace tilewright
