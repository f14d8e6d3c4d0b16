// The table of operators, joined from those of the converters' files.
#include "tilewright/frontend/tensorflow/tf_operation.h"

#include <fmt/format.h>

#include <unordered_map>

#include "tilewright/graph/operators/operators.h"

namespace tilewright {

const Tensor& TfOperation::known_input(int index, const char* role) const {
  const Tensor* tensor = known(input(index));
  if (tensor == nullptr) {
    throw Error(ErrorKind::kUnsupported, fmt::format("its {} are not known before the network runs", role),
                "make them constants");
  }
  return *tensor;
}

std::vector<int64_t> TfOperation::integers(int index, const char* role) const {
  return known_input(index, role).to_integers();
}

TfConverter find_tf_converter(const std::string& op) {
  static const std::unordered_map<std::string, TfConverter> kTable = [] {
    std::unordered_map<std::string, TfConverter> table;
    for (const auto& entries :
         {tf_layer_converters(), tf_normalization_converters(), tf_elementwise_converters(),
          tf_shape_converters(), tf_slice_converters(), tf_reduction_converters(), tf_image_converters()}) {
      for (const TfTableEntry& entry : entries) table[entry.op] = entry.convert;
    }
    return table;
  }();
  const auto found = kTable.find(op);
  return found == kTable.end() ? nullptr : found->second;
}

void unsupported(const std::string& message, const std::string& hint) {
  throw Error(ErrorKind::kUnsupported, message, hint);
}

void invalid_node(const std::string& message) { throw Error(ErrorKind::kInvalidInput, message); }

Tensor int64_tensor(const std::vector<int64_t>& values) {
  return Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values));
}

Tensor float_scalar(ElementType type, double value) {
  Tensor tensor(type, Shape{});
  if (is_float(type)) {
    tensor.set_number(0, value);
  } else {
    tensor.set_integer(0, int64_t(value));
  }
  return tensor;
}

ValueId as_type(TfOperation& operation, ValueId id, ElementType type) {
  if (operation.value(id).type == type) return id;
  if (const Tensor* tensor = operation.known(id)) return operation.constant("cast", tensor->cast(type));
  return operation.emit("Cast", {id}, {{"to", onnx_code_of(type).value_or(1)}});
}

}  // namespace tilewright
