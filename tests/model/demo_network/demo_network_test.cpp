// The trained network in models/ is what its README says: sizes, arithmetic, accuracy on the test images.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/tensor/idx.h"

namespace tilewright {
namespace {

const std::filesystem::path kModel =
    std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "models/lenet-fashion/lenet_fashion.onnx";
const std::filesystem::path kImages = "/usr/share/datasets/fashion-mnist";

TEST(DemoNetwork, HasTheSizesOfLenet) {
  const Graph graph = read_onnx(kModel);
  Diagnostics diagnostics;
  verify(graph, diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  ASSERT_EQ(graph.inputs.size(), 1u);
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "image");
  EXPECT_EQ(graph.value(graph.inputs[0]).shape, (Shape{1, 1, 28, 28}));
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "scores");
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{1, 10}));
  const NodeStatistics total = statistics(graph).total;
  EXPECT_EQ(total.parameters, 431080);
  EXPECT_EQ(total.macs, 2293000);
}

TEST(DemoNetwork, RecognisesTheFirst2000TestImages) {
  if (!std::filesystem::exists(kImages)) GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  const Tensor images = read_idx(kImages / "t10k-images-idx3-ubyte.gz");
  const Tensor labels = read_idx(kImages / "t10k-labels-idx1-ubyte.gz");
  ASSERT_EQ(images.shape(), (Shape{10000, 28, 28}));
  const Executor executor(read_onnx(kModel));
  constexpr int kCount = 2000;
  int correct = 0;
  for (int i = 0; i < kCount; ++i) {
    Tensor image(ElementType::kF32, {1, 1, 28, 28});
    const std::span<float> pixels = image.mutable_data<float>();
    for (size_t k = 0; k < pixels.size(); ++k)
      pixels[k] = float(images.data<uint8_t>()[size_t(i) * 784 + k]) / 255.0f;
    const std::vector<float> scores = executor.run({image})[0].to_floats();
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    correct += best == labels.data<uint8_t>()[size_t(i)];
  }
  EXPECT_GE(correct, kCount * 905 / 1000);
}

}  // namespace
}  // namespace tilewright
