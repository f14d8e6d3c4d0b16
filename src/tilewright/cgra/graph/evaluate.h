// Direct evaluation of a graph, thread by thread: what every mapped and executed program must reproduce.
#pragma once

#include <map>
#include <vector>

#include "tilewright/cgra/graph/dataflow_graph.h"
#include "tilewright/cgra/graph/operation.h"

namespace tilewright::cgra {

struct Evaluation {
  std::vector<std::vector<int32_t>> values;        // [node][thread]
  std::map<int, std::vector<StoreRecord>> stores;  // by store or output: a record per thread
  std::vector<std::vector<int32_t>> variables;     // [variable]: its entries after the last thread
};

// Runs `threads` iterations of a graph that has been verified. Thread k reads
// - a node at distance d: its value of thread k - d, or the operand's initial value (0 where there is none);
// - a variable: what its sender computed in thread k, or the thread's argument (operation.h).
// Entries: a sent or given variable keeps the value of thread k at k mod entries. The w synchronous writers
// of a variable (in the order of the nodes) own records of w entries: writer j of thread k writes entry (k
// mod (entries / w)) * w + j. Entries nobody wrote are 0.
Evaluation evaluate_graph(const DataflowGraph& graph, const Inputs& inputs, int threads);

// The stored arrays: by number of the array, then by index, its last value in the order of threads, then
// nodes. Outputs without an array are left out.
std::map<int, std::map<int32_t, int32_t>> stored_arrays(const DataflowGraph& graph,
                                                        const Evaluation& evaluation);

}  // namespace tilewright::cgra
