// Operators that move elements to places known or computed: MaxUnpool, ReverseSequence, Compress and NonZero
// of known values.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {

// Zeros with x at its indices, which count in the whole tensor before it is enlarged to the output shape.
void convert_max_unpool(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const Shape x = s.shape(node.input(0));
  const int spatial = x.rank() - 2;
  const std::vector<int64_t> kernel = node.ints_or("kernel_shape", {});
  const std::vector<int64_t> strides = node.ints_or("strides", std::vector<int64_t>(kernel.size(), 1));
  const std::vector<int64_t> pads = node.ints_or("pads", std::vector<int64_t>(2 * kernel.size(), 0));
  if (spatial < 1 || kernel.size() != size_t(spatial) || strides.size() != kernel.size() ||
      pads.size() != 2 * kernel.size() || !node.has_input(1) || s.shape(node.input(1)) != x) {
    return conversion.invalid("its window, its strides or its indices do not fit its input");
  }
  std::vector<int64_t> dims = {x[0], x[1]};
  int64_t count = x[0] * x[1];
  for (size_t i = 0; i < kernel.size(); ++i) {
    const __int128 size =
        __int128(x[int(i) + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + kernel.size()];
    if (size < 1 || size * count > (int64_t{1} << 31))
      return conversion.invalid("its output has no size, or more than 2^31 elements");
    dims.push_back(int64_t(size));
    count *= int64_t(size);
  }
  const ValueId zeros = s.op("Expand", {s.number_like(node.input(0), 0), s.integers({count})});
  const Shape flat{x.element_count()};
  ValueId y =
      s.op("ScatterElements", {zeros, s.reshape(node.input(1), flat), s.reshape(node.input(0), flat)});
  y = s.reshape(y, Shape(dims));
  if (node.has_input(2)) {
    const auto wanted = conversion.constant_of(node.input(2));
    if (!wanted || wanted->size() != int64_t(dims.size()))
      return conversion.unsupported("its output shape is not constant");
    std::vector<int64_t> more(2 * dims.size(), 0);
    for (size_t i = 0; i < dims.size(); ++i) {
      more[dims.size() + i] = wanted->integer_at(int64_t(i)) - dims[i];
      if (more[dims.size() + i] < 0)
        return conversion.invalid("its output shape is smaller than what the window gives");
    }
    if (Shape(wanted->to_integers()) != Shape(dims)) y = s.op("Pad", {y, s.integers(more)});
  }
  conversion.define(node.outputs[0], y);
  node.outputs.clear();
}

// The first `length` elements of each sequence in reverse order.
void convert_reverse_sequence(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const Shape x = s.shape(node.input(0));
  const auto axes =
      checked_axes(conversion, {node.int_or("time_axis", 0), node.int_or("batch_axis", 1)}, x.rank());
  if (!axes) return;
  const int time = (*axes)[0], batch = (*axes)[1];
  if (!node.has_input(1) || s.shape(node.input(1)) != Shape{x[batch]} ||
      s.type(node.input(1)) != ElementType::kI64) {
    return conversion.invalid("needs one length (int64) per sequence");
  }
  constexpr int64_t kLongest = 1 << 24;
  if (x[time] > kLongest)
    return conversion.unsupported(fmt::format("reverses sequences of {}", x[time]), "give them in parts");
  std::vector<int64_t> dims(size_t(x.rank()), 1), steps(static_cast<size_t>(x[time]));
  for (size_t t = 0; t < steps.size(); ++t) steps[t] = int64_t(t);
  dims[size_t(batch)] = x[batch];
  const ValueId length = s.reshape(node.input(1), Shape(dims));
  dims[size_t(batch)] = 1;
  dims[size_t(time)] = x[time];
  const ValueId at = s.reshape(s.integers(steps), Shape(dims));
  const ValueId mirrored = s.op("Sub", {s.op("Sub", {length, s.number_like(length, 1)}), at});
  const ValueId source = s.op("Where", {s.op("Less", {at, length}), mirrored, at});
  const ValueId everywhere = s.op("Expand", {source, s.integers(x.dims())});
  conversion.define(node.outputs[0],
                    s.op("GatherElements", {node.input(0), everywhere}, {{"axis", int64_t(time)}}));
  node.outputs.clear();
}

void convert_compress(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const auto condition = conversion.constant_of(node.input(1));
  if (!condition || condition->shape().rank() != 1) {
    return conversion.unsupported(
        "its condition is not a constant list: the size of its output depends on the data",
        "end the network before it, and select on the host");
  }
  std::vector<int64_t> taken;
  for (int64_t i = 0; i < condition->size(); ++i) {
    if (condition->integer_at(i) != 0) taken.push_back(i);
  }
  ValueId x = node.input(0);
  int axis = 0;
  if (node.has("axis")) {
    const auto axes = checked_axes(conversion, {node.int_or("axis", 0)}, s.shape(x).rank());
    if (!axes) return;
    axis = axes->front();
  } else {
    x = s.reshape(x, {s.shape(x).element_count()});
  }
  conversion.define(node.outputs[0], s.op("Gather", {x, s.integers(taken)}, {{"axis", int64_t(axis)}}));
  node.outputs.clear();
}

// [rank, count]: the positions of what is not 0.
void convert_non_zero(Node& node, NodeConversion& conversion) {
  const auto x = conversion.constant_of(node.input(0));
  if (!x) {
    return conversion.unsupported("its input is not constant: the size of its output depends on the data",
                                  "end the network before it, and select on the host");
  }
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x->size(); ++i) {
    if (x->number_at(i) != 0) found.push_back(i);
  }
  const auto count = int64_t(found.size());
  const std::vector<int64_t> strides = x->shape().strides();
  Tensor positions(ElementType::kI64, {int64_t(x->shape().rank()), count});
  for (int axis = 0; axis < x->shape().rank(); ++axis) {
    for (int64_t i = 0; i < count; ++i) {
      positions.set_integer(axis * count + i, found[size_t(i)] / strides[size_t(axis)] % x->shape()[axis]);
    }
  }
  conversion.define(node.outputs[0], conversion.constant("positions", std::move(positions)));
  node.outputs.clear();
}

}  // namespace tilewright
