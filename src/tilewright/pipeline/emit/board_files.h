// What other tools read of a design: AMD Vivado's IP packager and block designs, FuseSoC.
#pragma once

#include <string>
#include <vector>

#include "tilewright/pipeline/design/build.h"

namespace tilewright::pipeline {

struct BoardFiles {
  std::string top, part;               // part: of AMD
  std::vector<std::string> sources;    // relative to the folder, packages first
  std::vector<std::string> memory;     // contents of memories
  std::vector<std::string> testbench;  // empty: none
};

// "tilewright:design:NAME:1.0" after the network.
std::string design_vlnv(const Design& design);
// What takes the place of the mark in package_ip.tcl and block_design.tcl.
std::string tcl_constants(const Design& design, const BoardFiles& files);
// The core description, CAPI2, of FuseSoC.
std::string fusesoc_core(const Design& design, const BoardFiles& files);
// The registers as SystemRDL.
std::string design_registers(const Design& design);

}  // namespace tilewright::pipeline
