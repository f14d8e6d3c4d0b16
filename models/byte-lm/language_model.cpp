#include "language_model.h"

#include <algorithm>
#include <cmath>

#include "transformer/kernels.h"

namespace byte_lm {

LanguageModel::LanguageModel(const transformer::Form& form, int64_t samples, tilewright::Random& random)
    : form_(form),
      rows_(samples * form.tokens),
      embedding_(&parameters.add_weight("embedding", {kBytes, form.width}, 0.5, random)),
      trunk_(form, samples, parameters, random),
      logits_layer_(transformer::add_dense(parameters, "logits", form.width, kBytes, false,
                                           0.1 / std::sqrt(double(form.width)), random)) {}

const std::vector<float>& LanguageModel::forward(std::span<const uint8_t> bytes) {
  bytes_.assign(bytes.begin(), bytes.end());
  const int64_t width = form_.width;
  embedded_.resize(size_t(rows_ * width));
  for (int64_t r = 0; r < rows_; ++r)
    std::copy_n(&embedding_->value[size_t(bytes_[size_t(r)] * width)], width, &embedded_[size_t(r * width)]);
  seen_ = trunk_.forward(embedded_);
  logits_layer_.forward(rows_, seen_, logits_);
  return logits_;
}

double LanguageModel::backward(std::span<const uint8_t> following) {
  logits_gradient_ = logits_;
  double loss = 0;
  for (int64_t r = 0; r < rows_; ++r) {
    float* row = &logits_gradient_[size_t(r * kBytes)];
    transformer::softmax(kBytes, row);
    float& right = row[following[size_t(r)]];
    loss -= std::log(double(std::max(right, 1e-30f)));
    right -= 1;
  }
  logits_layer_.backward(rows_, seen_, logits_gradient_, 0, gradient_);
  trunk_.backward(gradient_);
  const int64_t width = form_.width;
  for (int64_t r = 0; r < rows_; ++r)
    transformer::add(width, &gradient_[size_t(r * width)],
                     &embedding_->gradient[size_t(bytes_[size_t(r)] * width)]);
  return loss;
}

}  // namespace byte_lm
