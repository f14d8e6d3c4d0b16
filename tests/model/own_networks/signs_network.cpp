#include "model/own_networks/own_networks.h"
#include "support/frontend/model_builder_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {

using namespace onnx_testing;
using Floats = std::vector<float>;

std::vector<std::byte> signs_network_file(uint64_t seed) {
  const std::string domain = "onnx.brevitas";
  Random random(seed);
  ModelText model;
  model.input("image", "1x1x28x28").output("scores", "1x10");
  model.initializer(int64s("flat", {1, 784})).initializer(floats("one", {}, {1}));
  model.initializer(floats("two", {}, {2})).initializer(floats("half", {}, {0.125f}));
  model.node("reshape", "Reshape", {"image", "flat"}, {"pixels"});
  model.node("double", "Mul", {"pixels", "two"}, {"doubled"});
  model.node("centre", "Sub", {"doubled", "one"}, {"centred"});
  std::string x = "centred";
  const int64_t sizes[] = {784, 64, 64, 64, 10};
  for (int layer = 0; layer < 4; ++layer) {
    const std::string k = std::to_string(layer);
    const int64_t inputs = sizes[layer], outputs = sizes[layer + 1];
    const auto drawn = [&](int64_t count, double low, double high) {
      Floats numbers;
      for (int64_t i = 0; i < count; ++i) numbers.push_back(float(low + random.uniform() * (high - low)));
      return numbers;
    };
    model.initializer(floats("w" + k, {inputs, outputs}, drawn(inputs * outputs, -1, 1)));
    model.node("act" + k, "BipolarQuant", {x, "one"}, {"a" + k}, "", domain);
    model.node("weights" + k, "BipolarQuant", {"w" + k, "half"}, {"q" + k}, "", domain);
    model.node("dense" + k, "MatMul", {"a" + k, "q" + k}, {"s" + k});
    model.initializer(floats("scale" + k, {outputs}, drawn(outputs, 0.5, 1.5)));
    model.initializer(floats("shift" + k, {outputs}, drawn(outputs, -0.2, 0.2)));
    model.initializer(floats("mean" + k, {outputs}, drawn(outputs, -1, 1)));
    model.initializer(floats("variance" + k, {outputs}, drawn(outputs, 0.5, 2)));
    x = layer == 3 ? "scores" : "n" + k;
    model.node("norm" + k, "BatchNormalization",
               {"s" + k, "scale" + k, "shift" + k, "mean" + k, "variance" + k}, {x});
  }
  return model.build();
}

}  // namespace tilewright
