// What `inspect` tells of a model: inputs, outputs and, for each operator, shape, multiply-accumulates,
// parameters, bytes and arithmetic intensity; of transformers, which attentions have the usual form and why
// others have not.
#pragma once

#include <string>

#include "tilewright/flow/model/answer.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

Answer inspect_model(const Graph& graph);
// The graph in its text form (graph/text/text.h).
std::string model_text(const Graph& graph);

}  // namespace tilewright
