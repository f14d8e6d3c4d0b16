// From the network of a TensorFlow file to a Graph: inputs bound, every node converted, all problems
// collected.
#pragma once

#include "tilewright/base/error.h"
#include "tilewright/frontend/tensorflow/tf_inference.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

// Consumes the nodes' constants. The graph is complete only if `diagnostics` has no error afterwards.
Graph lower_tensorflow(TfNetwork network, const TensorflowOptions& options, Diagnostics& diagnostics);

}  // namespace tilewright
