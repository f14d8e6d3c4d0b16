// Energy is a sum over the traffic of every pair of keepers; cycles are a maximum over ports. Both walk the
// counts once.
#include "tilewright/spatial/cost/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tilewright {
namespace {

size_t role_index(const Workload& workload, int space) { return size_t(data_role(workload, space)); }

// Gathers words by port; a port without a limit is left out.
class Ports {
 public:
  enum Kind { kRead, kWrite, kNetwork };

  // Words that cross port (kind, level, role), which `instances` instances of it share.
  void add(int group, Kind kind, int level, int role, int64_t words, double rate, int64_t instances) {
    if (rate <= 0) return;
    PortLoad& load = loads_[{group, int(kind), level, role}];
    load.words += words;
    load.words_per_cycle = rate * double(std::max<int64_t>(instances, 1));
    load.group = group;
  }
  std::vector<PortLoad> take() const {
    std::vector<PortLoad> out;
    for (const auto& entry : loads_) out.push_back(entry.second);
    return out;
  }

 private:
  std::map<std::array<int, 4>, PortLoad> loads_;
};

}  // namespace

DataRole data_role(const Workload& workload, int space) {
  if (workload.data_spaces[size_t(space)].is_output) return DataRole::kOutput;
  return space == 1 ? DataRole::kWeight : DataRole::kInput;
}

Workload workload_in_words(const Workload& workload, const ArrayHardware& hardware) {
  Workload words = workload;
  for (DataSpace& space : words.data_spaces) space.bits = int(hardware.word_bits);
  return words;
}

Hierarchy array_hierarchy(const ArrayHardware& hardware, const Workload& workload, Accounting accounting) {
  Hierarchy hierarchy;
  for (const ArrayLevel& level : hardware.levels) {
    HierarchyLevel out;
    out.name = level.name;
    out.copies = level.copies;
    out.fanout_x = level.fanout_x;
    out.fanout_y = level.fanout_y;
    out.stores_gaps = accounting == Accounting::kTimeloop;
    out.reserved_apart = true;
    out.may_keep = 0;
    out.capacity_bits =
        level.capacity_words == kUnlimitedWords ? kUnlimited : level.capacity_words * hardware.word_bits;
    for (int space = 0; space < workload.data_space_count(); ++space) {
      const size_t role = role_index(workload, space);
      const int64_t reserved = level.role_capacity_words[role];
      out.space_capacity_bits.push_back(reserved == kUnlimitedWords ? kUnlimited
                                                                    : reserved * hardware.word_bits);
      const bool has_room = reserved != kUnlimitedWords ? reserved > 0 : level.capacity_words != 0;
      if ((level.may_keep >> role & 1u) != 0 && has_room) out.may_keep |= 1u << space;
    }
    hierarchy.levels.push_back(std::move(out));
  }
  return hierarchy;
}

std::vector<CountingNetwork> counting_networks(const ArrayHardware& hardware) {
  std::vector<CountingNetwork> networks;
  for (const ArrayLevel& level : hardware.levels) {
    networks.push_back({level.network.multicast, level.network.reduction});
  }
  return networks;
}

void check_array_mapping(const Workload& workload, const ArrayHardware& hardware, const Mapping& mapping,
                         const std::string& where, Diagnostics& diagnostics, Accounting accounting) {
  check_mapping(workload_in_words(workload, hardware), array_hierarchy(hardware, workload, accounting),
                mapping, where, diagnostics);
  for (size_t l = 0; l < std::min(hardware.levels.size(), mapping.levels.size()); ++l) {
    for (int space = 0; space < workload.data_space_count(); ++space) {
      const bool must = (hardware.levels[l].must_keep >> role_index(workload, space) & 1u) != 0;
      if (must && !mapping.levels[l].keeps_space(space)) {
        diagnostics.error(ErrorKind::kInvalidInput, where, fmt::format("level '{}'", hardware.levels[l].name),
                          fmt::format("{} must be kept here", workload.data_spaces[size_t(space)].name));
      }
    }
  }
}

std::vector<PortLoad> port_loads(const Workload& workload, const ArrayHardware& hardware,
                                 const AccessCounts& counts) {
  Ports ports;
  const int levels = int(hardware.levels.size());
  for (const SpaceTraffic& t : counts.traffic) {
    const bool exposed = t.child < levels && !hardware.levels[size_t(t.child)].overlaps_transfers;
    const int group = exposed ? t.child : -1;
    const int role = int(role_index(workload, t.space));
    const ArrayLevel& parent = hardware.levels[size_t(t.parent)];
    const int64_t parents = counts.used_instances[size_t(t.parent)];
    ports.add(group, Ports::kRead, t.parent, 0, t.reads, parent.read_words_per_cycle, parents);
    ports.add(group, Ports::kWrite, t.parent, 0, t.updates, parent.write_words_per_cycle, parents);
    const ArrayNetwork& network = hardware.levels[size_t(t.child - 1)].network;
    ports.add(group, Ports::kNetwork, t.child, role, t.reads + t.updates,
              network.words_per_cycle[size_t(role)], counts.used_instances[size_t(t.child - 1)]);
    if (t.child == levels) continue;
    const ArrayLevel& child = hardware.levels[size_t(t.child)];
    const int64_t children = counts.used_instances[size_t(t.child)];
    ports.add(group, Ports::kWrite, t.child, 0, t.fills, child.write_words_per_cycle, children);
    ports.add(group, Ports::kRead, t.child, 0, t.drains, child.read_words_per_cycle, children);
  }
  return ports.take();
}

int64_t port_cycles(int64_t steps, const std::vector<PortLoad>& loads) {
  std::map<int, double> slowest;
  for (const PortLoad& load : loads) {
    double& time = slowest[load.group];
    time = std::max(time, std::ceil(double(load.words) / load.words_per_cycle));
  }
  double total = double(steps);
  for (const auto& [group, time] : slowest) total = group < 0 ? std::max(total, time) : total + time;
  if (total >= 0x1.0p63) throw Error(ErrorKind::kInvalidInput, "more than 2^63 - 1 cycles");
  // Steps beyond 2^53 have no exact double; alone they need none.
  return total == double(steps) ? steps : int64_t(total);
}

Cost cost_of_counts(const Workload& workload, const ArrayHardware& hardware, const AccessCounts& counts,
                    const CostRules& rules) {
  Cost cost;
  const int levels = int(hardware.levels.size());
  cost.memory_energy.resize(size_t(levels));
  cost.network_energy.resize(size_t(levels));
  cost.arithmetic_energy = double(counts.operations) * hardware.mac_energy;
  for (const SpaceTraffic& t : counts.traffic) {
    const size_t role = role_index(workload, t.space);
    const ArrayLevel& parent = hardware.levels[size_t(t.parent)];
    cost.memory_energy[size_t(t.parent)][role] +=
        double(t.reads) * parent.read_energy + double(t.updates) * parent.update_energy;
    const ArrayNetwork& network = hardware.levels[size_t(t.child - 1)].network;
    cost.network_energy[size_t(t.child - 1)][role] +=
        (double(t.fills) + double(t.drains)) * network.delivery_energy +
        (double(t.row_fills) + double(t.fills) + double(t.row_drains) + double(t.drains)) *
            network.hop_energy;
    if (t.child == levels) continue;
    const ArrayLevel& child = hardware.levels[size_t(t.child)];
    cost.memory_energy[size_t(t.child)][role] +=
        double(t.fills) * child.fill_energy +
        (rules.charge_drain_reads ? double(t.drains) * child.read_energy : 0.0);
  }
  cost.energy = cost.arithmetic_energy;
  for (size_t l = 0; l < size_t(levels); ++l) {
    for (size_t r = 0; r < kDataRoles; ++r)
      cost.energy += cost.memory_energy[l][r] + cost.network_energy[l][r];
  }
  cost.cycles = port_cycles(counts.steps, port_loads(workload, hardware, counts));
  const double slots = double(cost.cycles) * double(hardware.pe_count());
  cost.utilisation = slots > 0 ? double(counts.operations) / slots : 0;
  return cost;
}

}  // namespace tilewright
