// Data movement and indexing against hand-computed values.
#include <gtest/gtest.h>

#include <numeric>

#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::contains;
using testing::f32;
using testing::i64;
using testing::run_op;
using Integers = std::vector<int64_t>;

Tensor counting(ElementType type, Shape shape) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, i);
  return tensor;
}

TEST(Rearrange, TransposeOfEveryWidth) {
  for (const ElementType type : {ElementType::kI8, ElementType::kF16, ElementType::kF32, ElementType::kI64}) {
    const Tensor x = counting(type, {2, 3, 2});
    EXPECT_EQ(run_op("Transpose", {x})[0].to_integers(), (Integers{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}));
    const Tensor y = run_op("Transpose", {x}, {{"perm", Integers{1, 0, 2}}})[0];
    EXPECT_EQ(y.shape(), (Shape{3, 2, 2}));
    EXPECT_EQ(y.to_integers(), (Integers{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  }
  EXPECT_THROW(run_op("Transpose", {counting(ElementType::kI8, {2, 3})}, {{"perm", Integers{0, 0}}}), Error);
  EXPECT_THROW(run_op("Transpose", {counting(ElementType::kI8, {2, 3})}, {{"perm", Integers{0}}}), Error);
}

TEST(Rearrange, SliceWithStepsAndClamping) {
  const Tensor x = counting(ElementType::kI32, {3, 4});
  EXPECT_EQ(run_op("Slice", {x, i64({1, 0}), i64({100, -1})})[0].to_integers(),
            (Integers{4, 5, 6, 8, 9, 10}));
  const Tensor back = run_op("Slice", {x, i64({-1}), i64({-100}), i64({1}), i64({-2})})[0];
  EXPECT_EQ(back.shape(), (Shape{3, 2}));
  EXPECT_EQ(back.to_integers(), (Integers{3, 1, 7, 5, 11, 9}));
  EXPECT_EQ(run_op("Slice", {x, i64({5}), i64({9})})[0].shape(), (Shape{0, 4}));
  EXPECT_THROW(run_op("Slice", {x, i64({0}), i64({1}), i64({0}), i64({0})}), Error);
}

TEST(Rearrange, SplitAndConcatAreInverse) {
  const Tensor x = counting(ElementType::kI16, {2, 5, 2});
  const auto parts = run_op("Split", {x, i64({1, 4, 0})}, {{"axis", int64_t{1}}}, 3);
  EXPECT_EQ(parts[0].to_integers(), (Integers{0, 1, 10, 11}));
  EXPECT_EQ(parts[2].shape(), (Shape{2, 0, 2}));
  EXPECT_TRUE(run_op("Concat", {parts[0], parts[1], parts[2]}, {{"axis", int64_t{-2}}})[0].identical(x));
  const auto halves = run_op("Split", {x}, {{"axis", int64_t{0}}}, 2);
  EXPECT_EQ(halves[1].integer_at(0), 10);
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Split", {x, i64({1, 1})}, {{"axis", int64_t{1}}}, 2);
               }),
               "sizes [1, 1] do not split axis 1 of 2x5x2 into 2 outputs");
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Concat", {x, counting(ElementType::kI16, {2, 5, 3})}, {{"axis", int64_t{0}}});
               }),
               "input 1 is i16[2x5x3], which does not fit i16[2x5x2] along axis 0");
}

TEST(Rearrange, ExpandAndTile) {
  const Tensor x = counting(ElementType::kU8, {2, 1});
  EXPECT_EQ(run_op("Expand", {x, i64({1, 1, 3})})[0].to_integers(), (Integers{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(run_op("Tile", {counting(ElementType::kU8, {2, 2}), i64({2, 2})})[0].to_integers(),
            (Integers{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(run_op("Tile", {x, i64({0, 3})})[0].shape(), (Shape{0, 3}));
  EXPECT_THROW(run_op("Tile", {x, i64({2})}), Error);
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Expand", {x, i64({1 << 20, 2, 1 << 20})});
               }),
               "beyond 4 GiB");
}

TEST(Rearrange, PadInEveryMode) {
  const Tensor x = counting(ElementType::kF32, {1, 3});
  const auto pad = [&](const char* mode, std::initializer_list<int64_t> pads) {
    return run_op("Pad", {x, i64(pads)}, {{"mode", std::string(mode)}})[0];
  };
  EXPECT_EQ(pad("constant", {0, 1, 1, 2}).to_integers(), (Integers{0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(pad("reflect", {0, 2, 0, 1}).to_integers(), (Integers{2, 1, 0, 1, 2, 1}));
  EXPECT_EQ(pad("edge", {1, 2, 0, 1}).to_integers(), (Integers{0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(pad("constant", {0, -1, 0, -1}).to_integers(), (Integers{1}));
  EXPECT_EQ(run_op("Pad", {x, i64({0, 0, 0, 1}), Tensor::scalar(7.0f)})[0].to_integers(),
            (Integers{0, 1, 2, 7}));
  EXPECT_PRED2(contains, error_text([&] { pad("reflect", {0, 3, 0, 0}); }), "cannot be reflected by 3");
  EXPECT_PRED2(contains, error_text([&] {
                 pad("constant", {0, -2, 0, -2});
               }),
               "do not fit an axis of size 3");
  EXPECT_PRED2(contains, error_text([&] { pad("wrap", {0, 0, 0, 0}); }), "mode 'wrap' is not supported");
}

TEST(Rearrange, DepthAndSpace) {
  const Tensor x = counting(ElementType::kI8, {1, 4, 1, 2});
  const auto to_space = [&](const char* mode) {
    return run_op("DepthToSpace", {x}, {{"blocksize", int64_t{2}}, {"mode", std::string(mode)}})[0];
  };
  EXPECT_EQ(to_space("DCR").shape(), (Shape{1, 1, 2, 4}));
  EXPECT_EQ(to_space("DCR").to_integers(), (Integers{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(to_space("CRD").to_integers(), (Integers{0, 2, 1, 3, 4, 6, 5, 7}));
  const Tensor wide = counting(ElementType::kI8, {1, 8, 1, 1});
  const auto modes = [&](const char* mode) {
    return run_op("DepthToSpace", {wide}, {{"blocksize", int64_t{2}}, {"mode", std::string(mode)}})[0]
        .to_integers();
  };
  EXPECT_EQ(modes("DCR"), (Integers{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(modes("CRD"), (Integers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(run_op("SpaceToDepth", {to_space("DCR")}, {{"blocksize", int64_t{2}}})[0].identical(x));
  EXPECT_THROW(run_op("DepthToSpace", {x}, {{"blocksize", int64_t{3}}}), Error);
  EXPECT_THROW(run_op("SpaceToDepth", {x}, {{"blocksize", int64_t{2}}}), Error);
}

TEST(Indexing, Gather) {
  const Tensor x = counting(ElementType::kI32, {3, 2});
  const Tensor rows = run_op("Gather", {x, Tensor::of<int64_t>({1, 2}, {-1, 0})})[0];
  EXPECT_EQ(rows.shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(rows.to_integers(), (Integers{4, 5, 0, 1}));
  EXPECT_EQ(run_op("Gather", {x, Tensor::scalar<int32_t>(1)}, {{"axis", int64_t{1}}})[0].to_integers(),
            (Integers{1, 3, 5}));
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("Gather", {x, i64({3})});
               }),
               "index 3 is outside axis 0 of 3x2");
  EXPECT_PRED2(contains, error_text([&] { run_op("Gather", {x, i64({-4})}); }), "index -4 is outside");
}

TEST(Indexing, OneHot) {
  const Tensor values = f32({2}, {0, 5});
  const Tensor y = run_op("OneHot", {i64({1, -1, 7}), Tensor::scalar<int64_t>(3), values})[0];
  EXPECT_EQ(y.to_integers(), (Integers{0, 5, 0, 0, 0, 5, 0, 0, 0}));
  const Tensor first =
      run_op("OneHot", {i64({1, 0}), Tensor::scalar<int64_t>(2), values}, {{"axis", int64_t{0}}})[0];
  EXPECT_EQ(first.to_integers(), (Integers{0, 5, 5, 0}));
  EXPECT_THROW(run_op("OneHot", {i64({1}), Tensor::scalar<int64_t>(0), values}), Error);
}

TEST(Indexing, ArgExtremes) {
  const Tensor x = f32({2, 3}, {1, 3, 3, 5, 4, 5});
  EXPECT_EQ(run_op("ArgMax", {x}, {{"axis", int64_t{1}}})[0].to_integers(), (Integers{1, 0}));
  EXPECT_EQ(run_op("ArgMax", {x}, {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}})[0].to_integers(),
            (Integers{2, 2}));
  const Tensor flat = run_op("ArgMin", {x}, {{"keepdims", int64_t{0}}})[0];
  EXPECT_EQ(flat.shape(), (Shape{3}));
  EXPECT_EQ(flat.to_integers(), (Integers{0, 0, 0}));
  EXPECT_THROW(run_op("ArgMax", {Tensor(ElementType::kF32, Shape{2, 0})}, {{"axis", int64_t{1}}}), Error);
}

TEST(Indexing, TopK) {
  const Tensor x = f32({1, 5}, {3, 1, 3, 2, 5});
  const auto largest = run_op("TopK", {x, i64({3})}, {}, 2);
  EXPECT_EQ(largest[0].to_floats(), (std::vector<float>{5, 3, 3}));
  EXPECT_EQ(largest[1].to_integers(), (Integers{4, 0, 2}));
  const auto smallest = run_op("TopK", {x, i64({2})}, {{"largest", int64_t{0}}}, 2);
  EXPECT_EQ(smallest[1].to_integers(), (Integers{1, 3}));
  const auto columns = run_op("TopK", {f32({2, 2}, {1, 4, 2, 3}), i64({1})}, {{"axis", int64_t{0}}}, 2);
  EXPECT_EQ(columns[1].to_integers(), (Integers{1, 0}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(run_op("TopK", {f32({3}, {1, nan, 2}), i64({2})}, {}, 2)[1].to_integers(), (Integers{1, 2}));
  EXPECT_PRED2(contains, error_text([&] {
                 run_op("TopK", {x, i64({6})}, {}, 2);
               }),
               "the top 6 of 5 elements");
}

}  // namespace
}  // namespace tilewright
