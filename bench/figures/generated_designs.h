// What the figures of generated designs share: a device and a budget in, the simulated design out, and images
// through its Verilog.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/flow/design_run.h"
#include "tilewright/flow/generate.h"
#include "tilewright/pipeline/emit/multiplier_count.h"

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
    result.mismatches += run.outputs[i] != expected[size_t(generated.network.output)] ? 1 : 0;
  }
  pipeline::SimulationOptions simulation;
  simulation.memory = memory;
  simulation.images = int64_t(images.size());
  result.cycles_equal = pipeline::simulate(generated.design, simulation).cycles == run.cycles;
  return result;
}

}  // namespace tilewright::figures
