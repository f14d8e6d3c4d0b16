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
#include "tilewright/frontend/tensorflow/tf_restore.h"

namespace tilewright {
bool is_tensorflow(std::span<const std::byte> bytes) { return looks_like_tensorflow(bytes); }

namespace {

// `variables`: the checkpoint of a SavedModel, a prefix of file names; empty: there is none.
Graph read_model(std::span<const std::byte> bytes, const std::filesystem::path& variables,
                 const TensorflowOptions& options, Diagnostics* warnings, TfStages* stages) {
  Diagnostics diagnostics;
  TfStages own;
  TfModel model = parse_tf_model(bytes, options.signature);
  const bool has_checkpoint = model.is_saved_model && !variables.empty();
  TfNetwork network = select_inference(std::move(model), options, own, diagnostics);
  diagnostics.raise_if_any();
  fold_training(network, diagnostics);
  diagnostics.raise_if_any();
  prune(network);
  fold_dilations(network);
  prune(network);
  if (has_checkpoint) restore_variables(network, variables, options, diagnostics);
  fill_variables(network, options, diagnostics);
  own.frozen = count_stage(network.nodes);
  if (stages != nullptr) *stages = own;
  Graph graph = lower_tensorflow(std::move(network), options, diagnostics);
  return finish_reading(std::move(graph), diagnostics, warnings);
}

}  // namespace

Graph parse_tensorflow(std::span<const std::byte> bytes, const TensorflowOptions& options,
                       Diagnostics* warnings, TfStages* stages) {
  return read_model(bytes, {}, options, warnings, stages);
}

Graph read_tensorflow(const std::filesystem::path& path, const TensorflowOptions& options,
                      Diagnostics* warnings, TfStages* stages) {
  return with_context(fmt::format("file '{}'", path.string()), [&] {
    const bool is_folder = std::filesystem::is_directory(path);
    const std::filesystem::path file = is_folder ? path / "saved_model.pb" : path;
    if (is_folder && !std::filesystem::exists(file)) {
      throw Error(ErrorKind::kInvalidInput, "is a folder without saved_model.pb",
                  "name a model file, or the folder of a SavedModel");
    }
    return read_model(read_file(file), file.parent_path() / "variables" / "variables", options, warnings,
                      stages);
  });
}

}  // namespace tilewright
