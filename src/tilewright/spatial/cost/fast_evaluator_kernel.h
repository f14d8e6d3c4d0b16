// The evaluation itself, written once for one mapping (double, bool) and for eight side by side
// (vectors of the compiler's own kind). `In` says which, and where the numbers lie. All counts are whole
// numbers below 2^53, so doubles hold them exactly; energies are added up in the order of cost_of_counts.
//
// Included by one source file per instruction set, hence the unnamed namespace; that file includes the
// headers below itself, before it asks for the instructions.
#pragma once

#include <cstring>
#include <limits>

#include "tilewright/spatial/cost/fast_evaluator_plan.h"

namespace tilewright {
namespace {

// Without a branch: random mappings would mispredict every second one.
inline double choose(bool which, double a, double b) {
  uint64_t first, second;
  std::memcpy(&first, &a, sizeof first);
  std::memcpy(&second, &b, sizeof second);
  const uint64_t mixed = second ^ ((first ^ second) & (0 - uint64_t(which)));
  double out;
  std::memcpy(&out, &mixed, sizeof out);
  return out;
}
inline double at_least_zero(double a) { return a < 0 ? 0 : a; }

typedef double Eight __attribute__((vector_size(64)));
typedef int64_t EightMask __attribute__((vector_size(64)));
typedef int8_t EightByte __attribute__((vector_size(8)));
typedef uint16_t EightShort __attribute__((vector_size(16)));
typedef int32_t EightInt __attribute__((vector_size(32)));
inline Eight choose(EightMask which, Eight a, Eight b) { return which ? a : b; }
inline EightMask choose(EightMask which, EightMask a, EightMask b) { return which ? a : b; }
inline Eight at_least_zero(Eight a) { return a < 0.0 ? Eight{} : a; }

// kSpatial: the level with the fan-out, if it is known when compiling; else -1.
template <int kLevels, int kSpatial, class In>
class FastKernel {
 public:
  using Count = typename In::Count;    // of words
  using Energy = typename In::Energy;  // a real number
  using Mask = typename In::Mask;
  using Bits = typename In::Bits;

  FastKernel(const FastPlan& plan, const In& in) : plan_(plan), in_(in) {}

  // Extents of all tiles, and the rules of check_array_mapping.
  Mask valid() {
    if constexpr (In::kOne) {
      return valid_by_rows();
    } else {
      return valid_by_lanes();
    }
  }

  // Energy of a valid mapping; after valid().
  Energy energy() {
    for (int l = 0; l + 1 < kLevels; ++l) {
      if constexpr (In::kOne) {
        read_loops_by_rows(l);
      } else {
        read_loops(l);
      }
    }
    steps_ = In::quotient(plan_.operations, instances_);
    for (int s = 0; s < kFastSpaces; ++s) add_space(s);
    Energy total = In::real(plan_.operations.real * plan_.mac_energy);
    for (int l = 0; l < kLevels; ++l) {
      for (int r = 0; r < kFastSpaces; ++r) total += memory_[l][r] + network_[l][r];
    }
    return total;
  }
  Count cycles() const { return steps_; }

 private:
  // Several mappings, a lane each.
  Mask valid_by_lanes() {
    other_copies_ = one();
    Count fan_x = In::count(FastWhole()), fan_y = fan_x;
    Mask good = In::all();
    for (const int d : plan_.used) {
      const Count x = in_.spatial_x(d), y = in_.spatial_y(d);
      fan_x *= x;
      fan_y *= y;
      spatial_[d] = x * y;
      Count extent = In::count(FastWhole());
      for (int l = kLevels - 1; l >= 0; --l) {
        extent_[l + 1][d] = extent;
        step_[l][d] = l == spatial_level() ? extent * spatial_[d] : extent;
        extent = step_[l][d] * in_.temporal(l, d);
      }
      good &= extent == In::count(plan_.size[d]);
    }
    instances_ = fan_x * fan_y;
    good &= (fan_x <= In::count(plan_.fanout_x)) & (fan_y <= In::count(plan_.fanout_y));
    good &= in_.keeps_within(0, 7u, plan_.level[0].may_keep);
    for (int l = 1; l < kLevels; ++l) good &= fits(l);
    return good;
  }

  // One mapping: a lane per dimension, or per loop of a level.
  Mask valid_by_rows() {
    const Eight ones = Eight{} + 1.0;
    const Eight x = in_.row(in_.m.spatial_x), y = in_.row(in_.m.spatial_y), spatial = x * y;
    Eight extent = ones;
    store(extent, extent_[kLevels]);
    store(spatial, spatial_);
    const Eight fans = products(x, y, pick(0, spatial), pick(1, spatial));
    const Eight more =
        products(pick(2, spatial), choose(lanes(plan_.other_lanes), spatial, ones), ones, ones);
    plain_copies_[0] = fans[2];
    plain_copies_[1] = fans[3];
    plain_copies_[2] = more[0];
    other_copies_ = more[1];
    bool good = fans[0] <= plan_.fanout_x.real && fans[1] <= plan_.fanout_y.real;
    instances_ = fans[0] * fans[1];
    for (int l = kLevels - 1; l >= 0; --l) {
      const Eight step = l == spatial_level() ? extent * spatial : extent;
      extent = step * in_.row(in_.m.temporal[l]);
      store(step, step_[l]);
      if (l == 0) break;
      store(extent, extent_[l]);
      const Eight plain = products(pick(0, extent), pick(1, extent), pick(2, extent), ones);
      for (int s = 0; s < kFastSpaces; ++s) plain_[l][s] = plain[s];
    }
    Eight size;
    std::memcpy(&size, plan_.size_lanes.data(), sizeof size);
    const EightByte equal = __builtin_convertvector(extent == size, EightByte);
    uint64_t all;
    std::memcpy(&all, &equal, sizeof all);
    good = good & (all == ~uint64_t{0}) & in_.keeps_within(0, 7u, plan_.level[0].may_keep);
    if (!good) return false;
    for (int l = 1; l < kLevels; ++l) good &= fits(l);
    return good;
  }

  void read_loops_by_rows(int l) {
    constexpr uint64_t kOnes = 0x0101010101010101u, kLow = 0x7F * kOnes;
    uint64_t bits;
    const Eight factors = In::loop_row(in_.m, l, bits), ones = Eight{} + 1.0;
    std::array<Eight, kFastSpaces> outside;
    for (int s = 0; s < kFastSpaces; ++s) {
      // A byte per loop: 1 where it moves the space; the lowest is the innermost.
      const uint64_t hits = bits & (plan_.space[s].relevant * kOnes);
      const uint64_t moves = ((((hits & kLow) + kLow) | hits) >> 7) & kOnes;
      const uint64_t first = moves & (0 - moves);
      const bool slides = plan_.space[s].slides > 0;
      const uint64_t from = ~((slides ? first << 8 : first) - 1);
      EightByte bytes;
      std::memcpy(&bytes, &from, sizeof from);
      outside[s] = choose(__builtin_convertvector(bytes, EightMask), factors, ones);
      Loops& loops = loops_[l][s];
      loops.any = moves != 0;
      loops.factor = 1;
      loops.bit = 0;
      if (slides && loops.any) {
        const int at = __builtin_ctzll(first) / 8;
        loops.factor = in_.loop_factor(l, at);
        loops.bit = in_.m.order[l][at];  // the dimension itself
      }
    }
    const Eight all = products(outside[0], outside[1], outside[2], factors);
    for (int s = 0; s < kFastSpaces; ++s) loops_[l][s].outside = all[s];
    all_loops_[l] = all[3];
  }

  static void store(Eight from, double* to) { std::memcpy(to, &from, sizeof from); }
  static EightMask lanes(const std::array<int64_t, kFlatDimensions>& from) {
    EightMask mask;
    std::memcpy(&mask, from.data(), sizeof mask);
    return mask;
  }
  Eight pick(int s, Eight row) const { return choose(lanes(plan_.plain_lanes[s]), row, Eight{} + 1.0); }
  // The products of the lanes of four rows, in the first four lanes.
  static Eight products(Eight a, Eight b, Eight c, Eight d) {
    const Eight ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) *
                     __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    const Eight cd = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11) *
                     __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);
    const Eight pairs = __builtin_shufflevector(ab, cd, 0, 1, 4, 5, 8, 9, 12, 13) *
                        __builtin_shufflevector(ab, cd, 2, 3, 6, 7, 10, 11, 14, 15);
    return __builtin_shufflevector(pairs, pairs, 0, 2, 4, 6, 0, 2, 4, 6) *
           __builtin_shufflevector(pairs, pairs, 1, 3, 5, 7, 1, 3, 5, 7);
  }

  int spatial_level() const { return kSpatial >= 0 ? kSpatial : plan_.spatial_level; }
  static Count one() { return In::count(FastWhole()); }

  static Count box(const FastSliding& rank, Count x, Count y) {
    return In::count(rank.x_coefficient) * (x - one()) + In::count(rank.y_coefficient) * (y - one()) + one();
  }

  // Words of one level's tile that count against its capacity: Timeloop counts the box around them.
  Count tile_words(const FastSpace& space, int s, int level) const {
    Count words = plain_[level][s];
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      const Count x = extent_[level][rank.x], y = extent_[level][rank.y];
      if (plan_.timeloop) {
        words *= box(rank, x, y);
      } else {
        words *= x * y -
                 at_least_zero(x - In::count(rank.y_reduced)) * at_least_zero(y - In::count(rank.x_reduced));
      }
    }
    return words;
  }

  Mask fits(int l) {
    const FastLevel& level = plan_.level[l];
    Mask good = in_.keeps_within(l, level.must_keep, level.may_keep);
    Count shared = In::count(FastWhole(0));
    for (int s = 0; s < kFastSpaces; ++s) {
      const FastSpace& space = plan_.space[s];
      if constexpr (!In::kOne) {
        Count plain = one();
        for (const int d : space.plain_dimensions) plain *= extent_[l][d];
        plain_[l][s] = plain;
      }
      const bool reserved = level.reserved_words[s].whole >= 0;
      if (!reserved && level.unlimited) continue;
      const Count words = choose(in_.keeps(l, s), tile_words(space, s, l), In::count(FastWhole(0)));
      if (reserved) {
        good &= words <= In::count(level.reserved_words[s]);
      } else {
        shared += words;
      }
    }
    return level.unlimited ? good : good & (shared <= In::count(level.shared_words));
  }

  // A level's loops for each data space: the product from the innermost that moves it outwards. Where a tile
  // may slide, that one apart.
  struct Loops {
    Count factor, outside;
    Bits bit;
    Mask any;
  };
  void read_loops(int l) {
    Count all = one();
    for (int s = 0; s < kFastSpaces; ++s) loops_[l][s] = {one(), one(), In::bits(0), In::none()};
    const int count = in_.loop_count(l);
    for (int i = 0; i < count; ++i) {
      const Count factor = in_.loop_factor(l, i);
      const Bits bit = in_.loop_bit(l, i);
      all *= factor;
      for (int s = 0; s < kFastSpaces; ++s) {
        const FastSpace& space = plan_.space[s];
        Loops& loops = loops_[l][s];
        const Mask moves = (bit & In::bits(space.relevant)) != 0;
        if (space.slides > 0) {
          const Mask first = In::without(moves, loops.any);
          loops.outside = choose(loops.any, loops.outside * factor, loops.outside);
          loops.factor = choose(first, factor, loops.factor);
          loops.bit = choose(first, bit, loops.bit);
          loops.any = loops.any | moves;
        } else {
          loops.any = loops.any | moves;
          loops.outside = choose(loops.any, loops.outside * factor, loops.outside);
        }
      }
    }
    all_loops_[l] = all;
  }

  struct Fetch {
    Count each;    // words of one instance
    Count shared;  // of all instances, words that several fetch counted once
  };

  // Spatial copies of a tile that differ, of the level below the spatial one.
  Count different_tiles(int s) {
    const FastSpace& space = plan_.space[s];
    const int l = spatial_level() + 1;
    if constexpr (!In::kOne) {
      plain_copies_[s] = one();
      for (const int d : space.plain_dimensions) plain_copies_[s] *= spatial_[d];
      if (space.is_output) {
        for (const int d : space.other_dimensions) other_copies_ *= spatial_[d];
      }
    }
    Count tiles = plain_copies_[s];
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      tiles *= In::different(plan_, rank, extent_[l][rank.x], spatial_[rank.x], extent_[l][rank.y],
                             spatial_[rank.y]);
    }
    return tiles;
  }

  // Timeloop: only the innermost loop that moves the tile may slide it.
  Fetch fetch_one_by_mover(const FastSpace& space, int s, int child) const {
    Count factor = 1, outside = 1;
    size_t mover = 0;  // level and dimension
    bool any = false;
    for (int l = child - 1; l >= 0; --l) {
      const Loops& loops = loops_[l][s];
      outside = choose(any, outside * all_loops_[l], choose(loops.any, loops.outside, outside));
      factor = choose(any, factor, loops.factor);
      mover = any ? mover : size_t(l * kFlatDimensions) + size_t(loops.bit);
      any = any | loops.any;
    }
    const size_t dimension = mover % kFlatDimensions;
    const Count step = (&step_[0][0])[mover];
    Count tile = 1, kept = 1;
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      const Count words = box(rank, extent_[child][rank.x], extent_[child][rank.y]);
      tile *= words;
      kept *= at_least_zero(words - rank.coefficients[dimension] * step);
    }
    const bool slides = any & ((space.sliding_dimensions >> dimension & 1u) != 0);
    kept = choose(slides, kept, 0.0);
    const Count words = outside * plain_[child][s] * (factor * tile - (factor - 1) * kept);
    return {words, child > spatial_level() ? words * different_[s] : words};
  }

  // The same of several mappings.
  Fetch fetch_by_mover(const FastSpace& space, int s, int child) const {
    Count factor = one(), outside = factor;
    std::array<Count, kFastSliding> shift{};
    Mask any = In::none(), slides = any;
    for (int l = child - 1; l >= 0; --l) {
      const Loops& loops = loops_[l][s];
      const Mask first = In::without(loops.any, any);
      outside = choose(any, outside * all_loops_[l], choose(loops.any, loops.outside, outside));
      factor = choose(first, loops.factor, factor);
      for (int r = 0; r < space.slides; ++r) {
        const FastSliding& rank = space.sliding[r];
        const Mask x = first & ((loops.bit & In::bits(1u << rank.x)) != 0);
        const Mask y = first & ((loops.bit & In::bits(1u << rank.y)) != 0);
        shift[r] = choose(x, In::count(rank.x_coefficient) * step_[l][rank.x],
                          choose(y, In::count(rank.y_coefficient) * step_[l][rank.y], shift[r]));
        slides = slides | x | y;
      }
      any = any | loops.any;
    }
    const Count plain = plain_[child][s];
    Count tile = one(), kept = tile;
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      const Count words = box(rank, extent_[child][rank.x], extent_[child][rank.y]);
      tile *= words;
      kept *= at_least_zero(words - shift[r]);
    }
    kept = choose(slides, kept, In::count(FastWhole(0)));
    const Count words = outside * plain * (factor * tile - (factor - one()) * kept);
    return {words, child > spatial_level() ? words * different_[s] : words};
  }

  // Every visit fetches a new tile.
  Fetch fetch_apart(int s, int child) const {
    Count visits = one();
    Mask any = In::none();
    for (int l = child - 1; l >= 0; --l) {
      visits *= choose(any, all_loops_[l], loops_[l][s].outside);
      any = any | loops_[l][s].any;
    }
    const Count words = visits * plain_[child][s];
    return {words, child > spatial_level() ? words * different_[s] : words};
  }

  // Every overlap counted. With E(i) = (factor(i) - 1) x the product of the loops outside i and k(i) what is
  // not fetched when loop i advances, the sum of E(i) k(i) is added up from the innermost loop outwards.
  Fetch fetch_exact(const FastSpace& space, int s, int child) const {
    const Count plain = plain_[child][s];
    std::array<const int32_t*, kFastSliding> kept{}, unfetched{};
    std::array<int64_t, kFastSliding> length{}, behind{};
    Count tile = 1, all_tiles = 1;
    const bool spread = child == spatial_level() + 1;
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      const auto x = int64_t(extent_[child][rank.x]), y = int64_t(extent_[child][rank.y]);
      const size_t dx = plan_.divisor[rank.x][x], dy = plan_.divisor[rank.y][y];
      kept[r] = rank.values.data() + rank.overlap[dx * rank.y_divisors + dy];
      unfetched[r] = kept[r];
      if (spread) unfetched[r] = rank.values.data() + rank.unfetched[In::cell(plan_, rank, dx, spatial_, dy)];
      length[r] = rank.x_coefficient.whole * (x - 1) + rank.y_coefficient.whole * (y - 1) + 1;
      tile *= kept[r][0];
      all_tiles *= unfetched[r][0];
    }
    const Count copies = spread ? plain_copies_[s] : 1;
    Count all = 1, stays = 0, untouched = 0;
    bool replaced = false;
    for (int l = child - 1; l >= 0; --l) {
      if (replaced) {
        all *= all_loops_[l];
        stays *= all_loops_[l];
        untouched *= all_loops_[l];
        continue;
      }
      for (int i = 0; i < in_.loop_count(l); ++i) {
        const Count factor = in_.loop_factor(l, i);
        const auto bit = uint32_t(in_.loop_bit(l, i));
        all *= factor;
        stays *= factor;
        untouched *= factor;
        replaced = replaced || (bit & space.plain) != 0;
        if (replaced) continue;
        Count k = factor - 1, u = k;
        for (int r = 0; r < space.slides; ++r) {
          const FastSliding& rank = space.sliding[r];
          int64_t step = bit == 1u << rank.x ? rank.x_coefficient.whole * int64_t(step_[l][rank.x]) : 0;
          step = bit == 1u << rank.y ? rank.y_coefficient.whole * int64_t(step_[l][rank.y]) : step;
          const int64_t ahead = step - behind[r], shift = ahead < 0 ? -ahead : ahead;
          behind[r] += step * (int64_t(factor) - 1);
          const int64_t at = shift < length[r] ? shift : length[r];
          k *= kept[r][at];
          u *= unfetched[r][at];
        }
        stays += k;
        untouched += u;
      }
    }
    return {plain * (tile * all - stays), plain * copies * (all_tiles * all - untouched)};
  }

  Fetch fetch(const FastSpace& space, int s, int child) const {
    if constexpr (In::kOne) {
      if (space.slides == 0) return fetch_apart(s, child);
      return plan_.timeloop ? fetch_one_by_mover(space, s, child) : fetch_exact(space, s, child);
    } else {
      return space.slides > 0 ? fetch_by_mover(space, s, child) : fetch_apart(s, child);
    }
  }

  // From the arithmetic outwards; near and far: what a parent below and above the fan-out would count.
  void add_space(int s) {
    const FastSpace& space = plan_.space[s];
    different_[s] = different_tiles(s);
    const Count at_once = steps_ * different_[s], operations = In::count(plan_.operations);
    set_network(kLevels, space.role, In::all(), operations);
    if (space.is_output) {
      add_output(s, at_once, operations);
    } else {
      add_operand(s, at_once, operations);
    }
  }

  void add_operand(int s, Count at_once, Count operations) {
    const FastSpace& space = plan_.space[s];
    Count near = operations, far = plan_.multicast ? at_once : operations;
    for (int l = kLevels - 1; l > 0; --l) {
      const FastLevel& level = plan_.level[l];
      const bool below = l > spatial_level();
      const Mask keeps = in_.keeps(l, s);
      const Fetch moved = fetch(space, s, l);
      const Count fills = below ? moved.each * instances_ : moved.each;
      const Energy energy =
          In::real(fills) * level.fill_energy + In::real(below ? near : far) * level.read_energy;
      memory_[l][space.role] = choose(keeps, energy, In::real(0.0));
      set_network(l, space.role, keeps, fills);
      far = choose(keeps, below && plan_.multicast ? moved.shared : fills, far);
      if (l - 1 > spatial_level()) near = choose(keeps, fills, near);
    }
    memory_[0][space.role] = In::real(far) * plan_.level[0].read_energy;
  }

  void add_output(int s, Count at_once, Count operations) {
    const FastSpace& space = plan_.space[s];
    const Count elements = In::count(space.elements);
    const Count copies = elements * other_copies_;  // one for each instance that does not tell elements apart
    Count near = operations, far = plan_.reduction ? at_once : operations;  // updates
    Count far_reads = far - elements, near_reads = near - copies;
    for (int l = kLevels - 1; l > 0; --l) {
      const FastLevel& level = plan_.level[l];
      const bool below = l > spatial_level();
      const Energy up = In::real(below ? near_reads : far_reads) * level.read_energy +
                        In::real(below ? near : far) * level.update_energy;
      const Mask keeps = in_.keeps(l, s);
      const Fetch moved = fetch(space, s, l);
      const Count drains = below ? moved.each * instances_ : moved.each;
      const Count fills = drains - (below ? copies : elements);
      const Energy child = In::real(fills) * level.fill_energy + In::real(drains) * level.drain_energy;
      memory_[l][space.role] = choose(keeps, child + up, In::real(0.0));
      set_network(l, space.role, keeps, fills + drains);
      far = choose(keeps, below && plan_.reduction ? moved.shared : drains, far);
      far_reads = choose(keeps, (below && plan_.multicast ? moved.shared : drains) - elements, far_reads);
      if (l - 1 > spatial_level()) {
        near = choose(keeps, drains, near);
        near_reads = choose(keeps, drains - copies, near_reads);
      }
    }
    memory_[0][space.role] =
        In::real(far_reads) * plan_.level[0].read_energy + In::real(far) * plan_.level[0].update_energy;
  }

  // Words that arrive at or leave a child.
  void set_network(int child, int role, Mask keeps, Count words) {
    const double each = plan_.level[child - 1].delivery_energy;
    network_[child - 1][role] = In::real(0.0);
    if (each != 0) network_[child - 1][role] = choose(keeps, In::real(words) * each, In::real(0.0));
  }

  const FastPlan& plan_;
  const In& in_;
  alignas(64) Count extent_[kLevels + 1][kFlatDimensions], step_[kLevels][kFlatDimensions];
  Count plain_[kLevels][kFastSpaces];
  Count plain_copies_[kFastSpaces], other_copies_;
  alignas(64) Count spatial_[kFlatDimensions];
  Count all_loops_[kLevels], different_[kFastSpaces];
  Loops loops_[kLevels][kFastSpaces];
  Energy memory_[kLevels][kFastSpaces], network_[kLevels][kFastSpaces];
  Count instances_, steps_;
};

}  // namespace
}  // namespace tilewright
