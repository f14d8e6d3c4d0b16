// What a mapping costs on a spatial architecture: energy and cycles from its access counts.
//
// physical rules: every word is charged where it is read and where it is written, fills and drains included:
//   parent:  reads x read_energy, updates x update_energy
//   child:   fills x fill_energy, drains x read_energy (charge_drain_reads)
//   network: (fills + drains) x delivery_energy + (row_fills + fills + row_drains + drains) x hop_energy,
//            with the energies of the network of the level above the child
// Accesses of the arithmetic to the innermost keeper are reads and updates of that keeper.
//
// cycles: the lockstep steps, or what the busiest port needs if that is more (levels that overlap their
// transfers), plus the transfers of levels that do not overlap. Ports are, each with the words it carries:
//   read port of a level:   reads of it as a parent + drains of it as a child
//   write port of a level:  updates of it as a parent + fills of it as a child
//   network above a child:  by role: what its parent sends (reads) + what arrives there (updates)
// A port carries its words spread over the used instances of its level. A transfer into a level that does not
// overlap takes what its slowest port needs, and loads no port during the steps.
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
// Timeloop's accounting (reference: its tables of energies): drain reads are free.
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

// The workload with elements of word_bits, the unit of the limits of array_hierarchy.
Workload workload_in_words(const Workload& workload, const ArrayHardware& hardware);
// The limits that the hardware sets to mappings of workload_in_words(workload). A reservation of a role holds
// for each data space of that role, and lies apart from the shared capacity. A tile takes space for the
// elements that it touches; in Timeloop's accounting for their bounding box, like its traffic.
Hierarchy array_hierarchy(const ArrayHardware& hardware, const Workload& workload,
                          Accounting accounting = Accounting::kExact);
std::vector<CountingNetwork> counting_networks(const ArrayHardware& hardware);

// The rules of nest/validity.h, and the data that the hardware must keep.
void check_array_mapping(const Workload& workload, const ArrayHardware& hardware, const Mapping& mapping,
                         const std::string& where, Diagnostics& diagnostics,
                         Accounting accounting = Accounting::kExact);

// Cost of counts taken elsewhere (closed form or walker); pure arithmetic. Errors (invalid input): more than
// 2^63 - 1 cycles.
Cost cost_of_counts(const Workload& workload, const ArrayHardware& hardware, const AccessCounts& counts,
                    const CostRules& rules);
// count_accesses + cost_of_counts of a valid mapping.
Cost evaluate_mapping(const Workload& workload, const ArrayHardware& hardware, const Mapping& mapping,
                      const CostRules& rules);

// The words of one port, or of one transfer that does not overlap, and how many it moves per cycle.
struct PortLoad {
  int64_t words = 0;
  double words_per_cycle = 0;
  // Transfers of one group take as long as the slowest; groups >= 0 follow one another, -1 overlaps.
  int group = -1;
};
// Every port with a limit, always in the same order for one hardware and one set of kept data. cycles =
// port_cycles(counts.steps, loads).
std::vector<PortLoad> port_loads(const Workload& workload, const ArrayHardware& hardware,
                                 const AccessCounts& counts);
int64_t port_cycles(int64_t steps, const std::vector<PortLoad>& loads);

}  // namespace tilewright
