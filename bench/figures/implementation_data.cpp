// The data set of implemented overlays: what is in it, and rows drawn at random put through the tools again,
// which have to come out as they stand in the file.
//   implementation_data [--quick] [FILE]     quick: 1 row again instead of 4
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/random.h"
#include "tilewright/hardware/device.h"
#include "tilewright/overlay/implementation_run.h"
#include "tilewright/synthesis/tool.h"

using namespace tilewright;
using namespace tilewright::overlay;

namespace {

namespace fs = std::filesystem;

// What the data set promises.
constexpr int kLeastPlaced = 400, kLeastHardware = 150, kLeastPerPrecision = 80;

struct Contents {
  int rows = 0, placed = 0, failures = 0, timing_missed = 0;
  std::map<int, int> placed_of_precision;
  size_t hardware = 0;
  double seconds = 0;  // of the tools, all rows
};

Contents count(const std::vector<ImplementationRow>& rows) {
  Contents c;
  std::set<std::string> hardware;
  for (const ImplementationRow& row : rows) {
    ++c.rows;
    c.seconds += row.targets.synthesis_s + row.targets.place_s;
    c.failures += row.failure != ImplementationFailure::kNone ? 1 : 0;
    if (!row.placed()) continue;
    ++c.placed;
    c.timing_missed += row.timing_missed() ? 1 : 0;
    ++c.placed_of_precision[row.hardware.input_bits];
    OverlayHardware nameless = row.hardware;
    nameless.name = "overlay";
    hardware.insert(print_overlay_hardware(nameless));
  }
  c.hardware = hardware.size();
  return c;
}

bool enough(const Contents& c) {
  bool all = c.placed >= kLeastPlaced && int(c.hardware) >= kLeastHardware;
  for (const int bits : {8, 4, 2, 1}) {
    const auto found = c.placed_of_precision.find(bits);
    all = all && found != c.placed_of_precision.end() && found->second >= kLeastPerPrecision;
  }
  return all;
}

int run(bool quick, const fs::path& file) {
  const fs::path root = TILEWRIGHT_SOURCE_DIR;
  const std::vector<ImplementationRow> rows = read_implementation_data(file);
  const Contents c = count(rows);
  nlohmann::ordered_json precisions;
  for (const auto& entry : c.placed_of_precision)
    precisions[fmt::format("w{0}a{0}", entry.first)] = entry.second;
  fmt::print("{} rows: {} placed and routed of {} descriptions, {} failures, {} slower than asked for\n",
             c.rows, c.placed, c.hardware, c.failures, c.timing_missed);
  ImplementationSetup setup;
  setup.rtl_folder = root / "rtl";
  setup.work_folder = fs::temp_directory_path() / fmt::format("implementation_data_{}", fnv1a(file.string()));
  const int repeats = std::min(quick ? 1 : 4, c.rows);
  Random random(20261122);
  int equal = 0;
  double seconds = 0;
  for (int k = 0; k < repeats; ++k) {
    const ImplementationRow& row = rows[size_t(random.between(0, c.rows - 1))];
    fs::remove_all(setup.work_folder);
    const auto start = std::chrono::steady_clock::now();
    const ImplementationRow again = reproduce(row, find_device(row.device, root / "hardware/devices"), setup);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool same = same_result(row, again);
    equal += same ? 1 : 0;
    fmt::print("row {}: {} cells, {:.2f} MHz; again {} cells, {:.2f} MHz: {}\n", implementation_key(row),
               row.targets.cells, row.targets.fmax_mhz, again.targets.cells, again.targets.fmax_mhz,
               same ? "equal" : "DIFFERENT");
  }
  fs::remove_all(setup.work_folder);
  const nlohmann::ordered_json json{{"figure", "implementation_data"},
                                    {"rows", c.rows},
                                    {"placed_rows", c.placed},
                                    {"failures", c.failures},
                                    {"timing_missed_rows", c.timing_missed},
                                    {"hardware_configurations", c.hardware},
                                    {"placed_rows_per_precision", precisions},
                                    {"reproduced_rows", repeats},
                                    {"equal_rows", equal},
                                    {"seconds_per_row", repeats == 0 ? 0.0 : seconds / repeats},
                                    {"collected_seconds_per_row", c.rows == 0 ? 0.0 : c.seconds / c.rows}};
  std::puts(json.dump().c_str());
  return repeats > 0 && equal == repeats && enough(c) ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  bool quick = false;
  fs::path file = fs::path(TILEWRIGHT_SOURCE_DIR) / "models/tune/implementation_ice40.jsonl.gz";
  for (int k = 1; k < count; ++k) {
    if (std::string(words[k]) == "--quick") {
      quick = true;
    } else {
      file = words[k];
    }
  }
  try {
    return run(quick, file);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return int(error.kind());
  }
}
