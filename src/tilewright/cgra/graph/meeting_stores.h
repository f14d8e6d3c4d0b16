// Which stores may write the same element of an array, and how many threads apart they are.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cgra/graph/dataflow_graph.h"

namespace tilewright::cgra {

// Two stores (or outputs) of one array; `first` comes before `second` in the order of the graph, which is
// program order within a thread. Over threads, the earlier thread comes first.
struct StorePair {
  int first = 0, second = 0;
  bool same_thread = false;  // they may meet in one thread
  // The least distance in threads at which they may meet where the thread of `first`, of `second` is the
  // later one; 0: never.
  int64_t first_later = 0, second_later = 0;
};

// All pairs that may meet, ascending. Addresses are analysed if they are a multiple of the thread number plus
// a constant; any other address may be any element. Operands lead somewhere, no cycle lacks a distance.
std::vector<StorePair> meeting_stores(const DataflowGraph& graph);

// Per flow: whether its threads may have to wait for a message or an argument, or for a free entry of a
// variable. Flows that never wait keep fixed distances in time to each other.
std::vector<uint8_t> waiting_flows(const DataflowGraph& graph);

}  // namespace tilewright::cgra
