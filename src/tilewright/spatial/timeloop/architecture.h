// Timeloop's architecture section in its three forms (lists of storage levels, nested subtrees, v0.4 nodes),
// with the energies of an energy reference table (ERT).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/hardware/array_hardware.h"
#include "tilewright/spatial/timeloop/yaml_source.h"

namespace tilewright::timeloop {

// What a constraint or directive says about one level.
enum class DirectiveKind { kTemporal, kSpatial, kKeeps };
struct Directive {
  int level = 0;
  DirectiveKind kind = DirectiveKind::kTemporal;
  Source body;
};

// What a `target` names. A container stands for the fan-out into it, which belongs to the level outside.
struct TargetLevel {
  int level = 0;
  bool fanout_only = false;
};

struct Architecture {
  ArrayHardware hardware;
  std::map<std::string, TargetLevel> targets;
  std::vector<Directive> constraints;  // those written inside the architecture (v0.4)
  std::vector<int> without_loops;      // levels that stand for a container: no loops in time
};

struct EnergyTable {
  // By component, then by action.
  std::map<std::string, std::map<std::string, double>> actions;
};

EnergyTable read_energy_table(const Source& section, Report& report);

// `table`: nothing without an ERT; all energies are then 0. `variables`: numbers that expressions may name.
std::optional<Architecture> read_architecture(const Source& section, const EnergyTable* table,
                                              const std::map<std::string, double>& variables, Report& report);

// "PE[0..167]": the name without the range, and how many there are; 0 for a range that cannot be read.
std::string without_range(const std::string& name, int64_t& count);

}  // namespace tilewright::timeloop
