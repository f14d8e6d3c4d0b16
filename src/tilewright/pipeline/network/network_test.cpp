// What becomes a network and what does not. Whole networks: tests/pipeline/pipeline_number_types.
#include "tilewright/pipeline/network/network.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "support/pipeline/random_branchy_graph_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/host/executor.h"
#include "tilewright/pipeline/network/borders.h"

namespace tilewright::pipeline {
namespace {

TEST(ExtractNetwork, RefusesAGraphWithoutIntegerLayers) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 3});
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 3});
  graph.add_node("relu", "Relu", {x}, {y});
  graph.outputs = {y};
  try {
    extract_network(graph);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("no integer layer with weights"), std::string::npos);
  }
}

// `seed` and, where its shapes do not fit together, the next ones.
Graph drawn(uint64_t seed, bool branchy) {
  for (uint64_t attempt = 0;; ++attempt) {
    try {
      return branchy ? random_branchy_graph(seed * 1000 + attempt)
                     : random_unusual_graph(seed * 1000 + attempt);
    } catch (const Error&) {
      if (attempt == 50) throw;
    }
  }
}

// What the network and the host around it make of inputs.
std::vector<Tensor> computed(const Network& network, const std::vector<Tensor>& inputs) {
  const std::vector<int32_t> image = border_image(network, run(network.before, inputs));
  std::vector<Tensor> borders = border_results(network, evaluate(network, image)[size_t(network.output)]);
  for (size_t i = borders.size(); i < network.behind.inputs.size(); ++i) {
    const std::string& name = network.behind.value(network.behind.inputs[i]).name;
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (network.before.value(network.before.inputs[j]).name == name) borders.push_back(inputs[j]);
    }
  }
  return run(network.behind, borders);
}

bool identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& one, const Tensor& other) { return one.identical(other); });
}

void expect_networks_that_compute_their_graphs(bool branchy, int64_t cases) {
  int64_t taken = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() * 100'000 + uint64_t(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = drawn(seed, branchy);
    Network network;
    try {
      network = extract_network(graph);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
      continue;
    }
    ++taken;
    Random random(seed);
    std::vector<Tensor> inputs;
    for (const ValueId id : graph.inputs) {
      const Value& value = graph.value(id);
      inputs.emplace_back(value.type, value.shape);
      const int64_t most = value.type == ElementType::kI8 ? 127 : 1 << 16;
      for (int64_t at = 0; at < inputs.back().size(); ++at)
        inputs.back().set_integer(at, random.between(-most - 1, most));
    }
    ASSERT_TRUE(identical(computed(network, inputs), run(graph, inputs)));
  }
  testing::Test::RecordProperty("cases", int(taken));
  EXPECT_GE(taken, cases / 2);
}

TEST(ExtractNetworkClass, UnusualGraphsAreComputedOrRefused) {
  expect_networks_that_compute_their_graphs(false, test_cases(400));
}
TEST(ExtractNetworkClass, BranchesAndMovedElementsAreComputedOrRefused) {
  expect_networks_that_compute_their_graphs(true, test_cases(400));
}

// A graph of fixed-point layers, by hand.
struct FixedGraph {
  Graph graph;
  ValueId x = graph.add_input("x", ElementType::kI32, {1, 2, 4, 4});

  ValueId add(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const ValueId out = graph.add_value(op + "_out", ElementType::kF32, {});
    const bool own = op.rfind("Fixed", 0) == 0 || op.rfind("Q", 0) == 0;
    Node& node = graph.add_node(op, op, std::move(inputs), {out}, own ? kTilewrightDomain : "");
    node.attributes = std::move(attributes);
    if (op == "FixedConv") node.attributes["fraction"] = int64_t{8};
    const TypedShape inferred = infer_node(graph, node)[0];
    graph.value(out).type = inferred.type;
    graph.value(out).shape = inferred.shape;
    return out;
  }
  ValueId constant(ElementType type, Shape shape, std::vector<int64_t> values) {
    Tensor tensor(type, std::move(shape));
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, values[size_t(i) % values.size()]);
    return graph.add_constant("c", tensor);
  }
  ValueId conv(ValueId from, int64_t channels, int64_t kernel = 1) {
    const int64_t in = graph.value(from).shape[1];
    return add("FixedConv",
               {from, constant(ElementType::kI32, {channels, in, kernel, kernel}, {300, -200, 90}),
                constant(ElementType::kI32, {channels}, {5})});
  }
  ValueId reshape(ValueId from, std::vector<int64_t> sizes) {
    return add("Reshape", {from, constant(ElementType::kI64, {int64_t(sizes.size())}, sizes)});
  }
  // What is left to the host, and why.
  std::string refusal(ValueId output) {
    graph.outputs = {output};
    std::string text;
    for (const Diagnostic& reason : extract_network(graph).left_out) text += to_string(reason) + "\n";
    return text;
  }
};

TEST(ExtractNetwork, ViewsReadersAndClipsAreKept) {
  using Make = std::function<ValueId(FixedGraph&)>;
  const auto table = [](FixedGraph& g) {
    Random random(3);
    std::vector<int64_t> values(513);
    for (int64_t& value : values) value = random.between(-300, 300);
    return g.constant(ElementType::kI32, {513}, values);
  };
  const auto lookup = [&](FixedGraph& g, ValueId from) {
    return g.add("FixedLookup", {from, table(g)}, {{"fraction", int64_t{8}}, {"input_shift", int64_t{1}}});
  };
  const std::vector<Make> cases = {
      [](FixedGraph& g) {  // a pool with an activation
        const std::vector<int64_t> two = {2, 2};
        return g.conv(g.add("FixedAveragePool", {g.conv(g.x, 4)},
                            {{"kernel_shape", two},
                             {"strides", two},
                             {"fraction", int64_t{8}},
                             {"multiplier", int64_t{64}},
                             {"clip_low", int64_t{0}},
                             {"clip_high", int64_t{500}}}),
                      3);
      },
      [&](FixedGraph& g) {  // a view with one reader of a tensor with two
        const ValueId c = g.conv(g.x, 8, 4);
        const ValueId one = lookup(g, g.add("Flatten", {c})), other = g.add("Flatten", {g.conv(c, 8)});
        return g.add("FixedAdd", {one, other});
      },
      [&](FixedGraph& g) {  // element by element, after a Flatten of several pixels
        const ValueId flat = g.add("Relu", {g.add("Flatten", {lookup(g, g.conv(g.x, 4))})});
        return g.add("FixedGemm",
                     {flat, g.constant(ElementType::kI32, {5, 64}, {30, -20, 7, 9, -40}),
                      g.constant(ElementType::kI32, {5}, {1})},
                     {{"fraction", int64_t{8}}});
      },
      [](FixedGraph& g) {  // a vector as the channels of a pixel
        return g.conv(g.reshape(g.add("Flatten", {g.conv(g.x, 16, 4)}), {1, 16, 1, 1}), 3);
      }};
  for (const Make& make : cases) {
    FixedGraph graph;
    graph.graph.outputs = {make(graph)};
    Random random(1);
    Tensor input(ElementType::kI32, {1, 2, 4, 4});
    for (int64_t i = 0; i < input.size(); ++i) input.set_integer(i, random.between(-1000, 1000));
    EXPECT_TRUE(identical(computed(extract_network(graph.graph), {input}), run(graph.graph, {input})))
        << "case " << &make - cases.data();
  }
}

TEST(ExtractNetwork, LeavesToTheHostWhatItHasNoLayerFor) {
  const std::vector<std::pair<const char*, std::function<ValueId(FixedGraph&)>>> cases = {
      {"node 'FixedAdd' (FixedAdd): its data 'c_2' are constant",
       [](FixedGraph& g) {
         const ValueId y = g.conv(g.x, 2);
         return g.conv(g.add("FixedAdd", {y, g.constant(ElementType::kI32, {1, 2, 4, 4}, {7})}), 3);
       }},
      {"node 'Abs' (Abs): hardware has no layer for it, and layers need its result",
       [](FixedGraph& g) {
         const ValueId y = g.conv(g.x, 2);
         return g.conv(g.add("Abs", {y}), 3);
       }},
      {"its input 'low' is not constant", [](FixedGraph& g) {
         const ValueId low = g.graph.add_input("low", ElementType::kI32, {});
         return g.conv(g.add("Clip", {g.conv(g.x, 4), low, kNoValue}), 3);
       }}};
  for (const auto& [text, make] : cases) {
    FixedGraph graph;
    const std::string refusal = graph.refusal(make(graph));
    EXPECT_NE(refusal.find(text), std::string::npos) << text << "\n  got: " << refusal;
  }
}

}  // namespace
}  // namespace tilewright::pipeline
