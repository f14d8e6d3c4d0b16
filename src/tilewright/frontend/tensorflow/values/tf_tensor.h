// TensorFlow's element types and constant tensors as ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/tensor/tensor.h"

namespace tilewright::graphdef {
class TensorValue;
class TensorShape;
}  // namespace tilewright::graphdef

namespace tilewright {

// Sizes as a file states them: -1 is unknown; without a rank nothing is known.
struct TfShape {
  bool has_rank = false;
  std::vector<int64_t> dims;
};

// The numbers of TensorFlow's DataType; reference types (over 100) are the types they refer to.
std::optional<ElementType> element_type_of_tensorflow(int code);
// "DT_STRING" and the like, for messages; "type 77" if it has no name.
std::string tensorflow_type_name(int code);

TfShape tf_shape(const graphdef::TensorShape& shape);

// The elements of a constant, from its raw bytes or its list of values, the last of which is repeated.
// `budget_bytes` bounds the memory of all repeated values of a file, since those cost the file nothing.
// Errors (invalid input): bytes or values that do not fit the shape, the budget; (unsupported): other types.
Tensor read_tf_tensor(const graphdef::TensorValue& value, int64_t& budget_bytes);

}  // namespace tilewright
