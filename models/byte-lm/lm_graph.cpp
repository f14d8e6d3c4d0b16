#include "lm_graph.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace byte_lm {

using tilewright::Shape;
using tilewright::Tensor;
using tilewright::ValueId;

transformer::Form form() { return {kContext, 128, 6, 4, 2, 256, true}; }

tilewright::Graph as_graph(const transformer::Weights& weights) {
  const transformer::Form form = byte_lm::form();
  transformer::GraphWriter writer("byte_lm", weights);
  const ValueId bytes = writer.graph.add_input("bytes", tilewright::ElementType::kI64, {1, kContext});
  const ValueId rows = writer.node("embedded", "Gather", {writer.weight("embedding"), bytes},
                                   {1, kContext, form.width}, {{"axis", int64_t{0}}});
  writer.graph.outputs = {writer.dense("logits", writer.trunk(form, rows))};
  return std::move(writer.graph);
}

int64_t windows_in(std::span<const uint8_t> text) {
  return text.empty() ? 0 : int64_t(text.size() - 1) / kContext;
}

Tensor window(std::span<const uint8_t> text, int64_t index) {
  const auto part = text.subspan(size_t(index * kContext), size_t(kContext));
  const std::vector<int64_t> numbers(part.begin(), part.end());
  return Tensor({1, kContext}, std::span<const int64_t>(numbers));
}

std::span<const uint8_t> following(std::span<const uint8_t> text, int64_t index) {
  return text.subspan(size_t(index * kContext + 1), size_t(kContext));
}

double bits(std::span<const float> logits, std::span<const uint8_t> following) {
  double sum = 0;
  for (size_t i = 0; i < following.size(); ++i) {
    const auto row = logits.subspan(i * size_t(kBytes), size_t(kBytes));
    const float top = *std::max_element(row.begin(), row.end());
    double total = 0;
    for (const float logit : row) total += std::exp(double(logit - top));
    sum += std::log(total) - double(row[following[i]] - top);
  }
  return sum / std::numbers::ln2;
}

}  // namespace byte_lm
