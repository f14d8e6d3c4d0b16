// A mapped program run on its fabric: data in as an array of inputs, stored arrays out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/problem/mapping_file.h"
#include "tilewright/cgra/simulate/execute_mapping.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Whether a file is meant as a mapped program: JSON that says so. False for what cannot be read.
bool is_mapped_program_file(const std::filesystem::path& path);

// A program's inputs, in the order of the input's columns: arrays that it loads, then
// variables that the dispatch interface fills.
std::vector<std::string> program_inputs(const cgra::DataflowGraph& graph);

// The configuration that the fabric is loaded with. A mapping without routes is routed first. Errors
// (infeasible): no routes for these places; what configure reports.
cgra::Configuration device_configuration(cgra::MappedProgram program);

struct FabricRun {
  int iterations = 0;
  cgra::ExecutionCheck check;  // against the graph's own evaluation
  int64_t left_out = 0;        // elements stored at indices below 0 or past 2^24, which no output has
  // By name: every array that is stored, 0 where nothing was; without any, the results of the operations that
  // nothing reads, one per iteration.
  std::vector<std::pair<std::string, Tensor>> outputs;
};

// `input`: whole numbers of 32 bits, [iterations] or [iterations, inputs]; a column is an array's contents or
// an argument of every iteration. Without it the inputs are pseudo data. `iterations`: 0 for as many as rows,
// 100 without input. A mapping without routes is routed first. Errors (invalid input): another shape or type,
// naming the inputs; infeasible: no routes for these places; what configure reports.
FabricRun run_on_fabric(cgra::MappedProgram program, const std::optional<Tensor>& input, int64_t iterations);

}  // namespace tilewright
