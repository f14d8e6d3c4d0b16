// Direct evaluation of a graph, thread by thread: the reference for every execution.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tilewright/cgra/graph/dataflow_graph.h"
#include "tilewright/cgra/graph/operation.h"

namespace tilewright::cgra {

struct Evaluation {
  std::vector<std::vector<int32_t>> values;      // [node][thread]
  std::vector<std::vector<StoreRecord>> stores;  // [node][thread]; empty but for stores and outputs
  // [variable][entry] after the last thread, of variables that nodes write on their tile: writer j (ascending
  // ids) of w writes entry (thread mod (entries / w)) * w + j; unwritten entries are 0. Empty for all
  // other variables.
  std::vector<std::vector<int32_t>> memory;
  // [array], index -> value: what all stores and outputs left there, in the order of threads, then nodes.
  std::vector<std::map<int32_t, int32_t>> arrays;
};

// Threads 0..threads-1. `graph` has been verified: a variable that an operation reads is a table, filled by
// one node's `sends`, or an argument.
Evaluation evaluate_graph(const DataflowGraph& graph, const Inputs& inputs, int threads);

}  // namespace tilewright::cgra
