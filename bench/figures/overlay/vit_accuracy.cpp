// vit_accuracy: the vision transformer of models/vit-fashion on the Fashion-MNIST test images, in float and
// in 8 bits on overlay-16x16: every output of the functional simulator is compared with the host's integer
// execution, those of the first image also with the cycle simulator's.
//
// usage: vit_accuracy [--quick]     --quick: the first 200 images
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>

#include "model/own_networks/own_networks.h"
#include "tilewright/base/parallel.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/flow/samples/samples.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace {

using namespace tilewright;

constexpr int kThreads = 2;

int measure(int64_t count) {
  const FashionImages test = fashion_test_images(count);
  const Graph vit = trained_network("vit");
  QuantizeOptions options;
  options.calibration.reset();  // as the command has it
  options.threads = kThreads;
  const OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  const Compilation compilation = compile(integerize(quantized_network("vit", options, 512)), hardware);
  const LayerTable table = layer_table(compilation);
  for (const LayerRow& row : table.rows) {
    if (row.on_host()) fmt::print("on the host: {} {}: {}\n", row.op, row.name, row.reason);
  }
  const auto placed = std::make_shared<const Engine>(compilation.bundle, Execution::kAsPlaced);
  const auto reference = std::make_shared<const Engine>(compilation.bundle, Execution::kOnHost);
  const Executor floats(vit, {1});
  std::atomic<int64_t> in_float = 0, in_integers = 0, mismatches = 0;
  parallel_for(kThreads, count, [&](int64_t begin, int64_t end) {
    Session device(placed), host(reference);
    for (int64_t i = begin; i < end; ++i) {
      const Tensor x = image_of(test, i), scores = device.run({x})[0];
      mismatches += !scores.identical(host.run({x})[0]);
      in_integers += argmax(scores) == test.labels[size_t(i)];
      in_float += argmax(floats.run({x})[0]) == test.labels[size_t(i)];
    }
  });
  Session cycle(placed, {.kind = overlay::ProgramEngineKind::kCycle});
  mismatches += !cycle.run({image_of(test, 0)})[0].identical(Session(reference).run({image_of(test, 0)})[0]);
  const auto percent = [&](int64_t right) { return 100 * double(right) / double(count); };
  fmt::print(
      "{{\"figure\": \"vit_accuracy\", \"images\": {}, \"float_accuracy\": {:.2f}, \"int8_accuracy\": "
      "{:.2f}, "
      "\"mac_share\": {:.4f}, \"cycles\": {}, \"mismatches\": {}}}\n",
      count, percent(in_float), percent(in_integers), table.overlay_mac_share(), cycle.cycles().cycles,
      mismatches.load());
  return mismatches == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 && std::strcmp(argv[1], "--quick") == 0 ? 200 : 10000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vit_accuracy: %s\n", error.what());
    return 1;
  }
}
