// Inputs of AMD Vivado for those who have it: the script and the clock constraint of an out-of-context
// implementation run, which reports resources and timing after routing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tilewright::synthesis {

struct VivadoJob {
  std::string part, top;
  std::vector<std::string> sources;  // relative to the script, packages first
  double clock_mhz = 100;
  std::string folder_parameter;  // of the top, that names the script's folder; empty: none
};

// build.tcl: reads the sources, synthesises out of context, places, routes; writes utilisation.rpt,
// timing.rpt and routed.dcp beside itself. To run: vivado -mode batch -source build.tcl
std::string vivado_script(const VivadoJob& job);
// clock.xdc: the constraint on port clk.
std::string vivado_constraints(const VivadoJob& job);

// Writes both into `folder`.
void write_vivado_project(const std::filesystem::path& folder, const VivadoJob& job);

}  // namespace tilewright::synthesis
