// DORY's Frontnet: an integer-only network in floating-point operators, with golden outputs of all its layers
// as text in HWC order. Every layer exactly.
#include <gtest/gtest.h>

#include <sstream>

#include "model_files.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright {
namespace {

// The numbers of a golden file: a comment line, then one number and a comma per line.
std::vector<double> golden(const std::filesystem::path& path) {
  std::istringstream lines(read_text_file(path));
  std::vector<double> numbers;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') numbers.push_back(std::stod(line));
  }
  return numbers;
}

// 1xCxHxW to HWC order.
std::vector<double> in_hwc(const Tensor& tensor) {
  const int64_t channels = tensor.shape()[1], pixels = tensor.size() / channels;
  std::vector<double> numbers;
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (int64_t c = 0; c < channels; ++c) numbers.push_back(tensor.number_at(c * pixels + pixel));
  }
  return numbers;
}

TEST(Frontnet, AllNineLayersAreExact) {
  const auto folder = models_folder() / "dory_frontnet";
  const Executor executor(read_onnx(folder / "Frontnet.onnx"));
  const Graph& graph = executor.graph();
  Tensor input(ElementType::kF32, Shape{1, 1, 96, 160});
  const std::vector<double> pixels = golden(folder / "input.txt");
  ASSERT_EQ(int64_t(pixels.size()), input.size());
  for (size_t i = 0; i < pixels.size(); ++i) input.mutable_data<float>()[i] = float(pixels[i]);

  // A layer ends with its Clip or MaxPool; the last one gives the four graph outputs.
  const std::vector<NodeId> producers = graph.producers();
  size_t layer = 0;
  const std::vector<Tensor> outputs = executor.run({input}, [&](ValueId id, const Tensor& tensor) {
    const NodeId producer = producers[size_t(id)];
    if (producer == kNoNode) return;
    const Node& node = graph.nodes[size_t(producer)];
    if (!node.is("Clip") && !node.is("MaxPool")) return;
    EXPECT_EQ(in_hwc(tensor), golden(folder / ("out_layer" + std::to_string(layer) + ".txt"))) << node.name;
    ++layer;
  });
  EXPECT_EQ(layer, 8u);
  std::vector<double> last;
  for (const Tensor& output : outputs) last.push_back(output.number_at(0));
  EXPECT_EQ(last, golden(folder / "out_layer8.txt"));
}

}  // namespace
}  // namespace tilewright
