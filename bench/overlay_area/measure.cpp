// overlay_area_measure: areas of random overlays, and of their matrix cores alone, as Yosys counts them for 7
// series, one line each appended to FILE: what, its sizes, seed, then lut, ff, dsp, bram (of 18 Kb) and
// seconds. What FILE already has is not measured again: a stopped run goes on where it was.
//
//   overlay_area_measure FILE overlay|gemm_core RUNS FIRST_SEED FOLDER
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tilewright/base/file.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/overlay/tuning/hardware_space.h"
#include "tilewright/synthesis/yosys.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

constexpr double kTimeout_s = 900;

// What distinguishes one run from another: a part does not see all of the description.
std::string signature(const std::string& part, const OverlayHardware& h) {
  const std::string array =
      fmt::format("bits={} batch={} in={} out={}", h.input_bits, h.batch, h.block_in, h.block_out);
  if (part == "gemm_core") return "gemm_core " + array;
  return fmt::format("overlay {} uop={} inp={} wgt={} acc={} alu={} beside={} port={} queue={} read={}",
                     array, h.uop_buffer_bytes, h.input_buffer_bytes, h.weight_buffer_bytes,
                     h.accumulator_buffer_bytes, h.alu_lanes, int(h.gemm_beside_alu), h.memory_width_bits,
                     h.command_queue_depth, h.read_queue_beats);
}

// Minutes of synthesis that tell no more than a smaller one.
bool too_large(const std::string& part, const OverlayHardware& h) {
  const int64_t words = h.macs_per_uop() * h.input_bits / 8;
  if (part == "gemm_core") return words > 64;
  return words > 64 || h.alu_lanes > 2 || h.batch * h.block_out > 16;
}

std::set<std::string> measured(const std::string& file) {
  std::set<std::string> seen;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const size_t end = line.find(" seed=");
    if (end != std::string::npos) seen.insert(line.substr(0, end));
  }
  return seen;
}

void measure(const std::string& file, const std::string& part, const OverlayHardware& h, uint64_t seed,
             const std::string& folder) {
  synthesis::YosysJob job;
  job.family = synthesis::DeviceFamily::kXc7;
  job.top = part == "overlay" ? "tilewright_overlay" : "tw_overlay_" + part;
  const std::filesystem::path source = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  job.sources = write_rtl(h, std::filesystem::path(folder) / "rtl", source);
  job.folder = folder;
  job.timeout_s = kTimeout_s;
  job.write_netlist = false;
  const synthesis::YosysResult result = synthesis::run_yosys(job);
  const synthesis::Resources& r = result.count.resources;
  std::ofstream(file, std::ios::app) << fmt::format("{} seed={} lut={} ff={} dsp={} bram={} seconds={:.0f}\n",
                                                    signature(part, h), seed, r.lut, r.ff, r.dsp, r.bram,
                                                    result.seconds);
}

int run(const std::string& file, const std::string& part, int64_t runs, uint64_t seed,
        const std::string& folder) {
  const Device device =
      find_device("xc7z020", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware/devices");
  std::set<std::string> seen = measured(file);
  int64_t done = 0;
  for (const std::string& line : seen) done += line.compare(0, part.size() + 1, part + " ") == 0;
  for (; done < runs; ++seed) {
    Random random(seed);
    const int bits = kOperandBits[random.between(0, 3)];
    const KnobSpace space = hardware_space(bits, device);
    const OverlayHardware h = hardware_at(space.values(*space.sample(random)), bits);
    if (too_large(part, h) || !seen.insert(signature(part, h)).second) continue;
    try {
      measure(file, part, h, seed, folder);
      ++done;
    } catch (const Error& error) {
      fmt::print("not measured: {}: {}\n", signature(part, h), error.what());
    }
    fmt::print("{} of {}\n", done, runs);
    std::fflush(stdout);
    std::filesystem::remove_all(folder);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc == 6 ? argv[2] : "";
  if (part != "overlay" && part != "gemm_core") {
    std::fprintf(stderr, "usage: overlay_area_measure FILE overlay|gemm_core RUNS FIRST_SEED FOLDER\n");
    return 1;
  }
  try {
    return run(argv[1], part, std::atoll(argv[3]), uint64_t(std::atoll(argv[4])), argv[5]);
  } catch (const tilewright::Error& error) {
    std::fprintf(stderr, "overlay_area_measure: %s\n", error.what());
    return 1;
  }
}
