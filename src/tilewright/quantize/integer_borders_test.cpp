// Random ends of networks: what integers of the border stand for, row by row of the table of borders, is what
// the file with real borders gives.
#include "tilewright/quantize/integer_borders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/calibrate/quantization.h"

namespace tilewright {
namespace {

struct End {
  Graph graph;
  Random random;

  explicit End(uint64_t seed) : random(seed) {}

  ValueId node(const std::string& op, std::vector<ValueId> inputs, Shape shape, ElementType type,
               Attributes attributes = {}) {
    const std::string name = fmt::format("{}{}", op, graph.nodes.size());
    const ValueId y = graph.add_value(name, type, std::move(shape));
    graph.add_node(name, op, std::move(inputs), {y}, "").attributes = std::move(attributes);
    return y;
  }
  const Shape& shape(ValueId v) const { return graph.value(v).shape; }

  // An input, quantised by numbers of its own or those of the input before.
  ValueId part(const Shape& shape) {
    const ValueId x = graph.add_input(fmt::format("x{}", graph.inputs.size()), ElementType::kF32, shape);
    if (graph.inputs.size() == 1 || random.chance(0.7)) {
      scale = graph.add_constant(fmt::format("s{}", x), Tensor::scalar(float(random.between(1, 64)) / 64));
      zero =
          graph.add_constant(fmt::format("z{}", x), Tensor::of<int8_t>({}, {int8_t(random.between(-9, 9))}));
    }
    const ValueId q = node("QuantizeLinear", {x, scale, zero}, shape, ElementType::kI8);
    return node("DequantizeLinear", {q, scale, zero}, shape, ElementType::kF32);
  }
  ValueId transposed(ValueId x, const std::vector<int64_t>& perm) {
    std::vector<int64_t> dims;
    for (const int64_t axis : perm) dims.push_back(shape(x)[size_t(axis)]);
    return node("Transpose", {x}, Shape(dims), ElementType::kF32, {{"perm", perm}});
  }
  ValueId concat(const std::vector<ValueId>& parts, int64_t axis) {
    std::vector<int64_t> dims = shape(parts[0]).dims();
    for (size_t i = 1; i < parts.size(); ++i) dims[size_t(axis)] += shape(parts[i])[size_t(axis)];
    return node("Concat", parts, Shape(dims), ElementType::kF32,
                {{"axis", random.chance(0.5) ? axis : axis - int64_t(dims.size())}});
  }
  ValueId reshaped(ValueId x, const Shape& to) {
    Tensor dims(ElementType::kI64, {int64_t(to.rank())});
    for (int64_t i = 0; i < dims.size(); ++i) dims.set_integer(i, to[size_t(i)]);
    return node("Reshape", {x, graph.add_constant(fmt::format("to{}", x), std::move(dims))}, to,
                ElementType::kF32);
  }
  // [1, 6, 4] of [1, 2, 3, 4], or of itself turned.
  ValueId piece() {
    if (random.chance(0.5)) {
      return reshaped(part({1, 2, 3, 4}), {1, 6, 4});
    }
    return random.chance(0.5) ? transposed(part({1, 4, 6}), {0, 2, 1}) : part({1, 6, 4});
  }

  ValueId scale = kNoValue, zero = kNoValue;
};

std::vector<Tensor> samples(const Graph& graph, Random& random) {
  std::vector<Tensor> result;
  for (const ValueId v : graph.inputs) {
    Tensor x(ElementType::kF32, graph.value(v).shape);
    for (float& number : x.mutable_data<float>()) number = float(random.between(-4000, 4000)) / 64;
    result.push_back(std::move(x));
  }
  return result;
}

const IntegerBorder& border_at(const std::vector<IntegerBorder>& borders, const std::string& name,
                               const Shape& shape, int64_t index) {
  for (const IntegerBorder& border : borders) {
    if (border.name != name) continue;
    if (border.axis < 0) return border;
    const int64_t position =
        index / shape.count(int(border.axis) + 1, int(shape.rank())) % shape[size_t(border.axis)];
    if (border.begin <= position && position < border.end) return border;
  }
  throw std::logic_error("no border for a position");
}

std::vector<Tensor> quantized(const std::vector<Tensor>& images, const Graph& integer,
                              const std::vector<IntegerBorder>& borders) {
  std::vector<Tensor> result;
  for (size_t i = 0; i < images.size(); ++i) {
    const IntegerBorder& border = border_at(borders, integer.value(integer.inputs[i]).name, {}, 0);
    Tensor q(ElementType::kI8, images[i].shape());
    for (int64_t k = 0; k < q.size(); ++k) {
      const Quantization numbers{float(border.scale), int32_t(border.zero_point)};
      q.set_integer(k, quantize_number(images[i].data<float>()[size_t(k)], numbers, -128, 127));
    }
    result.push_back(std::move(q));
  }
  return result;
}

// A value with two readers, numbers that are made anew, and parts that a Reshape scatters stay real.
TEST(IntegerBorders, WhatDoesNotOnlyMoveStaysReal) {
  for (const char* kind : {"read twice", "scattered", "negated"}) {
    End end(3);
    ValueId y = end.concat({end.part({1, 2, 4}), end.part({1, 3, 4})}, 1);
    if (std::string(kind) == "read twice") end.graph.outputs = {y, end.transposed(y, {2, 1, 0})};
    if (std::string(kind) == "scattered") end.graph.outputs = {end.reshaped(y, {1, 4, 5})};
    if (std::string(kind) == "negated")
      end.graph.outputs = {end.node("Neg", {y}, end.shape(y), ElementType::kF32)};
    const Graph integer = with_integer_borders(end.graph);
    for (const ValueId output : integer.outputs)
      EXPECT_EQ(integer.value(output).type, ElementType::kF32) << kind;
  }
}

TEST(IntegerBorders, RandomPartsKeepTheirScales) {
  const uint64_t seed = test_seed();
  int joined = 0;
  for (uint64_t round = 0; round < 200; ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << " round " << round);
    End end(seed * 1000 + round);
    std::vector<ValueId> parts;
    const int64_t count = end.random.between(1, 4);
    for (int64_t i = 0; i < count; ++i) parts.push_back(end.piece());
    ValueId y = count == 1 ? parts[0] : end.concat(parts, end.random.between(1, 2));
    if (end.random.chance(0.6)) y = end.transposed(y, {2, 0, 1});
    end.graph.outputs = {y};
    std::vector<IntegerBorder> borders;
    const Graph integer = with_integer_borders(end.graph, &borders);
    Diagnostics problems;
    verify(integer, problems);
    ASSERT_TRUE(problems.ok());
    ASSERT_EQ(integer.value(integer.outputs[0]).type, ElementType::kI8);
    ASSERT_EQ(integer.value(integer.outputs[0]).name, end.graph.value(y).name);
    const std::vector<Tensor> images = samples(end.graph, end.random);
    const Tensor expected = run(end.graph, images)[0],
                 got = run(integer, quantized(images, integer, borders))[0];
    ASSERT_EQ(got.shape(), expected.shape());
    for (int64_t i = 0; i < got.size(); ++i) {
      const IntegerBorder& border = border_at(borders, end.graph.value(y).name, got.shape(), i);
      joined += border.axis >= 0;
      ASSERT_EQ(float(border.scale) * float(got.integer_at(i) - border.zero_point),
                float(expected.number_at(i)));
    }
  }
  EXPECT_GT(joined, 1000);  // numbers in parts
}

}  // namespace
}  // namespace tilewright
