// Convolutions: hand-computed values, and the oneDNN path against the plain loops on random geometries.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/host/floating/plain_convolution.h"
#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::contains;
using testing::distance;
using testing::f32;
using testing::run_op;
using Integers = std::vector<int64_t>;

TEST(Convolution, TwoByTwoByHand) {
  const Tensor x = f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), w = f32({1, 1, 2, 2}, {1, 0, 0, -1});
  EXPECT_EQ(run_op("Conv", {x, w, f32({1}, {10})})[0].to_floats(), (std::vector<float>{6, 6, 6, 6}));
  const Tensor same = run_op("Conv", {x, w}, {{"pads", Integers{1, 1, 0, 0}}})[0];
  EXPECT_EQ(same.to_floats(), (std::vector<float>{-1, -2, -3, -4, -4, -4, -7, -4, -4}));
}

TEST(Convolution, TransposedByHand) {
  const Tensor x = f32({1, 1, 1, 2}, {1, 2}), w = f32({1, 1, 1, 3}, {1, 10, 100});
  EXPECT_EQ(run_op("ConvTranspose", {x, w})[0].to_floats(), (std::vector<float>{1, 12, 120, 200}));
  EXPECT_EQ(run_op("ConvTranspose", {x, w, f32({1}, {1})}, {{"strides", Integers{1, 2}}})[0].to_floats(),
            (std::vector<float>{2, 11, 103, 21, 201}));
}

struct Problem {
  Tensor x, w;
  std::optional<Tensor> bias;
  Attributes attributes;
  int64_t group = 1;
  std::string text;
};

Problem random_problem(Random& random, bool transposed) {
  Problem p;
  const int spatial = int(random.between(1, 3));
  p.group = random.chance(0.4) ? random.between(1, 4) : 1;
  const int64_t in = p.group * random.between(1, 5), out_per_group = random.between(1, 5);
  Integers x_dims{random.between(1, 2), in}, w_dims, strides, dilations, begins, ends;
  w_dims = transposed ? Integers{in, out_per_group} : Integers{out_per_group * p.group, in / p.group};
  for (int axis = 0; axis < spatial; ++axis) {
    w_dims.push_back(random.between(1, 4));
    strides.push_back(random.between(1, 3));
    dilations.push_back(random.between(1, 2));
    const int64_t reach = (w_dims.back() - 1) * dilations.back() + 1;
    begins.push_back(random.between(0, reach - 1));
    ends.push_back(random.between(0, reach - 1));
    x_dims.push_back(random.between(std::max<int64_t>(1, reach), reach + 6));
  }
  Integers pads = begins;
  pads.insert(pads.end(), ends.begin(), ends.end());
  p.attributes = {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", p.group}};
  if (transposed) {
    Integers extra;
    for (const int64_t stride : strides) extra.push_back(random.between(0, stride - 1));
    p.attributes["output_padding"] = extra;
  }
  p.x = testing::random_tensor(random, ElementType::kF32, Shape(x_dims));
  p.w = testing::random_tensor(random, ElementType::kF32, Shape(w_dims));
  if (random.chance(0.5)) {
    p.bias = testing::random_tensor(random, ElementType::kF32, Shape{out_per_group * p.group});
  }
  p.text = fmt::format("x {} w {} group {} strides {} dilations {} pads {}", to_string(p.x.shape()),
                       to_string(p.w.shape()), p.group, fmt::join(strides, ","), fmt::join(dilations, ","),
                       fmt::join(pads, ","));
  return p;
}

void compare_with_plain(const char* op, bool transposed, uint64_t seed, int rounds) {
  Random random(seed);
  for (int round = 0; round < rounds; ++round) {
    const Problem p = random_problem(random, transposed);
    SCOPED_TRACE(fmt::format("seed {} round {}: {}", seed, round, p.text));
    Node node;
    node.name = "n";
    node.op = op;
    node.attributes = p.attributes;
    const Window window = transposed ? transposed_window(node, p.x.shape(), p.w.shape())
                                     : convolution_window(node, p.x.shape(), p.w.shape());
    const auto plain = transposed ? plain_transposed_convolution : plain_convolution;
    const Tensor expected = plain(p.x, p.w, p.bias ? &*p.bias : nullptr, window, p.group, 1);
    const Tensor y = run_op(op, {p.x, p.w, p.bias}, p.attributes)[0];
    ASSERT_LE(distance(y, expected), 2e-5);
    // The f64 path is the plain loops on other storage; it also checks their type handling.
    const auto wide = [](const Tensor& t) { return t.cast(ElementType::kF64); };
    const std::optional<Tensor> wide_bias = p.bias ? std::optional(wide(*p.bias)) : std::nullopt;
    ASSERT_LE(distance(run_op(op, {wide(p.x), wide(p.w), wide_bias}, p.attributes)[0], expected), 2e-5);
  }
}

TEST(Convolution, RandomGeometriesMatchPlainLoops) { compare_with_plain("Conv", false, 11, 150); }

TEST(Convolution, RandomTransposedGeometriesMatchPlainLoops) {
  compare_with_plain("ConvTranspose", true, 12, 150);
}

// With the channels last, an addition and a Relu, as a network runs it: rows beyond and within a cache, few
// and many channels, kernels with more padding than oneDNN's generated code takes.
TEST(Convolution, ImagesOfEverySizeMatchPlainLoops) {
  for (int64_t round = 0; round < test_cases(40); ++round) {
    Random random((test_seed() + uint64_t(round)) * 1031 + 17);
    const auto channels = [&] {
      return random.chance(0.6) ? 8 * random.between(1, 18) : random.between(1, 20);
    };
    const auto size = [&] { return random.chance(0.7) ? random.between(1, 3) : random.between(4, 11); };
    const Integers kernel{size(), size()};
    const Shape x{random.between(1, 2), channels(), random.between(1, 9), random.between(1, 200)};
    const Shape w{channels(), x[1], kernel[0], kernel[1]};
    const Integers strides{random.between(1, 2), random.between(1, 2)};
    Integers pads;
    for (int i = 0; i < 4; ++i) pads.push_back(random.between(0, kernel[size_t(i % 2)] - 1));
    for (size_t i = 0; i < 2; ++i) pads[i] = std::max(pads[i], kernel[i] - x[int(i) + 2]);
    SCOPED_TRACE(fmt::format("seed {}: x {} w {} strides {} pads {}", test_seed() + uint64_t(round),
                             to_string(x), to_string(w), fmt::join(strides, ","), fmt::join(pads, ",")));

    Graph graph;
    const ValueId input = graph.add_input("x", ElementType::kF32, x);
    const Tensor weights = testing::random_tensor(random, ElementType::kF32, w);
    const ValueId constant = graph.add_constant("w", weights);
    const Attributes attributes = {{"strides", strides}, {"pads", pads}};
    Node node;
    node.attributes = attributes;
    const Window window = convolution_window(node, x, w);
    const Shape y = window.output_shape(x[0], w[0]);
    const ValueId sum = graph.add_value("y", ElementType::kF32, y);
    graph.add_node("conv", "Conv", {input, constant}, {sum}).attributes = attributes;
    graph.outputs = {sum};
    const bool adds = random.chance(0.5);
    if (adds) {
      const ValueId other = graph.add_input("other", ElementType::kF32, y);
      const ValueId added = graph.add_value("added", ElementType::kF32, y);
      graph.add_node("add", "Add", {sum, other}, {added});
      graph.outputs = {added};
    }
    std::vector<Tensor> inputs{testing::random_tensor(random, ElementType::kF32, x)};
    if (adds) inputs.push_back(testing::random_tensor(random, ElementType::kF32, y));
    Tensor expected = plain_convolution(inputs[0], weights, nullptr, window, 1, 1);
    for (int64_t i = 0; adds && i < expected.size(); ++i)
      expected.set_number(i, expected.number_at(i) + inputs[1].number_at(i));
    const double tolerance = 1e-5 + 3e-7 * double(w.element_count() / w[0]);  // f32 sums in another order
    const Executor executor(graph);
    EXPECT_LE(distance(executor.run(inputs)[0], expected), tolerance);
    EXPECT_LE(distance(executor.run(inputs)[0], expected), tolerance);
  }
}

// <A * x, y> = <x, A^T * y>: the two plain loops check each other.
TEST(Convolution, TransposedIsTheAdjoint) {
  Random random(13);
  const Tensor x = testing::random_tensor(random, ElementType::kF32, Shape{1, 4, 9, 7});
  const Tensor w = testing::random_tensor(random, ElementType::kF32, Shape{6, 2, 3, 2});
  const Attributes attributes = {
      {"strides", Integers{2, 1}}, {"pads", Integers{1, 0, 1, 1}}, {"group", int64_t{2}}};
  const Tensor ax = run_op("Conv", {x, w}, attributes)[0];
  const Tensor y = testing::random_tensor(random, ElementType::kF32, ax.shape());
  const Tensor aty = run_op("ConvTranspose", {y, w}, attributes)[0];
  ASSERT_EQ(aty.shape(), x.shape());
  double left = 0, right = 0;
  for (int64_t i = 0; i < ax.size(); ++i) left += ax.number_at(i) * y.number_at(i);
  for (int64_t i = 0; i < x.size(); ++i) right += x.number_at(i) * aty.number_at(i);
  EXPECT_NEAR(left, right, 1e-4);
}

TEST(Convolution, HalfAndEmptyBatch) {
  const Tensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4}).cast(ElementType::kF16);
  const Tensor w = f32({1, 1, 2, 2}, {1, 1, 1, 1}).cast(ElementType::kBF16).cast(ElementType::kF16);
  const Tensor y = run_op("Conv", {x, w})[0];
  EXPECT_EQ(y.type(), ElementType::kF16);
  EXPECT_EQ(y.number_at(0), 10);
  const Tensor none(ElementType::kF32, Shape{0, 1, 4, 4});
  EXPECT_EQ(run_op("Conv", {none, f32({1, 1, 1, 1}, {1})})[0].shape(), (Shape{0, 1, 4, 4}));
}

TEST(Convolution, RejectsOperandsThatDoNotFit) {
  const Tensor x(ElementType::kF32, Shape{1, 4, 5, 5}), w(ElementType::kF32, Shape{6, 2, 3, 3});
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Conv", {x, w});
               }),
               "weights f32[6x2x3x3] do not fit data f32[1x4x5x5] in 1 groups");
  EXPECT_PRED2(contains, error_text([&] { run_op("Conv", {x, w}, {{"group", int64_t{0}}}); }), "in 0 groups");
  const Attributes two = {{"group", int64_t{2}}};
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Conv", {x, w, Tensor(ElementType::kF32, Shape{5})}, two);
               }),
               "the bias is f32[5], not f32[6]");
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Conv", {x, std::nullopt});
               }),
               "data and weights are needed");
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Conv", {Tensor(ElementType::kI8, Shape{1, 4, 5, 5}), w}, two);
               }),
               "element type i8 is not supported");
}

}  // namespace
}  // namespace tilewright
