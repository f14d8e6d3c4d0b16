#include "tilewright/tensor/npy.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "outside.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(Npy, RoundTripsEveryByteSizedType) {
  Random random(1);
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = ElementType(t);
    if (bit_width(type) < 8 || type == ElementType::kBF16) continue;
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape{2, 3, 5}}) {
      Tensor tensor(type, shape);
      for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(-100, 100));
      EXPECT_TRUE(parse_npy(format_npy(tensor)).identical(tensor)) << name(type) << to_string(shape);
    }
  }
}

TEST(Npy, RejectsDamageWithAReason) {
  std::vector<std::byte> bytes = format_npy(Tensor::of<float>({2}, {1, 2}));
  EXPECT_THROW(parse_npy(std::span(bytes).first(bytes.size() - 1)), Error);
  EXPECT_THROW(parse_npy(std::span(bytes).first(9)), Error);
  Random random(2);
  for (int i = 0; i < 5000; ++i) {  // any damage is an Error or a tensor, never a crash
    std::vector<std::byte> damaged = bytes;
    for (int k = 0; k < 3; ++k) damaged[size_t(random.between(0, 100))] = std::byte(random.between(0, 255));
    try {
      parse_npy(damaged);
    } catch (const Error&) {
    }
  }
}

TEST(Npy, ReadsAFileThatNumpyWrote) {
  const std::filesystem::path path = outside_models() / "onnx_from_tflite/kws_dscnn_fp32.ref.out0.npy";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const Tensor tensor = read_npy(path);
  EXPECT_EQ(tensor.shape(), (Shape{1, 12}));
  float sum = 0;
  for (float v : tensor.data<float>()) sum += v;
  EXPECT_NEAR(sum, 1.0f, 1e-5);
}

}  // namespace
}  // namespace tilewright
