// Trained QONNX networks on the narrow overlays, on MNIST digits with the accuracy that their authors
// publish.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "model/narrow_models/overlay_network.h"
#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

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
void PrintTo(const QonnxCase& c, std::ostream* out) { *out << c.model; }

class QonnxNetworks : public ::testing::TestWithParam<QonnxCase> {};

TEST_P(QonnxNetworks, ClassifyDigitsAsPublished) {
  const fs::path folder = outside_models() / "qonnx_tfc";
  const fs::path file = folder / (std::string(GetParam().model) + ".onnx");
  OverlayNetwork network(read_onnx(file), GetParam().overlay);
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

}  // namespace
}  // namespace tilewright
