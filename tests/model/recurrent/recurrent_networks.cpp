#include "model/recurrent/recurrent_networks.h"

#include "support/frontend/model_builder_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

using namespace onnx_testing;

std::string tensor_text(const std::string& name, const Tensor& tensor) {
  return floats(name, tensor.shape().dims(), tensor.to_floats());
}

std::string dims_text(const Shape& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

}  // namespace

RecurrentCase random_recurrent_case(uint64_t seed) {
  Random random(seed);
  RecurrentCase layer;
  layer.seed = seed;
  const char* const operators[] = {"RNN", "GRU", "LSTM"};
  const char* const directions[] = {"forward", "reverse", "bidirectional"};
  layer.op = operators[random.between(0, 2)];
  layer.direction = directions[random.between(0, 2)];
  layer.steps = random.between(1, 5);
  layer.batch = random.between(1, 3);
  layer.inputs = random.between(1, 4);
  layer.hidden = random.between(1, 6);
  layer.batch_first = random.chance(0.5);
  layer.biases = random.chance(0.7);
  layer.initial = random.chance(0.5);
  layer.peepholes = layer.op == "LSTM" && random.chance(0.5);
  layer.input_forget = layer.op == "LSTM" && random.chance(0.3);
  layer.linear_before_reset = layer.op == "GRU" && random.chance(0.5);
  if (random.chance(0.3)) layer.clip = 0.3f;
  if (random.chance(0.3)) {
    const char* const functions[] = {"Relu", "Tanh", "Sigmoid", "Softsign", "HardSigmoid", "Affine"};
    const int count = layer.directions() * (layer.op == "LSTM" ? 3 : layer.op == "GRU" ? 2 : 1);
    for (int i = 0; i < count; ++i) layer.activations.emplace_back(functions[random.between(0, 5)]);
  }
  if (random.chance(0.4)) {
    for (int64_t i = 0; i < layer.batch; ++i) layer.lengths.push_back(random.between(0, layer.steps));
  }
  return layer;
}

std::map<std::string, Tensor> recurrent_weights(const RecurrentCase& layer) {
  Random random(layer.seed);
  const int64_t d = layer.directions(), rows = layer.gates() * layer.hidden;
  std::map<std::string, Tensor> weights;
  const auto add = [&](const char* name, Shape shape) {
    Tensor tensor(ElementType::kF32, std::move(shape));
    for (float& value : tensor.mutable_data<float>()) value = float(1.4 * random.uniform() - 0.7);
    weights.emplace(name, std::move(tensor));
  };
  const Shape state =
      layer.batch_first ? Shape{layer.batch, d, layer.hidden} : Shape{d, layer.batch, layer.hidden};
  add("W", {d, rows, layer.inputs});
  add("R", {d, rows, layer.hidden});
  if (layer.biases) add("B", {d, 2 * rows});
  if (layer.initial) add("initial_h", state);
  if (layer.initial && layer.op == "LSTM") add("initial_c", state);
  if (layer.peepholes) add("P", {d, 3 * layer.hidden});
  return weights;
}

std::vector<std::byte> recurrent_file(const RecurrentCase& layer) {
  ModelText model;
  const Shape x = layer.batch_first ? Shape{layer.batch, layer.steps, layer.inputs}
                                    : Shape{layer.steps, layer.batch, layer.inputs};
  model.input("x", dims_text(x)).output("y").output("y_h");
  if (layer.op == "LSTM") model.output("y_c");
  const std::map<std::string, Tensor> weights = recurrent_weights(layer);
  for (const auto& [name, tensor] : weights) model.initializer(tensor_text(name, tensor));
  std::vector<std::string> inputs = {"x", "W", "R", layer.biases ? "B" : "",
                                     layer.lengths.empty() ? "" : "lengths"};
  if (!layer.lengths.empty()) {
    const std::vector<int32_t> lengths(layer.lengths.begin(), layer.lengths.end());
    model.initializer(tensor("lengths", 6, {int64_t(lengths.size())}, raw(lengths)));
  }
  for (const char* name : {"initial_h", "initial_c", "P"}) inputs.push_back(weights.count(name) ? name : "");
  std::string attributes = int_attribute("hidden_size", layer.hidden) +
                           string_attribute("direction", layer.direction) +
                           int_attribute("layout", layer.batch_first);
  if (layer.input_forget) attributes += int_attribute("input_forget", 1);
  if (layer.linear_before_reset) attributes += int_attribute("linear_before_reset", 1);
  if (layer.clip) attributes += float_attribute("clip", *layer.clip);
  if (!layer.activations.empty()) attributes += strings_attribute("activations", layer.activations);
  std::vector<std::string> outputs = {"y", "y_h"};
  if (layer.op == "LSTM") outputs.push_back("y_c");
  if (layer.op != "LSTM") inputs.resize(6);
  model.node("layer", layer.op, inputs, outputs, attributes);
  return model.build();
}

std::vector<std::byte> cell_file(uint64_t seed) {
  Random random(seed);
  const auto numbers = [&](int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = float(1.4 * random.uniform() - 0.7);
    return values;
  };
  ModelText model;
  model.input("x", "1x1x6").input("h0", "1x1x4").input("c0", "1x1x4");
  model.output("y").output("hn").output("cn");
  model.initializer(floats("w", {1, 16, 6}, numbers(96))).initializer(floats("r", {1, 16, 4}, numbers(64)));
  model.initializer(floats("b", {1, 32}, numbers(32))).initializer(floats("d", {3, 4}, numbers(12)));
  model.initializer(int64s("shape", {1, 4}));
  model.node("cell", "LSTM", {"x", "w", "r", "b", "", "h0", "c0"}, {"", "hn", "cn"});
  model.node("row", "Reshape", {"hn", "shape"}, {"row"});
  model.node("dense", "Gemm", {"row", "d"}, {"y"}, int_attribute("transB", 1));
  return model.build();
}

}  // namespace tilewright
