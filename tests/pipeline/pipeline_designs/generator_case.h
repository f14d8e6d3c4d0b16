// One random graph through everything that `generate` does but time: extraction, the search for a device and
// both objectives, the builder; what the netlist and its memories compute is compared with the host engine's
// result of the graph.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "support/pipeline/random_branchy_graph_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/flow/design/design_run.h"
#include "tilewright/hardware/device.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/simulate/design_values.h"

namespace tilewright::pipeline {

inline constexpr const char* kGeneratorDevices[] = {"xc7z020",   "xczu3eg",    "xcvu9p",    "f1-vu9p",
                                                    "lfe5u-85f", "ice40-up5k", "ice40-hx8k"};

// `seed` and, where its shapes do not fit together, the next ones.
enum class GraphKind { kPlain, kUnusual, kBranchy };
inline Graph drawn_graph(uint64_t seed, GraphKind kind = GraphKind::kPlain) {
  for (uint64_t attempt = 0;; ++attempt) {
    try {
      const auto make = kind == GraphKind::kUnusual   ? random_unusual_graph
                        : kind == GraphKind::kBranchy ? random_branchy_graph
                                                      : random_graph;
      return make(seed * 1000 + attempt);
    } catch (const Error&) {
      if (attempt == 50) throw;
    }
  }
}

inline std::vector<Tensor> random_graph_inputs(const Graph& graph, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    Tensor tensor(value.type, value.shape);
    const int64_t most = value.type == ElementType::kI8 ? 127 : random.chance(0.5) ? 1 << 24 : 1 << 12;
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(-most - 1, most));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

struct GeneratorCounts {
  int64_t networks = 0, designs = 0, too_small = 0;
  int64_t refused = 0;                             // unusual graphs that are no network
  int64_t emitter_refusals = 0;                    // an allocation of the search that the builder refused
  int64_t wrong_errors = 0;                        // any other error than a budget that is too small
  int64_t named_budgets = 0, refused_budgets = 0;  // that a refusal names; and those that are refused as well
  int64_t worse_objective = 0;                     // an interval or latency that the other objective beats
  int64_t mismatches = 0;                          // results of the netlist that are not the graph's
  std::string first_problem;

  int64_t failures() const {
    return emitter_refusals + wrong_errors + worse_objective + mismatches + refused_budgets;
  }
  void problem(int64_t& count, const std::string& text) {
    ++count;
    if (failures() <= 5) first_problem += text + "\n";
  }
};

class GeneratorCase {
 public:
  GeneratorCase(uint64_t seed, GeneratorCounts& counts, GraphKind kind = GraphKind::kPlain)
      : seed_(seed), kind_(kind), counts_(counts) {}

  // `where`: a folder of devices.
  void run(const std::filesystem::path& where, const AllocateOptions& options) {
    ++counts_.networks;
    try {
      graph_ = drawn_graph(seed_, kind_);
      network_ = extract_network(graph_);
    } catch (const Error& error) {
      ++counts_.refused;
      if (kind_ != GraphKind::kPlain && error.kind() == ErrorKind::kUnsupported) return;
      return counts_.problem(counts_.wrong_errors, fmt::format("seed {}: {}", seed_, error.what()));
    }
    for (int image = 0; image < 2; ++image) {
      inputs_.push_back(random_graph_inputs(graph_, seed_ * 31 + uint64_t(image)));
      expected_.push_back(tilewright::run(graph_, inputs_.back()));
    }
    for (const char* name : kGeneratorDevices) device(name, device_budget(find_device(name, where)), options);
  }

  const Graph& graph() const { return graph_; }
  const Network& network() const { return network_; }
  const std::vector<std::vector<Tensor>>& inputs() const { return inputs_; }
  const std::vector<std::vector<Tensor>>& expected() const { return expected_; }
  // The allocations of the last device that had room.
  const std::vector<Allocation>& allocations() const { return allocations_; }

 private:
  void device(const std::string& name, const Budget& budget, const AllocateOptions& options) {
    std::vector<AllocationResult> results;
    for (const Objective objective : {Objective::kLatency, Objective::kThroughput}) {
      const std::string where = fmt::format("seed {} {} {}", seed_, name,
                                            objective == Objective::kLatency ? "latency" : "throughput");
      try {
        results.push_back(allocate(network_, budget, objective, options));
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kInfeasible) {
          ++counts_.too_small;
          if (objective == Objective::kLatency) feed_back(where, budget, error.what(), options);
        } else {
          counts_.problem(counts_.wrong_errors, where + ": " + error.what());
        }
        continue;
      }
      design(where, results.back().allocation);
    }
    if (results.size() != 2) return;
    if (results[0].estimate.latency_cycles > results[1].estimate.latency_cycles ||
        results[1].estimate.interval_cycles > results[0].estimate.interval_cycles) {
      counts_.problem(counts_.worse_objective,
                      fmt::format("seed {} {}: an objective that the other beats", seed_, name));
    }
    allocations_ = {results[0].allocation, results[1].allocation};
  }

  // The budget that a refusal names.
  void feed_back(const std::string& where, Budget budget, const std::string& text,
                 const AllocateOptions& options) {
    const std::string key = "a sufficient budget: ";
    const size_t at = text.find(key);
    if (at == std::string::npos) return;
    ++counts_.named_budgets;
    const size_t begin = at + key.size(), end = text.find_first_of("\n )", begin);
    try {
      apply_budget(budget, text.substr(begin, end - begin));
      allocate(network_, budget, Objective::kLatency, options);
    } catch (const Error& error) {
      counts_.problem(counts_.refused_budgets, where + ", budget fed back: " + error.what());
    }
  }

  void design(const std::string& where, const Allocation& allocation) {
    ++counts_.designs;
    try {
      const Design made = build(network_, allocation);
      const HostBorder border(network_);
      for (size_t i = 0; i < inputs_.size(); ++i) {
        const std::vector<Tensor> outputs =
            border.outputs(evaluate_design(made, border.image(inputs_[i])), inputs_[i]);
        bool equal = outputs.size() == expected_[i].size();
        for (size_t o = 0; equal && o < outputs.size(); ++o) equal = outputs[o].identical(expected_[i][o]);
        if (equal) continue;
        return counts_.problem(
            counts_.mismatches,
            fmt::format("{}, {}: values differ", where, allocation.streaming ? "streaming" : "processors"));
      }
    } catch (const std::exception& error) {
      counts_.problem(counts_.emitter_refusals, where + ": " + error.what());
    }
  }

  const uint64_t seed_;
  const GraphKind kind_;
  GeneratorCounts& counts_;
  Graph graph_;
  Network network_;
  std::vector<std::vector<Tensor>> inputs_, expected_;
  std::vector<Allocation> allocations_;
};

}  // namespace tilewright::pipeline
