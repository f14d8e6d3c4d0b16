// Random TensorFlow files that are read give the same numbers before and after the graph passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/frontend/random_graphdef_testing.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

bool is_small(const Graph& graph) {
  return std::all_of(graph.values.begin(), graph.values.end(),
                     [](const Value& value) { return value.shape.element_count() <= 1 << 16; });
}

// Infinities and what follows from them may differ by the order of operations.
bool agree(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.type() != b.type()) return false;
  double largest = 1;
  for (int64_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a.number_at(i))) largest = std::max(largest, std::abs(a.number_at(i)));
  }
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.number_at(i), y = b.number_at(i);
    if (std::isfinite(x) && std::isfinite(y) && std::abs(x - y) > 1e-4 * largest) return false;
  }
  return true;
}

std::vector<Tensor> inputs_of(const Graph& graph) {
  LcgStream stream(1);
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    inputs.push_back(lcg_input(graph.value(id).type, graph.value(id).shape, stream));
  }
  return inputs;
}

TEST(RandomTensorflowFiles, ComputeTheSameBehindThePasses) {
  const std::vector<std::string> operators = graphdef_testing::all_operators();
  constexpr uint64_t kFiles = 3000;
  int compared = 0;
  for (uint64_t seed = 1; seed <= kFiles; ++seed) {
    Random random(seed);
    TensorflowOptions options;
    options.outputs = {"y"};
    options.allow_missing_weights = true;
    Graph graph;
    try {
      graph = parse_tensorflow(graphdef_testing::random_file(random, operators).build(), options);
    } catch (const Error&) {
      continue;
    }
    if (!is_small(graph)) continue;
    SCOPED_TRACE(seed);
    try {
      const std::vector<Tensor> inputs = inputs_of(graph);
      EXPECT_TRUE(agree(run(graph, inputs)[0], run(optimize(graph), inputs)[0]));
      ++compared;
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kInternal) << error.what();
    }
  }
  EXPECT_GT(compared, 50);
}

}  // namespace
}  // namespace tilewright
