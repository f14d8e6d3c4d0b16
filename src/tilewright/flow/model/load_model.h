// A model file as a graph ready for further work: ONNX, TFLite, TensorFlow GraphDef and SavedModel, or the
// text form of graphs, recognised by content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

struct LoadOptions {
  std::map<std::string, int64_t> dimensions;  // symbolic dimensions by name
  // Above 0: the model comes without weights; fill it with the reference pseudo-random ones of this gain
  // (graph/lcg_weights.h).
  double fill_gain = 0;
  // Missing files of external weights give zeros, and missing variables of a TensorFlow file give stand-ins,
  // with a warning: enough to see shapes and work.
  bool allow_missing_weights = false;
  // TFLite only: quantised networks give the bits of TFLite's built-in kernels and TFLite Micro instead of
  // those of its runtime (docs/reference/tflite.md).
  bool tflite_kernels = false;
  // TensorFlow only: the signature that states inputs and outputs (empty: the usual one for serving), nodes
  // that become inputs (with their shapes where the file does not tell, {} otherwise), nodes whose values are
  // the outputs (empty: inferred), and whether an ArgMax at the end is kept.
  std::string signature;
  std::map<std::string, Shape> feeds;
  std::vector<std::string> output_nodes;
  bool keep_arg_max = false;
};

// Errors: everything wrong with the file, at once, with the file's name as context. `stages` receives the
// numbers of nodes while a TensorFlow file was read (zeros for other files).
Graph load_model(const std::filesystem::path& path, const LoadOptions& options = {},
                 Diagnostics* warnings = nullptr, TfStages* stages = nullptr);

// A model file as requests name it, or a model that was read before.
struct ModelFile {
  std::filesystem::path path;
  LoadOptions options;
  std::shared_ptr<const Graph> graph;            // if not null: the model; `path` is only its name
  std::function<void(const Diagnostics&)> warn;  // gets the reader's warnings; may be empty
};
Graph load_model(const ModelFile& file);
// The same for what depends on shapes alone: weights may be absent.
Graph load_shapes(ModelFile file);

// The form of a model that the host engine runs fastest and most exactly: quantised models in integer
// operators, float models optimised.
Graph host_form(Graph graph);

}  // namespace tilewright
