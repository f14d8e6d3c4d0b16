// Accepts an array with or without a batch axis and with axes of size 1 more or less, but never with axes in
// another order. Float inputs are normalised in float32, as a user's own preprocessing in that type would be;
// integers must fit exactly.
#include "tilewright/flow/samples/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "tilewright/base/random.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright {
namespace {

std::span<const int64_t> tail(std::span<const int64_t> dims) { return dims.empty() ? dims : dims.subspan(1); }

// Whether two arrays of equally many elements have the same axes in the same order, axes of size 1 aside. A
// flat one says nothing about its axes and passes.
bool same_axes(std::span<const int64_t> a, std::span<const int64_t> b) {
  const auto is_long = [](int64_t size) { return size != 1; };
  std::vector<int64_t> x, y;
  std::copy_if(a.begin(), a.end(), std::back_inserter(x), is_long);
  std::copy_if(b.begin(), b.end(), std::back_inserter(y), is_long);
  return x == y || x.size() <= 1 || y.size() <= 1;
}

}  // namespace

float Normalization::apply(float value, int64_t element) const {
  value = value * float(multiplier) / float(divisor);
  const size_t channel = size_t(element / channel_size % channels);
  const auto of_channel = [&](const std::vector<double>& values) {
    return float(values.size() == 1 ? values[0] : values[channel]);
  };
  if (!mean.empty()) value -= of_channel(mean);
  if (!deviation.empty()) value /= of_channel(deviation);
  return value;
}

Samples::Samples(Tensor array, int64_t count, Normalization normalization, std::string name)
    : array_(std::move(array)),
      limit_(count),
      normalization_(std::move(normalization)),
      name_(std::move(name)) {
  const int64_t present = array_.shape().rank() == 0 ? 1 : array_.shape()[0];
  if (array_.size() == 0)
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' holds no samples", name_), "give at least one");
  if (count > present) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} samples are requested, {} are there", count, present),
                "ask for as many as are there, or leave the count out");
  }
}

int64_t Samples::count_for(const Shape& shape) const {
  const int64_t wanted = shape.element_count();
  const int64_t present = array_.shape().rank() == 0 ? 1 : array_.shape()[0];
  const int64_t batch = shape.rank() == 0 ? 1 : shape[0];
  const int64_t per_entry = array_.size() / present;
  const bool whole = wanted > 0 && array_.size() == wanted && limit_ <= 1;
  if (!whole && (wanted == 0 || (per_entry != wanted && per_entry * batch != wanted))) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("'{}' holds samples of {} elements (array {}), the model wants {}", name_, per_entry,
                    to_string(array_.shape()), to_string(shape)),
        shape_hint_.empty() ? "save samples of that shape, one after the other along axis 0" : shape_hint_);
  }
  const std::span<const int64_t> axes = array_.shape().dims(), input = shape.dims();
  const bool in_order = (whole && same_axes(axes, input)) ||
                        (per_entry == wanted && same_axes(tail(axes), input)) ||
                        (per_entry * batch == wanted && same_axes(tail(axes), tail(input)));
  if (!in_order) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("'{}' holds as many elements per sample (array {}) as the model wants ({}), but in "
                    "other axes",
                    name_, to_string(array_.shape()), to_string(shape)),
        "transpose the array to the model's layout");
  }
  if (whole) return 1;
  const int64_t entries = limit_ > 0 ? limit_ : present;
  const int64_t per_input = wanted / per_entry;
  if (entries % per_input != 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' holds {} samples, no multiple of the model's batch of {}", name_, entries,
                            per_input));
  }
  return entries / per_input;
}

Tensor Samples::cut(int64_t index, ElementType type, const Shape& shape) const {
  const int64_t size = shape.element_count(), start = index * size;
  const bool applies = !normalization_.is_identity() && (is_float(type) || normalization_.of_integers);
  if (array_.type() == type && !applies) return elements_from(array_, start, shape);
  Tensor result(type, shape);
  for (int64_t i = 0; i < size; ++i) {
    double value = array_.number_at(start + i);
    if (applies) value = double(normalization_.apply(float(value), start + i));
    result.set_number(i, value);
    if (!is_float(type) && result.number_at(i) != value) {
      throw Error(
          ErrorKind::kInvalidInput,
          fmt::format("'{}' holds the value {} (element {}), which the model's input of type {} cannot hold",
                      name_, value, start + i, tilewright::name(type)),
          "give whole numbers in its range");
    }
  }
  return result;
}

Tensor Samples::stack(ElementType type, const Shape& shape) const {
  const int64_t count = count_for(shape);
  Shape all = shape.rank() == 0 ? Shape{1} : shape;
  all[0] *= count;
  Tensor result(type, all);
  for (int64_t i = 0; i < count; ++i) set_elements(result, i * shape.element_count(), cut(i, type, shape));
  return result;
}

std::vector<int64_t> Samples::labels(int64_t count, int64_t classes, bool may_be_longer) const {
  const auto fail = [&](const std::string& problem, const std::string& hint) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("labels '{}': {}", name_, problem), hint);
  };
  const int64_t present = array_.shape().rank() == 0 ? 1 : array_.shape()[0];
  if (array_.size() != present) {
    fail(fmt::format("an array {} is not one number per sample", to_string(array_.shape())),
         "save class labels, not scores or one-hot rows");
  }
  if (present < count || (present > count && !may_be_longer)) {
    fail(fmt::format("{} labels for {} samples", present, count),
         "labels and inputs must match; or give a sample count");
  }
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    const double label = array_.number_at(i);
    if (!(label >= 0 && label < double(classes) && label == std::floor(label))) {
      fail(fmt::format("{} of sample {} is not a class label in 0..{}", label, i, classes - 1), "");
    }
    labels.push_back(int64_t(label));
  }
  return labels;
}

std::vector<Tensor> random_inputs(const Graph& model, int64_t samples) {
  Random random(1);
  std::vector<Tensor> inputs;
  for (const ValueId v : model.inputs) {
    Shape shape = model.value(v).shape;
    if (shape.rank() > 0) shape[0] *= samples;
    Tensor values(model.value(v).type, shape);
    for (int64_t i = 0; i < values.size(); ++i) values.set_number(i, 2 * random.uniform() - 1);
    inputs.push_back(std::move(values));
  }
  return inputs;
}

int64_t argmax(const Tensor& scores) {
  int64_t best = 0;
  for (int64_t i = 1; i < scores.size(); ++i) {
    if (scores.number_at(i) > scores.number_at(best)) best = i;
  }
  return best;
}

}  // namespace tilewright
