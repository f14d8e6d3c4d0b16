#include "vit.h"

#include <algorithm>
#include <cmath>

#include "transformer/graph.h"
#include "transformer/kernels.h"

namespace vit {

using transformer::add;

Vit::Vit(const transformer::Form& form, int64_t samples, tilewright::Random& random)
    : form_(form),
      samples_(samples),
      patches_(transformer::add_dense(parameters, "patches", kPatch * kPatch, form.width, true, 1.0 / kPatch,
                                      random)),
      places_(&parameters.add_weight("places", {form.tokens, form.width}, 0.1, random)),
      trunk_(form, samples, parameters, random),
      scores_layer_(transformer::add_dense(parameters, "scores", form.width, kClasses, true,
                                           0.1 / std::sqrt(double(form.width)), random)) {}

const std::vector<float>& Vit::forward(const float* images) {
  pixels_.resize(size_t(samples_ * kSide * kSide));
  float* target = pixels_.data();
  for (int64_t s = 0; s < samples_; ++s)
    for (int64_t p = 0; p < kTokens; ++p)
      for (int64_t y = 0; y < kPatch; ++y, target += kPatch)
        std::copy_n(images + (s * kSide + p / kAcross * kPatch + y) * kSide + p % kAcross * kPatch, kPatch,
                    target);
  const int64_t rows = samples_ * kTokens, width = form_.width, size = kTokens * width;
  patches_.forward(rows, pixels_, rows_);
  for (int64_t s = 0; s < samples_; ++s) add(size, places_->value.data(), &rows_[size_t(s * size)]);
  const std::vector<float>& seen = trunk_.forward(rows_);
  means_.assign(size_t(samples_ * width), 0);
  for (int64_t s = 0; s < samples_; ++s)
    transformer::sum_rows(kTokens, width, &seen[size_t(s * size)], &means_[size_t(s * width)]);
  for (float& v : means_) v /= float(kTokens);
  scores_layer_.forward(samples_, means_, scores_);
  return scores_;
}

double Vit::backward(const uint8_t* labels, float smoothing) {
  scores_gradient_.resize(scores_.size());
  double loss = 0;
  for (int64_t s = 0; s < samples_; ++s) {
    const float* row = &scores_[size_t(s * kClasses)];
    const float top = *std::max_element(row, row + kClasses);
    double sum = 0;
    for (int64_t k = 0; k < kClasses; ++k) sum += std::exp(double(row[k] - top));
    for (int64_t k = 0; k < kClasses; ++k) {
      const double target =
          double(smoothing) / double(kClasses) + (k == labels[s] ? 1.0 - double(smoothing) : 0);
      const double log_probability = double(row[k] - top) - std::log(sum);
      loss -= target * log_probability;
      scores_gradient_[size_t(s * kClasses + k)] = float(std::exp(log_probability) - target);
    }
  }
  scores_layer_.backward(samples_, means_, scores_gradient_, 0, means_gradient_);
  const int64_t width = form_.width, size = kTokens * width;
  gradient_.resize(rows_.size());
  for (int64_t i = 0; i < int64_t(gradient_.size()); ++i)
    gradient_[size_t(i)] = means_gradient_[size_t(i / size * width + i % width)] / float(kTokens);
  trunk_.backward(gradient_);
  for (int64_t s = 0; s < samples_; ++s) add(size, &gradient_[size_t(s * size)], places_->gradient.data());
  patches_.backward(samples_ * kTokens, pixels_, gradient_, 0, pixels_gradient_);
  return loss;
}

// The dense layer of patches becomes a convolution.
transformer::Weights Vit::weights() const {
  transformer::Weights weights = transformer::with_scaled_queries(form_, parameters.weights());
  const std::vector<float>& dense = patches_.weight->value;
  std::vector<float> filters(dense.size());
  const size_t width = size_t(form_.width), pixels = dense.size() / width;
  for (size_t i = 0; i < dense.size(); ++i) filters[i % width * pixels + i / width] = dense[i];
  weights["patches.weight"] =
      tilewright::Tensor({form_.width, 1, kPatch, kPatch}, std::span<const float>(filters));
  return weights;
}

}  // namespace vit
