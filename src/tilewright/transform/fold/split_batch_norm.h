// BatchNormalization reduced to what remains of it when its parameters are constants: one factor and one
// summand per channel, without a root or a mean.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Every BatchNormalization in inference form becomes a Mul and an Add with constants. Not among the passes of
// pipeline.h, which fold it into a layer; the table of flow/model/graph_table.h shows the stage between.
Graph split_batch_norm(Graph graph);

}  // namespace tilewright
