// A dense, row-major tensor: element type, shape and a shared buffer with value semantics (copy on write).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/tensor/element_type.h"
#include "tilewright/tensor/shape.h"

namespace tilewright {

class Tensor {
 public:
  Tensor() : shape_{0} {}  // f32[0]
  // Zero-filled. Errors (invalid input): shape of over 2^40 bytes.
  Tensor(ElementType type, Shape shape);
  // Elements of any value, for whoever writes all of them. Errors as above.
  static Tensor uninitialized(ElementType type, Shape shape);
  // Over memory of somebody else, which is never written: `buffer` holds the shape's bytes, and its deleter
  // says when they are no longer needed. Errors (invalid input): shape of over 2^40 bytes.
  static Tensor over(ElementType type, Shape shape, std::shared_ptr<const std::byte[]> buffer);
  // A copy of `values`, whose number must be the shape's.
  template <typename T>
  Tensor(Shape shape, std::span<const T> values) : Tensor(element_type_of<T>::value, std::move(shape)) {
    TILEWRIGHT_CHECK(int64_t(values.size()) == count_, "tensor built from the wrong number of values");
    std::copy(values.begin(), values.end(), mutable_data<T>().begin());
  }
  template <typename T>
  static Tensor of(Shape shape, std::initializer_list<T> values) {
    return Tensor(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor scalar(T value) {
    return Tensor(Shape{}, std::span<const T>(&value, 1));
  }

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return count_; }            // elements
  size_t size_bytes() const { return size_bytes_; }  // packed size, rounded up to whole bytes

  // The elements as their storage type; T must be the one of type() (types of 8 bits and more).
  template <typename T>
  std::span<const T> data() const {
    TILEWRIGHT_CHECK(element_type_of<T>::value == type_, "tensor read as another element type");
    return {reinterpret_cast<const T*>(bytes().data()), size_t(count_)};
  }
  template <typename T>
  std::span<T> mutable_data() {
    TILEWRIGHT_CHECK(element_type_of<T>::value == type_, "tensor written as another element type");
    return {reinterpret_cast<T*>(mutable_bytes().data()), size_t(count_)};
  }
  std::span<const std::byte> bytes() const { return {buffer_.get(), size_bytes_}; }
  // Copies the buffer first if another tensor shares it or it is somebody else's.
  std::span<std::byte> mutable_bytes();

  // Element `index` (row-major) of any type as a number; for loops that are not hot. The setters saturate.
  double number_at(int64_t index) const;
  int64_t integer_at(int64_t index) const;
  void set_number(int64_t index, double value);
  void set_integer(int64_t index, int64_t value);

  // Every element as int64 / float (floats are truncated to integers, integers rounded to float).
  std::vector<int64_t> to_integers() const;
  std::vector<float> to_floats() const;
  // Converted to another element type (integers saturate, floats round to nearest even).
  Tensor cast(ElementType type) const;

  // The same elements under another shape of the same count; shares the buffer.
  Tensor reshaped(Shape shape) const;
  // Same type, shape and bits.
  bool identical(const Tensor& other) const;
  bool shares_buffer_with(const Tensor& other) const { return buffer_ == other.buffer_; }

 private:
  // Of what it holds; the buffer is the caller's.
  void set_type(ElementType type, Shape shape);
  void allocate(bool zero_filled);

  ElementType type_ = ElementType::kF32;
  Shape shape_;
  int64_t count_ = 0;
  size_t size_bytes_ = 0;
  bool foreign_ = false;  // the buffer
  std::shared_ptr<std::byte[]> buffer_;
};

// "f32[1x3x224x224]".
std::string to_string(ElementType type, const Shape& shape);

}  // namespace tilewright
