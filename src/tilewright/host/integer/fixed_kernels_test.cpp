// The host engine's wide fixed-point operators and the 8-bit table against the reference kernels of `tensor`,
// bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tilewright/host/integer/fixed_layers.h"
#include "tilewright/host/integer/integer_testing.h"
#include "tilewright/host/kernel_testing.h"
#include "tilewright/tensor/reference_fixed.h"

namespace tilewright {
namespace {

using Ints = std::vector<int64_t>;

// Magnitudes from a few bits to the whole type, so that some sums wrap.
Tensor random_i32(const Shape& shape, Random& random) {
  const int64_t limit = (int64_t{1} << random.between(3, 31)) - 1;
  return random_integers(ElementType::kI32, shape, -limit - 1, limit, random);
}

FixedClip random_clip(Random& random) {
  if (random.chance(0.4)) return {};
  const int32_t low = random.chance(0.5) ? 0 : int32_t(random.between(-(1 << 26), 0));
  return {low, int32_t(random.between(low, INT32_MAX))};
}

Attributes clip_attributes(const FixedClip& clip) {
  return {{"clip_low", int64_t{clip.low}}, {"clip_high", int64_t{clip.high}}};
}

void add_window(Attributes& attributes, const WindowParameters& w) {
  attributes["strides"] = Ints{w.strides[0], w.strides[1]};
  attributes["dilations"] = Ints{w.dilations[0], w.dilations[1]};
  attributes["pads"] = Ints{w.pads[0], w.pads[1], w.pads[2], w.pads[3]};
}

Tensor run_one(const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes, int threads) {
  std::vector<std::optional<Tensor>> listed(inputs.begin(), inputs.end());
  return testing::run_op(op, listed, std::move(attributes), 1, kTilewrightDomain, HostOptions{threads})[0];
}

TEST(HostFixed, ConvEqualsTheReference) {
  const uint64_t seed = 9200;
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const int64_t group = random.chance(0.6) ? 1 : random.between(2, 5), c = random.between(1, 6),
                  o = random.between(1, 9), kh = random.between(1, 4), kw = random.between(1, 5);
    FixedConvParameters p;
    p.window = random_window(random, kh, kw);
    p.group = group;
    p.fraction = int(random.between(0, kMostFraction));
    p.clip = random_clip(random);
    const Tensor x =
        random_i32({random.between(1, 2), c * group, random.between(8, 12), random.between(13, 20)}, random);
    const Tensor w = random_i32({o * group, c, kh, kw}, random), b = random_i32({o * group}, random);
    Attributes attributes = clip_attributes(p.clip);
    add_window(attributes, p.window);
    attributes["group"] = group;
    attributes["fraction"] = int64_t{p.fraction};
    const Tensor actual = run_one("FixedConv", {x, w, b}, attributes, int(random.between(1, 3)));
    ASSERT_TRUE(actual.identical(reference_fixed_conv(x, w, b, p)));
  }
}

TEST(HostFixed, GemmEqualsTheReferenceOnEveryInstructionSet) {
  const uint64_t seed = 9201;
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const int64_t n = random.between(1, 20), k = random.between(1, 90), o = random.between(1, 30);
    const int fraction = int(random.between(0, kMostFraction));
    const FixedClip clip = random_clip(random);
    const Tensor x = random_i32({n, k}, random), w = random_i32({o, k}, random), b = random_i32({o}, random);
    Attributes attributes = clip_attributes(clip);
    attributes["fraction"] = int64_t{fraction};
    const Tensor expected = reference_fixed_gemm(x, w, b, fraction, clip);
    ASSERT_TRUE(run_one("FixedGemm", {x, w, b}, attributes, 2).identical(expected));
    const FixedWeights portable(w, 1, portable_fixed_products());
    ASSERT_TRUE(portable.multiply(x, b, {fraction, clip}, 1).identical(expected));
  }
}

TEST(HostFixed, ExtremesAreThoseOfTheSums) {
  const Tensor x = Tensor::of<int32_t>({2, 2}, {INT32_MAX, 0, -3, 1 << 20});
  const Tensor w = Tensor::of<int32_t>({2, 2}, {4 << 22, 0, 0, 1 << 22});
  const Tensor b = Tensor::of<int32_t>({2}, {0, 1});
  FixedExtremes seen;
  FixedWeights(w, 1).multiply(x, b, {22, {}}, 2, &seen);
  EXPECT_EQ(seen.largest_sum, uint64_t(INT32_MAX) << 24);
  EXPECT_EQ(seen.saturated, 1);
  seen = {};
  FixedWeights(w, 1).multiply(x, b, {22, {0, 6 << 22}}, 2, &seen);
  EXPECT_EQ(seen.saturated, 0) << "an activation's bound is no overflow";
}

TEST(HostFixed, AddAndPoolsEqualTheReference) {
  const uint64_t seed = 9202;
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const Shape shape{random.between(1, 2), random.between(1, 5), random.between(7, 12),
                      random.between(12, 16)};
    const Tensor a = random_i32(shape, random), b = random_i32(shape, random);
    const FixedClip clip = random_clip(random);
    ASSERT_TRUE(
        run_one("FixedAdd", {a, b}, clip_attributes(clip), 2).identical(reference_fixed_add(a, b, clip)));
    FixedAveragePoolParameters p;
    p.kernel = {random.between(1, 4), random.between(1, 4)};
    p.window = random_window(random, p.kernel[0] - 1, p.kernel[1] - 1);
    p.window.dilations = {1, 1};
    p.fraction = int(random.between(0, kMostFraction));
    p.multiplier = int32_t(random.between(1, INT32_MAX));
    p.clip = clip;
    Attributes attributes = clip_attributes(clip);
    add_window(attributes, p.window);
    attributes.erase("dilations");
    attributes["kernel_shape"] = Ints{p.kernel[0], p.kernel[1]};
    attributes["fraction"] = int64_t{p.fraction};
    attributes["multiplier"] = int64_t{p.multiplier};
    ASSERT_TRUE(run_one("FixedAveragePool", {a}, attributes, int(random.between(1, 3)))
                    .identical(reference_fixed_average_pool(a, p)));
  }
}

TEST(HostFixed, TablesEqualTheReference) {
  const uint64_t seed = 9203;
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    const Shape shape{random.between(1, 3), random.between(1, 20000)};
    const Tensor x = random_i32(shape, random), table = random_i32({kFixedTableSize}, random);
    const int shift = int(random.between(0, kMostInputShift));
    const Attributes attributes{{"fraction", int64_t{22}}, {"input_shift", int64_t{shift}}};
    ASSERT_TRUE(
        run_one("FixedLookup", {x, table}, attributes, 2).identical(reference_fixed_lookup(x, table, shift)))
        << "seed " << seed;
    const Tensor x8 = random_integers(ElementType::kI8, shape, -128, 127, random);
    const Tensor table8 = random_integers(ElementType::kI8, {256}, -128, 127, random);
    ASSERT_TRUE(run_one("QLookup", {x8, table8}, {}, 2).identical(reference_lookup(x8, table8)));
  }
}

TEST(HostFixed, ConversionsEqualTheReference) {
  Random random(9204);
  for (int fraction = 0; fraction <= kMostFraction; ++fraction) {
    Tensor x(ElementType::kF32, {1000});
    for (int64_t i = 0; i < x.size(); ++i) {
      x.set_number(i, std::ldexp(2 * random.uniform() - 1, int(random.between(-40, 40))));
    }
    const Attributes attributes{{"fraction", int64_t{fraction}}};
    const Tensor fixed = run_one("FixedEncode", {x}, attributes, 1);
    ASSERT_TRUE(fixed.identical(reference_fixed_encode(x, fraction)));
    ASSERT_TRUE(
        run_one("FixedDecode", {fixed}, attributes, 1).identical(reference_fixed_decode(fixed, fraction)));
  }
}

// Data movement on i32 is that on numbers small enough for float.
TEST(HostFixed, MaximaAndMovementOfI32) {
  Random random(9205);
  const Tensor x = random_integers(ElementType::kI32, {1, 3, 7, 8}, -1000, 1000, random);
  const Tensor real = x.cast(ElementType::kF32);
  const Attributes pool{{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 1}}};
  const auto same = [&](const std::string& op, const Attributes& attributes) {
    const Tensor integer = testing::run_op(op, {x}, attributes)[0];
    EXPECT_EQ(integer.type(), ElementType::kI32) << op;
    EXPECT_EQ(integer.to_integers(), testing::run_op(op, {real}, attributes)[0].to_integers()) << op;
  };
  same("MaxPool", pool);
  same("Relu", {});
  same("Flatten", {});
  same("Transpose", {{"perm", Ints{0, 2, 3, 1}}});
  const Tensor joined = testing::run_op("Concat", {x, x}, {{"axis", int64_t{1}}})[0];
  EXPECT_EQ(joined.shape(), (Shape{1, 6, 7, 8}));
  EXPECT_EQ(joined.type(), ElementType::kI32);
}

TEST(HostFixed, Rejects) {
  const Tensor x(ElementType::kI32, {2, 5}), w(ElementType::kI32, {3, 5}), b(ElementType::kI32, {3});
  const auto error = [&](const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes) {
    return error_text([&] { run_one(op, inputs, std::move(attributes), 1); });
  };
  EXPECT_TRUE(testing::contains(error("FixedGemm", {x, w, b}, {{"fraction", int64_t{31}}}),
                                "attribute 'fraction' is 31, allowed are 0..30"));
  EXPECT_TRUE(testing::contains(error("FixedGemm", {x, w, x}, {{"fraction", int64_t{2}}}),
                                "10 biases for 3 channels"));
  EXPECT_TRUE(testing::contains(
      error("FixedGemm", {x, Tensor(ElementType::kI32, {3, 4}), b}, {{"fraction", int64_t{2}}}),
      "X 2x5 does not fit weights of 4 inputs"));
  EXPECT_TRUE(testing::contains(error("FixedAdd", {x, w}, {}), "the operands have shapes 2x5 and 3x5"));
  EXPECT_TRUE(testing::contains(error("FixedLookup", {x, b}, {{"input_shift", int64_t{2}}}),
                                "the table has 3 entries, not 513"));
  EXPECT_TRUE(
      testing::contains(error("QLookup", {Tensor(ElementType::kI8, {1}), Tensor(ElementType::kI8, {2})}, {}),
                        "the table has 2 entries, not 256"));
  EXPECT_TRUE(testing::contains(error_text([&] {
                                  FixedWeights(Tensor(ElementType::kI32, {4, 1, 1, 1}), 3);
                                }),
                                "3 groups do not fit weights 4x1x1x1"));
}

}  // namespace
}  // namespace tilewright
