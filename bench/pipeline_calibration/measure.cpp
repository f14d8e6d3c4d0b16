// pipeline_calibration_measure: areas of single components of random designs (random_designs.h) as Yosys
// counts them, one line each appended to FILE: component, family, its sizes, then lut, ff, dsp, bram (of 18
// Kb), uram. What FILE already has is not measured again: a stopped run goes on where it was. Two at a time
// (one per family) may append to one file.
//
//   pipeline_calibration_measure FILE xc7|xcup|ecp5|ice40 RUNS_PER_COMPONENT FIRST_SEED FOLDER [COMPONENT...]
//
// A COMPONENT may also be "mac_array of wide products", "mac_array of two packed products", "mac_array of
// more packed products", "rom_walker of deep memories" or "finish of tables".
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "random_designs.h"
#include "support/pipeline/measured_runs_testing.h"
#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/emit/design_synthesis.h"
#include "tilewright/pipeline/estimate/resource_features.h"
#include "tilewright/synthesis/memory_cells.h"

namespace {

using namespace tilewright;
using namespace tilewright::pipeline;

// Forms that fewer random designs have, counted by themselves.
const std::string kWideArray = "mac_array of wide products", kDeepRom = "rom_walker of deep memories",
                  kTwoPacked = "mac_array of two packed products",
                  kMorePacked = "mac_array of more packed products", kTableFinish = "finish of tables";

// Plain components need few runs; those with many forms need more.
int64_t wanted_runs(const std::string& component, int64_t runs) {
  static const std::set<std::string> plain = {"read_share", "stream_fork", "stream_join"};
  static const std::set<std::string> small = {"control", "dma_read", "dma_write", "stream_frame"};
  static const std::set<std::string> large = {"finish", "lane_array", "mac_array", kTableFinish};
  if (plain.count(component) != 0) return std::min<int64_t>(3, runs);
  if (small.count(component) != 0) return runs / 2;
  return large.count(component) != 0 ? runs * 5 / 2 : runs;
}

std::string kind_of(const std::string& component, const netlist::Parameters& parameters) {
  const auto value = [&](const char* name) { return netlist::integer_or(parameters, name, 1); };
  if (component == "mac_array" && value("AW") > 25) return kWideArray;
  if (component == "finish" && netlist::text_or(parameters, "MULTIPLY", "") == "lut") return kTableFinish;
  const int64_t packed = packed_rows(netlist::text_or(parameters, "MULTIPLY", ""));
  if (component == "mac_array" && packed > 0) return packed == 2 ? kTwoPacked : kMorePacked;
  if (component == "rom_walker" && netlist::text_or(parameters, "KIND", "block") == "block" &&
      synthesis::block_ram_rows(value("WORDS"), value("WIDTH")) > 1) {
    return kDeepRom;
  }
  return component;
}

// Minutes of synthesis that tell no more than a smaller one; of an iCE40, what no part holds.
bool too_large(const netlist::Instance& instance, synthesis::DeviceFamily family) {
  const auto value = [&](const char* name) { return netlist::integer_or(instance.parameters, name, 1); };
  const int64_t share = family == synthesis::DeviceFamily::kIce40 ? 8 : 1;
  const std::string multiply = netlist::text_or(instance.parameters, "MULTIPLY", "");
  const int64_t products = value("PI") * value("PO"), most = (multiply == "lut" ? 96 : 256) / share;
  const bool array = instance.module == "mac_array";
  const int64_t lookups = netlist::integer_or(instance.parameters, "TABLES", 0);
  return (array && (products > most || products * value("AW") * value("WW") > 40000 / share)) ||
         value("P") * value("TAPS") > 128 / share || value("PF") > 8 / std::min<int64_t>(2, share) ||
         value("WIDTH") > 2048 / share || value("PO") * value("ACC") > 8192 / share ||
         (value("ACC") == 64 && (value("PF") * lookups > 2 || share > 1));
}

class Calibration {
 public:
  // `components`: these alone; empty: all.
  Calibration(std::filesystem::path file, synthesis::DeviceFamily family, int64_t runs,
              std::vector<std::string> components)
      : file_(std::move(file)), family_(family), runs_(runs), components_(std::move(components)) {
    if (components_.empty()) {
      components_ = modelled_components();
      components_.insert(components_.end(), {kWideArray, kDeepRom, kTwoPacked, kMorePacked, kTableFinish});
    }
    if (!std::filesystem::exists(file_)) return;
    for (const MeasuredRun& run : read_measured_runs(file_)) {
      if (run.family != family) continue;
      ++done_[kind_of(run.component, run.parameters)];
      seen_.insert(run.configuration);
    }
  }

  // Measures what is wanted of a design. Whether any component still lacks runs.
  bool design(uint64_t seed, const std::filesystem::path& folder) {
    const Network network = calibration_network(seed);
    const Allocation allocation = calibration_allocation(network, seed);
    Diagnostics diagnostics;
    allocation.verify(network, diagnostics);
    if (!diagnostics.ok()) return true;
    std::optional<Design> design;
    try {
      design = build(network, allocation);
    } catch (const Error&) {
      return true;  // numbers that no component is made for
    }
    const Design& built = *design;
    std::map<std::string, int> of_this_design;
    std::vector<const netlist::Instance*> components;
    std::vector<std::string> configurations;
    for (const netlist::Instance& instance : built.netlist.modules.at(0).instances) {
      const std::string kind = kind_of(instance.module, instance.parameters);
      if (!lacks_runs(kind)) continue;
      if (of_this_design[instance.module] >= 2 || too_large(instance, family_)) continue;
      const std::string sizes = component_signature(instance, built.images).substr(instance.module.size());
      const std::string configuration = instance.module + " " + synthesis::family_name(family_) + sizes;
      if (!seen_.insert(configuration).second) continue;
      ++of_this_design[instance.module];
      ++done_[kind];
      components.push_back(&instance);
      configurations.push_back(configuration);
    }
    if (!components.empty()) measure(components, built.images, configurations, folder);
    return std::any_of(components_.begin(), components_.end(),
                       [&](const std::string& name) { return lacks_runs(name); });
  }

 private:
  bool lacks_runs(const std::string& component) {
    return std::find(components_.begin(), components_.end(), component) != components_.end() &&
           done_[component] < wanted_runs(component, runs_);
  }

  void measure(const std::vector<const netlist::Instance*>& components, const MemoryImages& images,
               const std::vector<std::string>& configurations, const std::filesystem::path& folder) {
    DesignSynthesisOptions options;
    options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
    options.folder = folder;
    options.family = family_;
    options.timeout_s = 1500;
    options.parts = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    try {
      const std::vector<ComponentCount> counts = count_components(components, images, options);
      std::string lines;
      for (size_t i = 0; i < counts.size(); ++i) {
        const synthesis::Resources& r = counts[i].count.resources;
        lines += fmt::format("{} lut={} ff={} dsp={} bram={} uram={}\n", configurations[i], r.lut, r.ff,
                             r.dsp, r.bram, r.uram);
      }
      std::ofstream(file_, std::ios::app) << lines;
      fmt::print("{:.1f} s for {} components\n", counts[0].seconds * double(counts.size()), counts.size());
    } catch (const Error& error) {
      fmt::print("not measured: {} and others: {}\n", configurations[0], error.what());
    }
    std::fflush(stdout);
    std::filesystem::remove_all(folder);
  }

  std::filesystem::path file_;
  synthesis::DeviceFamily family_;
  int64_t runs_;
  std::vector<std::string> components_;
  std::map<std::string, int64_t> done_;
  std::set<std::string> seen_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(
        stderr,
        "usage: pipeline_calibration_measure FILE xc7|xcup|ecp5|ice40 RUNS_PER_COMPONENT FIRST_SEED FOLDER "
        "[COMPONENT...]\n");
    return 1;
  }
  try {
    const auto family = measured_family(argv[2]);
    if (!family) throw Error(ErrorKind::kInvalidInput, std::string("no family '") + argv[2] + "'");
    Calibration calibration(argv[1], *family, std::atoll(argv[3]), {argv + 6, argv + argc});
    const uint64_t first = uint64_t(std::atoll(argv[4]));
    for (uint64_t seed = first; seed < first + 2000 && calibration.design(seed, argv[5]); ++seed) {
    }
  } catch (const tilewright::Error& error) {
    std::fprintf(stderr, "pipeline_calibration_measure: %s\n", error.what());
    return 1;
  }
  return 0;
}
