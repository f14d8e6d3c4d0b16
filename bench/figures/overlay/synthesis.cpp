// Overlays on FPGAs: resources after Yosys, and for the iCE40 the clock rate after nextpnr, the bitstream,
// and the placed netlist run in simulation through the pins of its board against the functional simulator.
//   synthesis [--quick] [FOLDER]     quick: the iCE40 alone, without the netlist; FOLDER keeps all files
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "board_run.h"
#include "tilewright/base/parallel.h"
#include "tilewright/overlay/implement/overlay_synthesis.h"
#include "tilewright/synthesis/tool.h"

using namespace tilewright;
using namespace tilewright::overlay;

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Row {
  const char* hardware;
  const char* device;
  bool use_dsp = true;
};

constexpr Row kBoard{"overlay-ice40", "ice40-hx8k"};
// The public default, its halves and doubles, and narrower operands at equal memory port.
constexpr Row kRows[] = {
    {"vta-default", "xc7z020"},  {"vta-default", "xc7z020", false}, {"vta-default", "lfe5u-85f"},
    {"vta-default", "xczu3eg"},  {"overlay-8x8", "xc7z020"},        {"overlay-16x16", "xc7z020"},
    {"overlay-w4a4", "xc7z020"}, {"overlay-w2a2", "xc7z020"},       {"overlay-w1a1", "xc7z020"},
    {"overlay-32x32", "xcvu9p"}, {"overlay-ice40", "ice40-up5k"},
};

struct Measured {
  ordered_json json;
  fs::path netlist;
};

Measured measure(const Row& row, const fs::path& folder) {
  const fs::path root = TILEWRIGHT_SOURCE_DIR;
  SynthesisOptions options{
      root / "rtl", folder / fmt::format("{}-{}{}", row.hardware, row.device, row.use_dsp ? "" : "-no-dsp")};
  options.use_dsp = row.use_dsp;
  options.allow_misfit = true;
  ordered_json json{
      {"device", row.device}, {"hardware", row.hardware}, {"multipliers", row.use_dsp ? "dsp" : "lut"}};
  try {
    const SynthesisReport report =
        synthesize(find_overlay_hardware(row.hardware, root / "hardware"),
                   find_device(row.device, root / "hardware" / "devices"), options);
    const synthesis::Resources& r = report.yosys.count.resources;
    json.update({{"lut", r.lut}, {"ff", r.ff}, {"dsp", r.dsp}, {"bram", r.bram}, {"uram", r.uram}});
    json["fits"] = report.fits();
    json["fmax_mhz"] = nullptr;
    if (report.placed) {
      json["fmax_mhz"] = *report.fmax_mhz();
      json["clock_mhz"] = report.clock_mhz;
      json["timing_met"] = report.timing_met();
    }
    if (!report.bitstream.empty()) json["bitstream_bytes"] = report.bitstream_bytes;
    json["seconds"] = report.seconds();
    std::printf("%s\n", to_string(report).c_str());
    std::fflush(stdout);
    return {json, report.yosys.verilog};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInfeasible) throw;
    json["infeasible"] = error.what();
    std::printf("%s on %s: %s\n\n", row.hardware, row.device, error.what());
    return {json, {}};
  }
}

ordered_json run_netlist(const fs::path& netlist, const fs::path& folder) {
  const OverlayHardware hardware = ice40_hardware();
  BoardModel board(ice40_netlist_sources(netlist), fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl",
                   folder / "models");
  int identical = 0, programs = 0;
  uint64_t cycles = 0;
  for (uint64_t seed = 1; seed <= 2; ++seed, ++programs) {
    const BoardRun run = run_convolution(board, hardware, seed);
    identical += run.identical;
    cycles += run.overlay_cycles;
  }
  return {{"programs", programs}, {"identical", identical}, {"overlay_cycles", cycles}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    bool quick = false;
    fs::path folder = fs::temp_directory_path() / "tilewright_synthesis";
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]) == "--quick") {
        quick = true;
      } else {
        folder = argv[i];
      }
    }
    const std::string missing = synthesis::missing_tools({"yosys", "nextpnr-ice40", "icepack", "verilator"});
    if (!missing.empty()) throw Error(ErrorKind::kUnsupported, missing);
    ordered_json figure{{"figure", "synthesis"}, {"quick", quick}};
    const Measured board = measure(kBoard, folder);
    figure["rows"] = ordered_json::array({board.json});
    if (!quick) {
      if (!board.netlist.empty()) figure["netlist"] = run_netlist(board.netlist, folder);
      // Yosys has one thread.
      std::vector<ordered_json> rows(std::size(kRows));
      parallel_for(2, int64_t(rows.size()), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) rows[size_t(i)] = measure(kRows[i], folder).json;
      });
      for (ordered_json& row : rows) figure["rows"].push_back(std::move(row));
    }
    std::printf("%s\n", figure.dump().c_str());
    const bool good = board.json.value("timing_met", false) &&
                      (quick || (figure.contains("netlist") &&
                                 figure["netlist"]["identical"] == figure["netlist"]["programs"]));
    return good ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "synthesis: %s\n", error.what());
    return 1;
  }
}
