#include "tilewright/flow/model/inspect_model.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tilewright {
namespace {

// Softmax(a b / c) v, with a tanh around the scores or not.
void add_attention(Graph& graph, const std::string& name, bool has_tanh) {
  const ValueId q = graph.inputs[0], k = graph.inputs[1];
  const auto node = [&](const char* op, std::vector<ValueId> inputs, Shape shape) {
    const ValueId y = graph.add_value(name + op, ElementType::kF32, std::move(shape));
    graph.add_node(name + op, op, std::move(inputs), {y});
    return y;
  };
  const ValueId root = node("Sqrt", {graph.add_constant("width", Tensor::scalar(4.0f))}, Shape{});
  ValueId scores = node("Div", {node("MatMul", {q, k}, {3, 5}), root}, {3, 5});
  if (has_tanh) scores = node("Tanh", {scores}, {3, 5});
  graph.outputs.push_back(node("MatMul", {node("Softmax", {scores}, {3, 5}), graph.inputs[2]}, {3, 4}));
}

Graph two_attentions() {
  Graph graph;
  graph.add_input("q", ElementType::kF32, {3, 4});
  graph.add_input("k", ElementType::kF32, {4, 5});
  graph.add_input("v", ElementType::kF32, {5, 4});
  add_attention(graph, "first/", false);
  add_attention(graph, "second/", true);
  return graph;
}

TEST(InspectModel, TellsWhichAttentionsAreRecognised) {
  const Answer answer = inspect_model(two_attentions());
  const std::string last =
      "attention: 1 of 2 recognised: 1 x 1 head of 4, 3 queries by 5 keys\n"
      "  node 'second/Softmax': its scores come from node 'second/Tanh' (Tanh)\n";
  ASSERT_GE(answer.text.size(), last.size());
  EXPECT_EQ(answer.text.substr(answer.text.size() - last.size()), last);
  const nlohmann::json list = nlohmann::json::parse(answer.json)["attention"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["recognised"], true);
  EXPECT_EQ(list[0]["q"], "q");
  EXPECT_EQ(list[0]["v"], "v");
  EXPECT_EQ(list[0]["scale"], 0.5);
  EXPECT_EQ(list[0]["mask"], "none");
  EXPECT_EQ(list[1]["reason"], "its scores come from node 'second/Tanh' (Tanh)");
}

TEST(InspectModel, SaysNothingOfNetworksWithout) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, {3, 4});
  const ValueId y = graph.add_value("y", ElementType::kF32, {3, 4});
  graph.add_node("softmax", "Softmax", {x}, {y});
  graph.outputs = {y};
  const Answer answer = inspect_model(graph);
  EXPECT_EQ(answer.text.find("attention"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(answer.json).contains("attention"));
}

}  // namespace
}  // namespace tilewright
