// The pixel shuffle that exporters write as Reshape, Transpose of six axes and Reshape becomes one
// DepthToSpace.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Takes either order (CRD: channels before the block, as PyTorch; DCR: after it, as TensorFlow). Fires when
// the values between have no other reader and the block is square.
Graph form_depth_to_space(Graph graph);

}  // namespace tilewright
