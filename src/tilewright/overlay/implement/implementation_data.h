// Implemented overlays as data: inputs (description, options of the tools), results (cells, clock rate,
// cycles), and failures, which are data too. docs/design/tune/implementation_data.md says how the shipped
// file was made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/synthesis/implementation.h"

namespace tilewright::overlay {

enum class ImplementationFailure {
  kNone,
  kTooLarge,   // more cells than the cap, or than the device has
  kNotRouted,  // the placer or the router gave up
  kTimeLimit,  // a tool was stopped
  kRefused,    // a tool does not take this combination
};

// What the flow measured; 0 if it did not get that far, or if the device has no such resource.
struct ImplementationTargets {
  double fmax_mhz = 0;  // achieved after routing; 0 on parts that are only synthesised
  int64_t cells = 0;    // logic cells after packing (iCE40), without the measuring registers
  int64_t lut = 0, ff = 0, carry = 0, dsp = 0, bram = 0;  // of the netlist, measuring registers included
  uint64_t cycles = 0;                  // of the performance workload on the cycle simulator
  double gops = 0;                      // operations of the workload / (cycles / fmax)
  double synthesis_s = 0, place_s = 0;  // not part of what is compared
};

struct ImplementationRow {
  OverlayHardware hardware;
  synthesis::ImplementationOptions options;
  std::string device;  // name of a file in hardware/devices
  std::string tools;   // versions of the tools and content of the RTL
  ImplementationTargets targets;
  ImplementationFailure failure = ImplementationFailure::kNone;
  std::string failure_text;  // empty without failure

  bool placed() const { return failure == ImplementationFailure::kNone && targets.fmax_mhz > 0; }
  // Routed, but slower than the requested options.place_mhz. Not a failure of the row: Fmax and areas are
  // valid.
  bool timing_missed() const { return placed() && targets.fmax_mhz < options.place_mhz; }
};

// Name of a row: a hash of description (without its name), options, device and tools.
std::string implementation_key(const ImplementationRow& row);

// One line of JSON without line break; parses back to an equal row.
std::string print_implementation_row(const ImplementationRow& row);
// Errors (invalid input): all problems at once, with `source_name`.
ImplementationRow parse_implementation_row(const std::string& json, const std::string& source_name);

// A file of such lines, compressed (gzip) or not. Errors (invalid input): missing, damaged, a line that is no
// row, two rows of one key.
std::vector<ImplementationRow> read_implementation_data(const std::filesystem::path& path);
// Sorted by key, compressed when the name ends in ".gz"; whole or not at all.
void write_implementation_data(const std::vector<ImplementationRow>& rows, const std::filesystem::path& path);

// Whether two runs of one row gave the same result, apart from the seconds.
bool same_result(const ImplementationRow& a, const ImplementationRow& b);

}  // namespace tilewright::overlay
