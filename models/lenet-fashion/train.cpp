// Trains LeNet and writes it as ONNX.
//
// usage: train_lenet_fashion DATA_FOLDER OUTPUT.onnx [EPOCHS] [SEED]
#include "lenet.h"
#include "trainer.h"

namespace {

using tilewright::ElementType;
using tilewright::Graph;
using tilewright::Shape;
using tilewright::Tensor;
using tilewright::ValueId;

Graph as_graph(const lenet::Lenet& network) {
  Graph graph;
  graph.name = "lenet_fashion";
  ValueId value = graph.add_input("image", ElementType::kF32, {1, 1, fashion::kSide, fashion::kSide});
  const auto constant = [&](const std::string& name, size_t index, Shape shape) {
    return graph.add_constant(
        name, Tensor(std::move(shape), std::span<const float>(network.parameters[index].value)));
  };
  const auto then = [&](const std::string& name, const std::string& op, std::vector<ValueId> more,
                        Shape shape) {
    std::vector<ValueId> inputs = {value};
    inputs.insert(inputs.end(), more.begin(), more.end());
    value = graph.add_value(name, ElementType::kF32, std::move(shape));
    return &graph.add_node(name, op, inputs, {value});
  };
  const auto pool = [&](const std::string& name, Shape shape) {
    auto* node = then(name, "MaxPool", {}, std::move(shape));
    node->attributes["kernel_shape"] = std::vector<int64_t>{2, 2};
    node->attributes["strides"] = std::vector<int64_t>{2, 2};
  };
  const auto dense = [&](const std::string& name, size_t index, Shape weight, Shape shape) {
    const int64_t out = weight[0];
    const ValueId w = constant(name + ".weight", index, std::move(weight));
    const ValueId b = constant(name + ".bias", index + 1, {out});
    then(name, "Gemm", {w, b}, std::move(shape))->attributes["transB"] = int64_t{1};
  };
  const auto convolution = [&](const std::string& name, size_t index, Shape weight, Shape shape) {
    const int64_t out = weight[0];
    const ValueId w = constant(name + ".weight", index, std::move(weight));
    const ValueId b = constant(name + ".bias", index + 1, {out});
    then(name, "Conv", {w, b}, std::move(shape))->attributes["kernel_shape"] = std::vector<int64_t>{5, 5};
  };
  convolution("conv1", 0, {20, 1, 5, 5}, {1, 20, 24, 24});
  then("relu1", "Relu", {}, {1, 20, 24, 24});
  pool("pool1", {1, 20, 12, 12});
  convolution("conv2", 2, {50, 20, 5, 5}, {1, 50, 8, 8});
  then("relu2", "Relu", {}, {1, 50, 8, 8});
  pool("pool2", {1, 50, 4, 4});
  then("flatten", "Flatten", {}, {1, 800});
  dense("dense1", 4, {500, 800}, {1, 500});
  then("relu3", "Relu", {}, {1, 500});
  dense("scores", 6, {10, 500}, {1, 10});
  graph.outputs = {value};
  return graph;
}

class LenetLearner : public fashion::Learner {
 public:
  explicit LenetLearner(tilewright::Random& random) : random_(random), network_(fashion::kBatch, random) {}

  float learn(const std::vector<float>& pixels, const std::vector<uint8_t>& labels, float rate) override {
    std::vector<float> targets(fashion::kBatch * fashion::kClasses);
    for (size_t b = 0; b < labels.size(); ++b) targets[b * fashion::kClasses + labels[b]] = 1;
    network_.forward(pixels, 0.4f, random_);
    const float loss = network_.backward(targets);
    network_.step(rate, 0.9f, 5e-4f);
    return loss;
  }

  std::vector<float> scores(const std::vector<float>& pixels) override {
    return network_.forward(pixels, 0, random_);
  }

  Graph as_graph() const override { return ::as_graph(network_); }

 private:
  tilewright::Random& random_;
  lenet::Lenet network_;
};

}  // namespace

int main(int argc, char** argv) {
  return fashion::train({argv + 1, argv + argc}, {"train_lenet_fashion", 30, 0.04},
                        [](tilewright::Random& random) { return std::make_unique<LenetLearner>(random); });
}
