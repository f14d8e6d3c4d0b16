#include "model_data.h"

#include <cmath>
#include <sstream>

#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

constexpr int64_t kPixels = 3 * 32 * 32;

// Mean absolute difference of two images.
double distance(const float* a, const float* b) {
  double sum = 0;
  for (int64_t i = 0; i < kPixels; ++i) sum += std::fabs(a[i] - b[i]);
  return sum / double(kPixels);
}

}  // namespace

std::filesystem::path shared_models() { return outside_models(); }

std::vector<std::set<int64_t>> photo_classes(int64_t first_class) {
  std::istringstream lines(read_text_file(shared_models() / "data_images" / "labels.csv"));
  std::vector<std::set<int64_t>> result;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 3; ++i) std::getline(fields, field, ',');  // the third: classes of ImageNet
    std::istringstream classes(field);
    result.emplace_back();
    while (std::getline(classes, field, ';')) result.back().insert(std::stoi(field) + first_class);
  }
  return result;
}

LabelledImages cifar10_lossless() {
  std::istringstream lines(read_text_file(shared_models() / "data_cifar10" / "cifar10_test_first100.csv"));
  std::vector<float> numbers;
  LabelledImages result;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    std::istringstream fields(line);
    std::string field;
    std::getline(fields, field, ',');
    result.labels.push_back(std::stoi(field));
    std::vector<float> image(static_cast<size_t>(kPixels));
    for (int64_t i = 0; i < kPixels; ++i) {  // height, width, channel in the file
      std::getline(fields, field, ',');
      image[size_t(i % 3 * 1024 + i / 3)] = std::stof(field);
    }
    numbers.insert(numbers.end(), image.begin(), image.end());
  }
  const int64_t count = int64_t(result.labels.size());
  result.images = Tensor(Shape{count, 3, 32, 32}, std::span<const float>(numbers));
  return result;
}

LabelledImages cifar10_jpeg(int64_t count, const LabelledImages& excluded) {
  const auto bytes = read_file(shared_models() / "data_cifar10" / "cifar10_test_jpeg500.bin");
  constexpr int64_t kRecord = 1 + kPixels, kImages = 500, kStride = 7;
  LabelledImages result;
  std::vector<float> numbers;
  for (int64_t k = 0; k < kImages && int64_t(result.labels.size()) < count; ++k) {
    const std::byte* record = bytes.data() + k * kStride % kImages * kRecord;
    std::vector<float> image;
    for (int64_t i = 0; i < kPixels; ++i) image.push_back(float(record[1 + i]));
    bool known = false;
    for (size_t e = 0; e < excluded.labels.size() && !known; ++e) {
      known = distance(image.data(), excluded.images.data<float>().data() + e * size_t(kPixels)) < 12;
    }
    if (known) continue;
    result.labels.push_back(int64_t(record[0]));
    numbers.insert(numbers.end(), image.begin(), image.end());
  }
  result.images = Tensor(Shape{int64_t(result.labels.size()), 3, 32, 32}, std::span<const float>(numbers));
  return result;
}

Tensor uniform_samples(Shape shape, int64_t count, float low, float high, uint64_t seed) {
  shape[0] *= count;
  Tensor samples(ElementType::kF32, shape);
  Random random(seed);
  for (float& x : samples.mutable_data<float>()) x = low + float(random.uniform()) * (high - low);
  return samples;
}

}  // namespace tilewright
