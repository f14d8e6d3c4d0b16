// Collects implementation data (docs/design/tune/implementation_data.md): sampled overlays through Yosys and
// nextpnr, each row a file of its own in a folder, named after its content. Runs where it stopped when
// started again; several may run at once.
//
//   collect_implementation_data FOLDER [--groups N] [--start K] [--device NAME] [--seed S] [--timeout S]
//   collect_implementation_data FOLDER --merge FILE                    rows -> FILE(.gz)
//   collect_implementation_data FOLDER --from FILE --reproduce KEY
//
// --timeout: wall clock of each tool; more where others share the cores. A row that ran into it is made again
// when its file is removed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/hardware/device.h"
#include "tilewright/overlay/implement/implementation_performance.h"
#include "tilewright/overlay/implement/implementation_run.h"
#include "tilewright/overlay/implement/implementation_space.h"

namespace {

namespace fs = std::filesystem;
using namespace tilewright;
using namespace tilewright::overlay;

struct Arguments {
  fs::path folder, merge, from;
  std::string reproduce;
  int groups = 400, start = 0;
  uint64_t seed = 2026;
  std::string device = "ice40-hx8k";
  double timeout_s = ImplementationSetup{}.timeout_s;
};

Arguments parse(int count, char** words) {
  Arguments a;
  if (count < 2) throw Error(ErrorKind::kInvalidInput, "no folder for the rows is given");
  a.folder = words[1];
  for (int k = 2; k + 1 < count; k += 2) {
    const std::string name = words[k], value = words[k + 1];
    if (name == "--groups") {
      a.groups = std::stoi(value);
    } else if (name == "--seed") {
      a.seed = std::stoull(value);
    } else if (name == "--device") {
      a.device = value;
    } else if (name == "--merge") {
      a.merge = value;
    } else if (name == "--from") {
      a.from = value;
    } else if (name == "--reproduce") {
      a.reproduce = value;
    } else if (name == "--timeout") {
      a.timeout_s = std::stod(value);
    } else if (name == "--start") {
      a.start = std::stoi(value);
    } else {
      throw Error(ErrorKind::kInvalidInput, "unknown option '" + name + "'");
    }
  }
  return a;
}

fs::path row_file(const Arguments& a, const ImplementationRow& row) {
  return a.folder / "rows" / (implementation_key(row) + ".json");
}

void collect(const Arguments& a) {
  const fs::path root = TILEWRIGHT_SOURCE_DIR;
  const Device device = find_device(a.device, root / "hardware/devices");
  ImplementationSetup setup;
  setup.rtl_folder = root / "rtl";
  setup.work_folder = a.folder / fmt::format("work-{}", a.start);
  setup.timeout_s = a.timeout_s;
  const std::string tools = implementation_tools(device, setup);
  const ImplementationSpace space(device.family);
  const std::vector<ImplementationGroup> groups = sample_implementations(space, a.groups, a.seed);
  create_folder(a.folder / "rows");
  for (size_t n = 0; n < groups.size(); ++n) {
    const size_t k = (n + size_t(a.start)) % groups.size();
    std::vector<synthesis::ImplementationOptions> missing;
    for (const synthesis::ImplementationOptions& options : groups[k].options) {
      const ImplementationRow row{groups[k].hardware, options, a.device, tools, {}, {}, ""};
      if (!fs::exists(row_file(a, row))) missing.push_back(options);
    }
    if (missing.empty()) continue;
    fs::remove_all(setup.work_folder);
    for (const ImplementationRow& row : implement(groups[k].hardware, missing, device, setup)) {
      write_text_file(row_file(a, row), print_implementation_row(row) + "\n");
      const ImplementationTargets& t = row.targets;
      fmt::print(
          "{:4} {} w{} {}x{}x{} cells {} lut {} dsp {} bram {} fmax {:.1f} MHz, {:.1f} + {:.1f} s {}\n", k,
          implementation_key(row), row.hardware.input_bits, row.hardware.batch, row.hardware.block_in,
          row.hardware.block_out, t.cells, t.lut, t.dsp, t.bram, t.fmax_mhz, t.synthesis_s, t.place_s,
          row.failure_text);
    }
    std::fflush(stdout);
  }
  fs::remove_all(setup.work_folder);
}

void merge(const Arguments& a) {
  std::vector<ImplementationRow> rows;
  for (const auto& entry : fs::directory_iterator(a.folder / "rows")) {
    if (entry.path().extension() != ".json") continue;
    std::string line = read_text_file(entry.path());
    line.pop_back();
    rows.push_back(parse_implementation_row(line, entry.path().string()));
  }
  add_performance(rows);
  write_implementation_data(rows, a.merge);
  fmt::print("{} rows in {}\n", rows.size(), a.merge.string());
}

// Whether the row came out as it is in the file.
bool reproduce_row(const Arguments& a) {
  const fs::path root = TILEWRIGHT_SOURCE_DIR;
  const std::vector<ImplementationRow> rows = read_implementation_data(a.from);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const ImplementationRow& r) {
    return implementation_key(r) == a.reproduce;
  });
  if (row == rows.end()) {
    throw Error(ErrorKind::kInvalidInput, "no row of '" + a.from.string() + "' has the key " + a.reproduce);
  }
  ImplementationSetup setup;
  setup.rtl_folder = root / "rtl";
  setup.work_folder = a.folder;
  const ImplementationRow again = reproduce(*row, find_device(row->device, root / "hardware/devices"), setup);
  fmt::print("{}\n{}\n", print_implementation_row(*row), print_implementation_row(again));
  return same_result(*row, again);
}

}  // namespace

int main(int count, char** words) {
  try {
    const Arguments arguments = parse(count, words);
    if (!arguments.reproduce.empty()) return reproduce_row(arguments) ? 0 : 1;
    if (arguments.merge.empty()) {
      collect(arguments);
    } else {
      merge(arguments);
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return int(error.kind());
  }
}
