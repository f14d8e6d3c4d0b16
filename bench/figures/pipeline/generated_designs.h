// What the figures of generated designs share: a device and a budget in, the simulated design out, and images
// through its Verilog.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "support/pipeline/multiplier_count_testing.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/flow/design/design_run.h"
#include "tilewright/flow/design/generate.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::figures {

inline Device device(const std::string& name) {
  return find_device(name, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices");
}

inline GeneratedDesign generate_for(const Graph& graph, const std::string& device_name,
                                    const std::string& budget,
                                    pipeline::Objective objective = pipeline::Objective::kLatency) {
  GenerateRequest request;
  request.device = device(device_name);
  request.budget = pipeline::device_budget(request.device);
  pipeline::apply_budget(request.budget, budget);
  request.objective = objective;
  return generate(graph, request);
}

// The memory that generate simulates with, for the Verilog.
inline MemoryModel memory_of(const std::string& device_name, const std::string& budget) {
  pipeline::Budget b = pipeline::device_budget(device(device_name));
  pipeline::apply_budget(b, budget);
  MemoryModel model;
  model.latency = uint32_t(b.port.latency_cycles);
  model.efficiency_percent = uint32_t(b.port.efficiency_percent);
  return model;
}

// Multiplications in the Verilog of a design, beside its budget.
struct CountedMultipliers {
  int64_t array_products = 0;  // per cycle, of mac_array and lane_array
  int64_t other_products = 0;  // of finishes
  int64_t operators = 0;       // `*` of the width of a block: a pair is one, 32 x 32 bits are four
  int64_t allowed_products = 0, allowed_blocks = 0;  // 0: the budget does not say
  // Arrays have no more `*` products than the allocation says (it also counts XNOR, which is none; pools add
  // through products of look-up tables that it does not count), and nothing is above the budget.
  bool as_allocated = false, within_budget = false;
  int64_t products() const { return array_products + other_products; }
  bool ok() const { return as_allocated && within_budget; }
};

// Yosys reads the Verilog as it was emitted. Prints a line.
inline CountedMultipliers count_in_verilog(const GeneratedDesign& generated, const std::string& device_name,
                                           const std::string& budget) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tilewright-multipliers-" + std::to_string(::getpid()));
  const pipeline::MultiplierCount count =
      pipeline::count_multipliers(generated.design.netlist, generated.design.images,
                                  {std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl", folder, 3600});
  std::filesystem::remove_all(folder);
  pipeline::Budget allowed = pipeline::device_budget(device(device_name));
  pipeline::apply_budget(allowed, budget);
  CountedMultipliers result;
  result.array_products = count.array_products();
  int64_t written = 0;  // products of arrays that have a `*`
  for (const pipeline::MultiplierClass& c : count.classes) {
    result.other_products += c.in_array ? 0 : c.products;
    written += c.in_array && c.operators > 0 ? c.products : 0;
  }
  result.operators = count.operators();
  result.allowed_products = allowed.multipliers;
  result.allowed_blocks = allowed.resources.dsp;
  // A block of packed products that has fewer outputs than it could multiplies by zeros.
  int64_t zeros = 0;
  const pipeline::Allocation& allocation = generated.allocated.allocation;
  for (size_t l = 0; l < generated.network.layers.size() && allocation.streaming; ++l) {
    const pipeline::LayerGeometry g = pipeline::layer_geometry(generated.network, allocation, l);
    const int64_t outputs = pipeline::products_per_block(g.shape.multiplier);
    if (!g.lanes) zeros += g.products_per_beat() / g.shape.po * (round_up(g.shape.po, outputs) - g.shape.po);
  }
  result.as_allocated = written <= generated.design.multipliers + zeros;
  result.within_budget = (allowed.multipliers == 0 || result.products() <= allowed.multipliers) &&
                         result.operators <= allowed.resources.dsp;
  std::string classes;
  for (const pipeline::MultiplierClass& c : count.classes) {
    classes += (classes.empty() ? "" : ", ") + std::to_string(c.products) + " of " +
               std::to_string(c.a_bits) + " x " + std::to_string(c.b_bits) +
               (c.operators == 0 ? " without `*`" : "") + (c.in_array ? "" : " in finishes");
  }
  const std::string limit = allowed.multipliers > 0 ? " of " + std::to_string(allowed.multipliers) : "";
  std::printf("  in the Verilog: %ld%s products (%s); %ld of %ld `*` of a block's width%s%s\n",
              long(result.products()), limit.c_str(), classes.c_str(), long(result.operators),
              long(result.allowed_blocks), result.as_allocated ? "" : ", MORE THAN ALLOCATED",
              result.within_budget ? "" : ", ABOVE THE BUDGET");
  std::fflush(stdout);
  return result;
}

// Whether `values`, an image's results as they lie in memory, are `expected` where the network has outputs:
// several outputs are parts of one tensor, which they need not fill.
inline bool same_outputs(const pipeline::Network& network, const std::vector<int32_t>& values,
                         const std::vector<int32_t>& expected) {
  const pipeline::TensorShape& whole = network.tensors[size_t(network.output)].shape;
  for (const int output : network.output_tensors()) {
    const pipeline::TensorPart place = pipeline::place_in_whole(network, output);
    const pipeline::TensorShape& shape = network.tensors[size_t(output)].shape;
    for (int64_t y = 0; y < shape.rows; ++y) {
      for (int64_t x = 0; x < shape.columns; ++x) {
        const int64_t row = place.row + y * place.row_step, column = place.column + x * place.column_step;
        const size_t first = size_t((row * whole.columns + column) * whole.channels + place.channel);
        for (size_t c = first; c < first + size_t(shape.channels); ++c) {
          if (values.at(c) != expected.at(c)) return false;
        }
      }
    }
  }
  return true;
}

struct RtlComparison {
  int64_t images = 0, mismatches = 0;  // of images
  uint64_t cycles = 0;                 // of all
  bool cycles_equal = false;           // to the cycle simulation of as many images
};

// Runs images (row, column, channel) through the Verilog in one go, start bit to done, and compares them with
// the integer evaluation of the network, and the cycles with the cycle simulation.
inline RtlComparison run_verilog(const GeneratedDesign& generated, const MemoryModel& memory,
                                 const std::vector<std::vector<int32_t>>& images) {
  const std::filesystem::path source = TILEWRIGHT_SOURCE_DIR;
  pipeline::RtlPortOptions options;
  options.model.rtl_folder = source / "rtl";
  options.model.cache_folder = std::filesystem::temp_directory_path() / "tilewright-figures-rtl";
  options.memory = memory;
  pipeline::RtlDesignPort port(generated.design, options);
  const pipeline::DesignRun run = pipeline::run_design(generated.design, port, images);
  RtlComparison result;
  result.images = int64_t(images.size());
  result.cycles = run.cycles;
  for (size_t i = 0; i < images.size(); ++i) {
    const auto expected = pipeline::evaluate(generated.network, images[i]);
    const std::vector<int32_t>& whole = expected[size_t(generated.network.output)];
    result.mismatches += same_outputs(generated.network, run.outputs[i], whole) ? 0 : 1;
  }
  pipeline::SimulationOptions simulation;
  simulation.memory = memory;
  simulation.images = int64_t(images.size());
  result.cycles_equal = pipeline::simulate(generated.design, simulation).cycles == run.cycles;
  return result;
}

}  // namespace tilewright::figures
