// Trained networks on the narrow overlays: the QONNX networks on MNIST digits with the accuracy that their
// authors publish, and LeNet quantised here; every simulated output equals the integer reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "outside.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/bundle.h"
#include "tilewright/flow/engine.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/quantize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

OverlayHardware overlay_of(const std::string& name) {
  return read_overlay_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/" + name + ".yaml");
}

// A quantised graph on an overlay and, as the reference, on the host.
class Network {
 public:
  Network(const Graph& quantised, const std::string& overlay) : bundle_(make(quantised, overlay)) {}

  int64_t overlay_layers() const { return layers_; }
  // The outputs, after comparing both.
  std::vector<float> run(const Tensor& input) {
    const Tensor on_overlay = overlay_.run({input})[0], on_host = host_.run({input})[0];
    EXPECT_TRUE(on_overlay.identical(on_host));
    return on_overlay.to_floats();
  }

 private:
  Bundle make(const Graph& quantised, const std::string& overlay) {
    Compilation compilation = compile(integerize(optimize(quantised)), overlay_of(overlay));
    layers_ = int64_t(compilation.layers.size());
    return std::move(compilation.bundle);
  }

  int64_t layers_ = 0;
  Bundle bundle_;
  Session overlay_{std::make_shared<const Engine>(bundle_, EngineKind::kFunctional)};
  Session host_{std::make_shared<const Engine>(bundle_, EngineKind::kHost)};
};

struct Digits {
  std::vector<Tensor> images;  // pixels in 0..1
  std::vector<int> labels;
};

Digits first_digits() {
  Digits digits;
  std::istringstream lines(read_text_file(outside_models() / "data_mnist" / "mnist_test_first100.csv"));
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    int label = -1;
    numbers >> label;
    Tensor image(ElementType::kF32, Shape{1, 1, 28, 28});
    for (float& pixel : image.mutable_data<float>()) {
      numbers >> pixel;
      pixel /= 255;
    }
    digits.images.push_back(std::move(image));
    digits.labels.push_back(label);
  }
  return digits;
}

struct QonnxCase {
  const char* model;
  const char* overlay;
  int right;         // of the first hundred digits (README of the models)
  bool same_scores;  // as the stored reference: 2-bit sums can lie within a rounded bias of a boundary
};

class QonnxNetworks : public ::testing::TestWithParam<QonnxCase> {};

TEST_P(QonnxNetworks, ClassifyDigitsAsPublished) {
  const fs::path folder = outside_models() / "qonnx_tfc";
  const fs::path file = folder / (std::string(GetParam().model) + ".onnx");
  if (!fs::exists(file)) GTEST_SKIP() << file << " is missing";
  Network network(read_onnx(file), GetParam().overlay);
  EXPECT_EQ(network.overlay_layers(), 3);
  const Digits digits = first_digits();
  int right = 0;
  for (size_t i = 0; i < digits.images.size(); ++i) {
    const std::vector<float> scores = network.run(digits.images[i]);
    right += int(std::ranges::max_element(scores) - scores.begin()) == digits.labels[i];
  }
  EXPECT_EQ(digits.images.size(), 100u);
  EXPECT_EQ(right, GetParam().right);
  if (!GetParam().same_scores) return;
  const std::vector<float> scores =
      network.run(read_npy(folder / (std::string(GetParam().model) + ".ref.in0.npy")));
  const std::vector<float> expected =
      read_npy(folder / (std::string(GetParam().model) + ".ref.out0.npy")).to_floats();
  ASSERT_EQ(scores.size(), expected.size());
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Tfc, QonnxNetworks,
                         ::testing::Values(QonnxCase{"TFC_1W1A", "overlay-w1a1", 96, true},
                                           QonnxCase{"TFC_2W2A", "overlay-w2a2", 99, false}),
                         [](const auto& test) { return std::string(test.param.model); });

class NarrowLenet : public ::testing::TestWithParam<int> {};

TEST_P(NarrowLenet, RunsWhollyOnTheOverlay) {
  const int bits = GetParam();
  const Graph lenet = optimize(read_onnx(TILEWRIGHT_SOURCE_DIR "/models/lenet-fashion/lenet_fashion.onnx"));
  Random random(9);
  Shape shape = lenet.value(lenet.inputs[0]).shape;
  const auto images = [&](int64_t count) {
    Tensor pixels(ElementType::kF32, Shape{count, shape[1], shape[2], shape[3]});
    for (float& pixel : pixels.mutable_data<float>()) pixel = float(random.uniform());
    return pixels;
  };
  QuantizeOptions options;
  options.weight_bits = options.activation_bits = bits;
  Network network(quantize(lenet, {images(8)}, options),
                  "overlay-w" + std::to_string(bits) + "a" + std::to_string(bits));
  EXPECT_EQ(network.overlay_layers(), 6);
  for (int i = 0; i < 5; ++i) network.run(images(1));
}

INSTANTIATE_TEST_SUITE_P(Bits, NarrowLenet, ::testing::Values(4, 2));

}  // namespace
}  // namespace tilewright
