// Checks a mapping against its graph: it is configured, printed, read back and executed, and every value is
// compared with the graph's own evaluation.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/problem/problem.h"
#include "tilewright/cgra/simulate/fabric_simulator.h"

namespace tilewright::cgra {

struct ExecutionCheck {
  // Compared: results of all operations and threads, stores, entries of tile memories, elements of arrays.
  int64_t values = 0;
  int64_t wrong = 0;  // of them; all where a fault ended the run
  std::string first;  // the first wrong one, or the fault; empty: none
  FabricSimulationResult result;
};

// `mapping` as for configure(), whose errors these are; options.values is taken as set.
ExecutionCheck execute_mapping(const MappingProblem& problem, const GraphMapping& mapping,
                               const Inputs& inputs, FabricSimulationOptions options);

// The comparison alone: `result` of `configuration`s of this graph, run with values.
ExecutionCheck compare_execution(const DataflowGraph& graph, const Inputs& inputs, int threads,
                                 FabricSimulationResult result);

// `count` random numbers for every array and argument: half of them of 32 bits, half below `count`, so that
// indices made of them often fall inside.
Inputs random_inputs(const DataflowGraph& graph, int count, uint64_t seed);

}  // namespace tilewright::cgra
