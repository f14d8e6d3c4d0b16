// The overlay's RTL for one hardware description: the SystemVerilog package `overlay_config` that rtl/overlay
// is parameterised by, and the folder of sources that simulators and synthesis read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::overlay {

// What the RTL requires beyond OverlayHardware::verify (which is included): a memory port of 32 to 512 bits
// and bursts of at most 4096 bytes. Names field, limit and what would fit.
void verify_rtl(const OverlayHardware& hardware, Diagnostics& diagnostics);

// The text of overlay_config.sv: sizes, bit positions of every instruction field (from IsaLayout), register
// addresses (from registers.h). Errors (invalid input): whatever verify_rtl finds.
std::string rtl_config(const OverlayHardware& hardware);

// Bits of a byte address that reaches all of dram_bytes.
int address_bits(const OverlayHardware& hardware);

// Writes overlay_config.sv and copies of the .sv files of checks/ and overlay/ in `rtl_folder` (the folder
// rtl of Tilewright) into `folder`, which is created; a file that has the right content already is not
// touched. Returns their paths, the package first, then by name: the order in which tools have to read them.
// Errors (invalid input): as rtl_config, no sources.
std::vector<std::filesystem::path> write_rtl(const OverlayHardware& hardware,
                                             const std::filesystem::path& folder,
                                             const std::filesystem::path& rtl_folder);

}  // namespace tilewright::overlay
