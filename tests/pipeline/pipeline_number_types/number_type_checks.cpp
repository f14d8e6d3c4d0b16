#include "pipeline/pipeline_number_types/number_type_checks.h"

#include <gtest/gtest.h>

#include "tilewright/host/executor.h"
#include "tilewright/pipeline/network/borders.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"

namespace tilewright::pipeline {
void expect_bits_of_the_host(const Graph& graph, const Network& network) {
  const std::vector<Tensor> inputs{zoo::seeded_input(graph, 7)};
  const std::vector<Tensor> expected = run(graph, inputs);
  const std::vector<int32_t> image = border_image(network, run(network.before, inputs));
  const std::vector<int32_t> result = evaluate(network, image)[size_t(network.output)];
  const std::vector<Tensor> actual = run(network.behind, border_results(network, result));
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(actual[i].identical(expected[i])) << i;
}

void expect_both_number_types(const Graph& real, int64_t lookups) {
  const Graph graph = optimize(real);
  const auto expect_layers = [&](const Graph& lowered, NumberType number) {
    const Network network = extract_network(lowered);
    EXPECT_EQ(network.number, number);
    int64_t found = 0;
    for (const Layer& layer : network.layers) found += layer.lookup.has_value();
    EXPECT_EQ(found, lookups);
    expect_bits_of_the_host(lowered, network);
  };
  {
    SCOPED_TRACE("8 bits");
    expect_layers(integerize(quantize(graph, {zoo::seeded_input(graph, 1)}, {})), NumberType::kInteger);
  }
  SCOPED_TRACE("Q10.22");
  expect_layers(to_fixed_point(graph, 22), NumberType::kFixed);
}

}  // namespace tilewright::pipeline
