// From an overlay's description to an FPGA: configured RTL, synthesis, and for families with an open placer
// the routed design (inside the board's wrapper, rtl/boards) with its clock rate and, for iCE40, the
// bitstream.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/hardware/device.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/synthesis/nextpnr.h"
#include "tilewright/synthesis/yosys.h"

namespace tilewright::overlay {

struct SynthesisOptions {
  std::filesystem::path rtl_folder;  // the repository's rtl/: overlay/ and boards/ below it
  std::filesystem::path output;      // folder, made if need be
  double clock_mhz = 0;              // that timing is judged by; 0: the description's
  int seed = 1;                      // of the placer
  bool use_dsp = true;               // false: multipliers in look-up tables, for parts with few blocks
  double timeout_s = 3600;           // of each tool
  bool allow_misfit = false;         // a design that does not fit is reported, not refused
  synthesis::StopRequest stop = {};  // after synthesis: the report is what is known by then
};

struct SynthesisReport {
  OverlayHardware hardware;
  Device device;
  std::string top;  // tilewright_overlay, or overlay_board when the design was placed
  std::vector<std::filesystem::path> sources;
  synthesis::YosysResult yosys;
  std::vector<ResourceFit> fit;
  std::optional<synthesis::NextpnrResult> placed;
  bool interrupted = false;         // place and route, by SynthesisOptions::stop
  std::filesystem::path bitstream;  // empty: none
  int64_t bitstream_bytes = 0;
  double clock_mhz = 0;
  std::string yosys_version, nextpnr_version;

  bool fits() const;
  // Of the slowest clock after routing; none when the design was not placed.
  std::optional<double> fmax_mhz() const;
  bool timing_met() const { return fmax_mhz().value_or(0) >= clock_mhz; }
  double seconds() const { return yosys.seconds + (placed ? placed->seconds : 0); }
};

// Memory that the description's buffers take in bits, OUT mirror and second read port of ACC included.
int64_t buffer_bits(const OverlayHardware& hardware);

// The configured sources: those of write_rtl, and with `board` those of rtl/boards after them.
std::vector<std::filesystem::path> write_board_rtl(const OverlayHardware& hardware,
                                                   const SynthesisOptions& options, bool board);

// Writes rtl/ (sources), Yosys' and nextpnr's files, overlay.bin (iCE40), vivado/ (AMD) and report.json below
// options.output. Errors: invalid input (a description that the RTL or the board cannot have, a tool that
// fails), unsupported (a missing tool, with its package), infeasible (the design does not fit: every resource
// with need, have and hint; it cannot be routed; time limit). Missed timing is not an error.
SynthesisReport synthesize(const OverlayHardware& hardware, const Device& device,
                           const SynthesisOptions& options);

// report.json: device, resources, fit, clock rate, files, seconds.
std::string to_json(const SynthesisReport& report);
std::string to_string(const SynthesisReport& report);

}  // namespace tilewright::overlay
