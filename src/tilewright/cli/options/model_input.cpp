// Models and samples by their options, and the files that come with the command: found relative to
// /proc/self/exe, first as installed, then in the source or build tree.
#include "tilewright/cli/options/model_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace tilewright::cli {
namespace {

void check_single_input(const Graph& graph) {
  if (graph.inputs.size() == 1) return;
  std::string names;
  for (ValueId v : graph.inputs) names += (names.empty() ? "" : ", ") + graph.value(v).name;
  throw Error(ErrorKind::kUnsupported,
              fmt::format("the model has {} inputs ({})", graph.inputs.size(), names),
              "data can only be given to models with one input");
}

}  // namespace

std::filesystem::path shared_folder(const std::string& name) {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path installed = self.parent_path().parent_path() / "share/tilewright" / name;
  return std::filesystem::exists(installed, ignored) ? installed
                                                     : std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / name;
}

std::filesystem::path training_library() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const char* name = "libtilewright_cgra_training.so";
  const std::filesystem::path installed = self.parent_path() / "lib" / name;
  return std::filesystem::exists(installed, ignored) ? installed
                                                     : self / "src/tilewright/cgra_training" / name;
}

OverlayHardware find_hardware(const std::string& name_or_path) {
  return find_overlay_hardware(name_or_path, shared_folder("hardware"));
}

LoadOptions load_options(const ModelOptions& options, bool shapes_only) {
  return {options.dimensions, options.fill_gain,    shapes_only,
          options.feeds,      options.output_nodes, options.keep_arg_max};
}

void show_warnings(const Diagnostics& warnings) {
  constexpr size_t kShown = 5;
  const std::vector<Diagnostic>& all = warnings.warnings();
  for (size_t i = 0; i < std::min(all.size(), kShown); ++i)
    std::cerr << "warning: " << to_string(all[i]) << "\n";
  if (all.size() > kShown) std::cerr << "warning: and " << all.size() - kShown << " more like these\n";
}

Graph read_model(const ModelOptions& options, bool shapes_only) {
  Diagnostics warnings;
  Graph graph = load_model(options.path, load_options(options, shapes_only), &warnings);
  show_warnings(warnings);
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
