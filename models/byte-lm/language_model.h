// The byte-level language model in training: a row of an embedding for each byte, the blocks, a dense layer
// to a logit for each byte that may follow.
#pragma once

#include <span>
#include <vector>

#include "lm_graph.h"
#include "transformer/trunk.h"

namespace byte_lm {

// For `samples` windows of form.tokens bytes at a time.
class LanguageModel {
 public:
  LanguageModel(const transformer::Form& form, int64_t samples, tilewright::Random& random);

  // bytes [samples][tokens] -> logits [samples][tokens][256].
  const std::vector<float>& forward(std::span<const uint8_t> bytes);
  // After forward(): adds to the gradients and returns the sum of the cross entropies with the bytes that
  // follow, [samples][tokens].
  double backward(std::span<const uint8_t> following);

  transformer::Parameters parameters;

 private:
  transformer::Form form_;
  int64_t rows_;
  transformer::Parameter* embedding_;
  transformer::Trunk trunk_;
  transformer::Dense logits_layer_;
  std::vector<uint8_t> bytes_;
  std::vector<float> embedded_, seen_, logits_, logits_gradient_, gradient_;
};

}  // namespace byte_lm
