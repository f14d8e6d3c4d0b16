// lenet_accuracy: the trained demo network on the Fashion-MNIST test images, in float, in 8 bits with real
// scales (wide instruction set) and in 8 bits with power-of-two scales (plain VTA); every output of the
// functional simulator compared with the integer reference, which the suite holds against naive kernels.
//
// usage: lenet_accuracy [--quick]     --quick: the first 1,000 images
#include <atomic>
#include <cstdio>
#include <cstring>

#include "tilewright/base/parallel.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/samples/input_samples.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"

namespace {

using namespace tilewright;

const std::filesystem::path kSource = TILEWRIGHT_SOURCE_DIR;
const std::string kData = "/usr/share/datasets/fashion-mnist/";
constexpr double kPixel = 1 / 255.0;
constexpr int kThreads = 2;

struct Outcome {
  int64_t right = 0, mismatches = 0;
};

Outcome classify(const Bundle& bundle, const Samples& images, const std::vector<int64_t>& labels) {
  const auto functional = std::make_shared<const Engine>(bundle, Execution::kAsPlaced);
  const auto reference = std::make_shared<const Engine>(bundle, Execution::kOnHost);
  std::atomic<int64_t> right = 0, mismatches = 0;
  parallel_for(kThreads, int64_t(labels.size()), [&](int64_t begin, int64_t end) {
    Session device(functional), host(reference);
    for (int64_t i = begin; i < end; ++i) {
      const Tensor image = images.cut(i, ElementType::kF32, {1, 1, 28, 28});
      const Tensor scores = device.run({image})[0];
      mismatches += !scores.identical(host.run({image})[0]);
      right += argmax(scores) == labels[size_t(i)];
    }
  });
  return {right, mismatches};
}

int measure(int64_t count) {
  const Graph graph = optimize(load_model(kSource / "models/lenet-fashion/lenet_fashion.onnx"));
  const Samples images = read_samples(sample_source(kData + "t10k-images-idx3-ubyte.gz"), count, kPixel);
  const std::vector<int64_t> labels =
      read_samples(sample_source(kData + "t10k-labels-idx1-ubyte.gz")).labels(count, 10, true);
  const Tensor calibration = read_samples(sample_source(kData + "train-images-idx3-ubyte.gz"), 512, kPixel)
                                 .stack(ElementType::kF32, {1, 1, 28, 28});

  const Executor executor(graph, {1});
  std::atomic<int64_t> float_right = 0;
  parallel_for(kThreads, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Tensor image = images.cut(i, ElementType::kF32, {1, 1, 28, 28});
      float_right += argmax(executor.run({image})[0]) == labels[size_t(i)];
    }
  });
  Outcome outcomes[2];
  for (const bool plain_vta : {false, true}) {
    QuantizeOptions options;
    options.scales = plain_vta ? ScaleKind::kPowerOfTwo : ScaleKind::kReal;
    options.threads = kThreads;
    const OverlayHardware hardware =
        find_overlay_hardware(plain_vta ? "vta-default" : "overlay-16x16", kSource / "hardware");
    const Compilation compilation = compile(integerize(quantize(graph, {calibration}, options)), hardware);
    outcomes[plain_vta] = classify(compilation.bundle, images, labels);
    std::printf("%s: %lld of %lld right, %lld outputs differ from the integer reference\n",
                hardware.name.c_str(), static_cast<long long>(outcomes[plain_vta].right),
                static_cast<long long>(count), static_cast<long long>(outcomes[plain_vta].mismatches));
  }
  const auto percent = [&](int64_t right) { return 100.0 * double(right) / double(count); };
  const int64_t mismatches = outcomes[0].mismatches + outcomes[1].mismatches;
  std::printf(
      "{\"figure\": \"lenet_accuracy\", \"images\": %lld, \"float_accuracy\": %.2f, \"int8_accuracy\": %.2f, "
      "\"int8_vta_accuracy\": %.2f, \"mismatches\": %lld}\n",
      static_cast<long long>(count), percent(float_right), percent(outcomes[0].right),
      percent(outcomes[1].right), static_cast<long long>(mismatches));
  return mismatches == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 && std::strcmp(argv[1], "--quick") == 0 ? 1000 : 10000);
  } catch (const Error& error) {
    std::fprintf(stderr, "lenet_accuracy: %s\n", error.what());
    return 1;
  }
}
