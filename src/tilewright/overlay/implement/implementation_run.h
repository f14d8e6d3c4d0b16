// One row of implementation data from the tools: the configured RTL of the compute part through Yosys, and on
// iCE40 packed, placed and routed. The same row on the same tools gives the same result.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/hardware/device.h"
#include "tilewright/overlay/implement/implementation_data.h"

namespace tilewright::overlay {

struct ImplementationSetup {
  std::filesystem::path rtl_folder;   // the repository's rtl/: overlay/ and implementation/ below it
  std::filesystem::path work_folder;  // made; what is in it afterwards is of no further use
  int64_t cell_cap = 3000;            // iCE40: larger ones are not placed
  double timeout_s = 180;             // of each tool; wall clock, ten times what most take
};

// The identification of rows from these tools and this RTL: versions, and a hash of the sources.
std::string implementation_tools(const Device& device, const ImplementationSetup& setup);

// A row per entry of `options`, which differ only in place and route: one netlist for all, its seconds
// divided evenly. Failures are rows. Without a placer for the device only cells are counted. Errors:
// unsupported (a missing tool, with its package), invalid input (options that differ in synthesis, or that
// the family does not have), InterruptedError (a tool was killed: nothing is known about the row).
std::vector<ImplementationRow> implement(const OverlayHardware& hardware,
                                         const std::vector<synthesis::ImplementationOptions>& options,
                                         const Device& device, const ImplementationSetup& setup);

// Makes a row of a file again, with its cycles: equal (same_result) on the tools that made it. Errors: as
// implement; invalid input when the installed tools or the RTL differ from the row's.
ImplementationRow reproduce(const ImplementationRow& row, const Device& device,
                            const ImplementationSetup& setup);

// The same as text to text, for workers: {"hardware": YAML, "options": {...}, "device": YAML, "rtl_folder":
// path, "work_folder": path} gives the line of a row (print_implementation_row), cycles included. A request
// may name the tools that it wants ("tools"); others are an error (invalid input). Errors: as implement.
std::string implement_json(const std::string& request);

// Flip-flops of the fixture (rtl/implementation/compute_fixture.sv) that are not part of an overlay: chain
// and signature. Each takes a logic cell of its own.
int64_t fixture_registers(const OverlayHardware& hardware);

}  // namespace tilewright::overlay
