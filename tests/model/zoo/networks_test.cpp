// The zoo's networks have the work and the weights that their papers state.
#include <gtest/gtest.h>

#include "tilewright/base/error.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

struct Expected {
  const char* name;
  int64_t macs;        // convolutions and dense layers, by hand from the layer tables
  int64_t parameters;  // weights and biases, batch normalisation folded
};

// AlexNet and VGG-16 have published parameter counts (60,965,224 and 138,357,544); ResNets differ from the
// published ones by what folding takes away.
constexpr Expected kExpected[] = {
    {"resnet18", 1'814'073'344, 11'684'712}, {"resnet34", 3'663'761'408, 21'789'160},
    {"resnet50", 3'857'973'248, 25'530'472}, {"mobilenet_v1", 568'740'352, 4'221'032},
    {"alexnet", 724'406'816, 60'965'224},    {"cifar10_tutorial", 18'470'784, 1'068'298},
    {"djinn_asr", 25'366'528, 25'380'522}};

TEST(Zoo, WorkAndWeightsAreThoseOfThePapers) {
  for (const Expected& expected : kExpected) {
    const GraphStatistics found = statistics(optimize(network(expected.name).build({})));
    EXPECT_EQ(found.total.macs, expected.macs) << expected.name;
    EXPECT_EQ(found.total.parameters, expected.parameters) << expected.name;
  }
}

TEST(Zoo, GroupsAreOneBlockWide) {
  const Graph graph = mobilenet_g({});
  int grouped = 0;
  for (const Node& node : graph.nodes) {
    const int64_t groups = node.int_or("group", 1);
    if (groups == 1) continue;
    EXPECT_EQ(graph.value(node.input(0)).shape[1] / groups, 16) << node.name;
    ++grouped;
  }
  EXPECT_EQ(grouped, 13);
  EXPECT_EQ(graph.value(graph.nodes[3].input(0)).shape, (Shape{1, 32, 112, 112}));  // D1, groups 2
}

TEST(Zoo, TransposedLayersAreThoseOfTheGenerator) {
  const Graph graph = dcgan_generator({});
  std::vector<Shape> inputs;
  for (const Node& node : graph.nodes) {
    if (node.is("ConvTranspose")) inputs.push_back(graph.value(node.input(0)).shape);
  }
  ASSERT_EQ(inputs.size(), 5u);
  EXPECT_EQ(inputs[1], (Shape{1, 1024, 4, 4}));   // CT1
  EXPECT_EQ(inputs[2], (Shape{1, 512, 8, 8}));    // CT2
  EXPECT_EQ(inputs[3], (Shape{1, 256, 16, 16}));  // CT3
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{1, 3, 64, 64}));
}

TEST(Zoo, StyleKeepsTheImageSize) {
  const Graph graph = fast_style({.image = 256, .divide = 8});
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{1, 3, 256, 256}));
}

TEST(Zoo, NetworksAreTheSameEveryTimeAndSurviveAFile) {
  for (const Network& network : networks()) {
    const Graph graph = network.build(network.small);
    const std::vector<std::byte> bytes = format_onnx(graph);
    EXPECT_TRUE(bytes == format_onnx(network.build(network.small))) << network.name;
    const Graph read = parse_onnx(bytes);
    EXPECT_EQ(read.nodes.size(), graph.nodes.size()) << network.name;
    EXPECT_EQ(statistics(read).total.macs, statistics(graph).total.macs) << network.name;
  }
}

TEST(Zoo, WrongNamesAndSizesAreNamed) {
  try {
    network("resnet19");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("resnet18"), std::string::npos) << error.what();
  }
  EXPECT_THROW(alexnet({.image = 20}), Error);
}

}  // namespace
}  // namespace tilewright::zoo
