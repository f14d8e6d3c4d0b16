// Operators that move, pad and clip what is quantised, and the outputs of such graphs: the integer graph has
// the names of the source and gives its very numbers.
#include <gtest/gtest.h>

#include "support/quantize/qdq_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {
namespace {

using Ints = std::vector<int64_t>;

struct MovementGraph : QdqGraphBuilder {
  ValueId scalar(float number) { return graph.add_constant("number", Tensor::scalar(number)); }
  // `before` and `after` on axes 2 and 3; `number` may be absent.
  ValueId pad(ValueId v, int64_t before, int64_t after, ValueId number,
              const std::string& mode = "constant") {
    const Shape x = graph.value(v).shape;
    std::vector<ValueId> inputs{
        v, graph.add_constant("pads", Tensor::of<int64_t>({8}, {0, 0, before, before, 0, 0, after, after}))};
    if (number != kNoValue) inputs.push_back(number);
    return node("Pad", inputs, {x[0], x[1], x[2] + before + after, x[3] + before + after}, {{"mode", mode}});
  }
  ValueId clip(ValueId v, float low, float high) {
    return node("Clip", {v, scalar(low), scalar(high)}, graph.value(v).shape);
  }
  // Where(v >= 0, scale, -scale).
  ValueId sign(ValueId v, float scale) {
    const Shape shape = graph.value(v).shape;
    const ValueId positive = node("GreaterOrEqual", {v, scalar(0)}, shape, {}, ElementType::kBool);
    return node("Where", {positive, scalar(scale), scalar(-scale)}, shape);
  }
  // A 1 x 1 convolution of 2 to 2 channels, its sums multiples of the scale of what comes in.
  ValueId convolution(ValueId v) {
    const Tensor weights = Tensor::of<int8_t>({2, 2, 1, 1}, {1, -2, 3, 1});
    return node("Conv", {v, constant(weights, {1, 2}, {0, 0})}, graph.value(v).shape);
  }
};

// Every i8 and u8 number in turn, and floats around 0.
std::vector<Tensor> inputs_of(const Graph& graph, Random& random) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    Tensor x(graph.value(id).type, graph.value(id).shape);
    for (int64_t i = 0; i < x.size(); ++i) {
      if (is_integer(x.type())) {
        x.set_integer(i, random.between(lowest(x.type()), highest(x.type())));
      } else {
        x.set_number(i, 4 * random.uniform() - 2);
      }
    }
    inputs.push_back(std::move(x));
  }
  return inputs;
}

void expect_same(const Graph& source, Random& random) {
  const Graph integer = integerize(source);
  Diagnostics problems;
  verify(integer, problems);
  ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
  ASSERT_EQ(integer.outputs.size(), source.outputs.size());
  const std::vector<Tensor> inputs = inputs_of(source, random);
  const std::vector<Tensor> wanted = run(source, inputs), found = run(integer, inputs);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Value &before = source.value(source.outputs[i]), &after = integer.value(integer.outputs[i]);
    EXPECT_EQ(after.name, before.name);
    EXPECT_EQ(after.type, before.type);
    ASSERT_EQ(found[i].shape(), wanted[i].shape());
    for (int64_t e = 0; e < wanted[i].size(); ++e) {
      ASSERT_EQ(found[i].number_at(e), wanted[i].number_at(e)) << before.name << ", element " << e;
    }
  }
}

// Through activations and signs a Pad writes what they make of its number.
TEST(Movement, PadsInsideTheWantedForm) {
  const Quantization q{0.25f, 0};
  Random random(test_seed());
  for (const float number : {-0.36f, 0.0f, 0.2f, 0.25f, 40.0f}) {
    for (const bool convolved : {false, true}) {
      for (const char* then : {"Relu", "Clip", "sign", "nothing"}) {
        MovementGraph g;
        ValueId v = g.dequantize(g.graph.add_input("x", ElementType::kI8, {1, 2, 2, 2}), q);
        if (convolved) v = g.convolution(v);
        v = g.pad(v, 1, 1, g.scalar(number));
        const std::string name = then;
        if (name == "Relu") v = g.node("Relu", {v}, g.graph.value(v).shape);
        if (name == "Clip") v = g.clip(v, 1, 6);
        g.graph.outputs = {name == "sign" ? g.sign(v, 0.5f) : g.rounded(v, q)};
        SCOPED_TRACE(name + " of " + std::to_string(number) + (convolved ? ", convolved" : ""));
        expect_same(g.graph, random);
      }
    }
  }
}

// The sign of a part that is not quantised is taken in float.
TEST(Movement, SignsOfJoinedParts) {
  Random random(test_seed());
  for (const bool convolved : {false, true}) {
    MovementGraph g;
    ValueId v = g.dequantize(g.graph.add_input("x", ElementType::kI8, {1, 2, 2, 2}), {0.25f, 3});
    if (convolved) v = g.convolution(v);
    const ValueId real = g.graph.add_input("real", ElementType::kF32, {1, 2, 2, 2});
    g.graph.outputs = {g.sign(g.node("Concat", {v, real}, {1, 4, 2, 2}, {{"axis", int64_t{1}}}), 0.5f)};
    expect_same(g.graph, random);
  }
}

TEST(Movement, OutputsKeepTheirNames) {
  const Quantization q{0.25f, 3};
  MovementGraph g;
  const ValueId x = g.graph.add_input("x", ElementType::kI8, {1, 2});
  const ValueId real = g.dequantize(x, q), turned = g.node("Transpose", {real}, {2, 1});
  const ValueId twice = g.quantize(turned, q), same = g.quantize(turned, q);
  g.graph.outputs = {g.quantize(real, q), twice, same, twice, g.quantize(real, q)};
  Random random(test_seed());
  expect_same(g.graph, random);
  // Nothing is copied that can have the name itself.
  g.graph.outputs = {twice};
  const Graph integer = integerize(g.graph);
  ASSERT_EQ(integer.nodes.size(), 1u);
  EXPECT_EQ(integer.nodes[0].op, "Transpose");
}

// A random operator after `v`, f32 of rank 4.
ValueId random_movement(MovementGraph& g, ValueId v, Random& random) {
  const Shape shape = g.graph.value(v).shape;
  const auto number = [&] { return float(8 * random.uniform() - 4); };
  switch (random.between(0, 6)) {
    case 0: {
      const char* modes[] = {"constant", "reflect", "edge"};
      const ValueId written = random.chance(0.2) ? kNoValue : g.scalar(random.chance(0.3) ? 0 : number());
      return g.pad(v, random.between(0, 1), random.between(0, 1), written, modes[random.between(0, 2)]);
    }
    case 1:
      return g.node("Relu", {v}, shape);
    case 2:
      return g.clip(v, number(), number());
    case 3:
      return g.node("Transpose", {v}, {shape[0], shape[1], shape[3], shape[2]}, {{"perm", Ints{0, 1, 3, 2}}});
    case 4:
      return shape[2] < 3 ? v
                          : g.node("MaxPool", {v}, {shape[0], shape[1], shape[2] - 1, shape[3] - 1},
                                   {{"kernel_shape", Ints{2, 2}}});
    case 5: {
      const ValueId real = g.graph.add_input("real", ElementType::kF32, shape);
      return g.node("Concat", {v, real}, {shape[0], 2 * shape[1], shape[2], shape[3]},
                    {{"axis", int64_t{1}}});
    }
    default:
      return g.node("Identity", {v}, shape);
  }
}

TEST(MovementClass, IntegersKeepNumbersAndNames) {
  Random random(test_seed());
  const int64_t cases = test_cases(400);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    MovementGraph g;
    const ElementType type = random.chance(0.7) ? ElementType::kI8 : ElementType::kU8;
    const Quantization q{float(0.02 + random.uniform() * 0.1),
                         int32_t(random.between(lowest(type), highest(type)))};
    ValueId v = g.dequantize(g.graph.add_input("x", type, {1, 1, 3, 3}), q);
    std::vector<ValueId> results;
    for (int64_t steps = random.between(0, 4); steps > 0; --steps) {
      v = random_movement(g, v, random);
      if (random.chance(0.2)) v = g.rounded(v, q, type);
      if (random.chance(0.2)) results.push_back(g.quantize(v, q, type));
    }
    for (int64_t more = random.between(1, 2); more > 0; --more) {
      const int64_t kind = random.between(0, 2);
      results.push_back(kind == 0   ? g.quantize(v, q, type)
                        : kind == 1 ? g.rounded(v, q, type)
                                    : g.sign(v, 0.5f));
    }
    if (random.chance(0.3)) {  // a name that the integer form would give to another value
      const std::string taken =
          g.graph
              .value(g.graph.nodes[size_t(random.between(0, int64_t(g.graph.nodes.size()) - 1))].outputs[0])
              .name;
      g.graph.value(results.back()).name = taken + (random.chance(0.5) ? "_integer" : "_source");
    }
    g.graph.outputs = results;
    ASSERT_NO_FATAL_FAILURE(expect_same(g.graph, random));
  }
}

}  // namespace
}  // namespace tilewright
