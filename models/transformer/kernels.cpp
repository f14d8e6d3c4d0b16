// Products are oneDNN's. All other loops are written so that the compiler makes vectors of them, for each
// processor its own (TRANSFORMER_VECTORS); reductions say that they may be reordered.
#include "kernels.h"

#include <dnnl.h>

#include <algorithm>
#include <bit>
#include <cmath>

#define TRANSFORMER_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

namespace transformer {
namespace {

// Relative error below 2e-7: 2^n times a polynomial of the rest (Cephes' expf).
inline __attribute__((always_inline)) float exponential(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = x - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t exponent = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  return p * std::bit_cast<float>((exponent + 127) << 23);
}

// Phi(x), the normal distribution, and its density (Abramowitz and Stegun 7.1.26, error below 2e-7).
inline __attribute__((always_inline)) float normal(float x, float& density) {
  const float z = std::fabs(x) * 0.70710678f;
  const float t = 1.0f / (1.0f + 0.3275911f * z);
  const float e = exponential(-z * z);
  float p = 1.061405429f;
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  const float tail = 0.5f * p * t * e;
  density = 0.39894228f * e;
  return x < 0 ? tail : 1.0f - tail;
}

struct RowMoments {
  float mean, inverse;
};

inline __attribute__((always_inline)) RowMoments moments(int64_t width, float epsilon, const float* x,
                                                         bool centred) {
  float mean = 0, squares = 0;
  if (centred) {
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < width; ++i) mean += x[i];
    mean /= float(width);
  }
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, 1.0f / std::sqrt(squares / float(width) + epsilon)};
}

}  // namespace

void multiply(int64_t m, int64_t n, int64_t k, float factor, Matrix a, Matrix b, float keep, float* c,
              int64_t stride) {
  dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, factor, a.data, a.stride, b.data,
             b.stride, keep, c, stride);
}

TRANSFORMER_VECTORS void add_bias(int64_t rows, int64_t width, const float* __restrict bias,
                                  float* __restrict values) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < width; ++i) values[r * width + i] += bias[i];
}

TRANSFORMER_VECTORS void sum_rows(int64_t rows, int64_t width, const float* __restrict values,
                                  float* __restrict sums) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < width; ++i) sums[i] += values[r * width + i];
}

TRANSFORMER_VECTORS void add(int64_t count, const float* __restrict from, float* __restrict to) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

TRANSFORMER_VECTORS void normalize(int64_t rows, int64_t width, float epsilon, const float* x,
                                   const float* scale, const float* shift, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* __restrict in = x + r * width;
    float* __restrict out = y + r * width;
    const auto [mean, inverse] = moments(width, epsilon, in, shift != nullptr);
    if (shift != nullptr) {
      for (int64_t i = 0; i < width; ++i) out[i] = (in[i] - mean) * inverse * scale[i] + shift[i];
    } else {
      for (int64_t i = 0; i < width; ++i) out[i] = in[i] * inverse * scale[i];
    }
  }
}

TRANSFORMER_VECTORS void normalize_backward(int64_t rows, int64_t width, float epsilon, const float* x,
                                            const float* __restrict scale, const float* y_gradient,
                                            float* x_gradient, float* __restrict scale_gradient,
                                            float* __restrict shift_gradient) {
  const bool centred = shift_gradient != nullptr;
  for (int64_t r = 0; r < rows; ++r) {
    const float* __restrict in = x + r * width;
    const float* __restrict dy = y_gradient + r * width;
    float* __restrict dx = x_gradient + r * width;
    const auto [mean, inverse] = moments(width, epsilon, in, centred);
    float sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
    for (int64_t i = 0; i < width; ++i) {
      const float unit = (in[i] - mean) * inverse;
      scale_gradient[i] += dy[i] * unit;
      sum += dy[i] * scale[i];
      product += dy[i] * scale[i] * unit;
    }
    if (centred)
      for (int64_t i = 0; i < width; ++i) shift_gradient[i] += dy[i];
    sum = centred ? sum / float(width) : 0.0f;
    product /= float(width);
    for (int64_t i = 0; i < width; ++i)
      dx[i] += inverse * (dy[i] * scale[i] - sum - (in[i] - mean) * inverse * product);
  }
}

TRANSFORMER_VECTORS void softmax(int64_t count, float* row) {
  float top = row[0], sum = 0;
#pragma omp simd reduction(max : top)
  for (int64_t i = 0; i < count; ++i) top = row[i] > top ? row[i] : top;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) {
    row[i] = exponential(row[i] - top);
    sum += row[i];
  }
  const float inverse = 1.0f / sum;
  for (int64_t i = 0; i < count; ++i) row[i] *= inverse;
}

TRANSFORMER_VECTORS void softmax_backward(int64_t count, const float* __restrict probabilities,
                                          float* __restrict gradient) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += probabilities[i] * gradient[i];
  for (int64_t i = 0; i < count; ++i) gradient[i] = probabilities[i] * (gradient[i] - sum);
}

TRANSFORMER_VECTORS void gelu(int64_t count, const float* __restrict x, float* __restrict y) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    float density;
    y[i] = x[i] * normal(x[i], density);
  }
}

TRANSFORMER_VECTORS void gelu_backward(int64_t count, const float* __restrict x, float* __restrict gradient) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    float density;
    const float phi = normal(x[i], density);
    gradient[i] *= phi + x[i] * density;
  }
}

TRANSFORMER_VECTORS void gated_silu(int64_t count, const float* __restrict a, const float* __restrict b,
                                    float* __restrict y) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) y[i] = a[i] / (1.0f + exponential(-a[i])) * b[i];
}

TRANSFORMER_VECTORS void gated_silu_backward(int64_t count, const float* __restrict a,
                                             const float* __restrict b, float* __restrict gradient,
                                             float* __restrict b_gradient) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float sigmoid = 1.0f / (1.0f + exponential(-a[i])), d = gradient[i];
    b_gradient[i] = d * a[i] * sigmoid;
    gradient[i] = d * b[i] * sigmoid * (1.0f + a[i] * (1.0f - sigmoid));
  }
}

TRANSFORMER_VECTORS void rotate(int64_t rows, int64_t heads, int64_t size, int64_t tokens,
                                const float* cosines, const float* sines, float direction, float* values) {
  const int64_t half = size / 2;
  for (int64_t r = 0; r < rows; ++r) {
    const float* __restrict cosine = cosines + r % tokens * half;
    const float* __restrict sine = sines + r % tokens * half;
    for (int64_t h = 0; h < heads; ++h) {
      float* __restrict first = values + (r * heads + h) * size;
      float* __restrict second = first + half;
#pragma omp simd
      for (int64_t i = 0; i < half; ++i) {
        const float x = first[i], y = second[i], s = direction * sine[i];
        first[i] = x * cosine[i] - y * s;
        second[i] = y * cosine[i] + x * s;
      }
    }
  }
}

TRANSFORMER_VECTORS void adam(int64_t count, const AdamStep& step, const float* __restrict gradient,
                              float* __restrict first, float* __restrict second, float* __restrict value) {
  const AdamStep s = step;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * s.scale;
    first[i] = kBeta1 * first[i] + (1 - kBeta1) * g;
    second[i] = kBeta2 * second[i] + (1 - kBeta2) * g * g;
    const float change = first[i] / s.correction1 / (std::sqrt(second[i] / s.correction2) + 1e-8f);
    value[i] -= s.rate * (change + s.decay * value[i]);
  }
}

}  // namespace transformer
