#include "model/graph_models/graph_checks.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/graph/text/text.h"

namespace tilewright {
namespace {

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& problem : diagnostics.errors()) text += to_string(problem) + "\n";
  return text;
}

// Equal in every value; the text form covers the rest, and is compared as text.
bool same_values(const Graph& a, const Graph& b) {
  if (a.values.size() != b.values.size()) return false;
  for (size_t id = 0; id < a.values.size(); ++id) {
    const Value &x = a.values[id], &y = b.values[id];
    if (x.name != y.name || x.type != y.type || x.shape != y.shape ||
        x.constant.has_value() != y.constant.has_value()) {
      return false;
    }
    if (x.constant && !x.constant->identical(*y.constant)) return false;
  }
  return true;
}

}  // namespace

void expect_sound(const Graph& graph) {
  Diagnostics diagnostics;
  verify(graph, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << text_of(diagnostics);

  Graph blank = graph;
  for (Node& node : blank.nodes) {
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      blank.value(id).type = ElementType::kF32;
      blank.value(id).shape = {};
    }
  }
  infer_shapes(blank, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << text_of(diagnostics);
  EXPECT_TRUE(same_values(blank, graph));

  const std::string text = print(graph);
  const Graph back = parse_graph(text);
  EXPECT_TRUE(same_values(back, graph));
  EXPECT_EQ(print(back) == text, true);
}

// A third of all changes break something; none may do more than give diagnostics.
void expect_diagnostics_only(const Graph& sound, int least) {
  const uint64_t seed = test_seed() + 20;
  Random random(seed);
  int broken = 0;
  for (int round = 0; round < 1500; ++round) {
    Graph graph = sound;
    Node& node = graph.nodes[size_t(random.between(0, int64_t(graph.nodes.size()) - 1))];
    const auto any = [&] { return ValueId(random.between(-2, int64_t(graph.values.size()))); };
    switch (random.between(0, 6)) {
      case 0:
        if (!node.inputs.empty())
          node.inputs[size_t(random.between(0, int64_t(node.inputs.size()) - 1))] = any();
        break;
      case 1:
        if (!node.outputs.empty()) node.outputs[0] = any();
        break;
      case 2:
        node.op = all_operators()[size_t(random.between(0, int64_t(all_operators().size()) - 1))].name;
        break;
      case 3:
        for (auto& [name, value] : node.attributes) {
          if (auto* list = std::get_if<std::vector<int64_t>>(&value); list != nullptr && !list->empty()) {
            (*list)[0] = random.chance(0.5) ? int64_t(random.next()) : random.between(-2, 4);
          } else if (auto* number = std::get_if<int64_t>(&value)) {
            *number = random.chance(0.5) ? int64_t(random.next()) : random.between(-2, 4);
          }
        }
        break;
      case 4: {
        Value& value = graph.values[size_t(random.between(0, int64_t(graph.values.size()) - 1))];
        if (value.shape.rank() > 0)
          value.shape[0] = random.chance(0.5) ? int64_t(random.next()) : random.between(-2, 9);
        break;
      }
      case 5:
        node.inputs.push_back(any());
        break;
      default:
        std::swap(graph.nodes.front(), node);
    }
    Diagnostics found;
    verify(graph, found);
    Diagnostics inferred;
    infer_shapes(graph, inferred);
    statistics(graph);
    broken += !found.ok();
    for (const Diagnostics* list : {&found, &inferred}) {
      for (const Diagnostic& problem : list->errors()) {
        ASSERT_NE(problem.kind, ErrorKind::kInternal)
            << to_string(problem) << " seed " << seed << " round " << round;
        ASSERT_FALSE(problem.where.empty()) << problem.message;
      }
    }
  }
  EXPECT_GE(broken, least);
}

}  // namespace tilewright
