// Quantised networks as QONNX files: read back, they have the same integers.
#include "tilewright/frontend/onnx/opset/qonnx_form.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/quantize/qdq_testing.h"
#include "support/random_seed_testing.h"
#include "support/transform/random_graph_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

Graph written_and_read(const Graph& qdq) { return parse_onnx(format_onnx(in_qonnx(qdq))); }

const Node& only_quant(const Graph& graph) {
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op, "Quant");
  EXPECT_EQ(graph.nodes[0].domain, "qonnx.custom_op.general");
  EXPECT_EQ(graph.nodes[0].string_or("rounding_mode", ""), "ROUND");
  return graph.nodes[0];
}

// "scale, zero point, bits, signed, narrow" of the only node.
std::vector<double> numbers_of(const Graph& graph) {
  const Node& node = only_quant(graph);
  std::vector<double> numbers;
  for (const int input : {1, 2, 3}) numbers.push_back(graph.constant_input(node, input)->number_at(0));
  numbers.push_back(double(node.int_or("signed", -1)));
  numbers.push_back(double(node.int_or("narrow", -1)));
  return numbers;
}

// x f32[9] quantised to `type`, clipped to low..high where these are not its limits.
Graph rounded(const Quantization& q, ElementType type, int64_t low, int64_t high) {
  QdqGraphBuilder builder;
  const ValueId x = builder.graph.add_input("x", ElementType::kF32, {9});
  ValueId integers = builder.quantize(x, q, type);
  if (low > lowest(type) || high < highest(type))
    integers = builder.node("Clip", {integers, builder.zero_point(type, low), builder.zero_point(type, high)},
                            {9}, {}, type);
  builder.graph.outputs = {builder.dequantize(integers, q)};
  return std::move(builder.graph);
}

// w[..] dequantised, plus x.
Graph constant_sum(const Tensor& integers, const std::vector<float>& scales, int64_t zero, int64_t axis = 0) {
  QdqGraphBuilder builder;
  const ValueId x = builder.graph.add_input("x", ElementType::kF32, integers.shape());
  const std::vector<int64_t> zeros(scales.size(), zero);
  builder.graph.outputs = {
      builder.node("Add", {x, builder.constant(integers, scales, zeros, axis)}, integers.shape())};
  return std::move(builder.graph);
}

using Doubles = std::vector<double>;

TEST(QonnxForm, AQuantHasTheWidthOfTheClip) {
  const auto numbers = [](int zero, ElementType type, int64_t low, int64_t high) {
    return numbers_of(in_qonnx(rounded({0.5f, zero}, type, low, high)));
  };
  EXPECT_EQ(numbers(0, ElementType::kI8, -128, 127), (Doubles{0.5, 0, 8, 1, 0}));
  EXPECT_EQ(numbers(-128, ElementType::kI8, -128, 127), (Doubles{0.5, -128, 8, 1, 0}));
  EXPECT_EQ(numbers(0, ElementType::kI8, -127, 127), (Doubles{0.5, 0, 8, 1, 1}));
  EXPECT_EQ(numbers(-2, ElementType::kI8, -8, 7), (Doubles{0.5, -2, 4, 1, 0}));
  EXPECT_EQ(numbers(0, ElementType::kI8, -1, 1), (Doubles{0.5, 0, 2, 1, 1}));
  EXPECT_EQ(numbers(6, ElementType::kU8, 0, 255), (Doubles{0.5, 6, 8, 0, 0}));
  EXPECT_EQ(numbers(0, ElementType::kI8, 0, 1), (Doubles{0.5, 0, 1, 0, 0}));
  EXPECT_EQ(numbers(0, ElementType::kU8, 0, 14), (Doubles{0.5, 0, 4, 0, 1}));
  // Halves would go the other way with an odd zero point: counted from the other end, it is even.
  EXPECT_EQ(numbers(-3, ElementType::kI8, -128, 127), (Doubles{-0.5, 2, 8, 1, 0}));
  EXPECT_EQ(numbers(5, ElementType::kU8, 0, 15), (Doubles{-0.5, 10, 4, 0, 0}));
}

TEST(QonnxForm, ConstantsAreAsWideAsTheirIntegers) {
  const auto numbers = [](const Tensor& integers, int64_t zero) {
    Graph graph = in_qonnx(constant_sum(integers, {0.25f}, zero));
    EXPECT_EQ(graph.nodes.back().op, "Add");
    graph.nodes.pop_back();
    return numbers_of(graph);
  };
  EXPECT_EQ(numbers(Tensor::of<int8_t>({3}, {-7, 0, 7}), 0), (Doubles{0.25, 0, 4, 1, 0}));
  EXPECT_EQ(numbers(Tensor::of<int8_t>({3}, {-8, 0, 8}), 0), (Doubles{0.25, 0, 5, 1, 0}));
  EXPECT_EQ(numbers(Tensor::of<int8_t>({2}, {0, 0}), 0), (Doubles{0.25, 0, 2, 1, 0}));
  EXPECT_EQ(numbers(Tensor::of<uint8_t>({2}, {3, 200}), 129), (Doubles{0.25, 129, 8, 0, 0}));
  EXPECT_EQ(numbers(Tensor::of<uint8_t>({2}, {0, 3}), 2), (Doubles{0.25, 2, 2, 0, 0}));
  EXPECT_EQ(numbers(Tensor::of<int32_t>({2}, {-100000, 3}), 0), (Doubles{0.25, 0, 32, 1, 0}));
}

// A bias that f32 does not hold to the unit counts in larger ones, if it can.
TEST(QonnxForm, LargeBiasesHaveUnitsOfTheirOwn) {
  const Tensor bias = Tensor::of<int32_t>({3}, {5, 1 << 30, 3 * (1 << 24)});
  const Graph graph = in_qonnx(constant_sum(bias, {0.3f, 0.1f, 0.7f}, 0));
  const Tensor scales = *graph.constant_input(graph.nodes[0], 1);
  EXPECT_EQ(scales.to_floats(), (std::vector<float>{0.3f, 0.1f * 512, 0.7f * 16}));
  const Graph read = parse_onnx(format_onnx(graph));
  EXPECT_EQ(read.constant_input(read.nodes[0], 0)->to_integers(),
            (std::vector<int64_t>{5, 1 << 21, 3 * (1 << 20)}));
}

TEST(QonnxForm, EveryNodeThatHasNoFormIsNamed) {
  const auto error_of = [](const Graph& graph) {
    try {
      in_qonnx(graph);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto mentions = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  mentions(error_of(rounded({0.5f, 0}, ElementType::kI8, -100, 3)),
           "node 'DequantizeLinear' (DequantizeLinear): has integers -100..3, which is the range of no width "
           "up to 8 bits; write the model in QDQ form");
  mentions(error_of(rounded({0.5f, 3}, ElementType::kI8, -7, 7)),
           "has the odd zero point 3 and integers -7..7, which QONNX rounds differently");
  mentions(error_of(rounded({0.5f, 100}, ElementType::kI8, -8, 7)),
           "has the zero point 100 and integers -8..7");
  mentions(error_of(rounded({0.5f, 0}, ElementType::kI16, -32768, 32767)), "integers -32768..32767");
  mentions(error_of(rounded({-0.5f, 0}, ElementType::kI8, -128, 127)), "has the scale -0.5");
  mentions(error_of(constant_sum(Tensor::of<int32_t>({2}, {(1 << 30) + 1, 0}), {0.3f}, 0)),
           "has the constant 1073741825 times 0.3, which f32 does not hold to the unit");

  QdqGraphBuilder builder;
  Graph& graph = builder.graph;
  const Quantization half{0.5f, 0};
  const ValueId x = graph.add_input("x", ElementType::kF32, {4});
  const ValueId integers = graph.add_input("integers", ElementType::kI8, {4});
  const ValueId several = builder.constant(Tensor::of<int8_t>({4}, {1, 2, 3, 4}), {1, 1, 1, 1}, {0, 1, 0, 0});
  const ValueId moved = builder.node("Neg", {builder.quantize(x, half)}, {4}, {}, ElementType::kI8);
  graph.outputs = {builder.dequantize(integers, half),
                   builder.dequantize(builder.quantize(x, half), {0.25f, 0}), several, moved};
  const std::string message = error_of(graph);
  mentions(message, "4 problems");
  mentions(message, "dequantises integers that no QuantizeLinear makes");
  mentions(message, "has another scale or zero point than the QuantizeLinear before it");
  mentions(message, "has several zero points");
  mentions(message, "(QuantizeLinear): its integers are read by something else than a DequantizeLinear");
}

// Quantisers of every width, sign, clip and zero point, written and read: the same numbers, bit for bit,
// halves included.
TEST(QonnxFormClass, QuantisersSurviveTheFile) {
  Random random(test_seed());
  const int64_t cases = test_cases(1000);
  int64_t refused = 0;
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    const bool is_signed = random.chance(0.6), is_narrow = random.chance(0.3);
    const int64_t bits = random.between(is_signed ? 2 : 1, 8), span = int64_t{1} << bits;
    const int64_t low = is_signed ? -span / 2 + is_narrow : 0;
    const int64_t high = (is_signed ? span / 2 : span) - 1 - (!is_signed && is_narrow && bits > 1);
    const int64_t zero = random.between(low, high);
    const ElementType type = is_signed ? ElementType::kI8 : ElementType::kU8;
    const float scale = float(std::ldexp(double(random.between(1, 100)), int(random.between(-9, 3))));
    const Graph graph = rounded({scale, int32_t(zero)}, type, low, high);
    Tensor x(ElementType::kF32, {9});
    for (float& number : x.mutable_data<float>()) number = scale * float(random.between(-600, 600)) / 2;
    try {
      EXPECT_TRUE(run(written_and_read(graph), {x})[0].identical(run(graph, {x})[0]));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
      EXPECT_TRUE(is_narrow && zero % 2 != 0) << error.what();
      ++refused;
    }
  }
  EXPECT_LT(refused, cases / 4);
}

// All constants of the integer network, in order of their use.
std::vector<Tensor> constants_of(const Graph& graph) {
  std::vector<Tensor> constants;
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (const Tensor* constant = graph.constant_input(node, int(i))) constants.push_back(*constant);
    }
  }
  return constants;
}

Tensor drawn(const Shape& shape, Random& random) {
  Tensor tensor(ElementType::kF32, shape);
  for (float& number : tensor.mutable_data<float>()) number = float(random.between(-1000, 1000)) / 1000;
  return tensor;
}

TEST(QonnxFormClass, RandomQuantisedNetworksKeepTheirIntegers) {
  Random random(test_seed());
  const int64_t cases = test_cases(60);
  int64_t quants = 0, negated = 0;
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    const Graph graph = optimize(random_graph(uint64_t(random.between(0, 1 << 30))));
    QuantizeOptions options;
    options.weight_bits = int(random.between(2, 8));
    options.activation_bits = int(random.between(2, 8));
    options.scales = random.chance(0.7) ? ScaleKind::kReal : ScaleKind::kPowerOfTwo;
    options.per_channel = random.chance(0.7);
    options.symmetric_activations = random.chance(0.3);
    Shape shape = graph.value(graph.inputs[0]).shape;
    std::vector<int64_t> stack = shape.dims();
    stack[0] *= 4;
    const std::vector<Tensor> samples = {drawn(Shape(stack), random)};
    const Tensor x = drawn(shape, random);
    const Graph qdq = quantize(graph, samples, options), qonnx = in_qonnx(qdq);
    const Graph read = parse_onnx(format_onnx(qonnx));
    for (const Node& node : qonnx.nodes) {
      if (node.op != "Quant") continue;
      ++quants;
      negated += qonnx.constant_input(node, 1)->number_at(0) < 0;
    }
    const std::vector<Tensor> expected = run(qdq, {x}), found = run(read, {x});
    const Graph integers = integerize(qdq), integers_found = integerize(read);
    const std::vector<Tensor> all = constants_of(integers), all_found = constants_of(integers_found);
    ASSERT_EQ(all.size(), all_found.size());
    for (size_t c = 0; c < all.size(); ++c) ASSERT_TRUE(all[c].identical(all_found[c])) << "constant " << c;
    const std::vector<Tensor> results = run(integers, {x}), results_found = run(integers_found, {x});
    for (size_t o = 0; o < expected.size(); ++o) {
      EXPECT_TRUE(found[o].identical(expected[o])) << "output " << o;
      EXPECT_TRUE(results_found[o].identical(results[o])) << "output " << o << " in integers";
    }
  }
  RecordProperty("quants", int(quants));
  EXPECT_GT(quants, 10 * cases);
  EXPECT_GT(negated, 0) << "no odd zero point was drawn";
}

}  // namespace
}  // namespace tilewright
