#include "model/own_networks/own_networks.h"

#include <algorithm>

#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/tensor/idx.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

constexpr int64_t kPixels = 28 * 28;

Tensor pixels(const char* file, int64_t count) {
  const Tensor bytes = read_idx(std::filesystem::path("/usr/share/datasets/fashion-mnist") / file);
  Tensor images(ElementType::kF32, {count, 1, 28, 28});
  const auto out = images.mutable_data<float>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = float(bytes.data<uint8_t>()[i]) / 255.0f;
  return images;
}

}  // namespace

std::filesystem::path fashion_file(const std::string& network) {
  return std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "models" / (network + "-fashion") /
         (network + "_fashion.onnx");
}

Graph trained_network(const std::string& network) { return optimize(read_onnx(fashion_file(network))); }

FashionImages fashion_test_images(int64_t count) {
  FashionImages set{pixels("t10k-images-idx3-ubyte.gz", count), {}};
  const Tensor labels =
      read_idx(std::filesystem::path("/usr/share/datasets/fashion-mnist") / "t10k-labels-idx1-ubyte.gz");
  for (int64_t i = 0; i < count; ++i) set.labels.push_back(labels.integer_at(i));
  return set;
}

Tensor image_of(const FashionImages& set, int64_t index) {
  return Tensor({1, 1, 28, 28}, set.images.data<float>().subspan(size_t(index * kPixels), size_t(kPixels)));
}

Graph quantized_network(const std::string& network, const QuantizeOptions& options, int64_t images) {
  return quantize(trained_network(network), {pixels("train-images-idx3-ubyte.gz", images)}, options);
}

}  // namespace tilewright
