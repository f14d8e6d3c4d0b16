#include "tilewright/graph/inference/shape_inference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"

namespace tilewright::testing {
namespace {

using enum ElementType;

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& problem : diagnostics.errors()) text += to_string(problem) + "\n";
  return text;
}

// Builds chains: each call adds a node and returns its output.
struct Builder {
  Graph graph;
  ValueId add(const char* op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const ValueId y = graph.add_value(std::string("v_") + op, kF32, {});
    graph.add_node(op, op, std::move(inputs), {y}).attributes = std::move(attributes);
    return y;
  }
  ValueId list(std::initializer_list<int64_t> values) {
    return graph.add_constant("list", Tensor::of<int64_t>({int64_t(values.size())}, values));
  }
  ValueId scalar(int64_t value) { return graph.add_constant("scalar", Tensor::scalar<int64_t>(value)); }
  std::string shape_of(ValueId id) {
    Diagnostics diagnostics;
    infer_shapes(graph, diagnostics);
    return diagnostics.ok() ? to_string(graph.value(id).type, graph.value(id).shape) : text_of(diagnostics);
  }
};

// Reshape of an input with as many elements as `shape` lists to the shape computed by the value `shape`.
std::string reshape_to(Builder& b, ValueId shape, Shape input) {
  const ValueId x = b.graph.add_input("data", kF32, std::move(input));
  return b.shape_of(b.add("Reshape", {x, shape}));
}

TEST(ShapeInference, EvaluatesTheShapesThatExportersCompute) {
  Builder b;  // view(x.size(0), -1), as PyTorch exports it
  const ValueId x = b.graph.add_input("x", kF32, {5, 3, 4, 4});
  const ValueId batch = b.add("Gather", {b.add("Shape", {x}), b.scalar(0)}, {{"axis", int64_t{0}}});
  const ValueId shape =
      b.add("Concat", {b.add("Unsqueeze", {batch, b.list({0})}), b.list({-1})}, {{"axis", int64_t{0}}});
  EXPECT_EQ(b.shape_of(b.add("Reshape", {x, shape})), "f32[5x48]");
}

TEST(ShapeInference, EvaluatesInterpolationSizes) {
  Builder b;  // floor(float(size) * 2) of the last two axes
  const ValueId x = b.graph.add_input("x", kF32, {1, 3, 7, 9});
  const ValueId sizes = b.add("Slice", {b.add("Shape", {x}), b.list({2}), b.list({4}), b.list({0})});
  const ValueId scale = b.graph.add_constant("scale", Tensor::scalar<float>(2.5f));
  const ValueId scaled = b.add("Mul", {b.add("Cast", {sizes}, {{"to", int64_t{1}}}), scale});
  const ValueId whole = b.add("Cast", {b.add("Floor", {scaled})}, {{"to", int64_t{7}}});
  const ValueId all = b.add("Concat", {b.list({1, 3}), whole}, {{"axis", int64_t{0}}});
  EXPECT_EQ(b.shape_of(b.add("Resize", {x, kNoValue, kNoValue, all})), "f32[1x3x17x22]");
}

TEST(ShapeInference, EvaluatesEveryListedOperator) {
  const auto check = [](const char* want, Shape input, auto make) {
    Builder b;
    EXPECT_EQ(reshape_to(b, make(b), std::move(input)), want);
  };
  check("f32[2x3]", {6}, [](Builder& b) { return b.add("Add", {b.list({1, 2}), b.scalar(1)}); });
  check("f32[2x3]", {6}, [](Builder& b) { return b.add("Sub", {b.list({3, 4}), b.scalar(1)}); });
  check("f32[2x3]", {6}, [](Builder& b) { return b.add("Div", {b.list({5, 7}), b.scalar(2)}); });
  check("f32[2x1]", {2}, [](Builder& b) { return b.add("Mod", {b.list({5, -2}), b.scalar(3)}); });
  check("f32[3x4]", {12}, [](Builder& b) { return b.add("Max", {b.list({1, 4}), b.scalar(3)}); });
  check("f32[1x3]", {3}, [](Builder& b) { return b.add("Min", {b.list({1, 4}), b.scalar(3)}); });
  check("f32[2x3]", {6}, [](Builder& b) { return b.add("Neg", {b.list({-2, -3})}); });
  check("f32[2x2]", {4}, [](Builder& b) {
    return b.add("ConstantOfShape", {b.list({2})}, {{"value", Tensor::of<int64_t>({1}, {2})}});
  });
  check("f32[2x4x6]", {48}, [](Builder& b) {
    return b.add("Range", {b.scalar(2), b.scalar(7), b.scalar(2)});
  });
  check("f32[3x3]", {9}, [](Builder& b) { return b.add("Expand", {b.list({3}), b.list({2})}); });
  check("f32[4x3x2]", {24}, [](Builder& b) {
    return b.add("Slice", {b.list({2, 3, 4}), b.list({-1}), b.list({-9}), b.list({0}), b.list({-1})});
  });
  check("f32[3x2]", {6}, [](Builder& b) { return b.add("Gather", {b.list({2, 3}), b.list({1, -2})}); });
  check("f32[6]", {2, 3}, [](Builder& b) {
    return b.add("Reshape", {b.add("ReduceProd", {b.list({2, 3})}), b.list({-1})});
  });
  check("f32[5]", {5}, [](Builder& b) { return b.add("ReduceSum", {b.list({2, 3}), b.list({0})}); });
  check("f32[3]", {3}, [](Builder& b) { return b.add("ReduceMax", {b.list({2, 3})}); });
  check("f32[7x3]", {21}, [](Builder& b) {
    const ValueId same = b.add("Equal", {b.list({-1, 3}), b.list({-1, -1})});
    return b.add("Where", {same, b.list({7, 8}), b.list({2, 3})});
  });
  check("f32[3x2]", {6}, [](Builder& b) {
    const ValueId matrix = b.add("Reshape", {b.list({3, 9, 2, 9}), b.list({2, 2})});
    const ValueId column = b.add("Slice", {b.add("Transpose", {matrix}), b.list({0}), b.list({1})});
    return b.add("Squeeze", {b.add("Identity", {column}), b.list({0})});
  });
  check("f32[24]", {2, 3, 4}, [](Builder& b) {
    const ValueId count = b.add("Size", {b.graph.add_input("other", kF32, {2, 12})});
    return b.add("Unsqueeze", {count, b.list({0})});
  });
  check("f32[3]", {3}, [](Builder& b) {
    const ValueId up = b.add("Ceil", {b.graph.add_constant("f", Tensor::of<float>({1}, {2.25f}))});
    return b.add("Cast", {up}, {{"to", int64_t{7}}});
  });
  check("f32[2x3]", {6}, [](Builder& b) { return b.add("Constant", {}, {{"value_ints", Ints{2, 3}}}); });
}

TEST(ShapeInference, WhatWouldOverflowIsNotKnown) {
  Builder b;
  const ValueId big = b.add("Mul", {b.list({INT64_MAX}), b.list({2})});
  EXPECT_EQ(reshape_to(b, big, {4}),
            "node 'Reshape' (Reshape): input 1 ('v_Mul') is not constant: the shape depends on the data; "
            "shapes must "
            "follow from the shapes of the graph inputs\n");
  Builder c;
  EXPECT_NE(reshape_to(c, c.add("Div", {c.list({4}), c.list({0})}), {4}).find("is not constant"),
            std::string::npos);
}

TEST(ShapeInference, HugeShapesCostNothing) {
  Builder b;
  const ValueId x = b.add("ConstantOfShape", {b.list({1 << 20, 1 << 16})});
  EXPECT_EQ(b.shape_of(b.add("Relu", {x})), "f32[1048576x65536]");
  Builder c;
  EXPECT_EQ(c.shape_of(c.add("ConstantOfShape", {c.list({1 << 20, 1 << 20})})),
            "node 'ConstantOfShape' (ConstantOfShape): output 'v_ConstantOfShape' has shape 1048576x1048576 "
            "with over "
            "2^37 elements\n");
}

TEST(ShapeInference, ReportsEachFailedNodeOnceAndNothingBehindIt) {
  Builder b;
  const ValueId x = b.graph.add_input("x", kF32, {2, 3});
  const ValueId bad = b.add("MatMul", {x, x});
  const ValueId behind = b.add("Relu", {b.add("Sigmoid", {bad})});
  const ValueId other = b.add("Frobnicate", {x});
  b.add("Add", {behind, other});
  b.add("Softmax", {x}, {{"axis", int64_t{5}}});
  EXPECT_EQ(b.shape_of(behind),
            "node 'MatMul' (MatMul): 2x3 times 2x3: the inner sizes differ\n"
            "node 'Frobnicate' (Frobnicate): operator is not supported; use supported operators when "
            "exporting the model\n"
            "node 'Softmax' (Softmax): axis 5 is outside -2..1\n");
}

TEST(ShapeInference, ChecksWhatAReaderDeclared) {
  Builder b;
  const ValueId x = b.graph.add_input("x", kF32, {2, 3});
  const ValueId y = b.add("Relu", {x});
  b.graph.value(y).shape = {2, 4};
  EXPECT_EQ(b.shape_of(y),
            "node 'Relu' (Relu): output 'v_Relu' is declared as f32[2x4], but is f32[2x3]; the file "
            "contradicts itself\n");
  b.graph.value(y).shape = {-1, 3};
  EXPECT_EQ(b.shape_of(y), "f32[2x3]");
  b.graph.value(y).type = kI64;
  EXPECT_EQ(b.shape_of(y),
            "node 'Relu' (Relu): output 'v_Relu' is declared as i64[2x3], but is f32[2x3]; the file "
            "contradicts itself\n");
  Diagnostics diagnostics;
  infer_shapes(b.graph, diagnostics, Declared::kReplace);
  EXPECT_TRUE(diagnostics.ok());
  EXPECT_EQ(b.graph.value(y).type, kF32);
}

TEST(ShapeInference, UnboundInputsAreNamed) {
  Builder b;
  const ValueId x = b.graph.add_input("image", kF32, {-1, 3});
  EXPECT_EQ(b.shape_of(b.add("Relu", {x})),
            "graph input 'image': has shape -1x3 with a negative size; give it a fixed shape, for example "
            "with --shape "
            "NAME=1x3x224x224\n");
}

TEST(ShapeInference, BrokenStructureIsReportedNotFollowed) {
  Builder b;
  const ValueId x = b.graph.add_input("x", kF32, {2, 3});
  b.add("Relu", {77});
  const ValueId later = b.graph.add_value("later", kF32, {});
  b.add("Relu", {later});
  b.graph.add_node("again", "Relu", {x}, {x});
  ValueId lying = b.graph.add_constant("lying", Tensor(kF32, {2}));
  b.graph.value(lying).shape = {1000};
  b.add("Relu", {lying});
  EXPECT_EQ(b.shape_of(x),
            "constant 'lying': is declared as f32[1000], but holds f32[2]\n"
            "node 'Relu' (Relu): refers to value 77 of 6\n"
            "node 'Relu_1' (Relu): reads 'later' before anything produces it\n"
            "node 'again' (Relu): produces 'x', which has another source; a value is a graph input, a "
            "constant or one "
            "output of one node\n");
}

TEST(ShapeInference, OneNodeAlone) {
  const Graph graph = single_node("Split", {f32({6, 2})}, {}, 2);
  const std::vector<TypedShape> results = infer_node(graph, graph.nodes[0]);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(to_string(results[1]), "f32[3x2]");
  const Graph bad = single_node("Split", {f32({7, 2})}, {}, 2);
  EXPECT_THROW(infer_node(bad, bad.nodes[0]), Error);
}

// Any operator with any inputs and attributes: diagnostics at most.
Attribute random_attribute(Random& random) {
  const auto integer = [&] {
    return random.chance(0.8)   ? random.between(-3, 5)
           : random.chance(0.5) ? INT64_MIN
                                : int64_t(random.next());
  };
  switch (random.between(0, 5)) {
    case 0:
      return float(random.uniform() * 4 - 1);
    case 1:
      return std::string(random.chance(0.5) ? "SAME_UPPER" : "linear");
    case 2:
      return Tensor(ElementType(random.between(0, kElementTypeCount - 1)), {random.between(0, 2)});
    case 3:
      return integer();
    default:
      return Ints(size_t(random.between(0, 5)), integer());
  }
}

Given random_input(Random& random) {
  if (random.chance(0.05)) return none();
  const ElementType type = random.chance(0.6) ? kF32 : ElementType(random.between(0, kElementTypeCount - 1));
  std::vector<int64_t> dims(size_t(random.between(0, 5)));
  for (int64_t& size : dims) {
    size = random.chance(0.9)   ? random.between(0, 6)
           : random.chance(0.5) ? int64_t{1} << random.between(0, 62)
                                : -1;
  }
  if (random.chance(0.6)) return of(type, Shape(dims));
  Tensor tensor(random.chance(0.7) ? kI64 : type, {random.between(0, 5)});
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.set_integer(i, random.chance(0.9) ? random.between(-2, 6) : int64_t(random.next()));
  }
  return constant(tensor);
}

TEST(ShapeInference, SurvivesNonsense) {
  const uint64_t seed = 7;
  Random random(seed);
  int accepted = 0;
  const std::span<const Operator> table = all_operators();
  for (int round = 0; round < 60000; ++round) {
    const Operator& op = table[size_t(random.between(0, int64_t(table.size()) - 1))];
    std::vector<Given> inputs(
        size_t(random.between(op.min_inputs, std::min(op.max_inputs, op.min_inputs + 2))));
    for (Given& given : inputs) given = random_input(random);
    Attributes attributes;
    for (const AttributeRule& rule : op.attributes) {
      if (!rule.required && random.chance(0.6)) continue;
      Attribute value = random_attribute(random);
      for (int tries = 0; kind_of(value) != rule.kind && tries < 20; ++tries)
        value = random_attribute(random);
      attributes[rule.name] = std::move(value);
    }
    const int outputs = int(random.between(op.min_outputs, std::min(op.max_outputs, op.min_outputs + 1)));
    Graph graph = single_node(op.name, inputs, attributes, outputs, op.domain);
    Diagnostics diagnostics;
    infer_shapes(graph, diagnostics);
    for (const Diagnostic& problem : diagnostics.errors()) {
      ASSERT_NE(problem.kind, ErrorKind::kInternal)
          << to_string(problem) << ", seed " << seed << " round " << round;
    }
    if (!diagnostics.ok()) continue;
    ++accepted;
    Diagnostics again;  // what inference made, the verifier accepts
    verify(graph, again);
    ASSERT_TRUE(again.ok()) << text_of(again) << "seed " << seed << " round " << round;
  }
  EXPECT_GT(accepted, 5000);
}

}  // namespace
}  // namespace tilewright::testing
