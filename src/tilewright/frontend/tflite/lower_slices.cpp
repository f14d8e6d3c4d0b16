// Slices and padding. TFLite says which bounds of a slice to ignore by bit masks over the axes of the slice
// specification; they are turned into explicit bounds here.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

using enum TensorLayout;

ValueId sliced(TfliteLowering& l, ValueId x, const std::vector<int64_t>& starts,
               const std::vector<int64_t>& ends, const std::vector<int64_t>& axes,
               const std::vector<int64_t>& steps) {
  if (axes.empty()) return x;
  return l.emit("Slice", {x, l.integers_value("starts", starts), l.integers_value("ends", ends),
                          l.integers_value("axes", axes), l.integers_value("steps", steps)});
}

// One entry of the specification of a strided slice, for one axis of the input.
struct AxisSlice {
  int64_t start, end, step;
  bool is_index;
};

}  // namespace

void lower_slice(TfliteLowering& l) {
  l.require(3, 1);
  const Shape x = l.shape(0);
  const std::vector<int64_t> begin = l.constant_integers(1, "starts"), size = l.constant_integers(2, "sizes");
  if (int(begin.size()) != x.rank() || int(size.size()) != x.rank()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("has {} starts and {} sizes for {} axes", begin.size(), size.size(), x.rank()));
  }
  const TensorLayout layout = l.layout_of(0);
  std::vector<int64_t> starts, ends, axes, steps;
  for (int a = 0; a < x.rank(); ++a) {
    const int64_t from = begin[size_t(a)];
    const int64_t length = size[size_t(a)] == -1 ? x[a] - from : size[size_t(a)];
    if (from < 0 || length < 0 || from > x[a] || length > x[a] - from) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("takes {} elements from {} of an axis of {}", length, from, x[a]));
    }
    if (from == 0 && length == x[a]) continue;
    starts.push_back(from);
    ends.push_back(from + length);
    axes.push_back(l.axis_in(layout, a, x.rank()));
    steps.push_back(1);
  }
  l.finish(0, sliced(l, l.value(0, layout), starts, ends, axes, steps), layout);
}

void lower_strided_slice(TfliteLowering& l) {
  l.require(4, 1);
  l.require_options();
  const TfliteOperatorOptions& options = l.options();
  const Shape x = l.shape(0);
  const std::vector<int64_t> begin = l.constant_integers(1, "starts"), end = l.constant_integers(2, "ends"),
                             stride = l.constant_integers(3, "strides");
  const size_t entries = begin.size();
  if (end.size() != entries || stride.size() != entries || entries > 32) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("has {} starts, {} ends and {} strides", entries, end.size(), stride.size()));
  }
  if (options.is_offset) throw Error(ErrorKind::kUnsupported, "has ends that count from the starts");
  const auto is_set = [](int64_t mask, size_t bit) { return (mask >> bit & 1) != 0; };
  int64_t named = 0;  // axes that entries of their own speak of
  for (size_t i = 0; i < entries; ++i) {
    named += !is_set(options.ellipsis_mask, i) && !is_set(options.new_axis_mask, i) ? 1 : 0;
  }
  if (named > x.rank()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("slices {} axes of {}", named, to_string(x)));
  }
  std::vector<int64_t> starts, ends, axes, steps, dims;
  std::vector<AxisSlice> of_axis(size_t(x.rank()), AxisSlice{0, 0, 0, false});
  std::vector<int> order;  // axis of the input, or -1 for a new one
  int axis = 0;
  for (size_t i = 0; i < entries; ++i) {
    if (is_set(options.ellipsis_mask, i)) {
      for (int64_t skip = x.rank() - named; skip > 0; --skip) order.push_back(axis++);
      named = x.rank();  // a second ellipsis stands for nothing
      continue;
    }
    if (is_set(options.new_axis_mask, i)) {
      order.push_back(-1);
      continue;
    }
    const bool is_index = is_set(options.shrink_axis_mask, i);
    if (stride[i] == 0 || axis >= x.rank()) throw Error(ErrorKind::kInvalidInput, "has the stride 0");
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const bool forward = stride[i] > 0;
    const int64_t first = is_set(options.begin_mask, i) ? (forward ? 0 : kMost) : begin[i];
    const int64_t last = is_set(options.end_mask, i) ? (forward ? kMost : -kMost) : end[i];
    const int64_t stop = begin[i] == -1 ? kMost : begin[i] + 1;
    of_axis[size_t(axis)] =
        is_index ? AxisSlice{begin[i], stop, 1, true} : AxisSlice{first, last, stride[i], false};
    order.push_back(axis++);
  }
  while (axis < x.rank()) order.push_back(axis++);
  for (int a = 0; a < x.rank(); ++a) {
    const AxisSlice& slice = of_axis[size_t(a)];
    if (slice.step == 0) continue;
    starts.push_back(slice.start);
    ends.push_back(slice.end);
    axes.push_back(a);
    steps.push_back(slice.step);
  }
  const ValueId taken = sliced(l, l.value(0, kFile), starts, ends, axes, steps);
  for (const int a : order) {
    if (a < 0) {
      dims.push_back(1);
    } else if (!of_axis[size_t(a)].is_index) {
      dims.push_back(l.value_of(taken).shape[a]);
    }
  }
  const Shape shape(std::move(dims));
  if (shape.element_count() != l.value_of(taken).shape.element_count()) {
    throw Error(ErrorKind::kInvalidInput, "takes an index outside its input");
  }
  l.finish(0, l.reshape(taken, shape), kFile);
}

// PAD: input, paddings [axes, 2]. PADV2: and the number. MIRROR_PAD: as PAD.
void lower_pad(TfliteLowering& l) {
  l.require(2, 1);
  const Shape x = l.shape(0);
  const std::vector<int64_t> amounts = l.constant_integers(1, "paddings");
  if (int(amounts.size()) != 2 * x.rank()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("has {} paddings for {} axes", amounts.size(), x.rank()));
  }
  const TensorLayout layout = l.layout_of(0);
  std::vector<int64_t> pads(amounts.size());
  for (int a = 0; a < x.rank(); ++a) {
    if (amounts[size_t(2 * a)] < 0 || amounts[size_t(2 * a + 1)] < 0) {
      throw Error(ErrorKind::kInvalidInput, "has a negative padding");
    }
    const int64_t target = l.axis_in(layout, a, x.rank());
    pads[size_t(target)] = amounts[size_t(2 * a)];
    pads[size_t(target + x.rank())] = amounts[size_t(2 * a + 1)];
  }
  std::vector<ValueId> inputs = {l.value(0, layout), l.integers_value("pads", pads)};
  Attributes attributes;
  if (l.op().op == "MIRROR_PAD") {
    l.require_options();
    if (l.options().is_symmetric) {
      throw Error(ErrorKind::kUnsupported, "mirrors with the border", "the mode REFLECT is supported");
    }
    attributes["mode"] = std::string("reflect");
  }
  if (l.op().op == "PADV2") {
    l.require(3, 1);
    const Tensor* constant = l.constant(2);
    if (constant == nullptr || constant->size() != 1) {
      throw Error(ErrorKind::kUnsupported, "pads with a number that is not constant");
    }
    double number = constant->number_at(0);
    if (l.is_quantized(2) && is_integer(constant->type())) {
      const CheckedQuantization q = l.quantization(2);
      number = (number - double(q.zero_points[0])) * double(q.scale(0));
    }
    Tensor padding(l.value_of(inputs[0]).type, Shape{});
    padding.set_number(0, number);
    inputs.push_back(l.constant_value("padding", std::move(padding)));
  }
  l.finish(0, l.emit("Pad", std::move(inputs), std::move(attributes)), layout);
}

}  // namespace tilewright
