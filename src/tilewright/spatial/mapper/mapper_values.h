// The values that the mapper compares. Energies are sums of decimal table entries, rounded by the order of
// their additions; the search needs exact comparison. So energies are compared as whole multiples of a
// quantum: a power of ten that divides every energy of the hardware when the sums stay below 1e14 quanta, and
// else about 1e-14 of the largest energy that the workload could cost. Energies in one quantum are ties.
#pragma once

#include "tilewright/search/objective.h"
#include "tilewright/spatial/mapper/mapper.h"
#include "tilewright/spatial/mapper/mapper_bounds.h"

namespace tilewright {

class EnergyScale {
 public:
  explicit EnergyScale(const Mapspace& mapspace);
  double quantum() const { return quantum_; }
  // The key of an evaluated energy; and a key that no energy of at least `bound` is below, whatever the
  // rounding of the bound.
  double key(double energy) const;
  double bound_key(double bound) const;

 private:
  double quantum_ = 1;
};

using MapValue = Lexicographic<double, double>;

// Energies as keys: (energy, cycles), (cycles, energy) or (energy x cycles, energy).
MapValue map_value(MapObjective objective, double energy_key, int64_t cycles);
// The objective of a value, in the hardware's unit.
double objective_of(MapObjective objective, const MapValue& value, const EnergyScale& scale);

}  // namespace tilewright
