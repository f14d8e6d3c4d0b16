// The reuse framework of the row-stationary paper (ISCA 2016, Eq. 3 and 4): the energy of one value that is
// reused at every level of a four-level hierarchy DRAM, global buffer, array network, register file. All
// other counts of the study cost model are these two formulas summed over the values of a data type.
#pragma once

#include "tilewright/spatial/taxonomy/study_machine.h"

namespace tilewright::study {

// How often a value is used: read `a` times from DRAM; each copy `b` times from the buffer; each of those is
// delivered over the array `c` times; each delivery serves `d` operations from the register file. The product
// a*b*c*d is the number of MACs that use the value. All >= 1, not necessarily whole.
struct Reuse {
  double a = 1, b = 1, c = 1, d = 1;
};

// Accesses of one value per level.
struct LevelAccesses {
  double dram = 0, buffer = 0, array = 0, register_file = 0;
  // Without the MACs themselves.
  double energy(const AccessEnergy& cost) const {
    return dram * cost.dram + buffer * cost.buffer + array * cost.array + register_file * cost.register_file;
  }
};

// Inputs and weights, which are only read: a, ab, abc, abcd. Deliveries count per receiving PE; fills are not
// charged, a move costs the more expensive of its two levels once.
inline LevelAccesses input_accesses(const Reuse& reuse) {
  const auto [a, b, c, d] = reuse;
  return {a, a * b, a * b * c, a * b * c * d};
}

// Partial sums: a*b*c*d accumulations of which every one but the first reads what the one before wrote. A
// value visits DRAM 2a-1 times (the first read is not needed), the buffer 2a(b-1), the array ab(c-1) (a
// transfer between neighbours is one access, hence no factor 2) and the register file 2abc(d-1) times.
inline LevelAccesses output_accesses(const Reuse& reuse) {
  const auto [a, b, c, d] = reuse;
  return {2 * a - 1, 2 * a * (b - 1), a * b * (c - 1), 2 * a * b * c * (d - 1)};
}

}  // namespace tilewright::study
