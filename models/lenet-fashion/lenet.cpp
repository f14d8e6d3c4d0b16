#include "lenet.h"

#include <dnnl.h>

#include <algorithm>
#include <cmath>

namespace lenet {
namespace {

constexpr int kKernel = 5;

// C[m][n] = op(A) * op(B) + beta * C, row-major; `a_transposed` means A is stored [k][m].
void multiply(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const float* a,
              const float* b, float beta, float* c) {
  dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k, 1.0f, a, a_transposed ? m : k, b,
             b_transposed ? k : n, beta, c, n);
}

// input [channels][batch][size][size] -> columns [channels*25][batch*out*out].
void to_columns(const float* input, int channels, int batch, int size, std::vector<float>& columns) {
  const int out = size - kKernel + 1;
  float* target = columns.data();
  for (int c = 0; c < channels; ++c) {
    for (int ky = 0; ky < kKernel; ++ky) {
      for (int kx = 0; kx < kKernel; ++kx) {
        for (int b = 0; b < batch; ++b) {
          const float* plane = input + (size_t(c) * batch + b) * size * size;
          for (int y = 0; y < out; ++y, target += out) {
            std::copy_n(plane + (y + ky) * size + kx, out, target);
          }
        }
      }
    }
  }
}

// The transpose of to_columns: adds every column element back to where it came from.
void from_columns(const std::vector<float>& columns, int channels, int batch, int size,
                  std::vector<float>& input) {
  const int out = size - kKernel + 1;
  std::fill(input.begin(), input.end(), 0.0f);
  const float* source = columns.data();
  for (int c = 0; c < channels; ++c) {
    for (int ky = 0; ky < kKernel; ++ky) {
      for (int kx = 0; kx < kKernel; ++kx) {
        for (int b = 0; b < batch; ++b) {
          float* plane = input.data() + (size_t(c) * batch + b) * size * size;
          for (int y = 0; y < out; ++y, source += out) {
            float* row = plane + (y + ky) * size + kx;
            for (int x = 0; x < out; ++x) row[x] += source[x];
          }
        }
      }
    }
  }
}

// Adds the bias, applies ReLU in place, then 2x2 max pooling; winner: index 0..3 of the maximum.
void bias_relu_pool(std::vector<float>& conv, const std::vector<float>& bias, int batch, int size,
                    std::vector<float>& pooled, std::vector<uint8_t>& winner) {
  const int out = size / 2;
  size_t at = 0;
  for (size_t c = 0; c < bias.size(); ++c) {
    for (int b = 0; b < batch; ++b) {
      float* plane = conv.data() + (c * size_t(batch) + size_t(b)) * size_t(size) * size_t(size);
      for (int i = 0; i < size * size; ++i) plane[i] = std::max(0.0f, plane[i] + bias[c]);
      for (int y = 0; y < out; ++y) {
        for (int x = 0; x < out; ++x, ++at) {
          const float* corner = plane + 2 * y * size + 2 * x;
          const float values[4] = {corner[0], corner[1], corner[size], corner[size + 1]};
          const int best = int(std::max_element(values, values + 4) - values);
          pooled[at] = values[best];
          winner[at] = uint8_t(best);
        }
      }
    }
  }
}

// Gradient before bias_relu_pool from the one after it; sums the bias gradient.
void backward_pool_relu(const std::vector<float>& pooled_gradient, const std::vector<uint8_t>& winner,
                        int batch, int size, std::vector<float>& conv, std::vector<float>& bias_gradient) {
  const int out = size / 2;
  size_t at = 0;
  for (size_t c = 0; c < bias_gradient.size(); ++c) {
    double sum = 0;
    for (int b = 0; b < batch; ++b) {
      float* plane = conv.data() + (c * size_t(batch) + size_t(b)) * size_t(size) * size_t(size);
      for (int y = 0; y < out; ++y) {
        for (int x = 0; x < out; ++x, ++at) {
          float* corner = plane + 2 * y * size + 2 * x;
          float* cells[4] = {corner, corner + 1, corner + size, corner + size + 1};
          const bool active = *cells[winner[at]] > 0;
          for (float* cell : cells) *cell = 0;
          if (!active) continue;
          *cells[winner[at]] = pooled_gradient[at];
          sum += pooled_gradient[at];
        }
      }
    }
    bias_gradient[c] = float(sum);
  }
}

Parameter weights(size_t count, int fan_in, tilewright::Random& random) {
  Parameter p{std::vector<float>(count), std::vector<float>(count), std::vector<float>(count), true};
  for (float& v : p.value) {  // normal by the sum of twelve uniforms: enough for an initialisation
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    v = float(sum * std::sqrt(2.0 / fan_in));
  }
  return p;
}

Parameter biases(size_t count) {
  return {std::vector<float>(count), std::vector<float>(count), std::vector<float>(count), false};
}

}  // namespace

Lenet::Lenet(int batch, tilewright::Random& random) : batch_(batch) {
  parameters = {weights(20 * 25, 25, random),    biases(20),  weights(50 * 500, 500, random), biases(50),
                weights(500 * 800, 800, random), biases(500), weights(10 * 500, 500, random), biases(10)};
  const size_t n = size_t(batch);
  columns1_.resize(25 * n * 576);
  conv1_.resize(20 * n * 576);
  pool1_.resize(20 * n * 144);
  winner1_.resize(pool1_.size());
  columns2_.resize(500 * n * 64);
  conv2_.resize(50 * n * 64);
  pool2_.resize(50 * n * 16);
  winner2_.resize(pool2_.size());
  flat_.resize(n * 800);
  hidden_.resize(n * 500);
  mask_.resize(n * 500);
  logits_.resize(n * 10);
}

const std::vector<float>& Lenet::forward(const std::vector<float>& images, float dropout,
                                         tilewright::Random& random) {
  to_columns(images.data(), 1, batch_, 28, columns1_);
  multiply(false, false, 20, int64_t{batch_} * 576, 25, parameters[0].value.data(), columns1_.data(), 0,
           conv1_.data());
  bias_relu_pool(conv1_, parameters[1].value, batch_, 24, pool1_, winner1_);
  to_columns(pool1_.data(), 20, batch_, 12, columns2_);
  multiply(false, false, 50, int64_t{batch_} * 64, 500, parameters[2].value.data(), columns2_.data(), 0,
           conv2_.data());
  bias_relu_pool(conv2_, parameters[3].value, batch_, 8, pool2_, winner2_);
  for (int c = 0; c < 50; ++c) {
    for (int b = 0; b < batch_; ++b) {
      std::copy_n(&pool2_[size_t(c * batch_ + b) * 16], 16, &flat_[size_t(b) * 800 + size_t(c) * 16]);
    }
  }
  multiply(false, true, batch_, 500, 800, flat_.data(), parameters[4].value.data(), 0, hidden_.data());
  for (size_t i = 0; i < hidden_.size(); ++i) {
    const bool kept = dropout <= 0 || random.uniform() >= dropout;
    const float value = hidden_[i] + parameters[5].value[i % 500];
    mask_[i] = kept && value > 0 ? 1 / (1 - dropout) : 0;
    hidden_[i] = value * mask_[i];
  }
  multiply(false, true, batch_, 10, 500, hidden_.data(), parameters[6].value.data(), 0, logits_.data());
  for (size_t i = 0; i < logits_.size(); ++i) logits_[i] += parameters[7].value[i % 10];
  return logits_;
}

float Lenet::backward(const std::vector<float>& targets) {
  std::vector<float> delta(logits_.size());
  double loss = 0;
  for (int b = 0; b < batch_; ++b) {
    const float* row = &logits_[size_t(b) * 10];
    const float top = *std::max_element(row, row + 10);
    double sum = 0;
    for (int k = 0; k < 10; ++k) sum += std::exp(double(row[k] - top));
    for (int k = 0; k < 10; ++k) {
      const size_t i = size_t(b) * 10 + size_t(k);
      const double log_probability = double(row[k] - top) - std::log(sum);
      loss -= double(targets[i]) * log_probability;
      delta[i] = (float(std::exp(log_probability)) - targets[i]) / float(batch_);
    }
  }
  const auto sum_rows = [](const std::vector<float>& rows, std::vector<float>& sums) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (size_t i = 0; i < rows.size(); ++i) sums[i % sums.size()] += rows[i];
  };
  multiply(true, false, 10, 500, batch_, delta.data(), hidden_.data(), 0, parameters[6].gradient.data());
  sum_rows(delta, parameters[7].gradient);
  std::vector<float> hidden_delta(hidden_.size());
  multiply(false, false, batch_, 500, 10, delta.data(), parameters[6].value.data(), 0, hidden_delta.data());
  for (size_t i = 0; i < hidden_delta.size(); ++i) hidden_delta[i] *= mask_[i];
  multiply(true, false, 500, 800, batch_, hidden_delta.data(), flat_.data(), 0,
           parameters[4].gradient.data());
  sum_rows(hidden_delta, parameters[5].gradient);
  std::vector<float> flat_delta(flat_.size()), pool2_delta(pool2_.size()), pool1_delta(pool1_.size());
  multiply(false, false, batch_, 800, 500, hidden_delta.data(), parameters[4].value.data(), 0,
           flat_delta.data());
  for (int c = 0; c < 50; ++c) {
    for (int b = 0; b < batch_; ++b) {
      std::copy_n(&flat_delta[size_t(b) * 800 + size_t(c) * 16], 16,
                  &pool2_delta[size_t(c * batch_ + b) * 16]);
    }
  }
  backward_pool_relu(pool2_delta, winner2_, batch_, 8, conv2_, parameters[3].gradient);
  const int64_t n2 = int64_t{batch_} * 64, n1 = int64_t{batch_} * 576;
  multiply(false, true, 50, 500, n2, conv2_.data(), columns2_.data(), 0, parameters[2].gradient.data());
  multiply(true, false, 500, n2, 50, parameters[2].value.data(), conv2_.data(), 0, columns2_.data());
  from_columns(columns2_, 20, batch_, 12, pool1_delta);
  backward_pool_relu(pool1_delta, winner1_, batch_, 24, conv1_, parameters[1].gradient);
  multiply(false, true, 20, 25, n1, conv1_.data(), columns1_.data(), 0, parameters[0].gradient.data());
  return float(loss / batch_);
}

void Lenet::step(float rate, float momentum, float decay) {
  for (Parameter& p : parameters) {
    for (size_t i = 0; i < p.value.size(); ++i) {
      const float gradient = p.gradient[i] + (p.decays ? decay * p.value[i] : 0);
      p.velocity[i] = momentum * p.velocity[i] - rate * gradient;
      p.value[i] += p.velocity[i];
    }
  }
}

}  // namespace lenet
