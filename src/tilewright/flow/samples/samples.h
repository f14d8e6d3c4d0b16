// An array of samples or labels, cut into tensors of a model's input shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// What is done to every value, in float32 and in this order: multiplied, divided, less the mean, divided by
// the deviation, the last two by channel.
struct Normalization {
  double multiplier = 1, divisor = 1;
  std::vector<double> mean, deviation;     // by channel, or one for all; empty: 0 and 1
  int64_t channels = 1, channel_size = 1;  // element i has the channel i / channel_size % channels
  bool of_integers = false;                // whether it also holds where the model takes integers

  bool is_identity() const { return multiplier == 1 && divisor == 1 && mean.empty() && deviation.empty(); }
  float apply(float value, int64_t element) const;
};

class Samples {
 public:
  // Axis 0 of `array` counts the samples; `count` > 0 keeps the first ones only. `name` is for messages.
  // Errors (invalid input): no samples, fewer than `count`.
  Samples(Tensor array, int64_t count, Normalization normalization, std::string name);
  Samples(Tensor array, int64_t count, double scale, std::string name)
      : Samples(std::move(array), count, Normalization{.multiplier = scale}, std::move(name)) {}

  // What to do about an array of another shape, where it comes from no array that the user has.
  void hint_shape(std::string hint) { shape_hint_ = std::move(hint); }

  // How many inputs of `shape` the array holds. An array of exactly one such input (no sample axis) counts as
  // one; an input of batch B takes B samples. Samples may be flat, or have axes of size 1 more or less, but
  // not their axes in another order. Errors (invalid input): no such array, naming both shapes.
  int64_t count_for(const Shape& shape) const;
  // Input number `index`, converted to `type`. Errors (invalid input): a value that an integer `type` lacks.
  Tensor cut(int64_t index, ElementType type, const Shape& shape) const;
  // All inputs, one after the other along axis 0: [count_for(shape) * shape[0], ...]; scalars:
  // [count_for(shape)].
  Tensor stack(ElementType type, const Shape& shape) const;
  // One class number for each of `count` samples. `may_be_longer`: more labels than that are ignored. Errors
  // (invalid input): not one whole number in 0..classes-1 for every sample.
  std::vector<int64_t> labels(int64_t count, int64_t classes, bool may_be_longer) const;

 private:
  Tensor array_;
  int64_t limit_;
  Normalization normalization_;
  std::string name_, shape_hint_;
};

// An array for each input of a model, with `samples` times the model's first axis, uniform in [-1, 1): for
// results that depend on shapes, not on values.
std::vector<Tensor> random_inputs(const Graph& model, int64_t samples = 1);

// The index of the largest element; the first one of equals.
int64_t argmax(const Tensor& scores);

}  // namespace tilewright
