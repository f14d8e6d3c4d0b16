// How every reader of a model file ends.
#pragma once

#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/graph/graph.h"
#include "tilewright/graph/inference/verifier.h"

namespace tilewright {

// The graph that was read, verified where nothing was wrong so far; warnings go to `warnings` where there is
// one. Errors: all that was collected.
inline Graph finish_reading(Graph graph, Diagnostics& diagnostics, Diagnostics* warnings) {
  if (diagnostics.ok()) verify(graph, diagnostics);
  if (warnings != nullptr) {
    for (const Diagnostic& warning : diagnostics.warnings()) {
      warnings->warn(warning.where, warning.op, warning.message, warning.hint);
    }
  }
  diagnostics.raise_if_any();
  return graph;
}

}  // namespace tilewright
