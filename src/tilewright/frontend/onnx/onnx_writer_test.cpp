#include "tilewright/frontend/onnx/onnx_writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/graph_equality_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "onnx_writer_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

Tensor random_tensor(ElementType type, Shape shape, Random& random) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (is_float(type)) {
      tensor.set_number(i, random.uniform() * 8 - 4);
    } else if (type == ElementType::kBipolar) {
      tensor.set_integer(i, random.chance(0.5) ? 1 : -1);
    } else {
      tensor.set_integer(
          i, random.between(std::max(lowest(type), int64_t{-1000}), std::min(highest(type), int64_t{1000})));
    }
  }
  return tensor;
}

TEST(OnnxWriter, ConstantsOfEveryTypeSurvive) {
  Random random(7);
  Graph graph;
  graph.name = "types";
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto type = ElementType(t);
    graph.add_constant(std::string("odd_") + name(type), random_tensor(type, Shape{3, 7}, random));
    graph.add_constant(std::string("scalar_") + name(type), random_tensor(type, Shape{}, random));
    graph.add_constant(std::string("empty_") + name(type), Tensor(type, Shape{0, 3}));
  }
  const ValueId x = graph.add_input("x", ElementType::kF32, Shape{2});
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{2});
  graph.add_node("relu", "Relu", {x}, {y});
  graph.outputs = {y};
  EXPECT_EQ(describe_difference(graph, parse_onnx(format_onnx(graph))), "");
}

TEST(OnnxWriter, InputsOfTypesThatOnnxLacksSurvive) {
  Graph graph;
  for (const ElementType type :
       {ElementType::kI2, ElementType::kBipolar, ElementType::kI4, ElementType::kU1}) {
    const ValueId x = graph.add_input(std::string("x_") + name(type), type, Shape{4, 2});
    const ValueId shape = graph.add_constant("shape", Tensor::of<int64_t>(Shape{1}, {8}));
    const ValueId y = graph.add_value(std::string("y_") + name(type), type, Shape{8});
    graph.add_node("reshape", "Reshape", {x, shape}, {y});
    graph.outputs.push_back(y);
  }
  EXPECT_EQ(describe_difference(graph, parse_onnx(format_onnx(graph))), "");
}

TEST(OnnxWriter, OptionalInputsAndAttributesSurvive) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, Shape{1, 1, 4, 4});
  const ValueId scales = graph.add_constant("scales", Tensor::of<float>(Shape{4}, {1, 1, 2, 2}));
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{1, 1, 8, 8});
  Node& resize = graph.add_node("resize", "Resize", {x, kNoValue, scales}, {y});
  resize.attributes["mode"] = std::string("linear");
  resize.attributes["cubic_coeff_a"] = -0.5f;
  const ValueId z = graph.add_value("z", ElementType::kF32, Shape{1, 1, 4, 4});
  Node& pool = graph.add_node("pool", "MaxPool", {y}, {z});
  pool.attributes["kernel_shape"] = std::vector<int64_t>{2, 2};
  pool.attributes["strides"] = std::vector<int64_t>{2, 2};
  const ValueId shape = graph.add_constant("shape", Tensor::of<int64_t>(Shape{2}, {2, 2}));
  const ValueId filled = graph.add_value("filled", ElementType::kI32, Shape{2, 2});
  graph.add_node("fill", "ConstantOfShape", {shape}, {filled}).attributes["value"] =
      Tensor::of<int32_t>(Shape{1}, {-3});
  graph.outputs = {z, filled};
  EXPECT_EQ(describe_difference(graph, parse_onnx(format_onnx(graph))), "");
}

Graph large_and_small() {
  Random random(3);
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, Shape{1, 32});
  const ValueId w = graph.add_constant("w", random_tensor(ElementType::kF32, Shape{32, 33}, random));
  const ValueId b = graph.add_constant("b", random_tensor(ElementType::kF32, Shape{33}, random));
  const ValueId v = graph.add_constant("v", random_tensor(ElementType::kF32, Shape{33, 9}, random));
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{1, 33});
  const ValueId z = graph.add_value("z", ElementType::kF32, Shape{1, 9});
  graph.add_node("gemm", "Gemm", {x, w, b}, {y});
  graph.add_node("gemm2", "Gemm", {y, v}, {z});
  graph.outputs = {z};
  return graph;
}

TEST(OnnxWriter, LargeModelsKeepTheirWeightsBesideTheFile) {
  const TemporaryFolder folder;
  const Graph graph = large_and_small();
  write_onnx(folder / "m.onnx", graph, 4096);
  EXPECT_GT(fs::file_size(folder / "m.onnx.data"), 33u * 32 * 4);
  EXPECT_LT(fs::file_size(folder / "m.onnx"), 2048u);
  EXPECT_EQ(describe_difference(graph, read_onnx(folder / "m.onnx")), "");
  write_onnx(folder / "whole.onnx", graph);
  EXPECT_FALSE(fs::exists(folder / "whole.onnx.data"));
  EXPECT_EQ(describe_difference(graph, read_onnx(folder / "whole.onnx")), "");
}

TEST(OnnxWriter, ATrainedNetworkSurvives) {
  const Graph graph = read_onnx(fs::path(TILEWRIGHT_SOURCE_DIR) / "models/lenet-fashion/lenet_fashion.onnx");
  EXPECT_EQ(describe_difference(graph, parse_onnx(format_onnx(graph))), "");
}

}  // namespace
}  // namespace tilewright
