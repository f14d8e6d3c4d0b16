#include "tilewright/cli/model_input.h"

#include <fmt/format.h>

#include <iostream>

#include "tilewright/flow/load_model.h"

namespace tilewright::cli {
namespace {

void check_single_input(const Graph& graph) {
  if (graph.inputs.size() == 1) return;
  std::string names;
  for (ValueId v : graph.inputs) names += (names.empty() ? "" : ", ") + graph.value(v).name;
  throw Error(ErrorKind::kUnsupported,
              fmt::format("the model has {} inputs ({})", graph.inputs.size(), names),
              "data is given for models with one input");
}

}  // namespace

Graph read_model(const ModelOptions& options) {
  Diagnostics warnings;
  Graph graph = load_model(options.path, {options.dimensions, options.fill_gain}, &warnings);
  for (const Diagnostic& warning : warnings.warnings())
    std::cerr << "warning: " << to_string(warning) << "\n";
  return graph;
}

Samples read_samples(const DataOptions& options) {
  return Samples::read(options.path, options.count, options.scale);
}

std::vector<Tensor> cut_inputs(const Graph& graph, const Samples& samples, int64_t index) {
  const Value& input = graph.value(graph.inputs[0]);
  return {samples.cut(index, input.type, input.shape)};
}

int64_t count_inputs(const Graph& graph, const Samples& samples) {
  check_single_input(graph);
  return samples.count_for(graph.value(graph.inputs[0]).shape);
}

}  // namespace tilewright::cli
