#include "trunk.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"

namespace transformer {

void Dense::forward(int64_t rows, const std::vector<float>& x, std::vector<float>& y) const {
  y.resize(size_t(rows * out()));
  multiply(rows, out(), in(), 1, {x.data(), in()}, {weight->value.data(), out()}, 0, y.data(), out());
  if (bias != nullptr) add_bias(rows, out(), bias->value.data(), y.data());
}

void Dense::backward(int64_t rows, const std::vector<float>& x, const std::vector<float>& y_gradient,
                     float keep, std::vector<float>& x_gradient) const {
  multiply(in(), out(), rows, 1, {x.data(), in(), true}, {y_gradient.data(), out()}, 1,
           weight->gradient.data(), out());
  if (bias != nullptr) sum_rows(rows, out(), y_gradient.data(), bias->gradient.data());
  x_gradient.resize(size_t(rows * in()));
  multiply(rows, in(), out(), 1, {y_gradient.data(), out()}, {weight->value.data(), out(), true}, keep,
           x_gradient.data(), in());
}

Dense add_dense(Parameters& parameters, const std::string& name, int64_t in, int64_t out, bool bias,
                double deviation, tilewright::Random& random) {
  Dense dense;
  dense.weight = &parameters.add_weight(name + ".weight", {in, out}, deviation, random);
  if (bias) dense.bias = &parameters.add_constant(name + ".bias", {out}, 0);
  return dense;
}

Trunk::Norm Trunk::add_norm(Parameters& parameters, const std::string& name) const {
  Norm norm{&parameters.add_constant(name + ".scale", {form_.width}, 1), nullptr};
  if (!form_.language) norm.shift = &parameters.add_constant(name + ".shift", {form_.width}, 0);
  return norm;
}

Trunk::Trunk(const Form& form, int64_t samples, Parameters& parameters, tilewright::Random& random)
    : form_(form), samples_(samples), rows_(samples * form.tokens) {
  if (form.language) {
    cosines_ = rotary_cosines(form);
    sines_ = rotary_sines(form);
  }
  const double wide = 1 / std::sqrt(double(form.width));
  const double sums = 1 / std::sqrt(2 * double(form.depth));  // as many terms are added to a row
  const bool bias = !form.language;
  for (int64_t i = 0; i < form.depth; ++i) {
    Block block;
    const std::string name = "block" + std::to_string(i + 1);
    const auto dense = [&](const char* part, int64_t in, int64_t out, double deviation) {
      return add_dense(parameters, name + part, in, out, bias, deviation, random);
    };
    block.attention_norm = add_norm(parameters, name + ".attention.norm");
    block.query = dense(".attention.query", form.width, form.width, wide);
    block.key = dense(".attention.key", form.width, form.key_width(), wide);
    block.value = dense(".attention.value", form.width, form.key_width(), wide);
    block.output = dense(".attention.output", form.width, form.width, wide * sums);
    block.dense_norm = add_norm(parameters, name + ".dense.norm");
    block.up = dense(".dense.up", form.width, form.hidden, wide);
    if (form.language) block.gate = dense(".dense.gate", form.width, form.hidden, wide);
    block.down = dense(".dense.down", form.hidden, form.width, sums / std::sqrt(double(form.hidden)));
    blocks_.push_back(std::move(block));
  }
  last_ = add_norm(parameters, "norm");
}

void Trunk::norm_forward(const Norm& norm, const std::vector<float>& x, std::vector<float>& y) const {
  y.resize(x.size());
  normalize(rows_, form_.width, form_.epsilon, x.data(), norm.scale->value.data(),
            norm.shift == nullptr ? nullptr : norm.shift->value.data(), y.data());
}

void Trunk::norm_backward(const Norm& norm, const std::vector<float>& x, const std::vector<float>& y_gradient,
                          std::vector<float>& x_gradient) const {
  normalize_backward(rows_, form_.width, form_.epsilon, x.data(), norm.scale->value.data(), y_gradient.data(),
                     x_gradient.data(), norm.scale->gradient.data(),
                     norm.shift == nullptr ? nullptr : norm.shift->gradient.data());
}

void Trunk::turn(float direction, int64_t heads, std::vector<float>& values) const {
  if (form_.language)
    rotate(rows_, heads, form_.head(), form_.tokens, cosines_.data(), sines_.data(), direction,
           values.data());
}

// Calls visit(first row, rows, keys that they see) for blocks of the rows of a square of scores: under a
// causal mask, early rows need few keys.
template <typename Visit>
void Trunk::for_rows(const Visit& visit) const {
  const int64_t step = form_.language ? 64 : form_.tokens;
  for (int64_t row = 0; row < form_.tokens; row += step) {
    const int64_t end = std::min(form_.tokens, row + step);
    visit(row, end - row, end);
  }
}

void Trunk::attend(Block& block) const {
  const int64_t t = form_.tokens, size = form_.head(), width = form_.width, few = form_.key_width();
  const float factor = 1 / std::sqrt(float(size));
  block.probabilities.resize(size_t(samples_ * form_.heads * t * t));
  block.mixed.resize(size_t(rows_ * width));
  for (int64_t s = 0; s < samples_; ++s) {
    for (int64_t h = 0; h < form_.heads; ++h) {
      const int64_t shared = h * form_.key_heads / form_.heads;
      const float* k = &block.k[size_t(s * t * few + shared * size)];
      const float* v = &block.v[size_t(s * t * few + shared * size)];
      for_rows([&](int64_t row, int64_t rows, int64_t keys) {
        float* scores = &block.probabilities[size_t(((s * form_.heads + h) * t + row) * t)];
        const size_t at = size_t((s * t + row) * width + h * size);
        multiply(rows, keys, size, factor, {&block.q[at], width}, {k, few, true}, 0, scores, t);
        for (int64_t i = 0; i < rows; ++i) {
          float* line = scores + i * t;
          const int64_t seen = form_.language ? row + i + 1 : keys;
          softmax(seen, line);
          std::fill(line + seen, line + keys, 0.0f);
        }
        multiply(rows, size, keys, 1, {scores, t}, {v, few}, 0, &block.mixed[at], width);
      });
    }
  }
}

void Trunk::attend_backward(const Block& block) {
  const int64_t t = form_.tokens, size = form_.head(), width = form_.width, few = form_.key_width();
  const float factor = 1 / std::sqrt(float(size));
  q_gradient_.resize(block.q.size());
  k_gradient_.assign(block.k.size(), 0);
  v_gradient_.assign(block.v.size(), 0);
  scores_gradient_.resize(size_t(t * t));
  float* scores = scores_gradient_.data();
  for (int64_t s = 0; s < samples_; ++s) {
    for (int64_t h = 0; h < form_.heads; ++h) {
      const int64_t shared = h * form_.key_heads / form_.heads;
      const size_t narrow = size_t(s * t * few + shared * size);
      for_rows([&](int64_t row, int64_t rows, int64_t keys) {
        const float* p = &block.probabilities[size_t(((s * form_.heads + h) * t + row) * t)];
        const size_t at = size_t((s * t + row) * width + h * size);
        const Matrix d{&mixed_gradient_[at], width};
        multiply(keys, size, rows, 1, {p, t, true}, d, 1, &v_gradient_[narrow], few);
        multiply(rows, keys, size, 1, d, {&block.v[narrow], few, true}, 0, scores, keys);
        for (int64_t i = 0; i < rows; ++i) softmax_backward(keys, p + i * t, scores + i * keys);
        multiply(rows, size, keys, factor, {scores, keys}, {&block.k[narrow], few}, 0, &q_gradient_[at],
                 width);
        multiply(keys, size, rows, factor, {scores, keys, true}, {&block.q[at], width}, 1,
                 &k_gradient_[narrow], few);
      });
    }
  }
}

const std::vector<float>& Trunk::forward(const std::vector<float>& values) {
  out_ = values;
  for (Block& b : blocks_) {
    b.in = out_;
    norm_forward(b.attention_norm, b.in, b.normed);
    b.query.forward(rows_, b.normed, b.q);
    b.key.forward(rows_, b.normed, b.k);
    b.value.forward(rows_, b.normed, b.v);
    turn(1, form_.heads, b.q);
    turn(1, form_.key_heads, b.k);
    attend(b);
    b.output.forward(rows_, b.mixed, b.middle);
    add(int64_t(b.middle.size()), b.in.data(), b.middle.data());
    norm_forward(b.dense_norm, b.middle, b.middle_normed);
    b.up.forward(rows_, b.middle_normed, b.raised);
    b.hidden.resize(b.raised.size());
    const int64_t count = int64_t(b.hidden.size());
    if (form_.language) {
      b.gate.forward(rows_, b.middle_normed, b.gates);
      gated_silu(count, b.gates.data(), b.raised.data(), b.hidden.data());
    } else {
      gelu(count, b.raised.data(), b.hidden.data());
    }
    b.down.forward(rows_, b.hidden, out_);
    add(int64_t(out_.size()), b.middle.data(), out_.data());
  }
  norm_forward(last_, out_, normed_);
  return normed_;
}

void Trunk::backward(std::vector<float>& gradient) {
  normed_gradient_.swap(gradient);
  gradient.assign(normed_gradient_.size(), 0);
  norm_backward(last_, out_, normed_gradient_, gradient);
  for (size_t i = blocks_.size(); i-- > 0;) {
    const Block& b = blocks_[i];
    b.down.backward(rows_, b.hidden, gradient, 0, raised_gradient_);
    const int64_t count = int64_t(b.hidden.size());
    if (form_.language) {
      gates_gradient_.swap(raised_gradient_);
      raised_gradient_.resize(gates_gradient_.size());
      gated_silu_backward(count, b.gates.data(), b.raised.data(), gates_gradient_.data(),
                          raised_gradient_.data());
      b.gate.backward(rows_, b.middle_normed, gates_gradient_, 0, normed_gradient_);
      b.up.backward(rows_, b.middle_normed, raised_gradient_, 1, normed_gradient_);
    } else {
      gelu_backward(count, b.raised.data(), raised_gradient_.data());
      b.up.backward(rows_, b.middle_normed, raised_gradient_, 0, normed_gradient_);
    }
    norm_backward(b.dense_norm, b.middle, normed_gradient_, gradient);
    b.output.backward(rows_, b.mixed, gradient, 0, mixed_gradient_);
    attend_backward(b);
    turn(-1, form_.heads, q_gradient_);
    turn(-1, form_.key_heads, k_gradient_);
    b.query.backward(rows_, b.normed, q_gradient_, 0, normed_gradient_);
    b.key.backward(rows_, b.normed, k_gradient_, 1, normed_gradient_);
    b.value.backward(rows_, b.normed, v_gradient_, 1, normed_gradient_);
    norm_backward(b.attention_norm, b.in, normed_gradient_, gradient);
  }
}

}  // namespace transformer
