// Formats are told apart in this order: a bundle (refused), the TFLite identifier, the first word of the text
// form, the outermost protobuf fields of TensorFlow, and ONNX for all else; a folder is a SavedModel.
#include "tilewright/flow/model/load_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "tilewright/base/file.h"
#include "tilewright/flow/model/container.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/graph/text/text.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

Graph load_onnx(const std::filesystem::path& path, const LoadOptions& options, Diagnostics* warnings) {
  OnnxOptions onnx;
  onnx.dimensions = options.dimensions;
  onnx.outputs = options.output_nodes;
  onnx.allow_missing_weights = options.allow_missing_weights || options.fill_gain > 0;
  Graph graph = read_onnx(path, onnx, warnings);
  if (options.fill_gain <= 0) return graph;
  const bool computed = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                    [](const Node& node) { return node.is("ConstantOfShape"); });
  return with_context(fmt::format("file '{}'", path.string()), [&] {
    return fill_lcg_weights(
        std::move(graph), {options.fill_gain, computed ? LcgOrder::kConstantOfShape : LcgOrder::kConstants});
  });
}

Graph load_tensorflow(const std::filesystem::path& path, const LoadOptions& options, Diagnostics* warnings,
                      TfStages* stages) {
  TensorflowOptions tensorflow;
  tensorflow.dimensions = options.dimensions;
  tensorflow.signature = options.signature;
  tensorflow.outputs = options.output_nodes;
  tensorflow.feeds = options.feeds;
  tensorflow.keep_arg_max = options.keep_arg_max;
  tensorflow.fill_gain = options.fill_gain;
  tensorflow.allow_missing_weights = options.allow_missing_weights;
  return read_tensorflow(path, tensorflow, warnings, stages);
}

Graph load_text(const std::filesystem::path& path) {
  return with_context(fmt::format("file '{}'", path.string()), [&] {
    Graph graph = parse_graph(read_text_file(path));
    Diagnostics diagnostics;
    verify(graph, diagnostics);
    diagnostics.raise_if_any();
    return graph;
  });
}

// Enough of a file to tell its format, which its name does not.
std::vector<std::byte> first_bytes(const std::filesystem::path& path) {
  std::vector<std::byte> bytes(4096);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
  bytes.resize(size_t(file.gcount()));
  return bytes;
}

enum class ModelFormat { kBundle, kTensorflow, kTflite, kText, kOnnx };

ModelFormat format_of(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return ModelFormat::kTensorflow;
  if (is_container(path)) return ModelFormat::kBundle;
  const std::vector<std::byte> first = first_bytes(path);
  if (is_tflite(first)) return ModelFormat::kTflite;  // has an identifier, and may begin as a SavedModel does
  if (is_tensorflow(first)) return ModelFormat::kTensorflow;
  const bool is_text = is_graph_text({reinterpret_cast<const char*>(first.data()), first.size()});
  return is_text ? ModelFormat::kText : ModelFormat::kOnnx;
}

// Options of one format with a file of another. TensorFlow files hold more than the model, from which it is
// cut; ONNX files may end in what nobody can run here.
void refuse_foreign_options(const std::filesystem::path& path, const LoadOptions& options,
                            ModelFormat format) {
  Diagnostics problems;
  const auto refuse = [&](bool given, const char* flag, const char* formats) {
    if (given)
      problems.error(ErrorKind::kInvalidInput, fmt::format("file '{}'", path.string()), "",
                     fmt::format("{} is for {} files, and this is none", flag, formats), "leave it out");
  };
  if (format != ModelFormat::kTensorflow) {
    refuse(!options.signature.empty(), "--signature", "TensorFlow");
    refuse(!options.feeds.empty(), "--feed", "TensorFlow");
    if (format != ModelFormat::kOnnx) {
      refuse(!options.output_nodes.empty(), "--output-node", "ONNX and TensorFlow");
    }
    refuse(options.keep_arg_max, "--keep-argmax", "TensorFlow");
  }
  if (format != ModelFormat::kTflite) refuse(options.tflite_kernels, "--tflite-kernels", "TFLite");
  problems.raise_if_any();
}

}  // namespace

Graph load_model(const std::filesystem::path& path, const LoadOptions& options, Diagnostics* warnings,
                 TfStages* stages) {
  const ModelFormat format = format_of(path);
  refuse_foreign_options(path, options, format);
  switch (format) {
    case ModelFormat::kBundle:
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("file '{}': is a compiled bundle, a model is expected", path.string()),
                  "'tilewright run' and 'tilewright compare' take bundles");
    case ModelFormat::kTensorflow:
      return load_tensorflow(path, options, warnings, stages);
    case ModelFormat::kTflite: {
      const Rounding rounding = options.tflite_kernels ? Rounding::kTwice : Rounding::kFloat;
      return read_tflite(path, {.dimensions = options.dimensions, .rounding = rounding}, warnings);
    }
    case ModelFormat::kText:
      return load_text(path);
    case ModelFormat::kOnnx:
      break;
  }
  return load_onnx(path, options, warnings);
}

Graph load_model(const ModelFile& file) {
  if (file.graph) return *file.graph;
  Diagnostics warnings;
  Graph graph = load_model(file.path, file.options, &warnings);
  if (file.warn) file.warn(warnings);
  return graph;
}

Graph load_shapes(ModelFile file) {
  file.options.allow_missing_weights = true;
  return load_model(file);
}

Graph host_form(Graph graph) {
  const bool quantized = is_quantized(graph);
  graph = optimize(std::move(graph));
  return quantized ? integerize(graph) : graph;
}

}  // namespace tilewright
