// The steps of reading: parse, widen 8-bit convolutions, build the graph, verify it.
#include "tilewright/frontend/onnx/onnx_reader.h"

#include <fmt/format.h>

#include "tilewright/base/file.h"
#include "tilewright/frontend/finish_reading.h"
#include "tilewright/frontend/onnx/graph_builder.h"
#include "tilewright/frontend/onnx/integer_typed_convolutions.h"
#include "tilewright/frontend/onnx/proto/onnx_model.h"

namespace tilewright {

Graph parse_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                 const OnnxOptions& options, Diagnostics* warnings) {
  Diagnostics diagnostics;
  OnnxModel model = parse_onnx_model(bytes, {folder, options.allow_missing_weights}, diagnostics);
  cut_at_outputs(model, options.outputs, diagnostics);
  widen_integer_typed_convolutions(model, diagnostics);
  const Rounding rounding = model.rounding;
  Graph graph = build_onnx_graph(std::move(model), options, diagnostics);
  graph.rounding = rounding;
  return finish_reading(std::move(graph), diagnostics, warnings);
}

Graph read_onnx(const std::filesystem::path& path, const OnnxOptions& options, Diagnostics* warnings) {
  return with_context(fmt::format("file '{}'", path.string()), [&] {
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    return parse_onnx(read_file(path), folder, options, warnings);
  });
}

}  // namespace tilewright
