// One pass over the lattice for the energies, then minima over supersets: for each dimension, boxes from the
// largest digit down take the minimum with their multiples by one prime.
#include "tilewright/spatial/lattice/buffer_tables.h"

#include <algorithm>
#include <limits>

namespace tilewright::lattice {
namespace {

bool buffer_holds(const LatticeCase& problem, const Lattice& lattice, Index box, uint32_t mask) {
  double shared = 0;
  for (int s = 0; s < problem.space_count(); ++s) {
    if ((mask >> s & 1u) == 0) continue;
    const int64_t reserved = problem.spaces[size_t(s)].middle_reserved;
    if (reserved < 0) {
      shared += lattice.held(s, box);
    } else if (lattice.held(s, box) > double(reserved)) {
      return false;
    }
  }
  return shared <= double(problem.middle_capacity);
}

bool top_factors_allowed(const LatticeCase& problem, const Lattice& lattice, Index box) {
  for (int d = 0; d < lattice.dimension_count(); ++d) {
    const int64_t fixed = problem.fixed_top[size_t(d)];
    if (fixed != 0 && lattice.value(box, d) * fixed != problem.sizes[size_t(d)]) return false;
  }
  return true;
}

}  // namespace

BufferTables::BufferTables(const LatticeCase& problem, const Lattice& lattice, const TrafficBounds& bounds)
    : masks_(int(problem.middle_masks.size())) {
  fill_energies(problem, lattice, bounds);
  const uint32_t all = (1u << lattice.dimension_count()) - 1;
  least_ = energy_;
  take_minima(lattice, all, least_);
  std::vector<uint32_t> runs;
  for (const OrderClass& orders : bounds.classes()) {
    const auto place = std::find(runs.begin(), runs.end(), orders.run);
    table_of_class_.push_back(int(place - runs.begin()));
    if (place != runs.end()) continue;
    runs.push_back(orders.run);
    run_tables_.push_back(energy_);
    take_minima(lattice, all & ~orders.run, run_tables_.back());
  }
}

void BufferTables::fill_energies(const LatticeCase& problem, const Lattice& lattice,
                                 const TrafficBounds& bounds) {
  const int spaces = problem.space_count(), classes = int(bounds.classes().size());
  energy_.assign(size_t(lattice.size()) * size_t(masks_), kNever);
  const double outputs = lattice.words(problem.output, lattice.size() - 1);
  std::vector<double> by_class(size_t(spaces * classes));
  for (Index box = 0; box < lattice.size(); ++box) {
    if (!top_factors_allowed(problem, lattice, box)) continue;
    problem.check();
    for (int c = 0; c < classes; ++c) {
      for (int s = 0; s < spaces; ++s) {
        const BoundaryWeights& weights = problem.spaces[size_t(s)].top_to_middle;
        by_class[size_t(c * spaces + s)] =
            (weights.per_read + weights.per_fill) * bounds.into_middle(s, bounds.classes()[size_t(c)], box) -
            (problem.spaces[size_t(s)].output ? outputs * (weights.first_read + weights.first_fill) : 0);
      }
    }
    for (int m = 0; m < masks_; ++m) {
      const uint32_t mask = problem.middle_masks[size_t(m)];
      if (!buffer_holds(problem, lattice, box, mask)) continue;
      double best = kNever;
      for (int c = 0; c < classes; ++c) {
        double sum = 0;
        for (int s = 0; s < spaces; ++s) sum += (mask >> s & 1u) != 0 ? by_class[size_t(c * spaces + s)] : 0;
        best = std::min(best, sum);
      }
      energy_[size_t(box) * size_t(masks_) + size_t(m)] = best;
    }
  }
}

void BufferTables::take_minima(const Lattice& lattice, uint32_t set, std::vector<double>& table) const {
  const size_t masks = size_t(masks_);
  for (uint32_t bits = set; bits != 0; bits &= bits - 1) {
    const int d = __builtin_ctz(bits);
    const DivisorList& list = lattice.list(d);
    for (Index box = lattice.size(); box-- > 0;) {
      const int digit = lattice.digit(box, d);
      for (const int cover : list.covers[size_t(digit)]) {
        const double* from = &table[(size_t(box) + size_t(cover - digit) * list.stride) * masks];
        double* to = &table[size_t(box) * masks];
        for (size_t m = 0; m < masks; ++m) to[m] = std::min(to[m], from[m]);
      }
    }
  }
}

}  // namespace tilewright::lattice
