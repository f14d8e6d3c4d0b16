// estimate_error: closed-form cycles of generated designs against their cycle simulation, and closed-form
// areas against Yosys, on every network that designs are shown for (pipeline_networks.h), each at its own
// device and budget, and on networks of an xc7z020 at one DRAM channel.
//
// Areas are counted of whole designs where that takes minutes (xc7z020); of the others component by
// component, marked as sums. --quick leaves those sums out. estimate_error NAME... measures only the cases
// that contain one of the names, without the JSON line.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "pipeline_networks.h"
#include "tilewright/pipeline/build/build.h"
#include "tilewright/pipeline/emit/design_synthesis.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace {

using namespace tilewright;
using namespace tilewright::pipeline;

double percent(double estimate, double truth) { return truth == 0 ? 0 : 100 * (estimate - truth) / truth; }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct Errors {
  std::vector<double> cycles, blocks, logic;  // percent, absolute
};

SimulationOptions memory_of(const Budget& budget) {
  SimulationOptions options;
  options.memory.kind = MemoryKind::kFixed;
  options.memory.latency = uint32_t(budget.port.latency_cycles);
  options.memory.efficiency_percent = uint32_t(budget.port.efficiency_percent);
  return options;
}

void compare_areas(const PipelineCase& item, const Budget& budget, const AllocationResult& found,
                   const Design& design, bool quick, Errors& errors) {
  const bool whole = item.device == "xc7z020";
  if (!whole && quick) return;
  DesignSynthesisOptions options;
  options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  options.folder = std::filesystem::temp_directory_path() / "tilewright_estimate_error" / item.name;
  options.family = budget.family;
  options.by_module = !whole;
  const DesignCounts counts = count_resources(design, options);
  const synthesis::Resources &e = found.estimate.resources, &t = counts.resources;
  fmt::print(
      "  {}: LUT {} of {} ({:+.1f}%), FF {} of {} ({:+.1f}%), DSP {} of {} ({:+.1f}%), BRAM18 {} of {} "
      "({:+.1f}%), URAM {} of {}\n",
      whole ? "whole design" : "sum of components", e.lut, t.lut, percent(double(e.lut), double(t.lut)), e.ff,
      t.ff, percent(double(e.ff), double(t.ff)), e.dsp, t.dsp, percent(double(e.dsp), double(t.dsp)), e.bram,
      t.bram, percent(double(e.bram), double(t.bram)), e.uram, t.uram);
  errors.logic.push_back(std::abs(percent(double(e.lut), double(t.lut))));
  errors.logic.push_back(std::abs(percent(double(e.ff), double(t.ff))));
  if (t.dsp > 0) errors.blocks.push_back(std::abs(percent(double(e.dsp), double(t.dsp))));
  if (t.bram > 0) errors.blocks.push_back(std::abs(percent(double(e.bram), double(t.bram))));
  if (t.uram > 0) errors.blocks.push_back(std::abs(percent(double(e.uram), double(t.uram))));
}

void measure(const PipelineCase& item, bool cycles_only, bool quick, Errors& errors) {
  const auto begin = std::chrono::steady_clock::now();
  const Budget budget = item.limits();
  const Network network = item.network();
  const AllocationResult found = allocate(network, budget, Objective::kLatency);
  const Design design = build(network, found.allocation);
  const SimulationResult run = simulate(design, memory_of(budget));
  const double error = percent(double(found.estimate.latency_cycles), double(run.cycles));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("{:<20} {:<11} {:>9} cycles estimated, {:>9} simulated ({:+.1f}%), {} multipliers, {:.0f} s\n",
             item.name, found.allocation.streaming ? "streaming" : "processors",
             found.estimate.latency_cycles, run.cycles, error, found.estimate.multipliers, seconds.count());
  std::fflush(stdout);
  errors.cycles.push_back(std::abs(error));
  if (!cycles_only) compare_areas(item, budget, found, design, quick, errors);
}

int run(const std::vector<std::string>& arguments) {
  bool quick = false, cycles_only = false;
  std::vector<std::string> names;
  for (const std::string& argument : arguments) {
    if (argument == "--quick") {
      quick = true;
    } else if (argument == "--cycles") {
      cycles_only = true;
    } else {
      names.push_back(argument);
    }
  }
  Errors errors;
  int failed = 0;
  for (const PipelineCase& item : pipeline_cases()) {
    const bool wanted =
        names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return item.name.find(name) != std::string::npos;
        });
    if (!wanted) continue;
    try {
      measure(item, cycles_only, quick, errors);
    } catch (const Error& error) {
      fmt::print("{:<20} {}\n", item.name, error.what());
      ++failed;
    }
  }
  if (!names.empty() || cycles_only) return failed;
  const double worst =
      errors.cycles.empty() ? 0 : *std::max_element(errors.cycles.begin(), errors.cycles.end());
  fmt::print(
      "{{\"figure\": \"estimate_error\", \"networks\": {}, \"median_cycles_percent\": {:.2f}, "
      "\"worst_cycles_percent\": {:.2f}, \"median_dsp_bram_percent\": {:.2f}, \"median_lut_ff_percent\": "
      "{:.2f}, "
      "\"areas\": {}}}\n",
      errors.cycles.size(), median(errors.cycles), worst, median(errors.blocks), median(errors.logic),
      errors.logic.size() / 2);
  return failed > 0 || errors.cycles.empty() || errors.logic.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Error& error) {
    std::fprintf(stderr, "estimate_error: %s\n", error.what());
    return 1;
  }
}
