// compile_resnet50: a full-size ResNet-50 with 25.5 M distinct weights, from the file to the bundle: import,
// optimise, quantise on 8 photos, compile. Wall time on 2 threads and the peak memory of the whole process up
// to the bundle; then one image runs from the bundle's bytes, compared bit for bit with the integer
// reference.
//
// usage: compile_resnet50 [--quick]     (--quick changes nothing: the work is one network)
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"

namespace {

using namespace tilewright;
using Clock = std::chrono::steady_clock;

constexpr int kPhotos = 8;

// 8 photos, NHWC RGB bytes, as the planes of normalised floats that ImageNet networks take.
Tensor photos() {
  const std::vector<std::byte> bytes = read_file(outside_models() / "data_images/images_32x224x224x3.u8");
  constexpr float kMean[3] = {0.485f, 0.456f, 0.406f}, kDeviation[3] = {0.229f, 0.224f, 0.225f};
  constexpr int kPixels = 224 * 224;
  Tensor images(ElementType::kF32, {kPhotos, 3, 224, 224});
  const std::span<float> values = images.mutable_data<float>();
  for (int n = 0; n < kPhotos; ++n) {
    for (int p = 0; p < kPixels; ++p) {
      for (int c = 0; c < 3; ++c) {
        const float pixel = float(uint8_t(bytes.at((size_t(n) * kPixels + size_t(p)) * 3 + size_t(c)))) / 255;
        values[(size_t(n) * 3 + size_t(c)) * kPixels + size_t(p)] = (pixel - kMean[c]) / kDeviation[c];
      }
    }
  }
  return images;
}

int measure() {
  const Tensor calibration = photos();
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "tilewright_resnet50.twb";
  const auto start = Clock::now();
  auto lap = [last = start](const char* what) mutable {
    const auto now = Clock::now();
    std::printf("%-10s %.2f s\n", what, std::chrono::duration<double>(now - last).count());
    last = now;
  };
  Graph graph = load_model(outside_models() / "onnx_light_topologies/light_resnet50.onnx", {{}, 3});
  lap("import");
  graph = optimize(std::move(graph));
  lap("optimise");
  QuantizeOptions options;
  options.threads = 2;
  Graph quantized = quantize(graph, {calibration}, options);
  graph = Graph();
  lap("quantise");
  const OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  write_bundle(file, compile(integerize(quantized), hardware).bundle);
  lap("compile");
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);

  const Bundle bundle = read_bundle(file);
  std::filesystem::remove(file);
  const Tensor image(Shape{1, 3, 224, 224}, calibration.data<float>().subspan(0, 3 * 224 * 224));
  Session functional(std::make_shared<const Engine>(bundle, Execution::kAsPlaced));
  Session reference(std::make_shared<const Engine>(bundle, Execution::kOnHost, HostOptions{2}));
  const bool identical = functional.run({image})[0].identical(reference.run({image})[0]);
  std::printf("one image from the bundle: %s\n",
              identical ? "bit-identical to the integer reference" : "DIFFERENT");
  std::printf(
      "{\"figure\": \"compile_resnet50\", \"seconds\": %.2f, \"peak_mib\": %.0f, \"identical\": %s}\n",
      seconds, double(usage.ru_maxrss) / 1024, identical ? "true" : "false");
  return identical ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return measure();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compile_resnet50: %s\n", error.what());
    return 1;
  }
}
