#include "fuzz/fuzz_targets.h"

#include <fmt/format.h>

#include "fuzz/mutation.h"
#include "fuzz/sandbox.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"

namespace tilewright {
namespace {

// Every mutation has its own stream, so that one can be repeated alone.
std::vector<std::byte> mutation_of(std::span<const std::byte> bytes, const WireMap& wire, uint64_t seed,
                                   size_t index) {
  Random random(seed + index * 0x9E3779B97F4A7C15u);
  return mutate(bytes, wire, MutationKind(index % kMutationKinds), random);
}

}  // namespace

FuzzTarget onnx_target(const std::filesystem::path& file) {
  const auto read = [](std::span<const std::byte> bytes) {
    OnnxOptions options;
    options.dimensions["batch_size"] = 1;
    const Graph graph = parse_onnx(bytes, {}, options);
    format_onnx(graph);  // what was accepted must be fit for use
  };
  return {file, read, true};
}

std::vector<FuzzTarget> onnx_targets(const std::filesystem::path& models) {
  std::vector<FuzzTarget> targets;
  for (const char* file : {"onnx_mnist8/model.onnx", "onnx_from_tflite/ic_resnet8_qdq.onnx",
                           "onnx_light_topologies/light_resnet50.onnx", "dory_frontnet/Frontnet.onnx",
                           "onnx_super_resolution10/model.onnx"}) {
    targets.push_back(onnx_target(models / file));
  }
  return targets;
}

FuzzTotals fuzz(const FuzzTarget& target, int count, uint64_t seed) {
  const std::vector<std::byte> bytes = read_file(target.file);
  const WireMap wire = target.is_protobuf ? map_protobuf(bytes) : WireMap{};
  const SandboxResult result = run_in_sandbox(
      size_t(count), [&](size_t index) { target.read(mutation_of(bytes, wire, seed, index)); });
  FuzzTotals totals{count, result.count(Outcome::kCrashed), result.count(Outcome::kHung),
                    result.count(Outcome::kAccepted)};
  for (size_t i = 0; i < result.outcomes.size(); ++i) {
    if (result.outcomes[i] == Outcome::kCrashed || result.outcomes[i] == Outcome::kHung) {
      fmt::print("{}: {} with seed {}, mutation {} ({}): {}\n", target.file.string(),
                 result.outcomes[i] == Outcome::kHung ? "hang" : "crash", seed, i,
                 name(MutationKind(i % kMutationKinds)), result.messages[i]);
    }
  }
  return totals;
}

}  // namespace tilewright
