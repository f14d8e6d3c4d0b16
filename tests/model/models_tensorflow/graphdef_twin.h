// Networks of the zoo as a TensorFlow exporter might have written them: channels last, batch normalisation
// spelled in seven ways in turn, padding as SAME, EXPLICIT or a Pad in turn, dropout before dense layers in
// two spellings, some layers behind Switch and Merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// A GraphDef of `graph` (channels first, one input and output), whose input is [-1, rows, columns, channels]
// or
// [-1, features]. Covers what the zoo's classifiers use. A seed above 0 draws the spellings instead of taking
// them in turn, puts forwarding operators on some edges, and shuffles the nodes. Errors (internal): other
// operators.
std::vector<std::byte> graphdef_twin(const Graph& graph, uint64_t seed = 0);

// The same numbers with the channels last.
Tensor channels_last(const Tensor& image);

}  // namespace tilewright
