// Synthesis of SystemVerilog to the cells of an FPGA family with Yosys.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tilewright/synthesis/implementation.h"
#include "tilewright/synthesis/resources.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::synthesis {

struct YosysJob {
  DeviceFamily family = DeviceFamily::kIce40;
  bool use_dsp = true;    // multipliers in the family's blocks (iCE40: UltraPlus parts only)
  bool use_uram = false;  // large memories in UltraRAM (xcup) or SPRAM (iCE40)
  std::string top;
  std::vector<std::filesystem::path> sources;  // in the order read; packages first
  std::filesystem::path folder;                // made if need be; takes the files below
  bool with_pads = false;                      // the top's ports are pins (a board), else an inner block's
  double timeout_s = 3600;
  // Modules that are not dissolved in what instantiates them: each is synthesised once for its parameters and
  // counted as often as it stands there. A tenth of the time where an array repeats its columns.
  std::vector<std::string> kept_modules;
  bool write_netlist = true;      // false: cells are counted alone
  ImplementationOptions options;  // its part of synthesis; `dsp` beside use_dsp
  StopRequest stop = {};
  bool any_memory = false;  // the sources name memories that the family may not have
};

struct YosysResult {
  std::filesystem::path script, log;  // synth.ys, yosys.log
  std::filesystem::path netlist;      // netlist.json, what nextpnr reads
  std::filesystem::path verilog;      // netlist.v, instances of the family's cells
  std::map<std::string, int64_t> cells;
  // Of each module that is still there, what is in it counted with it; more than one only with kept_modules.
  std::map<std::string, std::map<std::string, int64_t>> module_cells;
  CellCount count;
  double seconds = 0;
};

// The script that run_yosys runs.
std::string yosys_script(const YosysJob& job);
// Errors: unsupported (no Yosys); invalid input (Yosys refuses the sources: its last lines); infeasible (time
// limit). A failed run leaves script and log behind, no netlist.
YosysResult run_yosys(const YosysJob& job);

// The cells by type of the design in the text of `stat -json`, and the same by module, names as in the
// sources where modules have no parameters. `source_name`: the file, for messages. Errors (invalid input):
// another form.
std::map<std::string, int64_t> parse_cell_counts(const std::string& json, const std::string& source_name);
std::map<std::string, std::map<std::string, int64_t>> parse_module_cells(const std::string& json,
                                                                         const std::string& source_name);

}  // namespace tilewright::synthesis
