// From a network of the zoo to a bundle: simplified, quantised on seeded data, lowered and compiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/flow/run/bundle.h"
#include "tilewright/graph/graph.h"

namespace tilewright::zoo {

// One input of `graph`, drawn from the linear congruential stream with this seed: reals in [-1, 1), or
// integers of 8 bits.
Tensor seeded_input(const Graph& graph, uint64_t seed = 1);

// The same for every input, one stream after the other.
std::vector<Tensor> seeded_inputs(const Graph& graph, uint64_t seed = 1);

// The integer form of `float_graph` for `hardware`: powers of two for the plain instruction set, real scales
// for the wide one; calibrated on seeded_inputs(graph, 1).
Graph seeded_integer_form(Graph float_graph, const OverlayHardware& hardware);

// The same, compiled. A HostModel that is very slow puts whatever is legal on the overlay.
Compilation seeded_compilation(Graph float_graph, const OverlayHardware& hardware);

// The small graphs of zoo.h for a simulation of the hardware: one residual block of ResNet-18 at `image` rows
// and columns (the paper's is 56), a depthwise, a transposed and a grouped layer.
struct SmallCase {
  std::string name;
  Graph graph;
};
std::vector<SmallCase> small_cases(int64_t image);

}  // namespace tilewright::zoo
