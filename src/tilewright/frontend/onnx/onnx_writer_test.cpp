#include "tilewright/frontend/onnx/onnx_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/frontend/graph_equality_testing.h"
#include "support/frontend/model_builder_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/text/text.h"

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

// x -> QuantizeLinear -> DequantizeLinear, in integers of `type` with scales of `scale`.
Graph quantized_graph(ElementType type, ElementType scale, const Shape& shape) {
  Graph graph;
  const bool is_half = scale != ElementType::kF32;
  const ValueId s = graph.add_constant("s", Tensor(scale, Shape{})),
                zero = graph.add_constant("z", Tensor(type, Shape{}));
  ValueId q = kNoValue;
  if (is_half) {
    q = graph.add_input("q", type, shape);
  } else {
    const ValueId x = graph.add_input("x", ElementType::kF32, shape);
    q = graph.add_value("q", type, shape);
    graph.add_node("quantize", "QuantizeLinear", {x, s, zero}, {q});
  }
  const ValueId y = graph.add_value("y", scale, shape);
  graph.add_node("dequantize", "DequantizeLinear", {q, s, zero}, {y});
  return graph;
}

bool is_of_opset(const std::vector<std::byte>& file, int opset) {
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  return text.find(onnx_testing::bytes(8, onnx_testing::bytes(1, "") + onnx_testing::number(2, opset))) !=
         std::string::npos;
}

// Quantisers of every type with a reduction or a Split after them, whose form differs between the opsets:
// 17 unless it lacks the type, and read back the same but for axes that became a constant.
TEST(OnnxWriterClass, QuantisersAreWrittenInAnOpsetThatHasThem) {
  Random random(test_seed());
  const std::vector<ElementType> types = {ElementType::kI8,  ElementType::kU8, ElementType::kI16,
                                          ElementType::kU16, ElementType::kI4, ElementType::kU4,
                                          ElementType::kI2,  ElementType::kU1};
  const std::vector<std::string> reductions = {"ReduceL1",  "ReduceL2",   "ReduceMax", "ReduceMean",
                                               "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"};
  for (int64_t i = 0; i < test_cases(300); ++i) {
    const ElementType type = types[size_t(random.between(0, 7))];
    const ElementType scale = random.chance(0.7) ? ElementType::kF32 : ElementType::kF16;
    Graph graph = quantized_graph(type, scale, {2, 3, 4});
    const ValueId y = ValueId(graph.values.size()) - 1;
    if (random.chance(0.5)) {
      const std::string& op = reductions[size_t(random.between(0, 7))];
      const bool all = random.chance(0.3);
      const ValueId r = graph.add_value("r", scale, all ? Shape{1, 1, 1} : Shape{2, 1, 4});
      std::vector<ValueId> inputs{y};
      if (op == "ReduceSum" && !all)
        inputs.push_back(graph.add_constant("axes", Tensor::of<int64_t>({1}, {1})));
      Node& node = graph.add_node("reduce", op, inputs, {r});
      if (op != "ReduceSum" && !all) node.attributes["axes"] = std::vector<int64_t>{1};
      graph.outputs = {r};
    } else {
      const bool has_sizes = random.chance(0.5);
      const ValueId a = graph.add_value("a", scale, {2, 3, 2}), b = graph.add_value("b", scale, {2, 3, 2});
      std::vector<ValueId> inputs{y};
      if (has_sizes) inputs.push_back(graph.add_constant("sizes", Tensor::of<int64_t>({2}, {2, 2})));
      graph.add_node("split", "Split", inputs, {a, b}).attributes["axis"] = int64_t{2};
      graph.outputs = {a, b};
    }
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i) + ", " + name(type));
    const std::vector<std::byte> file = format_onnx(graph);
    const int bits = bit_width(type);
    const bool is_newer = bits == 4 || bits == 16 || scale == ElementType::kF16;
    ASSERT_TRUE(is_of_opset(file, is_newer ? 21 : 17));
    ASSERT_FALSE(is_of_opset(file, is_newer ? 17 : 21));
    Graph read = parse_onnx(file);
    read.remove_dead();
    ASSERT_EQ(describe_difference(graph, read), "");
  }
}

// Files hold primitives that any runtime has, of the type's own precision, and the same graph is not changed.
TEST(OnnxWriter, RootMeanSquaresAreSpelledOut) {
  for (const ElementType type : {ElementType::kF32, ElementType::kF64, ElementType::kF16}) {
    Graph graph;
    const ValueId x = graph.add_input("x", type, Shape{2, 3, 4});
    const ValueId scale = graph.add_constant("scale", Tensor(type, Shape{3, 4}));
    const ValueId y = graph.add_value("y", type, Shape{2, 3, 4});
    const ValueId z = graph.add_value("z", type, Shape{2, 3, 4});
    graph.add_node("norm", "RMSNormalization", {x, scale}, {y}).attributes = {{"axis", int64_t{-2}},
                                                                              {"epsilon", 0.25f}};
    graph.add_node("relu", "Relu", {y}, {z});
    graph.outputs = {z};
    const Graph read = parse_onnx(format_onnx(graph));
    std::string ops;
    for (const Node& node : read.nodes) ops += node.op + " ";
    EXPECT_EQ(ops, type == ElementType::kF16 ? "Cast Mul ReduceMean Add Sqrt Div Cast Mul Relu "
                                             : "Mul ReduceMean Add Sqrt Div Mul Relu ");
    const auto node_of = [&](const char* op) {
      return std::ranges::find_if(read.nodes, [&](const Node& node) { return node.is(op); });
    };
    EXPECT_EQ(node_of("ReduceMean")->ints_or("axes", {}), (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(read.constant_input(*node_of("Add"), 1)->number_at(0), 0.25);
    EXPECT_EQ(read.value(node_of("Sqrt")->outputs[0]).type,
              type == ElementType::kF64 ? type : ElementType::kF32);
    EXPECT_EQ(read.value(read.outputs[0]).name, "z");
    EXPECT_EQ(graph.nodes.size(), 2u);
  }
}

TEST(OnnxWriter, RotaryEmbeddingsAreSpelledOut) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, Shape{2, 3, 4});
  const ValueId cosines = graph.add_constant("cosines", Tensor(ElementType::kF32, Shape{3, 2})),
                sines = graph.add_constant("sines", Tensor(ElementType::kF32, Shape{3, 2}));
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{2, 3, 4});
  graph.add_node("turn", "RotaryEmbedding", {x, cosines, sines}, {y});
  graph.outputs = {y};
  const Graph read = parse_onnx(format_onnx(graph));
  std::string written;
  for (const Node& node : read.nodes) written += node.op + " ";
  EXPECT_EQ(written, "Slice Slice Mul Mul Sub Mul Mul Add Concat ");
  EXPECT_EQ(read.value(read.outputs[0]).name, "y");
  EXPECT_EQ(read.value(read.outputs[0]).shape, (Shape{2, 3, 4}));
}

TEST(OnnxWriter, QuantisersThatOnnxLacksAreRefused) {
  Graph graph = quantized_graph(ElementType::kI64, ElementType::kF32, {4});
  graph.outputs = {graph.nodes[1].outputs[0]};
  try {
    format_onnx(graph);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_STREQ(
        error.what(),
        "node 'quantize' (QuantizeLinear): has integers of type i64, for which ONNX has no such operator; "
        "quantise to at most 16 bits");
  }
  Graph bias = quantized_graph(ElementType::kI32, ElementType::kF16, {4});  // only read
  bias.outputs = {bias.nodes[0].outputs[0]};
  EXPECT_EQ(describe_difference(bias, parse_onnx(format_onnx(bias))), "");
}

TEST(OnnxWriter, TheRoundingSurvives) {
  Graph graph = quantized_graph(ElementType::kI8, ElementType::kF32, {4});
  graph.outputs = {graph.nodes[1].outputs[0]};
  for (const Rounding rounding : {Rounding::kOnce, Rounding::kFloat, Rounding::kTwice}) {
    graph.rounding = rounding;
    std::vector<std::byte> file = format_onnx(graph);
    EXPECT_EQ(parse_onnx(file).rounding, rounding);
    EXPECT_EQ(parse_graph(print(graph)).rounding, rounding);
  }
  std::vector<std::byte> file = format_onnx(graph);
  const auto at = std::search(file.begin(), file.end(), reinterpret_cast<const std::byte*>("twice"),
                              reinterpret_cast<const std::byte*>("twice") + 5);
  ASSERT_NE(at, file.end());
  *at = std::byte('T');
  try {
    parse_onnx(file);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "model: its metadata 'tilewright.rounding' are 'Twice'; they can be once, float or twice");
  }
}

TEST(OnnxWriter, TrainedNetworksSurvive) {
  for (const std::string name : {"lenet", "residual", "depthwise"}) {
    const Graph graph = read_onnx(fs::path(TILEWRIGHT_SOURCE_DIR) / "models" / (name + "-fashion") /
                                  (name + "_fashion.onnx"));
    EXPECT_EQ(describe_difference(graph, parse_onnx(format_onnx(graph))), "") << name;
  }
}

}  // namespace
}  // namespace tilewright
