// Recurrent TFLite operators against direct definitions, over sequences and call after call.
#include <gtest/gtest.h>

#include <cmath>

#include "model/recurrent/recurrent_reference.h"
#include "support/frontend/tflite_builder_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

Tensor random_values(Random& random, Shape shape) {
  Tensor tensor(ElementType::kF32, std::move(shape));
  for (float& value : tensor.mutable_data<float>()) value = float(1.4 * random.uniform() - 0.7);
  return tensor;
}

// Rows begin..end of a matrix (or of the rows that follow the first axis of ONNX's weights).
Tensor rows_of(const Tensor& tensor, int64_t begin, int64_t end) {
  const int64_t width = tensor.shape().rank() == 3 ? tensor.shape()[2] : 1;
  Tensor rows(ElementType::kF32, tensor.shape().rank() == 3 ? Shape{end - begin, width} : Shape{end - begin});
  for (int64_t i = 0; i < rows.size(); ++i) rows.set_number(i, tensor.number_at(begin * width + i));
  return rows;
}

void expect_values(const Tensor& actual, const Tensor& expected, int64_t first = 0) {
  for (int64_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual.number_at(i), expected.number_at(first + i), 1e-5) << i;
  }
}

// The weights of an ONNX layer as the inputs 1 to 19 of TFLite's LSTM. Gates: ONNX input, output, forget,
// cell; TFLite input, forget, cell, output.
std::vector<int> lstm_inputs(TfliteBuilder& model, const RecurrentCase& layer, int x) {
  const std::map<std::string, Tensor> weights = recurrent_weights(layer);
  const int64_t h = layer.hidden;
  const int64_t order[] = {0, 2, 3, 1};
  std::vector<int> inputs = {x};
  for (const char* name : {"W", "R"}) {
    for (const int64_t gate : order) {
      inputs.push_back(
          model.constant(name + std::to_string(gate), rows_of(weights.at(name), gate * h, (gate + 1) * h)));
    }
  }
  const int64_t peepholes[] = {0, 2, 1};
  for (const int64_t p : peepholes) {
    inputs.push_back(layer.peepholes ? model.constant("P" + std::to_string(p),
                                                      rows_of(weights.at("P"), p * h, (p + 1) * h))
                                     : -1);
  }
  for (const int64_t gate : order) {
    Tensor bias = rows_of(weights.at("B"), gate * h, (gate + 1) * h);
    for (int64_t i = 0; i < h; ++i)
      bias.set_number(i, bias.number_at(i) + weights.at("B").number_at((4 + gate) * h + i));
    inputs.push_back(model.constant("B" + std::to_string(gate), bias));
  }
  inputs.insert(inputs.end(), {-1, -1});
  for (const char* name : {"h", "c"}) {
    inputs.push_back(model.add(name, ElementType::kF32, {int32_t(layer.batch), int32_t(h)}));
    model.tensor(inputs.back()).is_variable = true;
  }
  return inputs;
}

TEST(TfliteRecurrent, LstmOverASequence) {
  for (const bool time_major : {true, false}) {
    for (const bool peepholes : {true, false}) {
      RecurrentCase layer{
          .steps = 5, .batch = 2, .batch_first = !time_major, .peepholes = peepholes, .seed = 7};
      TfliteBuilder model;
      const int32_t t = 5, n = 2;
      const std::vector<int32_t> head = time_major ? std::vector<int32_t>{t, n} : std::vector<int32_t>{n, t};
      const int x = model.input("x", {head[0], head[1], 3}), y = model.output("y", {head[0], head[1], 5});
      schema::UnidirectionalSequenceLSTMOptionsT options;
      options.fused_activation_function = schema::ActivationFunctionType_TANH;
      options.time_major = time_major;
      model.op(Op::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM, lstm_inputs(model, layer, x), {y}, options);
      const Graph graph = parse_tflite(model.build());
      EXPECT_EQ(graph.inputs.size(), 1u);
      Random random(3);
      const Tensor given = random_values(random, {head[0], head[1], 3});
      // ONNX has an axis of directions (here 1) within; the order of the elements is the same.
      expect_values(run(graph, {given})[0], recurrent_reference(layer, given)[0]);
    }
  }
}

TEST(TfliteRecurrent, LstmCallAfterCall) {
  RecurrentCase layer{.steps = 4, .batch = 1, .seed = 9};
  TfliteBuilder model;
  const int x = model.input("x", {1, 3}), y = model.output("y", {1, 5});
  schema::LSTMOptionsT options;
  options.fused_activation_function = schema::ActivationFunctionType_TANH;
  model.op(Op::BuiltinOperator_LSTM, lstm_inputs(model, layer, x), {y}, options);
  const Graph graph = parse_tflite(model.build());
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs) names.push_back(graph.value(id).name);
  for (const ValueId id : graph.outputs) names.push_back(graph.value(id).name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "h", "c", "y", "h.next", "c.next"}));
  Random random(4);
  const Tensor calls = random_values(random, {4, 1, 3});
  const Tensor expected = recurrent_reference(layer, calls)[0];
  Tensor hidden(ElementType::kF32, {1, 5}), cell = hidden;
  for (int64_t i = 0; i < 4; ++i) {
    Tensor call(ElementType::kF32, {1, 3});
    for (int64_t k = 0; k < 3; ++k) call.set_number(k, calls.number_at(i * 3 + k));
    const std::vector<Tensor> outputs = run(graph, {call, hidden, cell});
    expect_values(outputs[0], expected, i * 5);
    hidden = outputs[1];
    cell = outputs[2];
  }
}

TEST(TfliteRecurrent, SvdfCallAfterCall) {
  constexpr int64_t kUnits = 3, kRank = 2, kMemory = 4, kInputs = 5, kFilters = kUnits * kRank;
  Random random(5);
  const Tensor features = random_values(random, {kFilters, kInputs}),
               time = random_values(random, {kFilters, kMemory}), bias = random_values(random, {kUnits}),
               calls = random_values(random, {6, kInputs});
  TfliteBuilder model;
  const int x = model.input("x", {1, kInputs}), y = model.output("y", {1, kUnits});
  const int state = model.add("state", ElementType::kF32, {1, kMemory * kFilters});
  model.tensor(state).is_variable = true;
  schema::SVDFOptionsT options;
  options.rank = kRank;
  options.fused_activation_function = schema::ActivationFunctionType_RELU;
  model.op(Op::BuiltinOperator_SVDF,
           {x, model.constant("f", features), model.constant("t", time), model.constant("b", bias), state},
           {y}, options);
  const Graph graph = parse_tflite(model.build());
  Tensor memory(ElementType::kF32, {1, kMemory * kFilters});
  for (int64_t call = 0; call < 6; ++call) {
    Tensor given(ElementType::kF32, {1, kInputs});
    for (int64_t k = 0; k < kInputs; ++k) given.set_number(k, calls.number_at(call * kInputs + k));
    const std::vector<Tensor> outputs = run(graph, {given, memory});
    memory = outputs[1];
    for (int64_t u = 0; u < kUnits; ++u) {
      double sum = bias.number_at(u);
      for (int64_t f = u * kRank; f < (u + 1) * kRank; ++f) {
        for (int64_t m = 0; m < kMemory; ++m) {
          const int64_t then = call - (kMemory - 1 - m);  // what the filter gave in that call
          for (int64_t k = 0; then >= 0 && k < kInputs; ++k) {
            sum += time.number_at(f * kMemory + m) * features.number_at(f * kInputs + k) *
                   calls.number_at(then * kInputs + k);
          }
        }
      }
      ASSERT_NEAR(outputs[0].number_at(u), std::max(0.0, sum), 1e-5) << call << " " << u;
    }
  }
}

TEST(TfliteRecurrent, BlocksToImagesAndBack) {
  TfliteBuilder model;
  const int x = model.input("x", {1, 4, 6, 2}), blocks = model.integers("blocks", {2, 3});
  const int apart = model.add("apart", ElementType::kF32, {6, 3, 3, 2}), y = model.output("y", {1, 4, 6, 2});
  model.op(Op::BuiltinOperator_SPACE_TO_BATCH_ND,
           {x, blocks, model.constant("pads", Tensor::of<int32_t>({2, 2}, {1, 1, 0, 3}))}, {apart});
  model.op(Op::BuiltinOperator_BATCH_TO_SPACE_ND,
           {apart, blocks, model.constant("crops", Tensor::of<int32_t>({2, 2}, {1, 1, 0, 3}))}, {y});
  const Graph graph = parse_tflite(model.build());
  Random random(6);
  const Tensor given = random_values(random, {1, 4, 6, 2});
  Tensor seen;
  const std::vector<Tensor> outputs = Executor(graph).run({given}, [&](ValueId id, const Tensor& tensor) {
    if (graph.value(id).name == "apart") seen = tensor;
  });
  EXPECT_TRUE(outputs[0].identical(given));
  // Image by * 3 + bx holds the pixels (2 row + by - 1, 3 column + bx); outside of the picture are zeros.
  for (int64_t i = 0; i < seen.size(); ++i) {
    const int64_t c = i % 2, column = i / 2 % 3, row = i / 6 % 3, image = i / 18;
    const int64_t py = 2 * row + image / 3 - 1, px = 3 * column + image % 3;
    const bool inside = py >= 0 && py < 4 && px < 6;
    ASSERT_EQ(seen.number_at(i), inside ? given.number_at((py * 6 + px) * 2 + c) : 0) << i;
  }
}

}  // namespace
}  // namespace tilewright
