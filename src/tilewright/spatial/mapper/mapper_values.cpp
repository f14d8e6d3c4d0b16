// A key is an energy in quanta, rounded to the nearest. A bound gives up 0.02 quanta and 1e-14 of itself
// before it is rounded, so that rounding never lifts its key above that of a mapping that it must not cut.
#include "tilewright/spatial/mapper/mapper_values.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

// The largest power of ten, at most 1, of which every energy is a multiple; 0 if none down to 1e-6 is.
double common_quantum(const std::vector<double>& energies) {
  double scale = 1;
  for (int digits = 0; digits <= 6; ++digits, scale *= 10) {
    const auto whole = [&](double energy) {
      const double scaled = energy * scale;
      // Relative to itself: of energies far below 1 none but 0 would be a multiple.
      return std::abs(scaled - std::round(scaled)) <= 1e-12 * scaled;
    };
    if (std::all_of(energies.begin(), energies.end(), whole)) return 1 / scale;
  }
  return 0;
}

}  // namespace

EnergyScale::EnergyScale(const Mapspace& mapspace) {
  std::vector<double> energies{mapspace.hardware.mac_energy};
  double per_operation = mapspace.hardware.mac_energy;
  for (const ArrayLevel& level : mapspace.hardware.levels) {
    for (const double energy : {level.read_energy, level.fill_energy, level.update_energy,
                                level.network.delivery_energy, level.network.hop_energy}) {
      energies.push_back(energy);
      // No data space moves more than a few words per operation through a level.
      per_operation += 4 * energy * double(mapspace.workload.data_space_count());
    }
  }
  const double most =
      std::max(per_operation, 1e-300) * double(std::max<int64_t>(1, mapspace.workload.operation_count()));
  quantum_ = common_quantum(energies);
  if (quantum_ == 0 || most / quantum_ > 1e14) quantum_ = std::pow(10, std::ceil(std::log10(most)) - 14);
}

double EnergyScale::key(double energy) const { return std::floor(energy / quantum_ + 0.5); }

double EnergyScale::bound_key(double bound) const {
  const double quanta = bound / quantum_;
  return std::max(0.0, std::floor(quanta + 0.5 - (0.02 + 1e-14 * quanta)));
}

MapValue map_value(MapObjective objective, double energy_key, int64_t cycles) {
  switch (objective) {
    case MapObjective::kEnergy:
      return {energy_key, double(cycles)};
    case MapObjective::kLatency:
      return {double(cycles), energy_key};
    case MapObjective::kEdp:
      return {energy_key * double(cycles), energy_key};
  }
  return {};
}

double objective_of(MapObjective objective, const MapValue& value, const EnergyScale& scale) {
  return objective == MapObjective::kLatency ? value.primary : value.primary * scale.quantum();
}

}  // namespace tilewright
