// What `optimize` does: a model simplified, with the graph after each pass on request.
#pragma once

#include <filesystem>

#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/model/load_model.h"

namespace tilewright {

struct OptimizeRequest {
  ModelFile model;
  std::filesystem::path output;       // ONNX file; empty: none
  std::filesystem::path dump_folder;  // for the graph after each pass; empty: none
};

// Errors: those of load_model, optimize() and FolderWriter.
Answer optimize_model(const OptimizeRequest& request);

}  // namespace tilewright
