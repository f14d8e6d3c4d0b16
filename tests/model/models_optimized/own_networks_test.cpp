// The project's networks through the graph passes: fewer nodes, the same results.
#include "model/own_networks/own_networks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

double relative_error(const Tensor& a, const Tensor& b) {
  double worst = 0, largest = 1e-30;
  for (int64_t i = 0; i < b.size(); ++i) {
    worst = std::max(worst, std::fabs(a.number_at(i) - b.number_at(i)));
    largest = std::max(largest, std::fabs(b.number_at(i)));
  }
  return a.size() == b.size() && std::isfinite(worst) ? worst / largest : INFINITY;
}

void expect_fewer_nodes(const Graph& graph, const Tensor& input, const std::set<std::string>& gone) {
  const Graph simple = optimize(graph);
  EXPECT_LE(simple.nodes.size(), graph.nodes.size());
  for (const Node& node : simple.nodes) EXPECT_EQ(gone.count(node.op), 0u) << node.op;
  EXPECT_EQ(simple.value(simple.outputs[0]).name, graph.value(graph.outputs[0]).name);
  EXPECT_LE(relative_error(run(simple, {input})[0], run(graph, {input})[0]), 2e-5);
}

class OptimizeTrained : public ::testing::TestWithParam<const char*> {};

TEST_P(OptimizeTrained, ComputesTheSame) {
  const FashionImages set = fashion_test_images(5);
  const Graph real = read_onnx(fashion_file(GetParam())), quantised = quantized_network(GetParam());
  for (int64_t i = 0; i < 5; ++i) {
    expect_fewer_nodes(real, image_of(set, i), {"Dropout", "Identity"});
    expect_fewer_nodes(quantised, image_of(set, i), {});
  }
}

INSTANTIATE_TEST_SUITE_P(Fashion, OptimizeTrained, ::testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

INSTANTIATE_TEST_SUITE_P(Gated, OptimizeTrained, ::testing::ValuesIn(kGatedNetworks),
                         [](const auto& test) { return std::string(test.param); });

class OptimizeZoo : public ::testing::TestWithParam<const char*> {};

TEST_P(OptimizeZoo, ComputesTheSameWithoutNormalisations) {
  const zoo::Network& network = zoo::network(GetParam());
  const Graph graph = network.build(network.small);
  expect_fewer_nodes(graph, zoo::seeded_input(graph, 3), {"BatchNormalization"});
}

INSTANTIATE_TEST_SUITE_P(Small, OptimizeZoo,
                         ::testing::Values("resnet18", "resnet50", "mobilenet_v1", "mobilenet_g",
                                           "dcgan_generator", "alexnet", "vgg16", "cifar10_tutorial",
                                           "djinn_asr"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tilewright
