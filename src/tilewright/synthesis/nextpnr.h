// Place and route with nextpnr, and the bitstream.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tilewright/synthesis/implementation.h"
#include "tilewright/synthesis/resources.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::synthesis {

struct NextpnrJob {
  DeviceFamily family = DeviceFamily::kIce40;  // kIce40 or kEcp5
  std::vector<std::string> device_arguments;   // e.g. --hx8k --package ct256
  std::filesystem::path netlist;               // JSON of Yosys
  std::filesystem::path pins;                  // .pcf or .lpf; empty: pins wherever there is room
  std::filesystem::path folder;                // takes routed.asc (or .config), report.json, nextpnr.log
  double clock_mhz = 12;
  int seed = 1;
  double timeout_s = 1800;
  // Placer and router of it; clock and seed are those above.
  ImplementationOptions options;
  StopRequest stop = {};
};

// Registers-to-registers path that limits a clock.
struct CriticalPath {
  std::string from, to;               // clock edges
  std::string first_cell, last_cell;  // as nextpnr names them
  double logic_ns = 0, routing_ns = 0;
};

struct NextpnrResult {
  std::filesystem::path routed, report, log;
  std::map<std::string, double> fmax_mhz;                          // by clock
  std::map<std::string, std::pair<int64_t, int64_t>> utilisation;  // by cell type: used, available
  std::vector<CriticalPath> critical;
  double seconds = 0;
  // The slowest clock; 0 without any.
  double slowest_mhz() const;
};

// Errors: unsupported (no nextpnr for the family); infeasible (does not fit or cannot be routed, with the
// last lines; time limit). Timing that is missed is no error: compare `slowest_mhz`.
NextpnrResult run_nextpnr(const NextpnrJob& job);

// Cells of each type after packing, without placing (under a second). Errors: as run_nextpnr.
std::map<std::string, int64_t> pack_nextpnr(const NextpnrJob& job);
// The same from nextpnr's output. Errors (invalid input): it has no table of cells.
std::map<std::string, int64_t> parse_device_utilisation(const std::string& output);

// Reads fmax, utilisation and critical paths from the text of nextpnr's report into `result`. `source_name`:
// the file, for messages. Errors (invalid input): another form.
void parse_nextpnr_report(const std::string& json, const std::string& source_name, NextpnrResult& result);

// Packs a routed iCE40 design into `bitstream` (written whole or not at all); gives its size in bytes.
// Errors: unsupported (no icepack), invalid input.
int64_t pack_ice40(const std::filesystem::path& routed, const std::filesystem::path& bitstream);

}  // namespace tilewright::synthesis
