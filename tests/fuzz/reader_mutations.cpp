// The figure reader_mutations: damaged copies of model files, of a bundle and of allocation files against
// their readers. To be built with sanitizers (bench/figures/reader_mutations does); without them it finds
// less.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "fuzz/allocation_targets.h"
#include "fuzz/bundle_targets.h"
#include "fuzz/text_targets.h"
#include "outside.h"

#if defined(__SANITIZE_ADDRESS__)
// A single allocation of over 1 GiB, or 2 GiB in all, from a file of a few megabytes is a defect.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:hard_rss_limit_mb=2048:allocator_may_return_null=0:detect_leaks=0";
}
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif

int main(int argc, char** argv) {
  using namespace tilewright;
  int mutations = 1000;
  uint64_t seed = 20261121;
  std::string only;  // targets whose names hold this
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) mutations = 100;
    if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) seed = std::stoull(argv[++i]);
    if (std::strcmp(argv[i], "--cases") == 0 && i + 1 < argc) mutations = std::stoi(argv[++i]);
    if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
  }
  fmt::print("{} mutations of each file, seed {}, {}\n", mutations, seed,
             kHasSanitizer ? "with AddressSanitizer" : "without sanitizers");
  const std::filesystem::path models = outside_models();
  FuzzTotals total;
  bool is_complete = true;
  const auto run = [&](const FuzzTarget& target) {
    if (target.name.find(only) == std::string::npos) return;
    const FuzzTotals one = fuzz(target, mutations, seed);
    fmt::print("{}: {} inputs, {} accepted, {} crashes, {} hangs, {} wrong kinds\n", target.name, one.inputs,
               one.accepted, one.crashes, one.hangs, one.wrong_kind);
    std::fflush(stdout);
    total.inputs += one.inputs;
    total.crashes += one.crashes;
    total.hangs += one.hangs;
    total.wrong_kind += one.wrong_kind;
  };
  const auto is_there = [&](const std::filesystem::path& file) {
    if (std::filesystem::exists(file)) return true;
    fmt::print("{} is missing\n", file.string());
    return is_complete = false;
  };
  for (const char* file : kOnnxFiles) {
    if (is_there(models / file)) run(onnx_target(models / file));
  }
  for (const char* file : kQonnxFiles) {
    if (is_there(models / file)) run(onnx_target(models / file));
  }
  for (const char* file : kTfliteFiles) {
    if (is_there(models / file)) run(tflite_target(models / file));
  }
  for (const TensorflowFile& target : kTensorflowFiles) {
    if (is_there(models / target.file)) run(tensorflow_target(models / target.file, target.output));
  }
  if (is_there(models / kBundleModel)) {
    const auto hardware = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / kBundleHardware;
    for (const FuzzTarget& target : bundle_targets(models / kBundleModel, hardware)) run(target);
  }
  for (const FuzzTarget& target : allocation_targets()) run(target);
  for (const FuzzTarget& target : text_targets()) run(target);
  fmt::print(
      "{{\"figure\": \"reader_mutations\", \"inputs\": {}, \"crashes\": {}, \"hangs\": {}, "
      "\"wrong_kind\": {}}}\n",
      total.inputs, total.crashes, total.hangs, total.wrong_kind);
  return is_complete && total.inputs > 0 && total.failures() == 0 ? 0 : 1;
}
