// The model's inputs and outputs for a program that has no model: where their elements lie in the network's
// tensors, and how real values become the network's numbers and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// Element i of a model's tensor, in the order of its own shape, has the digits of i to the radices `size`,
// the first the most significant; it is element first + sum of digit * step of the network's input or output.
struct ElementDigit {
  int64_t size = 1, step = 0;
  bool operator==(const ElementDigit&) const = default;
};
struct ElementPlaces {
  int64_t first = 0;
  std::vector<ElementDigit> digits;
  // Of every element, in order.
  std::vector<int64_t> list() const;
};
// Nothing where there are no such digits.
std::optional<ElementPlaces> element_places(const std::vector<int64_t>& list);

struct ModelTensor {
  std::string name;
  std::vector<int64_t> shape;
  ElementPlaces places;
  // kFixed: fixed_encode and fixed_decode at Network::fraction. Integers: round(x / scale) + zero_point
  // within low and high, halves to the even; back (q - zero_point) * scale, all in single precision.
  float scale = 1;
  int64_t zero_point = 0, low = -128, high = 127;
  // Outputs: a QSoftmax of all elements before they become real, one of the real values after that.
  std::vector<int32_t> exponentials;  // its table; empty: none
  int64_t numerator = 0, shift = 0, softmax_zero = 0;
  bool softmax = false;
  int64_t elements() const;
};

struct ModelValues {
  std::vector<ModelTensor> inputs, outputs;
  // Why there are none: what the host has to compute besides.
  std::string missing;
};

ModelValues model_values(const Network& network);

}  // namespace tilewright::pipeline
