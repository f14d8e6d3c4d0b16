// Trains LeNet on all 60,000 Fashion-MNIST training images and writes it as ONNX. Everything follows from the
// seed: one thread, a fixed schedule, no early stopping. The test set is only read to print the final
// accuracy.
//
// usage: train_lenet_fashion DATA_FOLDER OUTPUT.onnx [EPOCHS] [SEED]
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>

#include "lenet.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/tensor/idx.h"

namespace {

using tilewright::ElementType;
using tilewright::Graph;
using tilewright::Shape;
using tilewright::Tensor;
using tilewright::ValueId;

constexpr int kBatch = 100;
constexpr int kSide = 28;

// Pixel values / 255 as the network sees them, optionally mirrored and shifted (zeros come in).
void draw(const Tensor& images, size_t index, bool mirror, int dy, int dx, float* target) {
  const uint8_t* source = images.data<uint8_t>().data() + index * kSide * kSide;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const int from_y = y - dy, shifted = x - dx;
      const bool inside = from_y >= 0 && from_y < kSide && shifted >= 0 && shifted < kSide;
      const int from_x = mirror ? kSide - 1 - shifted : shifted;
      target[y * kSide + x] = inside ? float(source[from_y * kSide + from_x]) * (1 / 255.0f) : 0.0f;
    }
  }
}

double accuracy(lenet::Lenet& network, const Tensor& images, const Tensor& labels) {
  tilewright::Random unused(0);
  std::vector<float> batch(kBatch * kSide * kSide);
  int64_t right = 0;
  const int64_t count = labels.size() / kBatch * kBatch;
  for (int64_t start = 0; start < count; start += kBatch) {
    for (int b = 0; b < kBatch; ++b)
      draw(images, size_t(start + b), false, 0, 0, &batch[size_t(b) * kSide * kSide]);
    const std::vector<float>& logits = network.forward(batch, 0, unused);
    for (int b = 0; b < kBatch; ++b) {
      const auto row = logits.begin() + b * 10;
      right += std::max_element(row, row + 10) - row == labels.data<uint8_t>()[size_t(start + b)];
    }
  }
  return 100.0 * double(right) / double(count);
}

void train(lenet::Lenet& network, const Tensor& images, const Tensor& labels, int epochs,
           tilewright::Random& random) {
  const int64_t count = labels.size(), batches = count / kBatch;
  std::vector<size_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<float> batch(kBatch * kSide * kSide), targets(kBatch * 10);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[size_t(random.between(0, int64_t(i)))]);
    double loss = 0;
    for (int64_t step = 0; step < batches; ++step) {
      std::fill(targets.begin(), targets.end(), 0.0f);
      for (int b = 0; b < kBatch; ++b) {
        const size_t index = order[size_t(step * kBatch + b)];
        const bool mirror = random.chance(0.5);
        const int dy = int(random.between(-1, 1)), dx = int(random.between(-1, 1));
        draw(images, index, mirror, dy, dx, &batch[size_t(b) * kSide * kSide]);
        targets[size_t(b) * 10 + labels.data<uint8_t>()[index]] = 1;
      }
      network.forward(batch, 0.4f, random);
      loss += double(network.backward(targets));
      const double progress = (double(epoch) + double(step) / double(batches)) / epochs;
      network.step(float(0.04 * 0.5 * (1 + std::cos(progress * 3.14159265358979))), 0.9f, 5e-4f);
    }
    std::printf("epoch %d of %d: loss %.4f\n", epoch + 1, epochs, loss / double(batches));
    std::fflush(stdout);
  }
}

Graph as_graph(const lenet::Lenet& network) {
  Graph graph;
  graph.name = "lenet_fashion";
  ValueId value = graph.add_input("image", ElementType::kF32, {1, 1, kSide, kSide});
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

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: train_lenet_fashion DATA_FOLDER OUTPUT.onnx [EPOCHS] [SEED]\n");
    return 1;
  }
  const std::string folder = argv[1];
  const int epochs = argc > 3 ? std::atoi(argv[3]) : 30;
  const uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
  omp_set_num_threads(1);  // sums in another order would give another network
  const Tensor images = tilewright::read_idx(folder + "/train-images-idx3-ubyte.gz");
  const Tensor labels = tilewright::read_idx(folder + "/train-labels-idx1-ubyte.gz");
  tilewright::Random random(seed);
  lenet::Lenet network(kBatch, random);
  train(network, images, labels, epochs, random);
  tilewright::write_onnx(argv[2], as_graph(network));
  std::printf("test accuracy %.2f %% (10,000 images, used for nothing else)\n",
              accuracy(network, tilewright::read_idx(folder + "/t10k-images-idx3-ubyte.gz"),
                       tilewright::read_idx(folder + "/t10k-labels-idx1-ubyte.gz")));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_lenet_fashion: %s\n", error.what());
    return 1;
  }
}
