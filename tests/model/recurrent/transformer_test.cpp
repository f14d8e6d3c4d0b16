// One attention in three spellings, and what follows it, against direct loops. All options of the operators:
// tests/python/test_transformer_*.py.
#include <gtest/gtest.h>

#include <cmath>

#include "model/recurrent/transformer_networks.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

using Numbers = std::vector<double>;
constexpr int64_t kLength = 3, kHeads = 2, kSize = 4, kWidth = kHeads * kSize;

Numbers numbers_of(const Tensor& tensor) {
  Numbers numbers;
  for (int64_t i = 0; i < tensor.size(); ++i) numbers.push_back(tensor.number_at(i));
  return numbers;
}

Numbers rooted(Numbers x) {
  for (int64_t t = 0; t < kLength; ++t) {
    double squares = 0;
    for (int64_t i = 0; i < kWidth; ++i) squares += x[size_t(t * kWidth + i)] * x[size_t(t * kWidth + i)];
    for (int64_t i = 0; i < kWidth; ++i) x[size_t(t * kWidth + i)] /= std::sqrt(squares / kWidth + 1e-5);
  }
  return x;
}

// Element p of a head with the one that is half of it away.
Numbers turned(const Numbers& x) {
  const std::vector<float> cosines = transformer_cosines(), sines = transformer_sines();
  Numbers y = x;
  for (int64_t t = 0; t < kLength; ++t) {
    for (int64_t head = 0; head < kHeads; ++head) {
      for (int64_t p = 0; p < kSize / 2; ++p) {
        const size_t i = size_t(t * kWidth + head * kSize + p), j = i + kSize / 2;
        const double c = double(cosines[size_t(t * 2 + p)]), s = double(sines[size_t(t * 2 + p)]);
        y[i] = x[i] * c - x[j] * s;
        y[j] = x[i] * s + x[j] * c;
      }
    }
  }
  return y;
}

Numbers causal_attention(const Numbers& q, const Numbers& k, const Numbers& v) {
  Numbers y(q.size(), 0.0);
  for (int64_t t = 0; t < kLength; ++t) {
    for (int64_t head = 0; head < kHeads; ++head) {
      Numbers weights;
      double sum = 0;
      for (int64_t u = 0; u <= t; ++u) {
        double score = 0;
        for (int64_t i = 0; i < kSize; ++i)
          score += q[size_t(t * kWidth + head * kSize + i)] * k[size_t(u * kWidth + head * kSize + i)];
        weights.push_back(std::exp(score / std::sqrt(double(kSize))));
        sum += weights.back();
      }
      for (int64_t u = 0; u <= t; ++u) {
        for (int64_t i = 0; i < kSize; ++i)
          y[size_t(t * kWidth + head * kSize + i)] +=
              weights[size_t(u)] / sum * v[size_t(u * kWidth + head * kSize + i)];
      }
    }
  }
  return y;
}

void expect_near(const Tensor& found, const Numbers& expected, const char* what) {
  ASSERT_EQ(found.size(), int64_t(expected.size())) << what;
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(found.number_at(int64_t(i)), expected[i], 2e-5 * std::max(1.0, std::fabs(expected[i])))
        << what << " at " << i;
}

TEST(Transformers, ThreeSpellingsOfOneAttention) {
  const Graph graph = parse_onnx(transformer_file());
  Random random(1);
  for (int trial = 0; trial < 5; ++trial) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < 3; ++i) {
      Tensor& input = inputs.emplace_back(ElementType::kF32, Shape{1, kLength, kWidth});
      for (float& x : input.mutable_data<float>()) x = float(random.between(-1000, 1000)) / 500;
    }
    const Numbers q = numbers_of(inputs[0]);
    const Numbers expected =
        causal_attention(turned(rooted(q)), turned(numbers_of(inputs[1])), numbers_of(inputs[2]));
    for (const Graph& form : {graph, optimize(graph)}) {
      const std::vector<Tensor> outputs = run(form, inputs);
      ASSERT_EQ(outputs.size(), 8u);
      for (const int i : {0, 1, 2}) expect_near(outputs[size_t(i)], expected, "attention");
      Numbers skip, bits;
      const float scales[] = {0.5f, 0.25f, 1, 2};
      for (int64_t t = 0; t < kLength; ++t) {
        double mean = 0, variance = 0;
        const auto sum = [&](int64_t i) {
          return expected[size_t(t * kWidth + i)] + q[size_t(t * kWidth + i)];
        };
        for (int64_t i = 0; i < kWidth; ++i) mean += sum(i) / kWidth;
        for (int64_t i = 0; i < kWidth; ++i) variance += (sum(i) - mean) * (sum(i) - mean) / kWidth;
        for (int64_t i = 0; i < kWidth; ++i)
          skip.push_back((sum(i) - mean) / std::sqrt(variance + 1e-12) + double(i * 7 % 8) / 8 - 0.5);
        for (int64_t n = 0; n < 4; ++n) {
          double product = 0;
          for (int64_t i = 0; i < kWidth; ++i) {
            const int byte = uint8_t((n * 8 + i / 2) * 37), nibble = i % 2 == 0 ? byte & 15 : byte >> 4;
            product += expected[size_t(t * kWidth + i)] * (nibble - 8) * double(scales[n]);
          }
          bits.push_back(product);
        }
      }
      expect_near(outputs[3], skip, "skip");
      expect_near(outputs[4], bits, "bits");
      EXPECT_EQ(to_string(outputs[5].shape()), "1x3x8");
      EXPECT_FLOAT_EQ(float(outputs[6].number_at(4)), -1.5f);  // 3 times the scale of block 0 of column 0
      EXPECT_EQ(to_string(outputs[7].shape()), "1x3x8");
    }
  }
}

}  // namespace
}  // namespace tilewright
