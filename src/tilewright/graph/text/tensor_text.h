// The text form of tensor elements, as graphs and attributes hold them (text.h).
#pragma once

#include <string>

#include "tilewright/graph/text/text_scanner.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Elements that a text may write as splats in total: this bounds the memory that a short text can request.
inline constexpr int64_t kSplatBudget = int64_t{1} << 25;

// "[1, 2]", "splat 0" or "base64 ... ;". Splats take their elements from `splat_budget`.
void print_elements(const Tensor& tensor, int64_t& splat_budget, std::string& text);
Tensor parse_elements(TextScanner& scanner, int64_t& splat_budget, ElementType type, const Shape& shape);

// "f32[1x3]"; a scalar is "f32[]".
std::string print_type(ElementType type, const Shape& shape);
void parse_type(TextScanner& scanner, ElementType& type, Shape& shape);

// "a\"b" with its quotes.
std::string quoted(std::string_view text);

}  // namespace tilewright
