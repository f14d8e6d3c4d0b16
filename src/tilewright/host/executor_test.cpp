#include "tilewright/host/executor.h"

#include <gtest/gtest.h>

#include "tilewright/host/half_conversion.h"
#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

// x[2,3] -> Flatten(0) -> Identity -> y
Graph two_nodes() {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, Shape{2, 3});
  const ValueId flat = graph.add_value("flat", ElementType::kF32, Shape{1, 6});
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{1, 6});
  graph.add_node("flatten", "Flatten", {x}, {flat}).attributes["axis"] = int64_t{0};
  graph.add_node("copy", "Identity", {flat}, {y});
  graph.outputs = {y};
  return graph;
}

using testing::contains;

TEST(Executor, RunsInOrderAndObservesEveryValue) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Executor executor(two_nodes());
  std::vector<std::string> seen;
  const auto outputs =
      executor.run({x}, [&](ValueId id, const Tensor&) { seen.push_back(executor.graph().value(id).name); });
  EXPECT_EQ(seen, (std::vector<std::string>{"x", "flat", "y"}));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(outputs[0].identical(x.reshaped({1, 6})));
}

TEST(Executor, RejectsWrongInputsByName) {
  const Executor executor(two_nodes());
  EXPECT_PRED2(contains, error_text([&] { executor.run({}); }),
               "the model has 1 inputs ('x' f32[2x3]), 0 given");
  EXPECT_PRED2(contains, error_text([&] {
                 executor.run({Tensor(ElementType::kI8, Shape{2, 4})});
               }),
               "input 'x': expected f32[2x3], given i8[2x4]");
}

TEST(Executor, NamesAllMissingKernelsAtOnce) {
  Graph graph = two_nodes();
  graph.nodes[0].op = "Einsum";
  graph.nodes[1].domain = "acme";
  try {
    Executor{graph};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_PRED2(contains, error.what(), "node 'flatten' (Einsum): the host engine has no such");
    EXPECT_PRED2(contains, error.what(), "node 'copy' (Identity)");
    EXPECT_PRED2(contains, error.what(), "domain 'acme'");
  }
}

TEST(Executor, AFailingNodeIsNamed) {
  Graph graph = two_nodes();
  graph.nodes[0].attributes["axis"] = int64_t{7};
  EXPECT_PRED2(contains, error_text([&] {
                 run(graph, {Tensor(ElementType::kF32, Shape{2, 3})});
               }),
               "node 'flatten' (Flatten)");
  graph = two_nodes();
  graph.value(1).shape = Shape{6};
  EXPECT_PRED2(contains, error_text([&] {
                 run(graph, {Tensor(ElementType::kF32, Shape{2, 3})});
               }),
               "output 'flat' is f32[1x6] but the model declares f32[6]");
}

TEST(Executor, EvaluatesOneNode) {
  const Graph graph = two_nodes();
  const Tensor x(ElementType::kF32, Shape{2, 3});
  const Tensor* inputs[] = {&x};
  EXPECT_EQ(evaluate(graph, graph.nodes[0], inputs)[0].shape(), (Shape{1, 6}));
}

TEST(Executor, AnInputOrConstantMayBeAnOutput) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1});
  const ValueId c = graph.add_constant("c", Tensor::of<float>({1}, {3}));
  graph.outputs = {c, x, x};
  const auto outputs = run(graph, {Tensor::of<int8_t>({1}, {5})});
  EXPECT_EQ(outputs[0].number_at(0), 3);
  EXPECT_EQ(outputs[1].integer_at(0), 5);
  EXPECT_EQ(outputs[2].integer_at(0), 5);
}

TEST(Executor, HalfGraphsRunInFloatAndRoundWhereTheyLeave) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF16, Shape{2});
  const ValueId big = graph.add_constant("big", Tensor::scalar(1000.0f).cast(ElementType::kF16));
  const ValueId product = graph.add_value("product", ElementType::kF16, Shape{2});
  const ValueId y = graph.add_value("y", ElementType::kF16, Shape{2});
  graph.add_node("mul", "Mul", {x, big}, {product});
  graph.add_node("div", "Div", {product, big}, {y});
  graph.outputs = {y};
  const Tensor in = Tensor::of<float>({2}, {100, -3}).cast(ElementType::kF16);
  std::vector<ElementType> types;
  const auto outputs =
      Executor(graph).run({in}, [&](ValueId, const Tensor& tensor) { types.push_back(tensor.type()); });
  // 100 * 1000 is beyond f16, but not beyond f32.
  EXPECT_TRUE(outputs[0].identical(in));
  EXPECT_EQ(types, std::vector<ElementType>(3, ElementType::kF16));
}

TEST(Executor, RefusesValuesBeyondItsLimit) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1});
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{1 << 20, 1 << 20});
  graph.add_node("n", "Identity", {x}, {y});
  graph.outputs = {y};
  const std::string message = "value 'y': f32[1048576x1048576] is beyond 8 GiB";
  EXPECT_PRED2(contains, error_text([&] { Executor{graph}; }), message);
  const Tensor one(ElementType::kI8, Shape{1});
  const Tensor* inputs[] = {&one};
  EXPECT_PRED2(contains, error_text([&] { evaluate(graph, graph.nodes[0], inputs); }), message);
}

TEST(HalfConversion, RoundTripsEveryValue) {
  Tensor all(ElementType::kF16, Shape{1 << 16});
  for (int bits = 0; bits < 1 << 16; ++bits) all.mutable_data<Half>()[size_t(bits)].bits = uint16_t(bits);
  const Tensor wide = widen_half(all);
  const Tensor back = narrow_to_half(wide, ElementType::kF16);
  for (size_t bits = 0; bits < size_t{1} << 16; ++bits) {
    const bool nan = wide.data<float>()[bits] != wide.data<float>()[bits];
    if (!nan) {
      ASSERT_EQ(back.data<Half>()[bits].bits, bits);
    }
  }
}

}  // namespace
}  // namespace tilewright
