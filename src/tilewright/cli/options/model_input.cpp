// Models and samples by their options, and the files that come with the command: found relative to
// /proc/self/exe, first as installed, then in the source or build tree.
#include "tilewright/cli/options/model_input.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace tilewright::cli {
namespace {

void show_warnings(const Diagnostics& warnings) {
  constexpr size_t kShown = 5;
  const std::vector<Diagnostic>& all = warnings.warnings();
  for (size_t i = 0; i < std::min(all.size(), kShown); ++i)
    std::cerr << "warning: " << to_string(all[i]) << "\n";
  if (all.size() > kShown) std::cerr << "warning: and " << all.size() - kShown << " more like these\n";
}

}  // namespace

SharedFolders shared_folders() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return find_shared_folders(self.parent_path().parent_path(), TILEWRIGHT_SOURCE_DIR);
}

std::filesystem::path training_library() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const char* name = "libtilewright_cgra_training.so";
  const std::filesystem::path installed = self.parent_path() / "lib/tilewright" / name;
  return std::filesystem::exists(installed, ignored) ? installed
                                                     : self / "src/tilewright/cgra_training" / name;
}

ModelFile model_file(const ModelOptions& options) {
  return {.path = options.path,
          .options = {.dimensions = options.dimensions,
                      .fill_gain = options.fill_gain,
                      .tflite_kernels = options.tflite_kernels,
                      .signature = options.signature,
                      .feeds = options.feeds,
                      .output_nodes = options.output_nodes,
                      .keep_arg_max = options.keep_arg_max},
          .warn = show_warnings};
}

SampleRequest sample_request(const DataOptions& options, const std::string& preprocess) {
  SampleRequest request{
      .sources = {}, .count = options.count, .scale = options.scale, .preprocess = preprocess};
  for (const std::string& file : options.files) request.sources.push_back(sample_source(file));
  return request;
}

std::vector<StatePair> state_pairs(const StateOptions& options) {
  std::vector<StatePair> pairs;
  for (const auto& [input, output] : options) pairs.push_back({input, output});
  return pairs;
}

EngineRequest engine_request(const TimedEngineOptions& options) {
  EngineRequest request{.name = options.engine,
                        .memory = options.memory,
                        .trace = options.trace,
                        .wave = options.wave,
                        .cache_folder = options.rtl_cache,
                        .counters = options.counters,
                        .energy = options.energy,
                        .costs = energy_costs(options.energy_costs)};
  if (options.engine == "rtl" && options.rtl_cache.empty()) request.cache_folder = user_cache();
  return request;
}

}  // namespace tilewright::cli
