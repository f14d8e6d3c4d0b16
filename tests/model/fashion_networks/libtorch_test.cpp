// The files as libtorch computes them from their tables and weights: a float truth that is not ours.
#include <torch/torch.h>

#include "facts.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

torch::Tensor as_torch(const Tensor& tensor) {
  return torch::from_blob(const_cast<float*>(tensor.data<float>().data()),
                          std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end()));
}

torch::Tensor scores(const fashion::Network& network, const std::vector<Tensor>& parameters,
                     const torch::Tensor& images) {
  std::vector<torch::Tensor> values;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const fashion::Layer& layer = network.layers[i];
    const int source = fashion::source_of(network, int(i));
    torch::Tensor value =
        torch::conv2d(source < 0 ? images : values[size_t(source)], as_torch(parameters[2 * i]),
                      as_torch(parameters[2 * i + 1]), layer.stride, layer.kernel / 2, 1,
                      layer.depthwise ? layer.channels : 1);
    if (!layer.add.empty()) value += values[size_t(fashion::index_of(network, layer.add))];
    if (layer.activation == fashion::Activation::kRelu) value = torch::relu(value);
    if (layer.activation == fashion::Activation::kRelu6) value = torch::clamp(value, 0, 6);
    values.push_back(value);
  }
  return torch::linear(values.back().mean({2, 3}), as_torch(parameters[parameters.size() - 2]),
                       as_torch(parameters.back()));
}

class FashionNetworksLibtorch : public FashionNetworks {};

TEST_P(FashionNetworksLibtorch, GiveTheScoresOfLibtorch) {
  constexpr int64_t kImages = 1000;
  const torch::NoGradGuard guard;
  torch::set_num_threads(1);
  const FashionImages set = fashion_test_images(kImages);
  const Graph graph = read_onnx(fashion_file(GetParam().name));
  const std::vector<Tensor> parameters = parameters_in(graph);
  const torch::Tensor expected = scores(GetParam().table(), parameters, as_torch(set.images)).contiguous();
  const Executor as_read(graph), optimised(trained_network(GetParam().name));
  const float largest = expected.abs().max().item<float>();
  int64_t right = 0;
  for (int64_t i = 0; i < kImages; ++i) {
    right += expected[i].argmax().item<int64_t>() == set.labels[size_t(i)];
    for (const Executor* executor : {&as_read, &optimised}) {
      const Tensor ours = executor->run({image_of(set, i)})[0];
      EXPECT_LE((as_torch(ours)[0] - expected[i]).abs().max().item<float>(), 1e-5f * largest) << i;
    }
  }
  EXPECT_EQ(right, GetParam().float_1000);
}

}  // namespace

TILEWRIGHT_ON_BOTH(FashionNetworksLibtorch);

}  // namespace tilewright
