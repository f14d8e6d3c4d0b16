// Logarithms of probabilities come from scores less their maximum, so nothing overflows.
#include "tilewright/quantize/finetune/distillation_loss.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace tilewright {
namespace {

std::vector<double> log_probabilities(std::span<const float> scores, double temperature) {
  const double largest = double(*std::max_element(scores.begin(), scores.end()));
  double sum = 0;
  for (const float score : scores) sum += std::exp((double(score) - largest) / temperature);
  std::vector<double> result;
  for (const float score : scores) result.push_back((double(score) - largest) / temperature - std::log(sum));
  return result;
}

}  // namespace

double distillation_loss(const Numbers& student, const Numbers& teacher, const Numbers& wanted,
                         int64_t classes, const DistillationTerms& terms, Numbers& gradient) {
  const double t = terms.temperature, labels = wanted.empty() ? 0 : terms.label_share;
  gradient.assign(student.size(), 0.0f);
  double loss = 0;
  for (size_t first = 0; first < student.size(); first += size_t(classes)) {
    const std::span own = std::span(student).subspan(first, size_t(classes));
    const std::vector<double> q = log_probabilities(own, t);
    const std::vector<double> p = log_probabilities(std::span(teacher).subspan(first, size_t(classes)), t);
    const std::vector<double> sharp = log_probabilities(own, 1);
    for (size_t c = 0; c < size_t(classes); ++c) {
      loss += (1 - labels) * t * t * std::exp(p[c]) * (p[c] - q[c]);
      double slope = (1 - labels) * t * (std::exp(q[c]) - std::exp(p[c]));
      if (labels > 0) {
        const double share = double(wanted[first + c]);
        loss -= labels * share * sharp[c];
        slope += labels * (std::exp(sharp[c]) - share);
      }
      gradient[first + c] = float(slope);
    }
  }
  return loss;
}

}  // namespace tilewright
