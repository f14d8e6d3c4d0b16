// Where the energy of a simulated run goes by the model of synthesis/activity.h: what `run --energy` shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/synthesis/activity.h"

namespace tilewright {

struct EnergyRow {
  std::string name;
  Activity activity;
};

struct EnergyReport {
  EnergyCosts costs;
  int64_t inputs = 0;
  // The same bits twice: by layer (and what belongs to none), and by module of the hardware. DRAM's are with
  // the layers, and a row of their own among the modules.
  std::vector<EnergyRow> layers, modules;

  // Adds to the row of that name; makes it where there is none. Text leaves out rows of nothing.
  void add_layer(const std::string& name, const Activity& activity);
  void add_module(const std::string& name, const Activity& activity);
  Activity total() const;
};

inline const std::string kDramRow = "DRAM";

// Two tables, per input.
std::string to_string(const EnergyReport& report);
// The same rows, summed over the inputs: a JSON object.
std::string to_json(const EnergyReport& report);

}  // namespace tilewright
