// estimate_error: closed-form cycles of generated designs against their cycle simulation, and closed-form
// areas against Yosys, on every network that designs are shown for (pipeline_networks.h), each at its own
// device and budget, and on networks of an xc7z020 at one DRAM channel.
//
// Areas are counted of whole designs up to 60,000 estimated look-up tables where that ends within the time
// limit; of the others, and with --sums of all, as the sum of their distinct modules, marked as such. What
// Yosys counted is kept in a folder (--folder, else of the system's temporary ones), so that a rerun only
// counts what is new. What does not end in --timeout seconds (1200 whole, 600 a module) is left out of both
// sides and named; then the program fails. --quick: all cycles, and the areas of designs up to 45,000
// estimated look-up tables, as sums. --components prints each module; --cycles leaves all
// areas out. Any NAME measures the cases that contain it, without the JSON line.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "design_areas.h"
#include "pipeline_networks.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace {

using namespace tilewright;
using namespace tilewright::pipeline;

constexpr int64_t kWholeLut = 60'000;  // larger designs take hours as a whole
constexpr int64_t kQuickLut = 45'000;

double percent(double estimate, double truth) { return truth == 0 ? 0 : 100 * (estimate - truth) / truth; }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double worst(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

struct Errors {
  std::vector<double> cycles, blocks, logic;  // percent, absolute
  int whole = 0, sums = 0, left_out = 0;      // designs; components of sums
};

struct Arguments {
  bool quick = false, cycles_only = false, sums = false, components = false;
  AreaLimits limits;
  std::filesystem::path folder = std::filesystem::temp_directory_path() / "tilewright_estimate_error";
  std::vector<std::string> names;
};

SimulationOptions memory_of(const Budget& budget) {
  SimulationOptions options;
  options.memory.kind = MemoryModelKind::kFixed;
  options.memory.latency = uint32_t(budget.port.latency_cycles);
  options.memory.efficiency_percent = uint32_t(budget.port.efficiency_percent);
  return options;
}

void add_error(std::vector<double>& errors, int64_t estimate, int64_t truth) {
  if (truth > 0) errors.push_back(std::abs(percent(double(estimate), double(truth))));
  if (truth == 0 && estimate > 0) errors.push_back(100);
}

// Whole where that ends in the time given, else as a sum of components.
void compare_areas(const PipelineCase& item, const Budget& budget, const AllocationResult& found,
                   const Design& design, const Arguments& arguments, DesignAreas& areas, Errors& errors) {
  const synthesis::Resources& estimate = found.estimate.resources;
  if (arguments.quick && estimate.lut > kQuickLut) return;
  std::optional<DesignArea> area;
  if (!arguments.sums && !arguments.quick && estimate.lut <= kWholeLut) {
    const std::string identity = item.name + print_allocation(found.allocation);
    area = areas.whole(identity, design, estimate, budget.family);
  }
  if (!area) area = areas.sum(design, budget.family, arguments.components);
  const synthesis::Resources &e = area->estimated, &t = area->counted;
  fmt::print(
      "  {}: LUT {} of {} ({:+.1f}%), FF {} of {} ({:+.1f}%), DSP {} of {} ({:+.1f}%), BRAM18 {} of {} "
      "({:+.1f}%), URAM {} of {}\n",
      area->whole ? "whole design" : "sum by module", e.lut, t.lut, percent(double(e.lut), double(t.lut)),
      e.ff, t.ff, percent(double(e.ff), double(t.ff)), e.dsp, t.dsp, percent(double(e.dsp), double(t.dsp)),
      e.bram, t.bram, percent(double(e.bram), double(t.bram)), e.uram, t.uram);
  for (const std::string& component : area->left_out) fmt::print("    left out: {}\n", component);
  std::fflush(stdout);
  ++(area->whole ? errors.whole : errors.sums);
  errors.left_out += int(area->left_out.size());
  add_error(errors.logic, e.lut, t.lut);
  add_error(errors.logic, e.ff, t.ff);
  add_error(errors.blocks, e.dsp, t.dsp);
  add_error(errors.blocks, e.bram, t.bram);
  add_error(errors.blocks, e.uram, t.uram);
}

void measure(const PipelineCase& item, const Arguments& arguments, DesignAreas& areas, Errors& errors) {
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
  if (!arguments.cycles_only) compare_areas(item, budget, found, design, arguments, areas, errors);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) throw Error(ErrorKind::kInvalidInput, argument + " wants a value");
      return std::string(argv[++i]);
    };
    if (argument == "--quick") {
      arguments.quick = true;
    } else if (argument == "--cycles") {
      arguments.cycles_only = true;
    } else if (argument == "--sums") {
      arguments.sums = true;
    } else if (argument == "--components") {
      arguments.components = true;
    } else if (argument == "--folder") {
      arguments.folder = value();
    } else if (argument == "--timeout") {
      arguments.limits.whole_s = arguments.limits.component_s = std::atof(value().c_str());
    } else {
      arguments.names.push_back(argument);
    }
  }
  return arguments;
}

int run(const Arguments& arguments) {
  DesignAreas areas(arguments.folder, arguments.limits);
  Errors errors;
  int failed = 0;
  for (const PipelineCase& item : pipeline_cases()) {
    const bool wanted =
        arguments.names.empty() ||
        std::any_of(arguments.names.begin(), arguments.names.end(),
                    [&](const std::string& name) { return item.name.find(name) != std::string::npos; });
    if (!wanted) continue;
    try {
      measure(item, arguments, areas, errors);
    } catch (const Error& error) {
      fmt::print("{:<20} {}\n", item.name, error.what());
      ++failed;
    }
  }
  if (!arguments.names.empty() || arguments.cycles_only) return failed;
  fmt::print(
      "{{\"figure\": \"estimate_error\", \"networks\": {}, \"median_cycles\": {:.2f}, \"worst_cycles\": "
      "{:.2f}, "
      "\"median_dsp_bram\": {:.2f}, \"median_lut_ff\": {:.2f}, \"worst_dsp_bram\": {:.2f}, \"worst_lut_ff\": "
      "{:.2f}, \"whole\": {}, \"sums\": {}, \"left_out\": {}}}\n",
      errors.cycles.size(), median(errors.cycles), worst(errors.cycles), median(errors.blocks),
      median(errors.logic), worst(errors.blocks), worst(errors.logic), errors.whole, errors.sums,
      errors.left_out);
  const bool counted = errors.whole + errors.sums > 0;
  const bool complete = errors.left_out == 0 && errors.whole + errors.sums == int(errors.cycles.size());
  return failed > 0 || errors.cycles.empty() || !counted || (!arguments.quick && !complete) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const Error& error) {
    std::fprintf(stderr, "estimate_error: %s\n", error.what());
    return 1;
  }
}
