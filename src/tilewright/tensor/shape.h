// Shapes: dimension sizes, outermost first; row-major order unless a Layout says otherwise.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tilewright {

class Shape {
 public:
  Shape() = default;  // a scalar
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}

  int rank() const { return int(dims_.size()); }
  int64_t operator[](int axis) const { return dims_[size_t(axis)]; }
  int64_t& operator[](int axis) { return dims_[size_t(axis)]; }
  const std::vector<int64_t>& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  bool operator==(const Shape&) const = default;

  // Product of the sizes; 1 for a scalar. Errors (invalid input): negative size, product over 2^56.
  int64_t element_count() const;
  // Product of the sizes of the axes [from, to).
  int64_t count(int from, int to) const;
  // Elements from one index to the next along each axis, row-major.
  std::vector<int64_t> strides() const;

 private:
  std::vector<int64_t> dims_;
};

// "1x3x224x224"; "scalar" for rank 0.
std::string to_string(const Shape& shape);

// The ONNX (numpy) broadcast of two shapes. Errors (invalid input): sizes that are neither equal nor 1.
Shape broadcast(const Shape& a, const Shape& b);

// axis in [-rank, rank) made non-negative. Errors (invalid input): out of range.
int normalize_axis(int64_t axis, int rank);

}  // namespace tilewright
