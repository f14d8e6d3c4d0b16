// Vivado's non-project flow (UG892): read sources and constraint, synthesise out of context, optimise,
// place, optimise physically, route; then the reports. There is one clock, on port clk.
#include "tilewright/synthesis/vivado.h"

#include <fmt/format.h>

#include "tilewright/base/file.h"

namespace tilewright::synthesis {

std::string vivado_script(const VivadoJob& job) {
  std::string script = "# vivado -mode batch -source build.tcl\ncd [file dirname [info script]]\n";
  for (const std::string& source : job.sources) script += fmt::format("read_verilog -sv {{{}}}\n", source);
  script += "read_xdc clock.xdc\n";
  script += fmt::format("synth_design -mode out_of_context -flatten_hierarchy rebuilt -top {} -part {}",
                        job.top, job.part);
  if (!job.folder_parameter.empty()) {
    script += fmt::format(" -generic \"{}=\\\"[pwd]\\\"\"", job.folder_parameter);
  }
  script += '\n';
  for (const char* step : {"opt_design", "place_design", "phys_opt_design", "route_design"}) {
    script += fmt::format("{}\n", step);
  }
  script += "report_utilization -file utilisation.rpt\n";
  script += "report_timing_summary -max_paths 10 -file timing.rpt\n";
  script += "write_checkpoint -force routed.dcp\n";
  return script;
}

std::string vivado_constraints(const VivadoJob& job) {
  return fmt::format("create_clock -name clk -period {:.3f} [get_ports clk]\n", 1000 / job.clock_mhz);
}

void write_vivado_project(const std::filesystem::path& folder, const VivadoJob& job) {
  create_folder(folder);
  write_text_file(folder / "build.tcl", vivado_script(job));
  write_text_file(folder / "clock.xdc", vivado_constraints(job));
}

}  // namespace tilewright::synthesis
