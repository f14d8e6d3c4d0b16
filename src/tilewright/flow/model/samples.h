// Arrays of input samples and labels on disk, cut into tensors of a model's input shape.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

class Samples;

// A file of samples as requests name it, or samples in memory.
struct SampleFile {
  std::filesystem::path path;
  int64_t count = 0;  // first samples only; 0: all
  double scale = 1.0;
  std::shared_ptr<const Samples> samples;  // if not null: the samples; count and scale are theirs

  bool empty() const { return path.empty() && !samples; }
};

class Samples {
 public:
  // Reads .npy, or idx (plain or gzip). `count` > 0 keeps the first samples only; values are multiplied by
  // `scale` when a float tensor is cut. Errors (invalid input): unreadable, no samples, fewer than `count`.
  static Samples read(const std::filesystem::path& path, int64_t count = 0, double scale = 1.0);
  static Samples read(const SampleFile& file) {
    return file.samples ? *file.samples : read(file.path, file.count, file.scale);
  }
  // The same over an array in memory; axis 0 counts the samples.
  Samples(Tensor array, int64_t count, double scale, std::string name);

  // The array as it is, neither scaled nor cut.
  const Tensor& array() const { return array_; }
  double scale() const { return scale_; }
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
  double scale_;
  std::string name_;
};

// How many inputs of a model `samples` holds; input number `index`; all of them as one array. Errors
// (unsupported): a model of several inputs, naming them; those of Samples.
int64_t count_inputs(const Graph& graph, const Samples& samples);
std::vector<Tensor> cut_inputs(const Graph& graph, const Samples& samples, int64_t index);
std::vector<Tensor> stack_inputs(const Graph& graph, const Samples& samples);

// An array for each input of a model, with `samples` times the model's first axis, uniform in [-1, 1): for
// results that depend on shapes, not on values.
std::vector<Tensor> random_inputs(const Graph& model, int64_t samples = 1);

// The index of the largest element; the first one of equals.
int64_t argmax(const Tensor& scores);

}  // namespace tilewright
