#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// The pixel shuffle that exporters write as Reshape, Transpose of six axes and Reshape becomes one
// DepthToSpace, in either of its orders (CRD: channels before the block, as PyTorch; DCR: after it, as
// TensorFlow). Fires when the values between have no other reader and the block is square.
Graph form_depth_to_space(Graph graph);

}  // namespace tilewright
