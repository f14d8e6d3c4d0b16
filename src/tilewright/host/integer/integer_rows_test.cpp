// The operators of transformers against their reference kernels, bit for bit, on random shapes and
// parameters.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/host/integer/integer_testing.h"
#include "tilewright/host/kernel_testing.h"
#include "tilewright/tensor/reference_rows.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright {
namespace {

class RowCases {
 public:
  explicit RowCases(uint64_t seed) : random_(seed * 6007 + 3) {}
  Random& random() { return random_; }

  ElementType activation() { return random_.chance(0.7) ? ElementType::kI8 : ElementType::kI16; }
  Tensor values(ElementType type, const Shape& shape) {
    return random_integers(type, shape, lowest(type), highest(type), random_);
  }
  int32_t element(ElementType type) {
    return random_.chance(0.3) ? 0 : int32_t(random_.between(lowest(type), highest(type)));
  }
  OutputStage output() {
    if (random_.chance(0.1)) return {int32_t(random_.between(-2, 2)), 0, 1, true};
    const int bits = random_.chance(0.7) ? 8 : 16;
    const int64_t low = -(1 << (bits - 1)), high = -low - 1;
    const auto clip_low = int32_t(random_.between(low, 0));
    return {int32_t(random_.between(low, high)), clip_low, int32_t(random_.between(clip_low, high)), false,
            bits};
  }
  static Attributes with_output(Attributes attributes, const OutputStage& o) {
    attributes.insert({{"y_zero_point", int64_t{o.y_zero_point}},
                       {"clip_low", int64_t{o.clip_low}},
                       {"clip_high", int64_t{o.clip_high}},
                       {"bipolar", int64_t{o.bipolar}},
                       {"output_bits", int64_t{o.bits}}});
    return attributes;
  }

 private:
  Random random_;
};

std::vector<int64_t> batch_axes(Random& random) {
  std::vector<int64_t> dims;
  for (int64_t axes = random.between(0, 2); axes > 0; --axes) dims.push_back(random.between(1, 3));
  return dims;
}

std::vector<Tensor> run_rows(const char* op, const std::vector<std::optional<Tensor>>& inputs,
                             const Attributes& attributes, Random& random) {
  return testing::run_op(op, inputs, attributes, 1, kTilewrightDomain, {int(random.between(1, 3))});
}

TEST(IntegerRows, ProductsEqualTheReference) {
  for (int64_t i = 0; i < test_cases(150); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", test_seed() + uint64_t(i)));
    RowCases cases(test_seed() + uint64_t(i));
    Random& random = cases.random();
    std::vector<int64_t> a = batch_axes(random), b = a;
    const int64_t m = random.between(1, 40), k = random.between(1, 70), n = random.between(1, 40);
    ProductParameters p;
    p.transpose_b = random.chance(0.5);
    if (a.empty() && random.chance(0.7)) {
      p.groups = random.between(1, 3);
      p.heads = p.groups * random.between(1, 3);
      p.a_columns = random.chance(0.5);
      p.b_columns = random.chance(0.5);
      p.y_columns = random.chance(0.5);
    }
    const int64_t groups = std::max<int64_t>(p.groups, 1), b_rows = p.transpose_b ? n : k,
                  b_columns = p.transpose_b ? k : n;
    a.insert(a.end(), {p.a_columns ? m : p.heads * m, p.a_columns ? p.heads * k : k});
    b.insert(b.end(), {p.b_columns ? b_rows : groups * b_rows, p.b_columns ? groups * b_columns : b_columns});
    const Tensor x = cases.values(cases.activation(), Shape(a)),
                 y = cases.values(cases.activation(), Shape(b));
    p.a_zero_point = cases.element(x.type());
    p.b_zero_point = cases.element(y.type());
    p.multiplier = int32_t(random.between(1 << 30, INT32_MAX));
    p.shift = int32_t(random.between(30, 50));
    p.output = cases.output();
    const Attributes attributes = RowCases::with_output({{"a_zero_point", int64_t{p.a_zero_point}},
                                                         {"b_zero_point", int64_t{p.b_zero_point}},
                                                         {"transpose_b", int64_t{p.transpose_b}},
                                                         {"heads", p.heads},
                                                         {"groups", p.groups},
                                                         {"a_columns", int64_t{p.a_columns}},
                                                         {"b_columns", int64_t{p.b_columns}},
                                                         {"y_columns", int64_t{p.y_columns}},
                                                         {"multiplier", int64_t{p.multiplier}},
                                                         {"shift", int64_t{p.shift}}},
                                                        p.output);
    EXPECT_TRUE(run_rows("QMatMul", {x, y}, attributes, random)[0].identical(reference_product(x, y, p)));
  }
}

// Each row of a causal softmax is that of the columns it sees alone, and zero beyond.
void expect_rows_of_prefixes(const Tensor& x, const Tensor& table, SoftmaxParameters p, int64_t position,
                             const Tensor& y) {
  const int64_t columns = x.shape()[x.shape().rank() - 1], causal = p.causal;
  p.causal = 0;
  const int64_t zero = std::clamp(p.output.y_zero_point, p.output.clip_low, p.output.clip_high);
  for (int64_t row = 0; row < x.size() / columns; ++row) {
    const int64_t seen = std::min(columns, position + row % causal + 1);
    Tensor prefix(ElementType::kI8, Shape{1, seen});
    for (int64_t n = 0; n < seen; ++n) prefix.set_integer(n, x.integer_at(row * columns + n));
    const Tensor wanted = reference_softmax(prefix, table, p);
    for (int64_t n = 0; n < columns; ++n) {
      const int64_t hidden = p.output.bipolar ? 2 * zero - 1 : zero;
      ASSERT_EQ(y.integer_at(row * columns + n), n < seen ? wanted.integer_at(n) : hidden);
    }
  }
}

TEST(IntegerRows, SoftmaxEqualsTheReference) {
  for (int64_t i = 0; i < test_cases(150); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", test_seed() + uint64_t(i)));
    RowCases cases(test_seed() + uint64_t(i));
    Random& random = cases.random();
    std::vector<int64_t> dims = batch_axes(random);
    dims.insert(dims.end(), {random.between(1, 60), random.between(1, 300)});
    const Tensor x = cases.values(ElementType::kI8, Shape(dims));
    const int64_t one = random.between(1, std::min(kMostExponential, INT32_MAX / dims.back()));
    Tensor table = random_integers(ElementType::kI32, {256}, 0, one, random);
    table.set_integer(0, one);
    SoftmaxParameters p;
    p.numerator = random.between(1, one * INT32_MAX);
    p.shift = int32_t(random.between(0, 62));
    p.output = cases.output();
    if (const int64_t rows = dims[dims.size() - 2]; random.chance(0.6)) {
      p.causal = random.between(1, rows);
      while (rows % p.causal != 0) --p.causal;
    }
    const int64_t position = p.causal > 0 && random.chance(0.5) ? random.between(0, dims.back() - 1) : 0;
    std::vector<std::optional<Tensor>> inputs{x, table};
    if (position > 0) inputs.emplace_back(Tensor::of<int64_t>({1}, {position}));
    const Attributes attributes = RowCases::with_output(
        {{"numerator", p.numerator}, {"shift", int64_t{p.shift}}, {"causal", p.causal}}, p.output);
    const Tensor y = run_rows("QSoftmax", inputs, attributes, random)[0];
    EXPECT_TRUE(y.identical(reference_softmax(x, table, p, position)));
    if (p.causal > 0) expect_rows_of_prefixes(x, table, p, position, y);
  }
}

TEST(IntegerRows, RotaryEqualsTheReference) {
  for (int64_t i = 0; i < test_cases(150); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", test_seed() + uint64_t(i)));
    RowCases cases(test_seed() + uint64_t(i));
    Random& random = cases.random();
    std::vector<int64_t> dims = batch_axes(random);
    const int64_t tokens = random.between(1, 30), half = random.between(1, 40);
    RotaryParameters p;
    if (dims.empty()) p.heads = random.between(1, 4);
    dims.insert(dims.end(), {tokens, p.heads * 2 * half});
    const Tensor x = cases.values(ElementType::kI8, Shape(dims)),
                 cosines = cases.values(ElementType::kI8, {tokens, half}),
                 sines = cases.values(ElementType::kI8, {tokens, half});
    p.x_zero_point = cases.element(ElementType::kI8);
    p.multiplier = int32_t(random.between(1 << 30, INT32_MAX));
    p.shift = int32_t(random.between(30, 45));
    p.output = cases.output();
    const Attributes attributes = RowCases::with_output({{"x_zero_point", int64_t{p.x_zero_point}},
                                                         {"heads", p.heads},
                                                         {"multiplier", int64_t{p.multiplier}},
                                                         {"shift", int64_t{p.shift}}},
                                                        p.output);
    EXPECT_TRUE(run_rows("QRotary", {x, cosines, sines}, attributes, random)[0].identical(
        reference_rotary(x, cosines, sines, p)));
  }
}

TEST(IntegerRows, NormsEqualTheReference) {
  for (int64_t i = 0; i < test_cases(150); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", test_seed() + uint64_t(i)));
    RowCases cases(test_seed() + uint64_t(i));
    Random& random = cases.random();
    std::vector<int64_t> dims = batch_axes(random);
    const int64_t channels = random.between(1, 150);
    dims.insert(dims.end(), {random.between(1, 40), channels});
    const Tensor x = cases.values(cases.activation(), Shape(dims));
    NormParameters p;
    p.x_zero_point = cases.element(x.type());
    p.center = random.chance(0.6);
    p.fraction = int32_t(random.between(0, x.type() == ElementType::kI16 ? 4 : 8));
    p.epsilon = random.chance(0.5) ? random.between(1, 1000) : random.between(1, kMostEpsilon);
    p.output = cases.output();
    const Tensor bias = random_integers(ElementType::kI32, {channels}, -(1 << 30), 1 << 30, random);
    const int64_t scales = random.chance(0.7) ? channels : 1;
    Tensor multiplier = random_integers(ElementType::kI32, {scales}, 1 << 30, INT32_MAX, random);
    for (int64_t c = 0; c < scales; ++c) {
      if (random.chance(0.3)) multiplier.set_integer(c, -multiplier.integer_at(c));
    }
    const Tensor shift = random_integers(ElementType::kI32, {scales}, 45, 60, random);
    const Attributes attributes = RowCases::with_output({{"x_zero_point", int64_t{p.x_zero_point}},
                                                         {"center", int64_t{p.center}},
                                                         {"fraction", int64_t{p.fraction}},
                                                         {"epsilon", p.epsilon}},
                                                        p.output);
    EXPECT_TRUE(run_rows("QLayerNorm", {x, bias, multiplier, shift}, attributes, random)[0].identical(
        reference_norm(x, bias, multiplier, shift, p)));
  }
}

// Of a token among those of a cache: products of as much of both operands, and softmaxes of as many scores,
// as it sees.
TEST(IntegerRows, ProductsSeeTheTokensUpToTheirPosition) {
  for (int64_t i = 0; i < test_cases(60); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", test_seed() + uint64_t(i)));
    RowCases cases(test_seed() + uint64_t(i));
    Random& random = cases.random();
    const int64_t groups = random.between(1, 3), heads = groups * random.between(1, 3),
                  tokens = random.between(1, 40), size = random.between(1, 20),
                  position = random.between(0, tokens - 1), seen = position + 1;
    const Tensor at = Tensor::of<int64_t>({1}, {position});
    const Tensor query = cases.values(ElementType::kI8, {1, heads * size}),
                 cache = cases.values(ElementType::kI8, {tokens, groups * size}),
                 shares = cases.values(ElementType::kI8, {heads, tokens});
    ProductParameters p;
    p.heads = heads;
    p.groups = groups;
    p.b_columns = p.a_columns = p.transpose_b = true;
    p.multiplier = int32_t(random.between(1 << 30, INT32_MAX));
    p.shift = int32_t(random.between(30, 45));
    const auto attributes = [&](Attributes more) {
      more.insert({{"heads", heads},
                   {"groups", groups},
                   {"b_columns", int64_t{1}},
                   {"multiplier", int64_t{p.multiplier}},
                   {"shift", int64_t{p.shift}}});
      return more;
    };
    // Scores and their softmax.
    const int64_t one = random.between(1, 1000);
    Tensor table = random_integers(ElementType::kI32, {256}, 0, one, random);
    table.set_integer(0, one);
    SoftmaxParameters softmax{.numerator = random.between(1, one * INT32_MAX),
                              .shift = int32_t(random.between(0, 62)),
                              .causal = 1};
    softmax.output.y_zero_point = cases.element(ElementType::kI8);
    const Tensor found =
        testing::run_op("QMatMul", {query, cache, table, at},
                        attributes({{"transpose_b", int64_t{1}},
                                    {"a_columns", int64_t{1}},
                                    {"softmax_numerator", softmax.numerator},
                                    {"softmax_shift", int64_t{softmax.shift}},
                                    {"softmax_zero_point", int64_t{softmax.output.y_zero_point}}}),
                        1, kTilewrightDomain)[0];
    EXPECT_TRUE(
        found.identical(reference_softmax(reference_product(query, cache, p), table, softmax, position)));
    // Their product with the rows of the cache.
    p.a_columns = p.transpose_b = false;
    p.y_columns = true;
    Tensor seen_shares(ElementType::kI8, {heads, seen});
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = 0; t < seen; ++t)
        seen_shares.set_integer(h * seen + t, shares.integer_at(h * tokens + t));
    const Tensor mixed = testing::run_op("QMatMul", {shares, cache, std::nullopt, at},
                                         attributes({{"y_columns", int64_t{1}}}), 1, kTilewrightDomain)[0];
    EXPECT_TRUE(
        mixed.identical(reference_product(seen_shares, elements_from(cache, 0, {seen, groups * size}), p)));
  }
}

TEST(IntegerRows, CachesTakeRowsAtTheirPosition) {
  Random random(test_seed());
  RowCases cases(test_seed());
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t tokens = random.between(1, 12), channels = random.between(1, 5),
                  rows = random.between(1, tokens), position = random.between(0, tokens - rows);
    const Tensor cache = cases.values(ElementType::kI8, {tokens, channels}),
                 row = cases.values(ElementType::kI8, {rows, channels});
    const Tensor after = testing::run_op("QCacheUpdate", {cache, row, Tensor::of<int64_t>({1}, {position})},
                                         {}, 1, kTilewrightDomain)[0];
    for (int64_t t = 0; t < tokens; ++t) {
      const bool is_new = t >= position && t < position + rows;
      for (int64_t c = 0; c < channels; ++c)
        EXPECT_EQ(after.integer_at(t * channels + c), is_new ? row.integer_at((t - position) * channels + c)
                                                             : cache.integer_at(t * channels + c));
    }
    for (const int64_t wrong : {int64_t{-1}, tokens - rows + 1}) {
      EXPECT_PRED2(testing::contains, error_text([&] {
                     testing::run_op("QCacheUpdate", {cache, row, Tensor::of<int64_t>({1}, {wrong})}, {}, 1,
                                     kTilewrightDomain);
                   }),
                   fmt::format("position {} is beyond", wrong));
    }
  }
}

TEST(IntegerRows, RefuseWhatDoesNotFit) {
  const Tensor a(ElementType::kI8, Shape{2, 3}), b(ElementType::kI8, Shape{4, 5});
  const auto product = [&] {
    testing::run_op("QMatMul", {a, b}, {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}}, 1,
                    kTilewrightDomain);
  };
  EXPECT_PRED2(testing::contains, error_text(product), "2x3 and 4x5 do not fit each other");
  const Tensor table(ElementType::kI32, Shape{256});
  const auto softmax = [&] {
    testing::run_op("QSoftmax", {a, table}, {{"numerator", int64_t{1}}}, 1, kTilewrightDomain);
  };
  EXPECT_PRED2(testing::contains, error_text(softmax), "256 exponentials of which none is above the first");
  Tensor ones(ElementType::kI32, Shape{256});
  for (int64_t i = 0; i < 256; ++i) ones.set_integer(i, 1);
  const auto causal_at = [&](int64_t position) {
    testing::run_op("QSoftmax", {a, ones, Tensor::of<int64_t>({}, {position})},
                    {{"numerator", int64_t{1}}, {"causal", int64_t{2}}}, 1, kTilewrightDomain);
  };
  EXPECT_EQ(error_text([&] { causal_at(2); }), "no error");
  EXPECT_PRED2(testing::contains, error_text([&] { causal_at(3); }), "position 3 is beyond 3 tokens");
  EXPECT_PRED2(testing::contains, error_text([&] { causal_at(-1); }), "position -1 is beyond 3 tokens");
  EXPECT_THROW(reference_softmax(a, ones, {.causal = 2}, 3), Error);
  const Tensor angles(ElementType::kI8, Shape{2, 2});
  const auto rotary = [&] {
    testing::run_op("QRotary", {a, angles, angles}, {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}}, 1,
                    kTilewrightDomain);
  };
  EXPECT_PRED2(testing::contains, error_text(rotary), "i8[2x3], 2x2 cosines and 2x2 sines do not fit");
  EXPECT_THROW(reference_rotary(a, angles, angles, {}), Error);
  const Tensor four = Tensor::of<int32_t>({4}, {1, 1, 1, 1});
  const auto norm = [&] {
    testing::run_op("QLayerNorm", {a, four, four, four}, {{"epsilon", int64_t{1}}}, 1, kTilewrightDomain);
  };
  EXPECT_PRED2(testing::contains, error_text(norm), "4 biases, 4 multipliers and 4 shifts for 3 channels");
}

}  // namespace
}  // namespace tilewright
