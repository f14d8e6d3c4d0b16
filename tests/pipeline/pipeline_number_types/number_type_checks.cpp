#include "pipeline/pipeline_number_types/number_type_checks.h"

#include <gtest/gtest.h>

#include "tilewright/host/executor.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"

namespace tilewright::pipeline {
namespace {

// NCHW integers as rows, columns, channels.
std::vector<int32_t> channels_last(const Tensor& tensor, const TensorShape& shape) {
  std::vector<int32_t> image(size_t(shape.elements()));
  const int64_t pixels = shape.rows * shape.columns;
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      image[size_t(p * shape.channels + c)] = int32_t(tensor.integer_at(c * pixels + p));
    }
  }
  return image;
}

Tensor channels_first(const std::vector<int32_t>& image, const TensorShape& shape, const Value& value) {
  Tensor tensor(value.type, value.shape);
  const int64_t pixels = shape.rows * shape.columns;
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      tensor.set_integer(c * pixels + p, image[size_t(p * shape.channels + c)]);
    }
  }
  return tensor;
}

}  // namespace

void expect_bits_of_the_host(const Graph& graph, const Network& network) {
  const std::vector<Tensor> inputs{zoo::seeded_input(graph, 7)};
  const std::vector<Tensor> expected = run(graph, inputs);
  const Tensor border = run(network.before, inputs)[0];
  const std::vector<int32_t> image = channels_last(border, network.tensors[size_t(network.input)].shape);
  const std::vector<int32_t> result = evaluate(network, image)[size_t(network.output)];
  const Tensor y = channels_first(result, network.tensors[size_t(network.output)].shape,
                                  network.behind.value(network.behind.inputs[0]));
  const std::vector<Tensor> actual = run(network.behind, {y});
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
