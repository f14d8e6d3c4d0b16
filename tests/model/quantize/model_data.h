// Shared models and data sets for the quantisation tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

std::filesystem::path shared_models();

struct LabelledImages {
  Tensor images;  // f32 [N, 3, 32, 32], 0..255
  std::vector<int64_t> labels;
};
// The 100 lossless CIFAR-10 test images.
LabelledImages cifar10_lossless();
// `count` of the 500 JPEG-decoded CIFAR-10 images, taken evenly over the classes, without those that are
// (up to JPEG noise) among `excluded`.
LabelledImages cifar10_jpeg(int64_t count, const LabelledImages& excluded);

// The accepted classes of each of the 32 photos, counted from `first_class`: 1 where class 0 is the
// background.
std::vector<std::set<int64_t>> photo_classes(int64_t first_class);

// `count` samples of `shape` (axis 0 is the batch), uniform in [low, high).
Tensor uniform_samples(Shape shape, int64_t count, float low, float high, uint64_t seed);

}  // namespace tilewright

#define TILEWRIGHT_REQUIRE_SHARED(relative)                               \
  if (!std::filesystem::exists(tilewright::shared_models() / relative)) { \
    GTEST_SKIP() << "no " << (tilewright::shared_models() / relative);    \
  }
