// Networks of the zoo and their GraphDef twins compute the same, and come out of the passes as the same
// graph.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "model/models_tensorflow/graphdef_twin.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/flow/samples/samples.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

double relative_error(const Tensor& a, const Tensor& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a.number_at(i) - b.number_at(i)));
    largest = std::max(largest, std::abs(b.number_at(i)));
  }
  return worst / largest;
}

// Convolutions and dense layers, and what is not folded into them.
std::map<std::string, int> operators(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes) ++counts[node.op];
  for (const char* layout : {"Transpose", "Reshape", "Flatten"}) counts.erase(layout);
  return counts;
}

class Twins : public testing::TestWithParam<const char*> {};

TEST_P(Twins, ComputeTheSame) {
  const zoo::Network& network = zoo::network(GetParam());
  const Graph graph = network.build(network.small);
  const Tensor image = zoo::seeded_input(graph);
  const Tensor expected = run(graph, {image})[0];
  TfStages stages;
  const Graph twin = parse_tensorflow(graphdef_twin(graph), {}, nullptr, &stages);
  EXPECT_LE(relative_error(run(twin, {channels_last(image)})[0], expected), 2e-4);
  const Graph simple = optimize(twin);
  EXPECT_LE(relative_error(run(simple, {channels_last(image)})[0], expected), 2e-4);
  EXPECT_EQ(operators(simple), operators(optimize(graph)));
  EXPECT_GT(stages.stored.random, 0);
  EXPECT_EQ(stages.frozen.random, 0);
}

// A trained network as a TensorFlow file keeps its answers.
class TrainedTwins : public testing::TestWithParam<const char*> {};

TEST_P(TrainedTwins, ClassifyAsTheNetworkDoes) {
  const Graph graph = trained_network(GetParam());
  const Executor executor(graph), twin(optimize(parse_tensorflow(graphdef_twin(graph))));
  const FashionImages set = fashion_test_images(100);
  int right = 0;
  for (int64_t i = 0; i < 100; ++i) {
    const Tensor expected = executor.run({image_of(set, i)})[0];
    const Tensor scores = twin.run({channels_last(image_of(set, i))})[0];
    EXPECT_LE(relative_error(scores, expected), 1e-5);
    right += argmax(scores) == set.labels[size_t(i)];
  }
  EXPECT_GE(right, 85);
}

INSTANTIATE_TEST_SUITE_P(Fashion, TrainedTwins, testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

// Any mixture of spellings, in any order of nodes.
TEST(RandomTwins, ComputeTheSame) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    const char* kNames[] = {"resnet18", "mobilenet_v1", "cifar10_tutorial"};
    const zoo::Network& network = zoo::network(kNames[seed % 3]);
    const Graph graph = network.build({network.small.image, 8});
    const Tensor image = zoo::seeded_input(graph, seed);
    const Tensor expected = run(graph, {image})[0];
    const Graph twin = parse_tensorflow(graphdef_twin(graph, seed));
    EXPECT_LE(relative_error(run(twin, {channels_last(image)})[0], expected), 2e-4);
    const Graph simple = optimize(twin);
    EXPECT_LE(relative_error(run(simple, {channels_last(image)})[0], expected), 2e-4);
    EXPECT_EQ(operators(simple), operators(optimize(graph)));
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Twins,
                         testing::Values("resnet50", "resnet18", "mobilenet_v1", "cifar10_tutorial", "vgg16",
                                         "djinn_asr"));

}  // namespace
}  // namespace tilewright
