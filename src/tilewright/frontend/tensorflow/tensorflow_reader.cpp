#include "tilewright/frontend/tensorflow/tensorflow_reader.h"

#include <fmt/format.h>

#include "tilewright/base/file.h"
#include "tilewright/frontend/tensorflow/tf_inference.h"
#include "tilewright/frontend/tensorflow/tf_lowering.h"
#include "tilewright/frontend/tensorflow/tf_model.h"
#include "tilewright/graph/verifier.h"

namespace tilewright {
namespace {

void count_frozen(const TfNetwork& network, TfStageCounts& counts) {
  counts.frozen = int(network.nodes.size());
  for (const TfNode& node : network.nodes) ++counts.frozen_operators[node.op];
}

}  // namespace

bool is_tensorflow(std::span<const std::byte> bytes) { return looks_like_tensorflow(bytes); }

Graph parse_tensorflow(std::span<const std::byte> bytes, const TensorflowOptions& options,
                       Diagnostics* warnings, TfStageCounts* counts) {
  Diagnostics diagnostics;
  TfStageCounts own;
  TfNetwork network = select_inference(parse_tf_model(bytes), options, own, diagnostics);
  diagnostics.raise_if_any();
  fold_training(network, diagnostics);
  diagnostics.raise_if_any();
  prune(network);
  fill_variables(network, options, diagnostics);
  count_frozen(network, own);
  if (counts != nullptr) *counts = own;
  Graph graph = lower_tensorflow(std::move(network), options, diagnostics);
  if (diagnostics.ok()) verify(graph, diagnostics);
  if (warnings != nullptr) {
    for (const Diagnostic& warning : diagnostics.warnings()) {
      warnings->warn(warning.where, warning.op, warning.message, warning.hint);
    }
  }
  diagnostics.raise_if_any();
  return graph;
}

Graph read_tensorflow(const std::filesystem::path& path, const TensorflowOptions& options,
                      Diagnostics* warnings, TfStageCounts* counts) {
  return with_context(fmt::format("file '{}'", path.string()), [&] {
    const bool is_folder = std::filesystem::is_directory(path);
    return parse_tensorflow(read_file(is_folder ? path / "saved_model.pb" : path), options, warnings, counts);
  });
}

}  // namespace tilewright
