// A design as files: what synthesis, simulators and a board need of it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tilewright/hardware/device.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

struct EmitOptions {
  std::filesystem::path rtl_folder;  // the folder rtl of Tilewright: pipeline/, delivery/
  uint64_t seed = 1;                 // of the testbench's images
  int64_t testbench_images = 2;
  // Of one image, as far as they are known; the testbench gives a design several times as many.
  int64_t cycles = 0;
  // A testbench needs the network's own result: networks with more products per image get none.
  int64_t testbench_macs = 200'000'000;
};

// Writes into `folder`, which exists:
//   rtl/         the components, tilewright_pipeline.sv (the design), tilewright_axi.sv (the same with the
//                signals and names that block-design tools expect of AXI ports)
//   memory/      initial memory contents; the Verilog names these files relative to `folder`
//   testbench/   testbench.sv, which runs random images and checks the results, and its data
//   host/        host.cpp and driver.py, which drive the design on a board or in simulation
//   build.tcl, clock.xdc, package_ip.tcl, block_design.tcl   for AMD Vivado, where `device` (may be null) is
//   a
//                part of that vendor
//   tilewright.core, registers.rdl   the sources for FuseSoC, the registers as SystemRDL
//   README.md    what to do with them
// Errors (invalid input): files that cannot be read or written.
void emit(const Design& design, const Network& network, const Device* device,
          const std::filesystem::path& folder, const EmitOptions& options);

}  // namespace tilewright::pipeline
