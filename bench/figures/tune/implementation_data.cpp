// The data set of implemented overlays: what is in each file, and rows drawn at random put through the tools
// again, which have to come out as they stand there.
//   implementation_data [--quick] [FILE...]     quick: 1 row of each again instead of 4
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
#include "tilewright/overlay/implement/implementation_run.h"
#include "tilewright/synthesis/tool.h"

using namespace tilewright;
using namespace tilewright::overlay;

namespace {

namespace fs = std::filesystem;

// What the data set promises of parts that are placed, and of those that are synthesised alone.
struct Promise {
  int rows, hardware, per_precision;
};
constexpr Promise kPlaced{400, 150, 80}, kSynthesised{80, 40, 20};

struct Contents {
  int rows = 0, placed = 0, failures = 0, timing_missed = 0;
  int good = 0;  // placed and routed, or without a placer synthesised
  std::map<int, int> good_of_precision;
  size_t hardware = 0;
  double seconds = 0;  // of the tools, all rows
};

bool is_placed(const std::string& device) {
  return find_device(device, fs::path(TILEWRIGHT_SOURCE_DIR) / "hardware/devices").family ==
         synthesis::DeviceFamily::kIce40;
}

Contents count(const std::vector<ImplementationRow>& rows, bool with_placement) {
  Contents c;
  std::set<std::string> hardware;
  for (const ImplementationRow& row : rows) {
    ++c.rows;
    c.seconds += row.targets.synthesis_s + row.targets.place_s;
    c.failures += row.failure != ImplementationFailure::kNone ? 1 : 0;
    c.placed += row.placed() ? 1 : 0;
    c.timing_missed += row.timing_missed() ? 1 : 0;
    if (row.failure != ImplementationFailure::kNone || row.placed() != with_placement) continue;
    ++c.good;
    ++c.good_of_precision[row.hardware.input_bits];
    OverlayHardware nameless = row.hardware;
    nameless.name = "overlay";
    hardware.insert(print_overlay_hardware(nameless));
  }
  c.hardware = hardware.size();
  return c;
}

bool enough(const Contents& c, const Promise& promise) {
  bool all = c.good >= promise.rows && int(c.hardware) >= promise.hardware;
  for (const int bits : {8, 4, 2, 1}) {
    const auto found = c.good_of_precision.find(bits);
    all = all && found != c.good_of_precision.end() && found->second >= promise.per_precision;
  }
  return all;
}

struct Repeated {
  int rows = 0, equal = 0;
  double seconds = 0;
};

// `repeats` rows, drawn at random, through the tools again.
Repeated repeat(const std::vector<ImplementationRow>& rows, int repeats, const fs::path& file) {
  const fs::path root = TILEWRIGHT_SOURCE_DIR;
  ImplementationSetup setup;
  setup.rtl_folder = root / "rtl";
  setup.work_folder = fs::temp_directory_path() / fmt::format("implementation_data_{}", fnv1a(file.string()));
  setup.timeout_s = 900;  // other work on the machine must not look like another result
  Random random(20261122);
  Repeated result;
  for (; result.rows < repeats; ++result.rows) {
    const ImplementationRow& row = rows[size_t(random.between(0, int64_t(rows.size()) - 1))];
    fs::remove_all(setup.work_folder);
    const auto start = std::chrono::steady_clock::now();
    const ImplementationRow again = reproduce(row, find_device(row.device, root / "hardware/devices"), setup);
    result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool same = same_result(row, again);
    result.equal += same ? 1 : 0;
    const auto text = [](const ImplementationTargets& t) {
      return fmt::format("{} LUT, {} FF, {:.2f} MHz", t.lut, t.ff, t.fmax_mhz);
    };
    fmt::print("row {}: {}; again {}: {}\n", implementation_key(row), text(row.targets), text(again.targets),
               same ? "equal" : "DIFFERENT");
  }
  fs::remove_all(setup.work_folder);
  return result;
}

// Fields of one file; `kept`: whether it holds what it promises and its rows came out again.
nlohmann::ordered_json study(const fs::path& file, bool quick, bool& kept) {
  const std::vector<ImplementationRow> rows = read_implementation_data(file);
  if (rows.empty()) throw Error(ErrorKind::kInvalidInput, "'" + file.string() + "' has no rows");
  const bool with_placement = is_placed(rows.front().device);
  const Contents c = count(rows, with_placement);
  nlohmann::ordered_json precisions;
  for (const auto& [bits, number] : c.good_of_precision) precisions[fmt::format("w{0}a{0}", bits)] = number;
  fmt::print("{}: {} rows: {} {} of {} descriptions, {} failures, {} slower than asked for\n",
             file.filename().string(), c.rows, c.good, with_placement ? "placed and routed" : "synthesised",
             c.hardware, c.failures, c.timing_missed);
  const Repeated again = repeat(rows, std::min(quick ? 1 : 4, c.rows), file);
  kept = again.rows > 0 && again.equal == again.rows && enough(c, with_placement ? kPlaced : kSynthesised);
  return {{"rows", c.rows},
          {"good_rows", c.good},
          {"placed_rows", c.placed},
          {"failures", c.failures},
          {"timing_missed_rows", c.timing_missed},
          {"hardware_configurations", c.hardware},
          {"good_rows_per_precision", precisions},
          {"reproduced_rows", again.rows},
          {"equal_rows", again.equal},
          {"seconds_per_row", again.seconds / again.rows},
          {"collected_seconds_per_row", c.seconds / c.rows}};
}

int run(bool quick, const std::vector<fs::path>& files) {
  nlohmann::ordered_json json{{"figure", "implementation_data"}};
  bool all = true;
  for (const fs::path& file : files) {
    bool kept = false;
    std::string name = file.filename().string();
    json[name.substr(0, name.find('.'))] = study(file, quick, kept);
    all = all && kept;
  }
  std::puts(json.dump().c_str());
  return all ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  bool quick = false;
  std::vector<fs::path> files;
  for (int k = 1; k < count; ++k) {
    if (std::string(words[k]) == "--quick") {
      quick = true;
    } else {
      files.emplace_back(words[k]);
    }
  }
  if (files.empty()) {
    const fs::path folder = fs::path(TILEWRIGHT_SOURCE_DIR) / "models/tune";
    files = {folder / "implementation_ice40.jsonl.gz", folder / "implementation_xc7.jsonl.gz"};
  }
  try {
    return run(quick, files);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return int(error.kind());
  }
}
