// Trains the residual, the depthwise or the gated network with libtorch and writes it as ONNX, its batch
// normalisations folded into the convolutions.
//
// usage: train_fashion residual|depthwise|gated DATA_FOLDER OUTPUT.onnx [EPOCHS] [SEED]
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>

#include "networks.h"
#include "trainer.h"

namespace {

using tilewright::Tensor;

Tensor as_tensor(const torch::Tensor& values) {
  const torch::Tensor flat = values.detach().to(torch::kFloat).contiguous();
  return Tensor(tilewright::Shape(flat.sizes().vec()),
                std::span<const float>(flat.data_ptr<float>(), size_t(flat.numel())));
}

class TorchLearner : public fashion::Learner {
 public:
  explicit TorchLearner(const fashion::Network& network)
      : network_(network), dense_(network.layers.back().channels, fashion::kClasses) {
    const std::vector<tilewright::Shape> shapes = fashion::parameter_shapes(network);
    std::vector<torch::Tensor> decaying = {dense_->weight}, others = {dense_->bias};
    for (size_t i = 0, shape = 0; i < network.layers.size(); ++i, shape += 2) {
      const fashion::Layer& layer = network.layers[i];
      const int64_t groups = layer.depthwise ? layer.channels : 1;
      convolutions_.emplace_back(
          torch::nn::Conv2dOptions(shapes[shape][1] * groups, layer.channels, layer.kernel)
              .stride(layer.stride)
              .padding(layer.kernel / 2)
              .groups(groups)
              .bias(false));
      norms_.emplace_back(layer.channels);
      torch::nn::init::kaiming_normal_(convolutions_[i]->weight, 0, torch::kFanOut, torch::kReLU);
      (layer.depthwise ? others : decaying).push_back(convolutions_[i]->weight);
      others.push_back(norms_[i]->weight);
      others.push_back(norms_[i]->bias);
      gates_.emplace_back();
      if (layer.gate == 0) continue;
      shape += 4;
      for (const auto& [in, out] : {std::pair{layer.channels, layer.gate}, {layer.gate, layer.channels}}) {
        gates_[i].emplace_back(torch::nn::Conv2dOptions(in, out, 1));
        decaying.push_back(gates_[i].back()->weight);
        others.push_back(gates_[i].back()->bias);
      }
    }
    const auto options = torch::optim::SGDOptions(0).momentum(0.9).nesterov(true);
    optimizer_ = std::make_unique<torch::optim::SGD>(
        std::vector<torch::optim::OptimizerParamGroup>{
            {decaying, std::make_unique<torch::optim::SGDOptions>(
                           torch::optim::SGDOptions(options).weight_decay(5e-4))},
            {others, std::make_unique<torch::optim::SGDOptions>(options)}},
        options);
  }

  float learn(const std::vector<float>& pixels, const std::vector<uint8_t>& labels, float rate) override {
    for (auto& group : optimizer_->param_groups()) group.options().set_lr(rate);
    optimizer_->zero_grad();
    torch::Tensor targets = torch::empty({fashion::kBatch}, torch::kLong);
    for (int b = 0; b < fashion::kBatch; ++b) targets.data_ptr<int64_t>()[b] = labels[size_t(b)];
    const torch::Tensor loss = torch::nn::functional::cross_entropy(forward(pixels, true), targets);
    loss.backward();
    optimizer_->step();
    return loss.item<float>();
  }

  std::vector<float> scores(const std::vector<float>& pixels) override {
    const torch::NoGradGuard guard;
    const torch::Tensor rows = forward(pixels, false).contiguous();
    return {rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()};
  }

  tilewright::Graph as_graph() const override {
    std::vector<Tensor> parameters;
    for (size_t i = 0; i < convolutions_.size(); ++i) {
      const auto& norm = norms_[i];
      const torch::Tensor variance = norm->running_var.to(torch::kDouble) + norm->options.eps();
      const torch::Tensor scale = norm->weight.to(torch::kDouble) / variance.sqrt();
      const torch::Tensor shift = norm->bias.to(torch::kDouble) - norm->running_mean * scale;
      parameters.push_back(as_tensor(convolutions_[i]->weight * scale.reshape({-1, 1, 1, 1})));
      parameters.push_back(as_tensor(shift));
      for (const auto& dense : gates_[i]) {
        parameters.push_back(as_tensor(dense->weight));
        parameters.push_back(as_tensor(dense->bias));
      }
    }
    parameters.push_back(as_tensor(dense_->weight));
    parameters.push_back(as_tensor(dense_->bias));
    return fashion::as_graph(network_, parameters);
  }

 private:
  torch::Tensor forward(const std::vector<float>& pixels, bool training) {
    const torch::Tensor image = torch::from_blob(const_cast<float*>(pixels.data()),
                                                 {fashion::kBatch, 1, fashion::kSide, fashion::kSide});
    std::vector<torch::Tensor> values;
    for (size_t i = 0; i < convolutions_.size(); ++i) {
      const fashion::Layer& layer = network_.layers[i];
      const int source = fashion::source_of(network_, int(i));
      norms_[i]->train(training);
      torch::Tensor value = norms_[i](convolutions_[i](source < 0 ? image : values[size_t(source)]));
      if (!layer.add.empty()) value = value + values[size_t(fashion::index_of(network_, layer.add))];
      if (layer.activation == fashion::Activation::kRelu) value = torch::relu(value);
      if (layer.activation == fashion::Activation::kRelu6) value = torch::clamp(value, 0, 6);
      if (layer.activation == fashion::Activation::kSilu) value = torch::silu(value);
      if (layer.gate > 0) {
        const torch::Tensor squeezed = torch::silu(gates_[i][0](value.mean({2, 3}, true)));
        value = value * torch::sigmoid(gates_[i][1](squeezed));
      }
      values.push_back(value);
    }
    return dense_(values.back().mean({2, 3}));
  }

  fashion::Network network_;
  std::vector<torch::nn::Conv2d> convolutions_;
  std::vector<torch::nn::BatchNorm2d> norms_;
  std::vector<std::vector<torch::nn::Conv2d>> gates_;  // of each layer: none or two
  torch::nn::Linear dense_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
};

}  // namespace

int main(int argc, char** argv) {
  const fashion::Recipe recipe = {"train_fashion residual|depthwise|gated", 15, 0.1};
  const std::string which = argc > 1 ? argv[1] : "";
  const std::map<std::string, fashion::Network (*)()> networks = {{"residual", fashion::residual_fashion},
                                                                  {"depthwise", fashion::depthwise_fashion},
                                                                  {"gated", fashion::gated_fashion}};
  const bool known = networks.count(which) > 0;
  const std::vector<const char*> rest(argv + std::min(argc, 2), argv + (known ? argc : std::min(argc, 2)));
  return fashion::train(rest, recipe, [&](tilewright::Random& random) {
    torch::set_num_threads(1);
    torch::manual_seed(random.next());
    return std::make_unique<TorchLearner>(networks.at(which)());
  });
}
