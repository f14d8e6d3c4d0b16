// Which stores may write the same element of an array, and how far apart their threads are when they do.
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

// All pairs that may meet, ascending. Addresses are followed where they are a multiple of the thread number
// plus a constant; any other address may be any. Operands lead somewhere, no cycle lacks a distance.
std::vector<StorePair> meeting_stores(const DataflowGraph& graph);

// Per flow: whether its threads may be held up, by a message or an argument that has not come, or by a
// variable without a free entry. Flows that never wait keep fixed distances in time to each other.
std::vector<uint8_t> waiting_flows(const DataflowGraph& graph);

}  // namespace tilewright::cgra
