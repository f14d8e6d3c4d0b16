#include "trainer.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <numeric>
#include <string>

#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/tensor/idx.h"

namespace fashion {
namespace {

using tilewright::Random;
using tilewright::Tensor;

struct Images {
  Tensor pixels, labels;  // u8 [count][28][28] and [count]
};

Images read(const std::string& folder, const std::string& set) {
  return {tilewright::read_idx(folder + "/" + set + "-images-idx3-ubyte.gz"),
          tilewright::read_idx(folder + "/" + set + "-labels-idx1-ubyte.gz")};
}

// Pixel values / 255 as the network sees them, optionally mirrored and shifted (zeros come in).
void draw(const Tensor& images, size_t index, bool mirror, int dy, int dx, float* target) {
  const uint8_t* source = images.data<uint8_t>().data() + index * kPixels;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const int from_y = y - dy, shifted = x - dx;
      const bool inside = from_y >= 0 && from_y < kSide && shifted >= 0 && shifted < kSide;
      const int from_x = mirror ? kSide - 1 - shifted : shifted;
      target[y * kSide + x] = inside ? float(source[from_y * kSide + from_x]) * (1 / 255.0f) : 0.0f;
    }
  }
}

void learn_all(Learner& learner, const Images& images, int epochs, double highest_rate, Random& random) {
  const int64_t count = images.labels.size(), batches = count / kBatch;
  std::vector<size_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<float> pixels(kBatch * kPixels);
  std::vector<uint8_t> labels(kBatch);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[size_t(random.between(0, int64_t(i)))]);
    double loss = 0;
    for (int64_t step = 0; step < batches; ++step) {
      for (int b = 0; b < kBatch; ++b) {
        const size_t index = order[size_t(step * kBatch + b)];
        const bool mirror = random.chance(0.5);
        const int dy = int(random.between(-1, 1)), dx = int(random.between(-1, 1));
        draw(images.pixels, index, mirror, dy, dx, &pixels[size_t(b) * kPixels]);
        labels[size_t(b)] = images.labels.data<uint8_t>()[index];
      }
      const double progress = (double(epoch) + double(step) / double(batches)) / epochs;
      const float rate = float(highest_rate * 0.5 * (1 + std::cos(progress * std::numbers::pi)));
      loss += double(learner.learn(pixels, labels, rate));
    }
    std::printf("epoch %d of %d: loss %.4f\n", epoch + 1, epochs, loss / double(batches));
    std::fflush(stdout);
  }
}

double accuracy(Learner& learner, const Images& images) {
  std::vector<float> pixels(kBatch * kPixels);
  int64_t right = 0;
  const int64_t count = images.labels.size() / kBatch * kBatch;
  for (int64_t start = 0; start < count; start += kBatch) {
    for (int b = 0; b < kBatch; ++b)
      draw(images.pixels, size_t(start + b), false, 0, 0, &pixels[size_t(b) * kPixels]);
    const std::vector<float> scores = learner.scores(pixels);
    for (int b = 0; b < kBatch; ++b) {
      const auto row = scores.begin() + b * kClasses;
      right +=
          std::max_element(row, row + kClasses) - row == images.labels.data<uint8_t>()[size_t(start + b)];
    }
  }
  return 100.0 * double(right) / double(count);
}

}  // namespace

int train(const std::vector<const char*>& arguments, const Recipe& recipe,
          const std::function<std::unique_ptr<Learner>(Random&)>& make) {
  if (arguments.size() < 2) {
    std::fprintf(stderr, "usage: %s DATA_FOLDER OUTPUT.onnx [EPOCHS] [SEED]\n", recipe.usage);
    return 1;
  }
  try {
    const std::string folder = arguments[0];
    const int epochs = arguments.size() > 2 ? std::atoi(arguments[2]) : recipe.epochs;
    omp_set_num_threads(1);  // sums in another order would give another network
    Random random(arguments.size() > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1);
    const Images images = read(folder, "train");
    const std::unique_ptr<Learner> learner = make(random);
    learn_all(*learner, images, epochs, recipe.highest_rate, random);
    tilewright::write_onnx(arguments[1], learner->as_graph());
    std::printf("test accuracy %.2f %% (10,000 images, used for nothing else)\n",
                accuracy(*learner, read(folder, "t10k")));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", recipe.usage, error.what());
    return 1;
  }
}

}  // namespace fashion
