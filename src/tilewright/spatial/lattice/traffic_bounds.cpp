// Bounds by order class; every function is a handful of table look-ups.
#include "tilewright/spatial/lattice/traffic_bounds.h"

#include <algorithm>

namespace tilewright::lattice {

std::vector<OrderClass> order_classes(const LatticeCase& problem) {
  uint32_t ignores = 0, replaces = 0;
  int window = -1;
  for (int s = 0; s < problem.space_count(); ++s) {
    const CaseSpace& space = problem.spaces[size_t(s)];
    if (!space.windowed) continue;
    window = s;
    ignores = space.irrelevant;
    for (const CaseRank& rank : space.ranks) replaces |= rank.terms == 1 ? 1u << rank.dimension[0] : 0;
  }
  std::vector<OrderClass> classes;
  for (int s = 0; s < problem.space_count(); ++s) {
    const uint32_t ignored = problem.spaces[size_t(s)].irrelevant;
    classes.push_back({s, ignored, false});
    // A window keeps its overlap across loops it ignores only if no loop inside replaces it wholly.
    if (problem.accounting == Accounting::kExact && window >= 0 && s != window && ignores != 0)
      classes.push_back({s, ignored & ~replaces, true});
  }
  return classes;
}

TrafficBounds::TrafficBounds(const LatticeCase& problem, const Lattice& lattice)
    : problem_(problem),
      lattice_(lattice),
      classes_(order_classes(problem)),
      exact_(problem.accounting == Accounting::kExact) {}

double TrafficBounds::outer(uint32_t set, Index box) const {
  double result = 1;
  for (uint32_t bits = set; bits != 0; bits &= bits - 1) {
    const int d = __builtin_ctz(bits);
    result *= double(lattice_.list(d).values.back()) / double(lattice_.value(box, d));
  }
  return result;
}

// The best that one sliding loop does: factor on the words of tiles fetched whole, if it runs its full range.
double TrafficBounds::slide_factor(int space, uint32_t slide, Index tile, Index step) const {
  double best = 1;
  for (const WindowTable& window : lattice_.windows()) {
    if (window.space != space) continue;
    const int count = lattice_.list(window.second).count();
    const int place = lattice_.digit(tile, window.first) * count + lattice_.digit(tile, window.second);
    for (int k = 0; k < 2; ++k) {
      const int d = k == 0 ? window.first : window.second;
      if ((slide >> d & 1u) == 0) continue;
      const int digit = lattice_.digit(step, d);
      const double loops =
          double(lattice_.list(d).values.back()) / double(lattice_.list(d).values[size_t(digit)]);
      const double fresh = double(window.new_words[k][size_t(place * lattice_.list(d).count() + digit)]);
      best = std::min(best, (1 + (loops - 1) * fresh / double(window.words[size_t(place)])) / loops);
    }
  }
  return best;
}

// The innermost loop that moves the space: any, if it rests inside; else the innermost of the run.
uint32_t TrafficBounds::slide_of(int space, const OrderClass& orders) const {
  const CaseSpace& data = problem_.spaces[size_t(space)];
  return space == orders.resting ? data.relevant
                                 : problem_.spaces[size_t(orders.resting)].irrelevant & data.relevant;
}

// Exact accounting: how often the whole of a windowed space passes, at least.
double TrafficBounds::passes(int space, const OrderClass& orders, Index box) const {
  return orders.window_passes ? 1 : lattice_.ignored_tiles(space, box);
}

Traffic TrafficBounds::into_low(int space, const OrderClass& orders, Index low, Index array,
                                Index spatial) const {
  const double instances = lattice_.points(spatial);
  if (problem_.spaces[size_t(space)].windowed) {
    if (exact_) {
      const double times = passes(space, orders, array);
      return {lattice_.words(space, lattice_.size() - 1) * times,
              lattice_.swept_words(space, low, spatial) * times * instances};
    }
    const double words = lattice_.words(space, low) * lattice_.tiles(array) *
                         slide_factor(space, slide_of(space, orders), low, array);
    return {words * lattice_.distinct_tiles(space, low, spatial), words * instances};
  }
  const double words = lattice_.words(space, low) * lattice_.tiles(array);
  return {words * lattice_.distinct_tiles(space, low, spatial), words * instances};
}

// Counts elements, not boxes: the boxes of small tiles may leave gaps that the box of a larger one has.
Traffic TrafficBounds::into_array(int space, const OrderClass& orders, Index array) const {
  const CaseSpace& data = problem_.spaces[size_t(space)];
  double words = lattice_.elements(space, array) * lattice_.tiles(array);
  if (data.windowed && exact_) {
    words = lattice_.elements(space, lattice_.size() - 1) * passes(space, orders, array);
  } else if (data.windowed) {
    for (uint32_t bits = slide_of(space, orders); bits != 0; bits &= bits - 1) {
      // All words of the row of tiles that the loop passes are needed once.
      const DivisorList& list = lattice_.list(__builtin_ctz(bits));
      const int digit = lattice_.digit(array, __builtin_ctz(bits));
      const Index row = array + Index(list.count() - 1 - digit) * list.stride;
      words = std::min(words, lattice_.elements(space, row) * lattice_.tiles(row));
    }
  }
  return {words, words};
}

double TrafficBounds::into_middle(int space, const OrderClass& orders, Index middle) const {
  const CaseSpace& data = problem_.spaces[size_t(space)];
  double words = lattice_.words(space, middle) * lattice_.tiles(middle);
  if (data.windowed) {
    if (exact_) {
      words = lattice_.words(space, lattice_.size() - 1) * passes(space, orders, middle);
    } else {
      words *= slide_factor(space, slide_of(space, orders), middle, middle);
    }
  }
  return space == orders.resting ? words / outer(orders.run, middle) : words;
}

}  // namespace tilewright::lattice
