// The shape of a transformer: what its trainer and its graph have in common.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace transformer {

struct Form {
  int64_t tokens, width, depth, heads, key_heads, hidden;
  // Of a language: RMS norms, rotary embedding, a causal mask, SiLU gates, no biases. Otherwise layer norms,
  // GELU, biases, and every token sees all.
  bool language;
  float epsilon = 1e-5f;

  int64_t head() const { return width / heads; }
  int64_t key_width() const { return key_heads * head(); }
};

// What was learned, by its names in training.
using Weights = std::map<std::string, tilewright::Tensor>;

// [tokens][head / 2] angles of the rotary embedding, base 10,000.
std::vector<float> rotary_cosines(const Form& form);
std::vector<float> rotary_sines(const Form& form);

}  // namespace transformer
