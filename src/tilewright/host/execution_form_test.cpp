// The execution form against the plain kernels, node by node, on random networks: convolutions of every kind,
// pools, activations and their formulas, additions, gates, joins, moves, several readers and outputs in the
// middle.
#include "tilewright/host/execution_form.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using Integers = std::vector<int64_t>;

// A random network of images, grown node by node.
class RandomNetwork {
 public:
  explicit RandomNetwork(Random& random) : random_(random) {
    const int spatial = random.chance(0.8) ? 2 : random.chance(0.5) ? 1 : 3;
    std::vector<int64_t> dims{random.between(1, 3), channels()};
    for (int axis = 0; axis < spatial; ++axis) dims.push_back(random.between(3, 12));
    values_.push_back(graph_.add_input("x", ElementType::kF32, Shape(dims)));
    for (int64_t layer = random.between(2, 14); layer > 0; --layer) grow();
    // What nobody reads is an output, and so are some others.
    const std::vector<std::vector<NodeId>> readers = graph_.consumers();
    for (const ValueId id : values_) {
      if (id != graph_.inputs[0] && (readers[size_t(id)].empty() || random.chance(0.1)))
        graph_.outputs.push_back(id);
    }
    if (graph_.outputs.empty()) graph_.outputs.push_back(values_.back());
  }
  Graph graph() const { return graph_; }

 private:
  int64_t channels() { return random_.chance(0.5) ? random_.between(1, 20) : 16 * random_.between(1, 3); }
  const Shape& shape(ValueId id) const { return graph_.value(id).shape; }
  ValueId constant(Shape dims, double scale = 1) {
    Tensor tensor = testing::random_tensor(random_, ElementType::kF32, std::move(dims));
    for (float& value : tensor.mutable_data<float>()) value *= float(scale);
    return graph_.add_constant("c", std::move(tensor));
  }
  ValueId scalar(float value) { return graph_.add_constant("s", Tensor::scalar(value)); }
  ValueId list(const Integers& values) {
    return graph_.add_constant("l", Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values)));
  }
  ValueId node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    Node node;
    node.op = op;
    node.inputs = inputs;
    node.outputs = {ValueId(graph_.values.size())};
    node.attributes = attributes;
    const TypedShape result = infer_node(graph_, node).at(0);
    const ValueId y = graph_.add_value(op, result.type, result.shape);
    graph_.add_node(op, op, std::move(inputs), {y}).attributes = std::move(attributes);
    return y;
  }
  size_t below(size_t count) { return size_t(random_.between(0, int64_t(count) - 1)); }
  ValueId any() { return values_[below(values_.size())]; }
  // Mostly the newest, as in networks.
  ValueId pick() { return random_.chance(0.7) ? values_.back() : any(); }

  ValueId convolution(ValueId x) {
    const int64_t in = shape(x)[1];
    const int64_t group = random_.chance(0.3) ? in : random_.chance(0.2) && in % 2 == 0 ? 2 : 1;
    const int64_t out = group == in ? in * random_.between(1, 2) : group * channels();
    Integers w{out, in / group}, strides, pads(size_t(2 * (shape(x).rank() - 2)));
    for (int axis = 2; axis < shape(x).rank(); ++axis) {
      const int64_t kernel = random_.chance(0.5) ? 1 : 3;
      w.push_back(kernel);
      strides.push_back(shape(x)[axis] > 4 ? random_.between(1, 2) : 1);
      pads[size_t(axis - 2)] = kernel / 2;
      pads[pads.size() / 2 + size_t(axis - 2)] = kernel / 2;
    }
    std::vector<ValueId> inputs{x, constant(Shape(w), 0.7)};
    if (random_.chance(0.7)) inputs.push_back(constant(Shape{out}));
    return node("Conv", inputs, {{"group", group}, {"strides", strides}, {"pads", pads}});
  }

  ValueId transposed_convolution(ValueId x) {
    Integers w{shape(x)[1], channels()}, strides;
    for (int axis = 2; axis < shape(x).rank(); ++axis) {
      w.push_back(2);
      strides.push_back(shape(x)[axis] < 10 ? 2 : 1);
    }
    return node("ConvTranspose", {x, constant(Shape(w), 0.5)}, {{"strides", strides}});
  }

  ValueId activation(ValueId x) {
    switch (below(13)) {
      case 0:
        return node("Relu", {x});
      case 1:
        return node("Clip", {x, scalar(-0.5f), scalar(1)});
      case 2:
        return node("Sigmoid", {x});
      case 3:
        return node("Mul", {x, node("Sigmoid", {x})});
      case 4: {
        const ValueId gate = node("Clip", {node("Add", {x, scalar(3)}), scalar(0), scalar(6)});
        return node("Div", {node("Mul", {x, gate}), scalar(6)});
      }
      case 5:
        return node("Mul", {node("Tanh", {node("Softplus", {x})}), x});
      case 6: {
        const ValueId erf = node("Erf", {node("Div", {x, scalar(1.41421356f)})});
        return node("Mul", {node("Mul", {x, node("Add", {erf, scalar(1)})}), scalar(0.5f)});
      }
      case 7:
        return node("LeakyRelu", {x}, {{"alpha", 0.1f}});
      case 8:
        return node("HardSigmoid", {x});
      case 9:
        return node("Mul", {x, node("HardSigmoid", {x}, {{"alpha", 1 / 6.0f}})});
      case 10:
        return node("Elu", {x});
      case 11:
        return node("Mul", {x, node("Softsign", {x})});  // no function of oneDNN's
      default:
        return node("Tanh", {x});
    }
  }

  ValueId with_another(ValueId x) {
    for (int attempt = 0; attempt < 10; ++attempt) {
      const ValueId other = any();
      if (shape(other) == shape(x)) {
        static constexpr const char* kOps[] = {"Add", "Add", "Add", "Mul", "Sub", "Max", "Sum"};
        return node(kOps[below(std::size(kOps))], {x, other});
      }
      if (shape(other).rank() == shape(x).rank() && random_.chance(0.5)) {
        Shape rest = shape(other);
        rest[1] = shape(x)[1];
        if (rest == shape(x))
          return node("Concat", {x, other, x}, {{"axis", int64_t{1} - (attempt % 2) * rest.rank()}});
      }
    }
    std::vector<int64_t> per_channel(size_t(shape(x).rank() - 1), 1);
    per_channel[0] = shape(x)[1];
    if (random_.chance(0.5)) per_channel.insert(per_channel.begin(), 1);
    return node(random_.chance(0.5) ? "Mul" : "Add", {constant(Shape(per_channel)), x});
  }

  ValueId pool(ValueId x) {
    if (random_.chance(0.3)) {
      // A gate, as in squeeze and excitation.
      ValueId gate = node(random_.chance(0.8) ? "GlobalAveragePool" : "GlobalMaxPool", {x});
      if (random_.chance(0.7)) {
        Integers w{shape(x)[1], shape(x)[1]};
        w.resize(size_t(shape(x).rank()), 1);
        gate = node("Conv", {gate, constant(Shape(w), 0.5)});
      }
      return node("Mul", {x, node("Sigmoid", {gate})});
    }
    Integers kernel, strides, pads;
    for (int axis = 2; axis < shape(x).rank(); ++axis) {
      kernel.push_back(random_.between(1, std::min<int64_t>(3, shape(x)[axis])));
      strides.push_back(random_.between(1, 2));
      pads.push_back(random_.between(0, kernel.back() - 1));
    }
    for (const int64_t size : kernel) pads.push_back(random_.between(0, size - 1));
    Attributes attributes = {{"kernel_shape", kernel},
                             {"strides", strides},
                             {"pads", pads},
                             {"ceil_mode", int64_t(random_.chance(0.3))}};
    if (random_.chance(0.5)) return node("MaxPool", {x}, attributes);
    attributes["count_include_pad"] = int64_t(random_.chance(0.5));
    return node("AveragePool", {x}, attributes);
  }

  ValueId move(ValueId x) {
    const int rank = shape(x).rank();
    Integers there{0}, back{0, rank - 1}, pads(size_t(2 * rank), 0);
    for (int axis = 2; axis < rank; ++axis) there.push_back(axis);
    there.push_back(1);
    for (int axis = 1; axis < rank - 1; ++axis) back.push_back(axis);
    switch (below(10)) {
      case 0: {
        const ValueId moved = node("Transpose", {x}, {{"perm", there}});
        if (random_.chance(0.5)) graph_.outputs.push_back(moved);
        return node("Transpose", {node("Relu", {moved})}, {{"perm", back}});
      }
      case 1:
        return node("Softmax", {x}, {{"axis", int64_t(random_.between(1, rank - 1))}});
      case 2:
        pads[size_t(random_.between(1, rank - 1))] = 1;
        pads[size_t(rank + random_.between(2, rank - 1))] = 2;
        return node("Pad", {x, list(pads)}, {{"mode", std::string("constant")}});
      case 3:
        return shape(x)[1] < 2 ? x : node("Slice", {x, list({1, 0}), list({shape(x)[1], 2}), list({1, -1})});
      case 4: {
        Tensor scales(ElementType::kF32, Shape{rank});
        for (int axis = 0; axis < rank; ++axis) scales.set_number(axis, axis < 2 ? 1 : 2);
        if (shape(x).element_count() > 4000) return x;
        return node("Resize", {x, kNoValue, graph_.add_constant("scales", scales)},
                    {{"mode", std::string(random_.chance(0.5) ? "nearest" : "linear")}});
      }
      case 5:
        return node("ReduceMean", {x},
                    {{"axes", rank == 3 ? Integers{2} : Integers{-1, 2}}, {"keepdims", int64_t{1}}});
      case 6:
        return node("LRN", {x}, {{"size", int64_t{random_.between(1, 3)}}});
      case 7:
        return node("InstanceNormalization", {x, constant({shape(x)[1]}), constant({shape(x)[1]})},
                    {{"epsilon", 0.1f}});
      case 8: {
        if (shape(x)[1] % 2 != 0) return x;
        Integers parts = shape(x).dims(), turned{0, 2, 1};
        parts[1] /= 2;
        parts.insert(parts.begin() + 1, 2);
        for (int axis = 3; axis <= rank; ++axis) turned.push_back(axis);
        const ValueId split = node("Reshape", {x, list(parts)});
        return node("Reshape", {node("Transpose", {split}, {{"perm", turned}}), list(shape(x).dims())});
      }
      default:
        return node("BatchNormalization",
                    {x, constant({shape(x)[1]}), constant({shape(x)[1]}), constant({shape(x)[1]}),
                     graph_.add_constant("v", Tensor(ElementType::kF32, {shape(x)[1]}))},
                    {{"epsilon", 1.0f}});
    }
  }

  // The end of a classifier: matrices from images.
  void add_head(ValueId x) {
    const int64_t batch = shape(x)[0], size = shape(x).element_count() / batch;
    const ValueId flat =
        random_.chance(0.5) ? node("Flatten", {x}) : node("Reshape", {x, list({batch, size})});
    const int64_t outputs = random_.between(1, 20);
    ValueId y =
        random_.chance(0.5)
            ? node("Gemm", {flat, constant({outputs, size}, 0.2), constant({outputs})},
                   {{"transB", int64_t{1}}})
            : node("Add", {node("MatMul", {flat, constant({size, outputs}, 0.2)}), constant({outputs})});
    if (random_.chance(0.5)) y = activation(y);
    graph_.outputs.push_back(y);
  }

  void grow() {
    const ValueId x = pick();
    const size_t kind = below(20);
    if (kind == 0) return add_head(x);
    const ValueId y = kind < 8    ? convolution(x)
                      : kind < 9  ? transposed_convolution(x)
                      : kind < 13 ? activation(x)
                      : kind < 16 ? with_another(x)
                      : kind < 18 ? pool(x)
                                  : move(x);
    if (shape(y).rank() == shape(graph_.inputs[0]).rank() && shape(y).element_count() < 60000)
      values_.push_back(y);
  }

  Random& random_;
  Graph graph_;
  std::vector<ValueId> values_;  // images
};

double largest(const Tensor& tensor) {
  double result = 1;
  for (int64_t i = 0; i < tensor.size(); ++i) result = std::max(result, std::abs(tensor.number_at(i)));
  return result;
}

TEST(ExecutionForm, RandomNetworksMatchThePlainKernels) {
  std::set<std::string> operators;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Graph graph = RandomNetwork(random).graph();
    for (const Node& node : execution_form(graph).nodes) {
      if (node.domain == kHostDomain) operators.insert(node.op);
    }
    const Executor executor(graph, {int(random.between(1, 2))});
    const Tensor x = testing::random_tensor(random, ElementType::kF32, graph.value(graph.inputs[0]).shape);
    const std::vector<Tensor> fast = executor.run({x}), again = executor.run({x});
    std::set<ValueId> seen;
    const std::vector<Tensor> plain = executor.run({x}, [&](ValueId id, const Tensor& tensor) {
      seen.insert(id);
      ASSERT_EQ(tensor.shape(), graph.value(id).shape);
    });
    ASSERT_EQ(fast.size(), plain.size());
    for (size_t i = 0; i < fast.size(); ++i) {
      ASSERT_LE(testing::distance(fast[i], plain[i]), 3e-5 * largest(plain[i]))
          << "output " << graph.value(graph.outputs[i]).name;
      ASSERT_TRUE(fast[i].identical(again[i]));
    }
    for (size_t id = 0; id < graph.values.size(); ++id) {
      ASSERT_EQ(seen.contains(ValueId(id)), !graph.is_constant(ValueId(id))) << graph.values[id].name;
    }
  }
  EXPECT_EQ(operators,
            (std::set<std::string>{"Activation", "AveragePool", "ChannelScale", "Conv", "ConvTranspose",
                                   "Gemm", "GlobalAveragePool", "GlobalMaxPool", "InstanceNormalization",
                                   "LRN", "MatMul", "MaxPool", "Softmax", "View"}));
}

struct Function {
  const char* op;
  Attributes attributes;
  std::vector<float> bounds;  // of a Clip
};

const Function kFunctions[] = {{"Relu", {}, {}},
                               {"LeakyRelu", {{"alpha", 0.01f}}, {}},
                               {"LeakyRelu", {{"alpha", 0.3f}}, {}},
                               {"Clip", {}, {0, 6}},
                               {"Clip", {}, {-0.5f, 0.75f}},
                               {"Sigmoid", {}, {}},
                               {"Tanh", {}, {}},
                               {"Elu", {{"alpha", 0.5f}}, {}},
                               {"Elu", {{"alpha", 2.0f}}, {}},
                               {"HardSwish", {}, {}},
                               {"HardSigmoid", {}, {}},
                               {"HardSigmoid", {{"alpha", 0.4f}, {"beta", 0.1f}}, {}},
                               {"Softplus", {}, {}}};

// A convolution or a product, then a function, an addition or none, and another function.
Graph chain(const std::string& layer, const Function& first, bool add, const Function& second,
            Random& random) {
  const bool product = layer == "Gemm";
  Graph graph;
  const Shape shape = product ? Shape{5, 24} : Shape{1, 24, 5, 6};
  const ValueId x = graph.add_input("x", ElementType::kF32, shape);
  const auto follow = [&](const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
    const ValueId y = graph.add_value(op, ElementType::kF32, shape);
    graph.add_node(op, op, std::move(inputs), {y}).attributes = std::move(attributes);
    return y;
  };
  const auto apply = [&](const Function& function, ValueId value) {
    std::vector<ValueId> inputs{value};
    for (const float bound : function.bounds)
      inputs.push_back(graph.add_constant("b", Tensor::scalar(bound)));
    return follow(function.op, inputs, function.attributes);
  };
  const Shape weights = product                ? Shape{24, 24}
                        : layer == "depthwise" ? Shape{24, 1, 1, 1}
                                               : Shape{24, 24, 1, 1};
  const ValueId w = graph.add_constant("w", testing::random_tensor(random, ElementType::kF32, weights));
  Attributes attributes;
  if (layer == "depthwise") attributes["group"] = int64_t{24};
  ValueId y = apply(first, follow(product ? "Gemm" : "Conv", {x, w}, attributes));
  if (add) y = follow("Add", {y, x}, {});
  graph.outputs = {apply(second, y)};
  return graph;
}

// Of any two functions in one chain, each keeps its own numbers.
TEST(ExecutionForm, AnyTwoFunctionsFollowALayer) {
  Random random(11);
  for (const std::string layer : {"Conv", "depthwise", "Gemm"}) {
    for (const Function& first : kFunctions) {
      for (const Function& second : kFunctions) {
        for (const bool add : {false, true}) {
          const Graph graph = chain(layer, first, add, second, random);
          const Executor executor(graph);
          const Tensor x =
              testing::random_tensor(random, ElementType::kF32, graph.value(graph.inputs[0]).shape);
          const Tensor fast = executor.run({x})[0],
                       plain = executor.run({x}, [](ValueId, const Tensor&) {})[0];
          EXPECT_LE(testing::distance(fast, plain), 1e-5 * largest(plain))
              << layer << ", " << first.op << (add ? ", Add, " : ", ") << second.op;
        }
      }
    }
  }
}

// Runs of one executor overlap: results and what they point to belong to each run.
TEST(ExecutionForm, RunsFromSeveralThreads) {
  for (uint64_t seed = 201; seed <= 206; ++seed) {
    Random random(seed);
    const Graph graph = RandomNetwork(random).graph();
    const Executor executor(graph);
    std::vector<Tensor> inputs;
    std::vector<std::vector<Tensor>> expected, found(8);
    for (int i = 0; i < 8; ++i) {
      inputs.push_back(testing::random_tensor(random, ElementType::kF32, graph.value(graph.inputs[0]).shape));
      expected.push_back(executor.run({inputs.back()}));
    }
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
          for (int run = 0; run < 5; ++run) found[i] = executor.run({inputs[i]});
        });
      }
    }
    for (size_t i = 0; i < 8; ++i) {
      for (size_t k = 0; k < found[i].size(); ++k) ASSERT_TRUE(found[i][k].identical(expected[i][k])) << seed;
    }
  }
}

// Results outlive the executor, whose memory they came from.
TEST(ExecutionForm, ResultsOutliveTheExecutor) {
  Random random(7);
  const Graph graph = RandomNetwork(random).graph();
  const Tensor x = testing::random_tensor(random, ElementType::kF32, graph.value(graph.inputs[0]).shape);
  std::vector<Tensor> first, second;
  {
    const Executor executor(graph);
    first = executor.run({x});
    second = executor.run({x});
  }
  for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i].identical(second[i]));
}

}  // namespace
}  // namespace tilewright
