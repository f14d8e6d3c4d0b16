// SystemVerilog as a shared library: Verilator turns the sources into C++, which is compiled together with a
// harness (C++ that drives the model and exports a C interface) and kept in a cache folder under a hash of
// everything that goes into it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/synthesis/tool.h"

namespace tilewright::synthesis {

// What the harness can watch: nothing; FST waves (it sees VM_TRACE_FST = 1); what switches (VM_TRACE_VCD =
// 1).
enum class Watched { kNothing, kWaves, kActivity };

struct VerilatedDesign {
  std::string top;                             // the model's class is V<top>, its header "V<top>.h"
  std::vector<std::filesystem::path> sources;  // in reading order, packages first
  std::filesystem::path harness;               // one .cpp file
  std::vector<std::filesystem::path> headers;  // what the harness includes, found by file name
  Watched watched = Watched::kNothing;
};

// What rtl/harness/verilated_harness.h, which every harness includes, and its own includes are.
std::vector<std::filesystem::path> harness_headers(const std::filesystem::path& rtl_folder);

// The path of the shared library for `design`, built unless `cache_folder` has it; several processes may ask
// for the same one at once. The harness has to define vl_stop, which an assertion of the sources calls when
// it fails, vl_finish and vl_fatal, so that a model never ends the process. Two such libraries in one process
// share nothing. Compiled with -O3 but for the parts that run once. Errors: unsupported without verilator or
// g++; invalid input with the last lines of their output; InterruptedError when `stop` asked for it.
std::filesystem::path build_verilated(const VerilatedDesign& design,
                                      const std::filesystem::path& cache_folder,
                                      const StopRequest& stop = {});

// What `verilator --lint-only -Wall` says about the sources; empty when it is content.
std::string lint(const std::string& top, const std::vector<std::filesystem::path>& sources);

}  // namespace tilewright::synthesis
