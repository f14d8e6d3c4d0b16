// What can be known without a tool is checked first: buffers that exceed all memory of the part would
// otherwise cost minutes of synthesis before the answer. Parts with an open placer are built as a board,
// since the overlay's own ports are more than any package has pins.
#include "tilewright/overlay/implement/overlay_synthesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tilewright/base/file.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/vivado.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;
using synthesis::DeviceFamily;

constexpr const char* kOverlayTop = "tilewright_overlay";
constexpr const char* kBoardTop = "overlay_board";

bool is_placed(const Device& device) {
  if (device.nextpnr_arguments.empty()) return false;
  return device.family == DeviceFamily::kIce40 || synthesis::tool_installed("nextpnr-ecp5");
}

// Bits of all block memory and, where look-up tables can be memory, of half of them (the share that Xilinx
// and Lattice parts have at most), 64 or 16 bits each.
int64_t memory_bits(const Device& device) {
  const bool ice40 = device.family == DeviceFamily::kIce40, ecp5 = device.family == DeviceFamily::kEcp5;
  const int64_t block = ice40 ? 4096 : 18432, large = ice40 ? 262144 : 294912;
  const int64_t table = ice40 ? 0 : ecp5 ? 16 : 64;
  return device.has.bram * block + device.has.uram * large + device.has.lut / 2 * table;
}

void check_memory(const OverlayHardware& hardware, const Device& device) {
  const int64_t need = buffer_bits(hardware), have = memory_bits(device);
  if (need <= have) return;
  throw Error({{ErrorKind::kInfeasible, "device '" + device.name + "'", "BRAM",
                fmt::format("the buffers of '{}' need {} Kb of memory, the device has {} Kb", hardware.name,
                            (need + 1023) / 1024, have / 1024),
                "smaller buffers need less (weight_buffer_bytes, accumulator_buffer_bytes); or take a larger "
                "device"}});
}

void place(const SynthesisOptions& options, SynthesisReport& report) {
  synthesis::NextpnrJob job{
      report.device.family, report.device.nextpnr_arguments, report.yosys.netlist, {}, options.output};
  const fs::path pins = options.rtl_folder / "boards" / report.device.name / "pins.pcf";
  if (fs::exists(pins)) job.pins = pins;
  job.clock_mhz = report.clock_mhz;
  job.seed = options.seed;
  job.timeout_s = options.timeout_s;
  job.stop = options.stop;
  try {
    report.placed = synthesis::run_nextpnr(job);
  } catch (const InterruptedError&) {
    if (!options.stop || !options.stop()) throw;
    report.interrupted = true;
    return;
  }
  if (report.device.family != DeviceFamily::kIce40) return;
  report.bitstream = options.output / "overlay.bin";
  report.bitstream_bytes = synthesis::pack_ice40(report.placed->routed, report.bitstream);
}

void write_vivado(const SynthesisReport& report, const SynthesisOptions& options) {
  synthesis::VivadoJob job{report.device.part, report.top, {}, report.clock_mhz};
  for (const fs::path& source : report.sources) {
    job.sources.push_back((fs::path("..") / "rtl" / source.filename()).string());
  }
  synthesis::write_vivado_project(options.output / "vivado", job);
}

}  // namespace

bool SynthesisReport::fits() const {
  return std::all_of(fit.begin(), fit.end(), [](const ResourceFit& item) { return item.fits(); });
}

std::optional<double> SynthesisReport::fmax_mhz() const {
  if (!placed) return {};
  return placed->slowest_mhz();
}

int64_t buffer_bits(const OverlayHardware& h) {
  const int64_t out_mirror = h.accumulator_depth() * h.output_bytes();
  return 8 * (h.uop_buffer_bytes + h.input_buffer_bytes + h.weight_buffer_bytes +
              2 * h.accumulator_buffer_bytes + out_mirror);
}

std::vector<fs::path> write_board_rtl(const OverlayHardware& hardware, const SynthesisOptions& options,
                                      bool board) {
  const fs::path folder = options.output / "rtl";
  std::vector<fs::path> sources = write_rtl(hardware, folder, options.rtl_folder);
  if (!board) return sources;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(options.rtl_folder / "boards")) {
    if (entry.path().extension() == ".sv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    sources.push_back(folder / file.filename());
    write_text_file(sources.back(), read_text_file(file));
  }
  return sources;
}

SynthesisReport synthesize(const OverlayHardware& hardware, const Device& device,
                           const SynthesisOptions& options) {
  SynthesisReport report;
  report.hardware = hardware;
  report.device = device;
  report.clock_mhz = options.clock_mhz > 0 ? options.clock_mhz : hardware.clock_mhz;
  Diagnostics diagnostics;
  verify_rtl(hardware, diagnostics);
  diagnostics.raise_if_any();
  if (!options.allow_misfit) check_memory(hardware, device);
  const bool board = is_placed(device);
  report.top = board ? kBoardTop : kOverlayTop;
  report.sources = write_board_rtl(hardware, options, board);
  std::error_code ignored;
  for (const char* old : {"overlay.bin", "report.json"}) fs::remove(options.output / old, ignored);

  synthesis::YosysJob job{device.family,
                          options.use_dsp && device.has.dsp > 0,
                          device.has.uram > 0,
                          report.top,
                          report.sources,
                          options.output,
                          board,
                          options.timeout_s};
  job.stop = options.stop;
  report.yosys_version = synthesis::tool_version("yosys");
  report.yosys = synthesis::run_yosys(job);
  report.fit = fit(device, report.yosys.count.resources);
  if (device.family == DeviceFamily::kXc7 || device.family == DeviceFamily::kXcup) {
    write_vivado(report, options);
  }
  report_misfits(device, report.yosys.count.resources, diagnostics);
  if (diagnostics.ok() && board) {
    const char* placer = device.family == DeviceFamily::kIce40 ? "nextpnr-ice40" : "nextpnr-ecp5";
    report.nextpnr_version = synthesis::tool_version(placer);
    place(options, report);
  }
  write_text_file(options.output / "report.json", to_json(report));
  if (!options.allow_misfit) diagnostics.raise_if_any(fmt::format("overlay '{}'", hardware.name));
  return report;
}

}  // namespace tilewright::overlay
