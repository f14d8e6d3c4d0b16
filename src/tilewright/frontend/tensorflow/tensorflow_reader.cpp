// The steps of reading: select what computes the outputs, fold what only training needs, join dilated
// convolutions, give variables values, lower to the graph, verify. The first two must succeed before the next
// one starts.
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"

#include <fmt/format.h>

#include "tilewright/base/file.h"
#include "tilewright/frontend/finish_reading.h"
#include "tilewright/frontend/tensorflow/tf_inference.h"
#include "tilewright/frontend/tensorflow/tf_lowering.h"
#include "tilewright/frontend/tensorflow/tf_model.h"

namespace tilewright {
bool is_tensorflow(std::span<const std::byte> bytes) { return looks_like_tensorflow(bytes); }

Graph parse_tensorflow(std::span<const std::byte> bytes, const TensorflowOptions& options,
                       Diagnostics* warnings, TfStages* stages) {
  Diagnostics diagnostics;
  TfStages own;
  TfNetwork network = select_inference(parse_tf_model(bytes), options, own, diagnostics);
  diagnostics.raise_if_any();
  fold_training(network, diagnostics);
  diagnostics.raise_if_any();
  prune(network);
  fold_dilations(network);
  prune(network);
  fill_variables(network, options, diagnostics);
  own.frozen = count_stage(network.nodes);
  if (stages != nullptr) *stages = own;
  Graph graph = lower_tensorflow(std::move(network), options, diagnostics);
  return finish_reading(std::move(graph), diagnostics, warnings);
}

Graph read_tensorflow(const std::filesystem::path& path, const TensorflowOptions& options,
                      Diagnostics* warnings, TfStages* stages) {
  return with_context(fmt::format("file '{}'", path.string()), [&] {
    const bool is_folder = std::filesystem::is_directory(path);
    return parse_tensorflow(read_file(is_folder ? path / "saved_model.pb" : path), options, warnings, stages);
  });
}

}  // namespace tilewright
