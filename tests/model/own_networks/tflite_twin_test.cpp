// Two importers, one network: a network in QDQ form and its TFLite file give the same bits, layer by layer;
// and the trained one keeps its accuracy.
#include <gtest/gtest.h>

#include "model/own_networks/own_networks.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/layout.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

// The first QuantizeLinear: what the file's integers stand for.
Tensor as_integers(const Graph& qdq, const Tensor& real) {
  const Node& node = qdq.nodes[0];
  EXPECT_TRUE(node.is("QuantizeLinear"));
  const std::vector<const Tensor*> inputs = {&real, qdq.constant_input(node, 1), qdq.constant_input(node, 2)};
  Tensor integers = evaluate(qdq, node, inputs)[0];
  return integers.shape().rank() == 4 ? nchw_to_nhwc(integers) : integers;
}

// What the last DequantizeLinear makes of the file's integers.
void expect_same(const Graph& qdq, const Graph& twin, const Tensor& real) {
  const Tensor expected = run(integerize(optimize(qdq)), {real})[0];
  const Tensor integers = run(twin, {as_integers(qdq, real)})[0];
  const Node* end = nullptr;
  for (const Node& node : qdq.nodes) end = node.is("DequantizeLinear") ? &node : end;
  ASSERT_NE(end, nullptr);
  const Tensor output = evaluate(
      qdq, *end,
      std::vector<const Tensor*>{&integers, qdq.constant_input(*end, 1), qdq.constant_input(*end, 2)})[0];
  EXPECT_TRUE(output.identical(expected));
}

// As the network in QDQ form is.
TfliteOptions rounded_once() {
  TfliteOptions options;
  options.rounding = Rounding::kOnce;
  return options;
}

class TfliteTwins : public ::testing::TestWithParam<const char*> {};

TEST_P(TfliteTwins, HaveTheBitsAndTheAccuracyOfTheTrainedNetwork) {
  const Graph qdq = quantized_network(GetParam());
  const Graph read = parse_tflite(tflite_twin(qdq), rounded_once());
  IntegerizeReport report;
  const Graph twin = integerize(optimize(read), &report);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
  const FashionImages set = fashion_test_images(200);
  int right = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const Tensor scores = run(twin, {as_integers(qdq, image_of(set, i))})[0];
    int64_t best = 0;
    for (int64_t k = 1; k < 10; ++k) best = scores.integer_at(k) > scores.integer_at(best) ? k : best;
    right += best == set.labels[size_t(i)];
    if (i < 20) expect_same(qdq, twin, image_of(set, i));
  }
  EXPECT_GE(right, 174);  // 87 %
}

INSTANTIATE_TEST_SUITE_P(Fashion, TfliteTwins, ::testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

TEST(TfliteTwin, OfADepthwiseNetworkHasItsBits) {
  const zoo::Network& network = zoo::network("mobilenet_v1");
  const Graph real = optimize(network.build(network.small));
  const Graph qdq = quantize(real, {zoo::seeded_input(real, 1)}, {});
  const Graph twin = integerize(optimize(parse_tflite(tflite_twin(qdq), rounded_once())));
  for (uint64_t seed = 2; seed < 5; ++seed) expect_same(qdq, twin, zoo::seeded_input(real, seed));
}

}  // namespace
}  // namespace tilewright
