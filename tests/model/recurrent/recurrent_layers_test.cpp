// Recurrent layers of ONNX files against their definition, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "model/recurrent/recurrent_reference.h"
#include "support/error_text_testing.h"
#include "support/frontend/model_builder_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

using namespace onnx_testing;

Tensor random_input(const Graph& graph, uint64_t seed) {
  Random random(seed);
  Tensor x(ElementType::kF32, graph.value(graph.inputs[0]).shape);
  for (float& value : x.mutable_data<float>()) value = float(2 * random.uniform() - 1);
  return x;
}

void expect_close(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.shape(), expected.shape());
  for (int64_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual.number_at(i), expected.number_at(i), 1e-5) << i;
}

TEST(RecurrentLayers, RandomOnesFollowTheirDefinition) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const RecurrentCase layer = random_recurrent_case(seed);
    SCOPED_TRACE(layer.op + " " + layer.direction + ", seed " + std::to_string(seed));
    const Graph graph = parse_onnx(recurrent_file(layer));
    const Tensor x = random_input(graph, seed);
    const std::vector<Tensor> expected = recurrent_reference(layer, x), actual = run(graph, {x});
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) expect_close(actual[i], expected[i]);
  }
}

std::string error_of(const RecurrentCase& layer, const std::string& attributes = "") {
  ModelText model;
  model.input("x", "4x2x3")
      .output("h")
      .initializer(floats("w", {1, layer.gates() * 5, 3}, std::vector<float>(size_t(layer.gates()) * 15)));
  model.initializer(floats("r", {1, layer.gates() * 5, 5}, std::vector<float>(size_t(layer.gates()) * 25)));
  model.node("layer", layer.op, {"x", "w", "r"}, {"", "h"}, attributes);
  return error_text([&] { parse_onnx(model.build()); });
}

TEST(RecurrentLayers, RefusalsNameTheNodeAndTheWayOut) {
  EXPECT_EQ(error_of({}), "no error");
  EXPECT_EQ(error_of({}, string_attribute("direction", "sideways")),
            "node 'layer' (LSTM): has the direction 'sideways'; forward, reverse and bidirectional exist");
  EXPECT_EQ(error_of({}, int_attribute("hidden_size", 6)),
            "node 'layer' (LSTM): hidden_size is 6, the weights are of 5");
  EXPECT_EQ(error_of({}, strings_attribute("activations", {"Sigmoid"})),
            "node 'layer' (LSTM): has 1 activations, not 3");
  EXPECT_EQ(error_of({.op = "RNN"}, strings_attribute("activations", {"Swish"})),
            "node 'layer' (RNN): has the activation 'swish'; export it with activations that ONNX lists");
  EXPECT_EQ(error_of({}, string_attribute("direction", "bidirectional")),
            "node 'layer' (LSTM): weights 1x20x3 and 1x20x5 do not fit the sequence 4x2x3 in 2 direction(s)");
}

}  // namespace
}  // namespace tilewright
