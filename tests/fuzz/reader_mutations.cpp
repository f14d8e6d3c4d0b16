// The figure reader_mutations: damaged copies of model files, bundles, allocations, and every kind of
// document against their readers. To be built with sanitizers (bench/figures/house/reader_mutations does);
// without them it finds less.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fuzz/allocation_targets.h"
#include "fuzz/bundle_targets.h"
#include "fuzz/model_targets.h"
#include "fuzz/own_files.h"
#include "fuzz/text_targets.h"
#include "support/outside_testing.h"

#if defined(__SANITIZE_ADDRESS__)
// A single allocation of over 1 GiB, or 2 GiB in all, from a file of a few megabytes is a defect.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:hard_rss_limit_mb=2048:allocator_may_return_null=0:detect_leaks=0";
}
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif

namespace tilewright {
namespace {

std::string numbers(const FuzzTotals& totals) {
  return fmt::format(R"("inputs": {}, "crashes": {}, "hangs": {}, "wrong_kind": {})", totals.inputs,
                     totals.crashes, totals.hangs, totals.wrong_kind);
}

// The targets of files of others, and the rest of the project's own.
std::vector<FuzzTarget> targets_of(const std::filesystem::path& models, bool& is_complete) {
  std::vector<FuzzTarget> targets;
  const auto add = [&](const std::string& file, const auto& target) {
    if (std::filesystem::exists(models / file)) {
      targets.push_back(target(models / file));
    } else {
      fmt::print("{} is missing\n", (models / file).string());
      is_complete = false;
    }
  };
  for (const char* file : kOnnxFiles) add(file, onnx_target);
  for (const char* file : kQonnxFiles) add(file, onnx_target);
  for (const char* file : kTfliteFiles) add(file, tflite_target);
  for (const TensorflowFile& file : kTensorflowFiles)
    add(file.file, [&](const auto& path) { return tensorflow_target(path, file.output); });
  const auto hardware = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / kBundleHardware;
  for (const size_t i : {0, 1})
    add(kBundleModel, [&](const auto& path) { return bundle_targets(path, hardware)[i]; });
  targets.push_back(checkpoint_target(own_files() / "lenet_saved"));
  for (const std::vector<FuzzTarget>& more : {allocation_targets(), text_targets()})
    targets.insert(targets.end(), more.begin(), more.end());
  return targets;
}

int run(int per_reader, uint64_t seed, const std::string& only) {
  bool is_complete = true;
  const std::vector<FuzzTarget> targets = targets_of(outside_models(), is_complete);
  std::map<std::string, int> files;
  for (const FuzzTarget& target : targets) ++files[target.reader];
  fmt::print("{} mutations for each of {} readers, seed {}, {}\n", per_reader, files.size(), seed,
             kHasSanitizer ? "with AddressSanitizer" : "without sanitizers");
  std::map<std::string, FuzzTotals> readers;
  FuzzTotals all;
  for (const FuzzTarget& target : targets) {
    if (!only.empty() && target.reader != only) continue;
    const int parts = files.at(target.reader);
    const FuzzTotals one = fuzz(target, (per_reader + parts - 1) / parts, seed);
    fmt::print("{}, {}: {} inputs, {} accepted, {} crashes, {} hangs, {} wrong kinds\n", target.reader,
               target.name, one.inputs, one.accepted, one.crashes, one.hangs, one.wrong_kind);
    std::fflush(stdout);
    for (FuzzTotals* sum : {&readers[target.reader], &all}) {
      sum->inputs += one.inputs;
      sum->crashes += one.crashes;
      sum->hangs += one.hangs;
      sum->wrong_kind += one.wrong_kind;
    }
  }
  std::string list;
  for (const auto& [reader, totals] : readers)
    list += fmt::format("{}\"{}\": {{{}}}", list.empty() ? "" : ", ", reader, numbers(totals));
  fmt::print("{{\"figure\": \"reader_mutations\", {}, \"readers\": {{{}}}}}\n", numbers(all), list);
  return is_complete && all.inputs > 0 && all.failures() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  int per_reader = 100000;
  uint64_t seed = 20261121;
  std::string only;  // one reader
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) per_reader = 1000;
    if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) seed = std::stoull(argv[++i]);
    if (std::strcmp(argv[i], "--cases") == 0 && i + 1 < argc) per_reader = std::stoi(argv[++i]);
    if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
  }
  return tilewright::run(per_reader, seed, only);
}
