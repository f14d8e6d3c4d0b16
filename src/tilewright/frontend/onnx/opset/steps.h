// Short forms of the nodes that converters write most. A value that could not be made is kNoValue, and so is
// what is made from it: the failure has been reported by then.
#pragma once

#include <string>
#include <vector>

#include "tilewright/frontend/onnx/opset/opset_converters.h"

namespace tilewright {

class Steps {
 public:
  explicit Steps(NodeConversion& conversion) : conversion_(conversion) {}

  NodeConversion& conversion() const { return conversion_; }
  // Of a value that could not be made: a scalar of f32.
  Shape shape(ValueId x) const { return x == kNoValue ? Shape{} : conversion_.shape(x); }
  ElementType type(ValueId x) const { return x == kNoValue ? ElementType::kF32 : conversion_.type(x); }

  ValueId op(const std::string& name, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return conversion_.emit(name, std::move(inputs), std::move(attributes));
  }
  ValueId integers(const std::vector<int64_t>& values);  // i64, a vector
  ValueId number(ElementType type, double value);        // a scalar
  ValueId number_like(ValueId x, double value) { return number(type(x), value); }
  ValueId filled(ElementType type, const Shape& shape, double value);
  ValueId cast(ValueId x, ElementType to);                  // x itself where it has that type
  ValueId reshape(ValueId x, const Shape& shape);           // x itself where it has that shape
  ValueId transpose(ValueId x, std::vector<int64_t> perm);  // x itself where nothing moves
  ValueId slice(ValueId x, int axis, int64_t begin, int64_t end);
  // Parts of these sizes, which add up to the axis; x itself if there is one part.
  std::vector<ValueId> split(ValueId x, int axis, const std::vector<int64_t>& sizes);
  ValueId pick(ValueId x, int axis, int64_t index);      // without the axis
  ValueId concat(std::vector<ValueId> parts, int axis);  // the part itself where it is the only one
  ValueId sum(ValueId x, const std::vector<int64_t>& axes, bool keep);

 private:
  NodeConversion& conversion_;
};

}  // namespace tilewright
