// The evaluation itself, written once for one mapping (double, bool) and for eight side by side (vectors of
// the compiler's own kind). `In` says which, and where the numbers lie. All counts are whole numbers below
// 2^53, so doubles hold them exactly; energies are added up in the order of cost_of_counts.
//
// Included by one source file per instruction set, after the headers it needs, hence the unnamed namespace.
#pragma once

namespace tilewright {
namespace {

inline double choose(bool which, double a, double b) { return which ? a : b; }
inline int64_t choose(bool which, int64_t a, int64_t b) { return which ? a : b; }
inline double at_least_zero(double a) { return a < 0 ? 0 : a; }

typedef double Eight __attribute__((vector_size(64)));
typedef int64_t EightMask __attribute__((vector_size(64)));
inline Eight choose(EightMask which, Eight a, Eight b) { return which ? a : b; }
inline EightMask choose(EightMask which, EightMask a, EightMask b) { return which ? a : b; }
inline Eight at_least_zero(Eight a) { return a < 0.0 ? Eight{} : a; }

template <int kLevels, class In>
class FastKernel {
 public:
  using Number = typename In::Number;
  using Mask = typename In::Mask;
  using Bits = typename In::Bits;

  FastKernel(const FastPlan& plan, const In& in) : plan_(plan), in_(in) {}

  // Extents of all tiles, and the rules of check_array_mapping.
  Mask valid() {
    Number fan_x = In::number(1), fan_y = fan_x;
    for (int d = 0; d < kFlatDimensions; ++d) {
      const Number x = in_.spatial_x(d), y = in_.spatial_y(d);
      fan_x *= x;
      fan_y *= y;
      spatial_[d] = x * y;
      extent_[kLevels][d] = In::number(1);
    }
    instances_ = fan_x * fan_y;
    Mask good = (fan_x <= plan_.fanout_x) & (fan_y <= plan_.fanout_y);
    for (int l = kLevels - 1; l >= 0; --l) {
      for (int d = 0; d < kFlatDimensions; ++d) {
        step_[l][d] = extent_[l + 1][d] * (l == plan_.spatial_level ? spatial_[d] : In::number(1));
        extent_[l][d] = step_[l][d] * in_.temporal(l, d);
      }
    }
    for (int d = 0; d < kFlatDimensions; ++d) good &= extent_[0][d] == plan_.size[d];
    for (int l = 0; l < kLevels; ++l) good &= fits(l);
    return good;
  }

  // Energy of a valid mapping; after valid().
  Number energy() {
    for (int l = 0; l + 1 < kLevels; ++l) read_loops(l);
    steps_ = In::number(plan_.operations) / instances_;
    for (int s = 0; s < kFastSpaces; ++s) add_space(plan_.space[s]);
    Number total = In::number(plan_.operations * plan_.mac_energy);
    for (int l = 0; l < kLevels; ++l) {
      for (int r = 0; r < kFastSpaces; ++r) total += memory_[l][r] + network_[l][r];
    }
    return total;
  }
  Number cycles() const { return steps_; }

 private:
  // Words of one level's tile that count against its capacity.
  Number tile_words(const FastSpace& space, int level) const {
    Number words = In::number(1);
    for (int d = 0; d < kFlatDimensions; ++d) {
      if ((space.plain >> d & 1u) != 0) words *= extent_[level][d];
    }
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      const Number x = extent_[level][rank.x], y = extent_[level][rank.y];
      words *= x * y - at_least_zero(x - rank.y_reduced) * at_least_zero(y - rank.x_reduced);
    }
    return words;
  }

  Mask fits(int l) const {
    const FastLevel& level = plan_.level[l];
    Mask good = in_.keeps_within(l, level.must_keep, l == 0 ? 7u : level.may_keep);
    if (l == 0) good &= in_.keeps_within(l, 7u, level.may_keep);
    Number shared = In::number(0);
    for (int s = 0; s < kFastSpaces; ++s) {
      const bool reserved = level.reserved_words[s] >= 0;
      if (!reserved && level.shared_words == std::numeric_limits<double>::infinity()) continue;
      const Number words = choose(in_.keeps(l, s), tile_words(plan_.space[s], l), In::number(0));
      if (reserved) {
        good &= words <= level.reserved_words[s];
      } else {
        shared += words;
      }
    }
    return good & (shared <= level.shared_words);
  }

  // A level's loops for each data space: the innermost that moves it, and the product of those outside that.
  struct Loops {
    Number factor, outside;
    Bits bit;
    Mask any;
  };
  void read_loops(int l) {
    Number all = In::number(1);
    for (int s = 0; s < kFastSpaces; ++s) {
      loops_[l][s] = {In::number(1), In::number(1), In::bits(0), In::none()};
    }
    const int count = in_.loop_count(l);
    for (int i = 0; i < count; ++i) {
      const Number factor = in_.loop_factor(l, i);
      const Bits bit = in_.loop_bit(l, i);
      all *= factor;
      for (int s = 0; s < kFastSpaces; ++s) {
        Loops& loops = loops_[l][s];
        const Mask moves = (bit & In::bits(plan_.space[s].relevant)) != 0;
        const Mask first = In::without(moves, loops.any);
        loops.outside = choose(loops.any, loops.outside * factor, loops.outside);
        loops.factor = choose(first, factor, loops.factor);
        loops.bit = choose(first, bit, loops.bit);
        loops.any = loops.any | moves;
      }
    }
    all_loops_[l] = all;
  }

  struct Fetch {
    Number each;    // words of one instance
    Number shared;  // of all instances, words that several fetch counted once
  };

  // Spatial copies of a tile that differ, of the level below the spatial one.
  Number different_tiles(const FastSpace& space) const {
    const int l = plan_.spatial_level + 1;
    Number tiles = In::number(1);
    for (int d = 0; d < kFlatDimensions; ++d) {
      if ((space.plain >> d & 1u) != 0) tiles *= spatial_[d];
    }
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      tiles *= In::different(plan_, rank, extent_[l][rank.x], spatial_[rank.x], extent_[l][rank.y],
                             spatial_[rank.y]);
    }
    return tiles;
  }

  // What the field's mapper counts, and the exact count where nothing slides.
  Fetch fetch_by_mover(const FastSpace& space, int s, int child) const {
    Number factor = In::number(1), outside = factor;
    std::array<Number, kFastSliding> shift{};
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
        shift[r] = choose(x, rank.x_coefficient * step_[l][rank.x],
                          choose(y, rank.y_coefficient * step_[l][rank.y], shift[r]));
        slides = slides | x | y;
      }
      any = any | loops.any;
    }
    Number plain = In::number(1), tile = plain, kept = plain;
    for (int d = 0; d < kFlatDimensions; ++d) {
      if ((space.plain >> d & 1u) != 0) plain *= extent_[child][d];
    }
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      const Number box = rank.x_coefficient * (extent_[child][rank.x] - 1.0) +
                         rank.y_coefficient * (extent_[child][rank.y] - 1.0) + 1.0;
      tile *= box;
      kept *= at_least_zero(box - shift[r]);
    }
    kept = choose(slides, kept, In::number(0));
    const Number words = outside * plain * (factor * tile - (factor - 1.0) * kept);
    return {words, words * (child > plan_.spatial_level ? different_[s] : In::number(1))};
  }

  // Every overlap counted. With E(i) = (factor(i) - 1) x the product of the loops outside i and k(i) what is
  // not fetched when loop i advances, the sum of E(i) k(i) is added up from the innermost loop outwards.
  Fetch fetch_exact(const FastSpace& space, int child) const {
    std::array<const int32_t*, kFastSliding> kept{}, unfetched{};
    std::array<int64_t, kFastSliding> length{}, behind{};
    Number tile = 1, all_tiles = 1, plain = 1, copies = 1;
    const bool spread = child == plan_.spatial_level + 1;
    for (int r = 0; r < space.slides; ++r) {
      const FastSliding& rank = space.sliding[r];
      const auto x = int64_t(extent_[child][rank.x]), y = int64_t(extent_[child][rank.y]);
      const size_t dx = plan_.divisor[rank.x][x], dy = plan_.divisor[rank.y][y];
      kept[r] = rank.values.data() + rank.overlap[dx * rank.y_divisors + dy];
      unfetched[r] = kept[r];
      if (spread) unfetched[r] = rank.values.data() + rank.unfetched[In::cell(plan_, rank, dx, spatial_, dy)];
      length[r] = int64_t(rank.x_coefficient) * (x - 1) + int64_t(rank.y_coefficient) * (y - 1) + 1;
      tile *= kept[r][0];
      all_tiles *= unfetched[r][0];
    }
    for (int d = 0; d < kFlatDimensions; ++d) {
      if ((space.plain >> d & 1u) == 0) continue;
      plain *= extent_[child][d];
      if (spread) copies *= spatial_[d];
    }
    Number all = 1, stays = 0, untouched = 0;
    bool replaced = false;
    for (int l = child - 1; l >= 0; --l) {
      for (int i = 0; i < in_.loop_count(l); ++i) {
        const Number factor = in_.loop_factor(l, i);
        const auto bit = uint32_t(in_.loop_bit(l, i));
        all *= factor;
        stays *= factor;
        untouched *= factor;
        replaced = replaced || (bit & space.plain) != 0;
        if (replaced) continue;
        Number k = factor - 1, u = k;
        for (int r = 0; r < space.slides; ++r) {
          const FastSliding& rank = space.sliding[r];
          int64_t step = 0;
          if (bit == 1u << rank.x) step = int64_t(rank.x_coefficient * step_[l][rank.x]);
          if (bit == 1u << rank.y) step = int64_t(rank.y_coefficient * step_[l][rank.y]);
          const int64_t shift = step > behind[r] ? step - behind[r] : behind[r] - step;
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
      if (!plan_.timeloop && space.slides > 0) return fetch_exact(space, child);
    }
    return fetch_by_mover(space, s, child);
  }

  // From the arithmetic outwards; `near` and `far`: what a parent below and above the fan-out would count.
  void add_space(const FastSpace& space) {
    const int s = int(&space - plan_.space.data()), role = space.role;
    const Number none = In::number(0), one = In::number(1), operations = In::number(plan_.operations);
    different_[s] = different_tiles(space);
    const Number idle_copies = instances_ / different_[s];  // of an output: instances for one element
    Number reads_far, reads_near, updates_far = none, updates_near = none;
    const Number at_once = steps_ * different_[s];
    if (space.is_output) {
      updates_near = operations;
      updates_far = plan_.reduction ? at_once : operations;
      reads_near = updates_near - space.elements * idle_copies;
      reads_far = updates_far - space.elements;
      network_[kLevels - 1][role] = operations * plan_.level[kLevels - 1].delivery_energy;
    } else {
      reads_near = operations;
      reads_far = plan_.multicast ? at_once : operations;
      network_[kLevels - 1][role] = operations * plan_.level[kLevels - 1].delivery_energy;
    }
    for (int l = kLevels - 1; l >= 0; --l) {
      const FastLevel& level = plan_.level[l];
      const bool near = l > plan_.spatial_level;
      const Number reads = near ? reads_near : reads_far, updates = near ? updates_near : updates_far;
      const Number up = reads * level.read_energy + updates * level.update_energy;
      if (l == 0) {
        memory_[l][role] = up;
        return;
      }
      const Mask keeps = in_.keeps(l, s);
      if (In::nobody(keeps)) {
        memory_[l][role] = none;
        if (l >= 1) network_[l - 1][role] = none;
        continue;
      }
      const Fetch moved = fetch(space, s, l);
      const Number arriving = near ? moved.each * instances_ : moved.each;
      Number fills = arriving, drains = none;
      Number far = near ? (plan_.multicast ? moved.shared : arriving) : arriving;
      Number next_near = arriving, next_updates_far = none, next_updates_near = none;
      if (space.is_output) {
        drains = arriving;
        fills = arriving - space.elements * (near ? idle_copies : one);
        next_updates_far = near && plan_.reduction ? moved.shared : arriving;
        next_updates_near = arriving;
        next_near = arriving - space.elements * idle_copies;
        far = far - space.elements;
      }
      const Number child = fills * level.fill_energy + drains * level.drain_energy;
      memory_[l][role] = choose(keeps, child + up, none);
      network_[l - 1][role] = choose(keeps, (fills + drains) * plan_.level[l - 1].delivery_energy, none);
      reads_far = choose(keeps, far, reads_far);
      reads_near = choose(keeps, next_near, reads_near);
      updates_far = choose(keeps, next_updates_far, updates_far);
      updates_near = choose(keeps, next_updates_near, updates_near);
    }
  }

  const FastPlan& plan_;
  const In& in_;
  Number extent_[kLevels + 1][kFlatDimensions], step_[kLevels][kFlatDimensions];
  Number spatial_[kFlatDimensions], all_loops_[kLevels], different_[kFastSpaces];
  Loops loops_[kLevels][kFastSpaces];
  Number memory_[kLevels][kFastSpaces], network_[kLevels][kFastSpaces];
  Number instances_, steps_;
};

}  // namespace
}  // namespace tilewright
