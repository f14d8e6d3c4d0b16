// What a mapping costs on a spatial architecture: energy and cycles from its access counts.
//
// physical rules: every word is charged where it is read and where it is written, fills and drains included:
//   parent:  reads x read_energy, updates x update_energy
//   child:   fills x fill_energy, drains x read_energy (charge_drain_reads)
//   network: (fills + drains) x delivery_energy + (row_fills + fills + row_drains + drains) x hop_energy,
//   with the
//            energies of the network of the level above the child
// Accesses of the arithmetic to the innermost keeper are reads and updates of that keeper.
// cycles: the lockstep steps, or what the busiest port needs if that is more (levels that overlap their
// transfers), plus the transfers of levels that do not overlap. A port carries its words spread over the used
// instances.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tilewright/hardware/array_hardware.h"
#include "tilewright/nest/access_counts.h"
#include "tilewright/nest/validity.h"

namespace tilewright {

struct CostRules {
  Accounting accounting = Accounting::kExact;
  // Whether reading a partial sum out of a child to send it up costs a read of the child.
  bool charge_drain_reads = true;
  bool operator==(const CostRules&) const = default;
};
inline constexpr CostRules kPhysicalRules{};
// The accounting of the field's mapper (reference: its tables of energies): drain reads are free.
inline constexpr CostRules kTimeloopRules{Accounting::kTimeloop, false};

struct Cost {
  double energy = 0;  // of the whole workload, in the hardware's unit
  int64_t cycles = 0;
  double arithmetic_energy = 0;
  // [level][role]: memory accesses, and the network below the level.
  std::vector<std::array<double, kDataRoles>> memory_energy, network_energy;
  double utilisation = 0;  // operations / (cycles * PEs)
  double edp() const { return energy * double(cycles); }
};

// Role of a data space: the output, or by position (0 input, 1 weight; further ones count as inputs).
DataRole data_role(const Workload& workload, int space);

// The limits that the hardware sets to mappings of the workload. Element widths become word_bits.
Hierarchy array_hierarchy(const ArrayHardware& hardware, const Workload& workload);
std::vector<CountingNetwork> counting_networks(const ArrayHardware& hardware);

// Cost of counts taken elsewhere (closed form or walker); pure arithmetic.
Cost cost_of_counts(const Workload& workload, const ArrayHardware& hardware, const AccessCounts& counts,
                    const CostRules& rules);
// count_accesses + cost_of_counts of a valid mapping.
Cost evaluate_mapping(const Workload& workload, const ArrayHardware& hardware, const Mapping& mapping,
                      const CostRules& rules);

}  // namespace tilewright
