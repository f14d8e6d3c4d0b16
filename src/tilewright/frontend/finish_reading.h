// The last step of every reader of a model file.
#pragma once

#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/graph/graph.h"
#include "tilewright/graph/inference/verifier.h"

namespace tilewright {

// The graph that was read, verified if there was no error so far; warnings go to `warnings` if it is given.
// Errors: everything collected.
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
