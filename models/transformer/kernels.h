// Float arithmetic of transformers in training, on matrices of rows: products, normalisations, softmax,
// activations and rotary turns, each with its derivative.
#pragma once

#include <cstdint>

namespace transformer {

struct Matrix {
  const float* data;
  int64_t stride;  // from one stored row to the next
  bool transposed = false;
};

// C[m][n] = factor * A B + keep * C, row-major, C's rows `stride` apart; A is [m][k], B [k][n].
void multiply(int64_t m, int64_t n, int64_t k, float factor, Matrix a, Matrix b, float keep, float* c,
              int64_t stride);

// y[rows][width] = x + bias in place; and the gradient of the bias, added to what it holds.
void add_bias(int64_t rows, int64_t width, const float* bias, float* values);
void sum_rows(int64_t rows, int64_t width, const float* values, float* sums);
void add(int64_t count, const float* from, float* to);

// Rows normalised, times scale, plus shift. Without a shift (nullptr) by the root mean square alone.
void normalize(int64_t rows, int64_t width, float epsilon, const float* x, const float* scale,
               const float* shift, float* y);
// Adds to the gradients of x, scale and shift.
void normalize_backward(int64_t rows, int64_t width, float epsilon, const float* x, const float* scale,
                        const float* y_gradient, float* x_gradient, float* scale_gradient,
                        float* shift_gradient);

// Softmax of one row in place, and the gradient of its numbers in place of that of their probabilities.
void softmax(int64_t count, float* row);
void softmax_backward(int64_t count, const float* probabilities, float* gradient);

// x Phi(x), and the gradient of x in place of that of the result.
void gelu(int64_t count, const float* x, float* y);
void gelu_backward(int64_t count, const float* x, float* gradient);

// a sigmoid(a) b; `gradient` of it becomes that of a, `b_gradient` is overwritten.
void gated_silu(int64_t count, const float* a, const float* b, float* y);
void gated_silu_backward(int64_t count, const float* a, const float* b, float* gradient, float* b_gradient);

// Turns the pairs (j, j + size / 2) of every head of a row by the angle of (row mod tokens, j); direction -1
// turns back. cosines, sines: [tokens][size / 2].
void rotate(int64_t rows, int64_t heads, int64_t size, int64_t tokens, const float* cosines,
            const float* sines, float direction, float* values);

// One step of AdamW; scale: a factor of all gradients, correction1 and 2: 1 - beta^step.
struct AdamStep {
  float rate, decay, scale, correction1, correction2;
};
inline constexpr float kBeta1 = 0.9f, kBeta2 = 0.99f;
void adam(int64_t count, const AdamStep& step, const float* gradient, float* first, float* second,
          float* value);

}  // namespace transformer
