// Batches that are loops, and those that are not.
#include "tilewright/flow/model/single_image.h"

#include <gtest/gtest.h>

#include "tilewright/graph/inference/shape_inference.h"

namespace tilewright {
namespace {

struct Chain {
  Graph graph;
  ValueId last = graph.add_input("x", ElementType::kF32, {4, 3, 6, 6});

  Chain& add(const std::string& op, std::vector<ValueId> more = {}, Attributes attributes = {}) {
    std::vector<ValueId> inputs = {last};
    inputs.insert(inputs.end(), more.begin(), more.end());
    last = graph.add_value(op, ElementType::kF32, {});
    Node& node = graph.add_node(op, op, inputs, {last});
    node.attributes = std::move(attributes);
    const TypedShape inferred = infer_node(graph, node)[0];
    graph.value(last).type = inferred.type;
    graph.value(last).shape = inferred.shape;
    graph.outputs = {last};
    return *this;
  }
  ValueId sizes(std::vector<int64_t> values) {
    Tensor tensor(ElementType::kI64, {int64_t(values.size())});
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, values[size_t(i)]);
    return graph.add_constant("sizes", tensor);
  }
};

TEST(SingleImage, ABatchIsALoopWhereNoImageMeetsAnother) {
  Chain chain;
  chain.add("Relu").add("Reshape", {chain.sizes({4, 108})}).add("Softmax", {}, {{"axis", int64_t{1}}});
  const auto single = single_image(chain.graph);
  ASSERT_TRUE(single.has_value());
  EXPECT_EQ(single->batch, 4);
  EXPECT_EQ(single->graph.value(single->graph.outputs[0]).shape, (Shape{1, 108}));
  EXPECT_FALSE(single_image(single->graph).has_value());
}

TEST(SingleImage, ImagesThatMeetAreNone) {
  EXPECT_FALSE(single_image(Chain().add("Softmax", {}, {{"axis", int64_t{0}}}).graph).has_value());
  EXPECT_FALSE(single_image(Chain().add("Transpose", {}, {{"perm", std::vector<int64_t>{1, 0, 2, 3}}}).graph)
                   .has_value());
  Chain rows;
  rows.add("Reshape", {rows.sizes({12, 36})});
  EXPECT_FALSE(single_image(rows.graph).has_value());
}

}  // namespace
}  // namespace tilewright
