// Models and samples by their options, and the files that come with the command: found relative to
// /proc/self/exe, first as installed, then in the source or build tree.
#include "tilewright/cli/options/model_input.h"

#include <algorithm>
#include <cstdlib>
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

std::filesystem::path shared_folder(const char* name) {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path installed = self.parent_path().parent_path() / "share/tilewright" / name;
  return std::filesystem::exists(installed, ignored) ? installed
                                                     : std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / name;
}

// Empty where the system names none.
std::filesystem::path user_cache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != 0) return std::filesystem::path(cache) / "tilewright";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != 0) return std::filesystem::path(home) / ".cache/tilewright";
  return {};
}

}  // namespace

SharedFolders shared_folders() {
  return {shared_folder("hardware"), shared_folder("rtl"), shared_folder("dataflows"),
          shared_folder("models")};
}

std::filesystem::path training_library() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const char* name = "libtilewright_cgra_training.so";
  const std::filesystem::path installed = self.parent_path() / "lib" / name;
  return std::filesystem::exists(installed, ignored) ? installed
                                                     : self / "src/tilewright/cgra_training" / name;
}

ModelFile model_file(const ModelOptions& options) {
  return {options.path,
          {options.dimensions, options.fill_gain, false, options.feeds, options.output_nodes,
           options.keep_arg_max},
          show_warnings};
}

SampleFile sample_file(const DataOptions& options) { return {options.path, options.count, options.scale}; }

EngineRequest engine_request(const TimedEngineOptions& options) {
  EngineRequest request{.name = options.engine,
                        .memory = options.memory,
                        .trace = options.trace,
                        .wave = options.wave,
                        .cache_folder = options.rtl_cache,
                        .counters = options.counters};
  if (options.engine == "rtl" && options.rtl_cache.empty()) request.cache_folder = user_cache();
  return request;
}

}  // namespace tilewright::cli
