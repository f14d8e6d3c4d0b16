// Seeded generators of dataflow graphs: the families that mappers are measured on, and small graphs of every
// form for tests.
#pragma once

#include <cstdint>

#include "tilewright/cgra/graph/dataflow_graph.h"

namespace tilewright::cgra {

struct GeneratedGraph {
  DataflowGraph graph;
  int ii = 1;
};

// The family of the synthetic benchmark graphs (45 of them carry a recorded optimum), in any size: up to four
// flows of equal size, each with one starter; every other node has 1 to 3 operands (67, 28 and 5 %) among the
// six nodes before it in its flow; at most 4 consumers; nodes/6 pairs of no siblings (one for 8 nodes) share
// a variable; II between the least that leaves a slot free on every tile and 6. These statistics were read
// off the 45 files.
GeneratedGraph generate_flow_graph(int nodes, int tiles, uint64_t seed);

// The random graphs of the published learned mapper (arXiv 2205.13675): a growing network, where node i
// attaches to an earlier one drawn in proportion to its degree; all further sources become consumers of the
// first, which so has a fan-out of more than half of the nodes. Fan-in is not limited, as published: a
// verified problem needs a fabric whose `operands` allow it.
DataflowGraph generate_wide_graph(int nodes, uint64_t seed);

struct RandomGraphOptions {
  int nodes = 6;
  int most_operands = 3;
  double operand = 0.6;  // chance that an operand is an earlier node of the same flow
  double carried = 0.1;  // chance that a node operand comes from an earlier thread (of any node of the flow)
  double new_flow = 0.15;  // chance that a node begins a flow
  double writes = 0.25;    // chance that a node writes a variable, half of the time one that has a writer
  double sends = 0.2;      // chance that a node of a later flow reads a message
  double memory = 0.2;     // chance of a load, lookup, store, input or output; loads have no message
};

// Graphs of every form the rules know, valid by DataflowGraph::verify: for tests against brute force and for
// executed programs.
DataflowGraph generate_random_graph(const RandomGraphOptions& options, uint64_t seed);

}  // namespace tilewright::cgra
