#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::contains;
using testing::distance;
using testing::f32;
using testing::i64;
using testing::run_op;

Tensor resize(const Tensor& x, std::initializer_list<float> scales, Attributes attributes) {
  return run_op("Resize", {x, std::nullopt, f32({int64_t(scales.size())}, scales)}, std::move(attributes))[0];
}

Attributes modes(const char* mode, const char* coordinates, const char* nearest = "floor") {
  return {{"mode", std::string(mode)},
          {"coordinate_transformation_mode", std::string(coordinates)},
          {"nearest_mode", std::string(nearest)}};
}

TEST(Resize, NearestUpAndDown) {
  const Tensor x = Tensor::of<int8_t>({1, 2}, {1, 2});
  EXPECT_EQ(resize(x, {2, 2}, modes("nearest", "asymmetric")).to_integers(),
            (std::vector<int64_t>{1, 1, 2, 2, 1, 1, 2, 2}));
  const Tensor line = f32({4}, {0, 1, 2, 3});
  EXPECT_EQ(resize(line, {0.5f}, modes("nearest", "half_pixel", "round_prefer_ceil")).to_floats(),
            (std::vector<float>{1, 3}));
  EXPECT_EQ(resize(line, {0.5f}, modes("nearest", "half_pixel", "round_prefer_floor")).to_floats(),
            (std::vector<float>{0, 2}));
  EXPECT_EQ(resize(line, {1.5f}, modes("nearest", "asymmetric", "ceil")).to_floats(),
            (std::vector<float>{0, 1, 2, 2, 3, 3}));
}

TEST(Resize, LinearInEveryCoordinateSystem) {
  const Tensor x = f32({2}, {0, 12});
  EXPECT_EQ(resize(x, {2}, modes("linear", "half_pixel")).to_floats(), (std::vector<float>{0, 3, 9, 12}));
  EXPECT_EQ(resize(x, {2}, modes("linear", "asymmetric")).to_floats(), (std::vector<float>{0, 6, 12, 12}));
  EXPECT_EQ(resize(x, {2}, modes("linear", "align_corners")).to_floats(), (std::vector<float>{0, 4, 8, 12}));
  EXPECT_EQ(resize(x, {0.5f}, modes("linear", "pytorch_half_pixel")).to_floats(), (std::vector<float>{0}));
  EXPECT_EQ(resize(x, {0.5f}, modes("linear", "half_pixel")).to_floats(), (std::vector<float>{6}));
}

TEST(Resize, SizesRowsAndChannels) {
  const Tensor x = f32({1, 1, 2, 2}, {0, 2, 4, 6});
  const Tensor y = run_op("Resize", {x, std::nullopt, std::nullopt, i64({1, 1, 3, 3})},
                          modes("linear", "align_corners"))[0];
  EXPECT_EQ(y.to_floats(), (std::vector<float>{0, 1, 2, 2, 3, 4, 4, 5, 6}));
}

TEST(Resize, CubicKeepsConstantsAndLines) {
  const Tensor flat = f32({4}, {5, 5, 5, 5});
  EXPECT_LE(distance(resize(flat, {2}, modes("cubic", "half_pixel")), f32({8}, {5, 5, 5, 5, 5, 5, 5, 5})),
            1e-5);
  auto attributes = modes("cubic", "half_pixel");
  attributes["exclude_outside"] = int64_t{1};
  attributes["cubic_coeff_a"] = -0.5f;
  EXPECT_LE(distance(resize(flat, {2}, attributes), f32({8}, {5, 5, 5, 5, 5, 5, 5, 5})), 1e-5);
  // With a = -0.5 (Catmull-Rom) straight lines are reproduced away from the edges.
  Tensor line(ElementType::kF32, Shape{8});
  for (int64_t i = 0; i < 8; ++i) line.set_number(i, double(i));
  attributes["exclude_outside"] = int64_t{0};
  const Tensor y = resize(line, {2}, attributes);
  for (int64_t i = 4; i < 12; ++i) EXPECT_NEAR(y.number_at(i), (double(i) + 0.5) / 2 - 0.5, 1e-5);
}

TEST(Resize, CropFillsOutside) {
  auto attributes = modes("linear", "tf_crop_and_resize");
  attributes["extrapolation_value"] = 9.0f;
  const Tensor y =
      run_op("Resize", {f32({3}, {0, 1, 2}), f32({2}, {0, 2}), std::nullopt, i64({3})}, attributes)[0];
  EXPECT_EQ(y.to_floats(), (std::vector<float>{0, 2, 9}));
}

// What shape inference says of a Resize by scales is what it computes.
TEST(ResizeClass, ScalesGiveTheInferredShape) {
  Random random(test_seed());
  const int64_t cases = test_cases(400);
  RecordProperty("cases", int(cases));
  int64_t compared = 0;
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    const int64_t rank = random.between(1, 3);
    std::vector<int64_t> dims;
    Tensor scales(ElementType::kF32, Shape{rank}), region(ElementType::kF32, Shape{2 * rank});
    for (int64_t axis = 0; axis < rank; ++axis) {
      dims.push_back(random.between(random.chance(0.1) ? 0 : 1, 12));
      scales.set_number(axis, double(random.between(1, 25)) / 10);
      region.set_number(axis, double(random.between(0, 5)) / 10);
      region.set_number(rank + axis, double(random.between(3, 12)) / 10);
    }
    constexpr const char* kCoordinates[] = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                            "tf_crop_and_resize"};
    const auto attributes =
        modes(random.chance(0.5) ? "nearest" : "linear", kCoordinates[random.between(0, 4)]);
    const testing::Given x{ElementType::kF32, Shape(dims), std::nullopt};
    Graph graph =
        testing::single_node("Resize", {x, testing::constant(region), testing::constant(scales)}, attributes);
    Diagnostics problems;
    infer_shapes(graph, problems);
    if (!problems.ok()) continue;
    ++compared;
    EXPECT_NO_THROW(run(graph, {Tensor(ElementType::kF32, Shape(dims))}));
  }
  EXPECT_GT(compared, cases / 2);
  EXPECT_EQ(resize(Tensor(ElementType::kF32, Shape{1, 1, 10, 10}), {1, 1, 0.7f, 0.7f}, {}).shape(),
            (Shape{1, 1, 7, 7}));
}

TEST(Resize, Rejects) {
  const Tensor x = f32({2}, {1, 2});
  const auto text = [&](const std::function<void()>& body) { return error_text(body); };
  EXPECT_PRED2(contains, text([&] { resize(x, {0}, {}); }), "axis 0 of size 2 cannot get scale 0");
  EXPECT_PRED2(contains, text([&] { resize(x, {std::numeric_limits<float>::quiet_NaN()}, {}); }),
               "cannot get scale");
  EXPECT_PRED2(contains, text([&] { resize(x, {1, 1}, {}); }), "2 scales for data of shape 2");
  EXPECT_PRED2(contains, text([&] { resize(x, {2e9f}, {}); }), "beyond 4 GiB");
  EXPECT_PRED2(contains, text([&] { resize(x, {2}, modes("area", "half_pixel")); }), "mode 'area'");
  EXPECT_PRED2(contains, text([&] { resize(x, {2}, modes("nearest", "polar")); }),
               "'polar' is not supported");
  EXPECT_PRED2(contains, text([&] { resize(x, {2}, modes("nearest", "asymmetric", "up")); }),
               "nearest_mode 'up'");
}

}  // namespace
}  // namespace tilewright
