// Each is one node, or none where the value is there already.
#include "tilewright/frontend/onnx/opset/steps.h"

#include <numeric>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"

namespace tilewright {

ValueId Steps::integers(const std::vector<int64_t>& values) {
  return conversion_.constant("integers", int64_list(values));
}

ValueId Steps::number(ElementType type, double value) {
  return conversion_.constant("number", scalar_of(type, value));
}

ValueId Steps::filled(ElementType type, const Shape& shape, double value) {
  constexpr int64_t kLargestConstant = 1 << 16;
  if (shape.element_count() > kLargestConstant) {
    return op("Expand", {number(type, value), integers(shape.dims())});
  }
  Tensor tensor(type, shape);
  for (int64_t i = 0; value != 0 && i < tensor.size(); ++i) tensor.set_number(i, value);
  return conversion_.constant("filled", std::move(tensor));
}

ValueId Steps::cast(ValueId x, ElementType to) {
  if (x == kNoValue || type(x) == to) return x;
  return op("Cast", {x}, {{"to", int64_t(onnx_storage_type(to))}});
}

ValueId Steps::reshape(ValueId x, const Shape& wanted) {
  if (x == kNoValue || shape(x) == wanted) return x;
  return reshaped(conversion_, x, wanted);
}

ValueId Steps::transpose(ValueId x, std::vector<int64_t> perm) {
  std::vector<int64_t> same(perm.size());
  std::iota(same.begin(), same.end(), 0);
  return perm == same ? x : op("Transpose", {x}, {{"perm", std::move(perm)}});
}

ValueId Steps::slice(ValueId x, int axis, int64_t begin, int64_t end) {
  if (x == kNoValue || (begin == 0 && end == shape(x)[axis])) return x;
  return op("Slice", {x, integers({begin}), integers({end}), integers({axis})});
}

std::vector<ValueId> Steps::split(ValueId x, int axis, const std::vector<int64_t>& sizes) {
  if (sizes.size() == 1) return {x};
  return conversion_.emit_all("Split", {x, integers(sizes)}, int(sizes.size()), {{"axis", int64_t(axis)}});
}

ValueId Steps::pick(ValueId x, int axis, int64_t index) {
  return op("Gather", {x, conversion_.constant("index", Tensor::scalar(index))}, {{"axis", int64_t(axis)}});
}

ValueId Steps::concat(std::vector<ValueId> parts, int axis) {
  if (parts.size() == 1) return parts[0];
  return op("Concat", std::move(parts), {{"axis", int64_t(axis)}});
}

ValueId Steps::sum(ValueId x, const std::vector<int64_t>& axes, bool keep) {
  return op("ReduceSum", {x, integers(axes)}, {{"keepdims", int64_t(keep)}});
}

}  // namespace tilewright
