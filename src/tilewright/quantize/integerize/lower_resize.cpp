// Resize in linear mode, by whole factors. With coordinates that begin at the half of a pixel and an even
// factor, outputs lie at odd multiples of 1 / (2 * factor) between inputs, else at multiples of 1 / factor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/quantize/integerize/linear_resize.h"
#include "tilewright/quantize/integerize/lower_operators.h"

namespace tilewright {
namespace {

constexpr int64_t kMostWeight = 32767;  // weights have at most 16 bits

LinearAxis axis_of(int64_t input, int64_t factor, bool half_pixel) {
  LinearAxis axis;
  axis.factor = factor;
  if (input == 1 || factor == 1) {  // every output is the input
    axis.weights.assign(size_t(factor), 1);
    return axis;
  }
  const bool between = half_pixel && factor % 2 == 0;
  axis.unit = between ? 2 * factor : factor;
  axis.weights.clear();
  const int64_t step = between ? 2 : 1;
  for (int64_t w = 1; w <= axis.unit; w += step) axis.weights.push_back(w);
  for (int64_t w = axis.weights.back() - (between ? 0 : step); w >= 1; w -= step) axis.weights.push_back(w);
  axis.first = half_pixel ? factor / 2 : factor - 1;
  return axis;
}

Shape image_shape(const Shape& shape) {
  return shape.rank() == 3 ? Shape{shape[0], shape[1], 1, shape[2]} : shape;
}

// The image with its first and last row and column once more, on the axes that need it.
ValueId with_border(IntegerBuilder& builder, const Node& node, ValueId x, const LinearResize& resize,
                    const std::string& name) {
  Shape shape = builder.graph().value(x).shape;
  std::vector<int64_t> pads(8, 0);
  for (size_t a = 0; a < 2; ++a) {
    if (resize.axes[a].unit == 1) continue;
    pads[2 + a] = pads[6 + a] = 1;
    shape[int(2 + a)] += 2;
  }
  const ValueId out = builder.add_value(name, builder.graph().value(x).type, shape);
  const ValueId amounts =
      builder.add_constant(name + "_pads", Tensor(Shape{8}, std::span<const int64_t>(pads)));
  builder.add_node(node, "Pad", "", {x, amounts}, {out}, true).attributes["mode"] = std::string("edge");
  return out;
}

// [C, 1, height, width] of the products of both axes' weights.
Tensor spread_weights(const LinearResize& resize, int64_t channels) {
  const std::vector<int64_t>&rows = resize.axes[0].weights, &columns = resize.axes[1].weights;
  const int64_t largest =
      *std::max_element(rows.begin(), rows.end()) * *std::max_element(columns.begin(), columns.end());
  Tensor weights(largest > 127 ? ElementType::kI16 : ElementType::kI8,
                 Shape{channels, 1, int64_t(rows.size()), int64_t(columns.size())});
  int64_t at = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (const int64_t row : rows) {
      for (const int64_t column : columns) weights.set_integer(at++, row * column);
    }
  }
  return weights;
}

}  // namespace

bool LinearResize::repeats() const {
  return std::all_of(axes.begin(), axes.end(), [](const LinearAxis& axis) { return axis.unit == 1; });
}

std::optional<LinearResize> linear_resize(const Graph& graph, const Node& node, std::string* problem) {
  const auto refuse = [&](const std::string& why) {
    if (problem != nullptr) *problem = why;
    return std::nullopt;
  };
  if (!node.is("Resize") || node.string_or("mode", "nearest") != "linear") return refuse("it is not linear");
  const Shape &x = graph.value(node.input(0)).shape, &y = graph.value(node.outputs[0]).shape;
  if (x.rank() < 3 || x.rank() > 4 || x.rank() != y.rank() || x[0] != y[0] || x[1] != y[1] ||
      x.element_count() == 0) {
    return refuse("linear Resize has an integer form on one or two spatial axes");
  }
  const std::string place = node.string_or("coordinate_transformation_mode", "half_pixel");
  const bool half_pixel = place == "half_pixel" || place == "pytorch_half_pixel";
  LinearResize resize;
  int64_t largest = 1;
  for (int a = 2; a < x.rank(); ++a) {
    if (y[a] % x[a] != 0) return refuse("linear Resize has an integer form for whole factors");
    if (x[a] > 1 && x[a] != y[a] && !half_pixel && place != "asymmetric") {
      return refuse(fmt::format("linear Resize has no integer form with coordinates '{}'", place));
    }
    resize.axes.push_back(axis_of(x[a], y[a] / x[a], half_pixel));
    largest *= resize.axes.back().unit;
  }
  if (largest > kMostWeight) return refuse("its factors need weights of more than 16 bits");
  if (resize.axes.size() == 1) resize.axes.insert(resize.axes.begin(), LinearAxis{});
  return resize;
}

std::optional<ValueId> lower_linear_resize(IntegerBuilder& builder, const Node& node,
                                           const IntegerForm& form) {
  const Twin* const given = builder.twin(node.input(0));
  if (!given) return builder.refuse(node, "its input is not quantised");
  const Twin x = *given;
  std::string problem;
  const auto resize = linear_resize(builder.source(), node, &problem);
  if (!resize) return builder.refuse(node, problem);
  const Shape from = image_shape(builder.source().value(node.input(0)).shape),
              shape = builder.source().value(node.outputs[0]).shape, to = image_shape(shape);
  const int64_t channels = from[1], unit = resize->axes[0].unit * resize->axes[1].unit;
  const double ratio = double(x.quantization.scale) / (double(form.quantization.scale) * double(unit));
  if (!(ratio > 0) || ratio >= 0x1p31) {
    return builder.refuse(node,
                          fmt::format("the ratio {} of input to output scale cannot be encoded", ratio));
  }
  const Requantization scale = encode_scale(ratio);
  ValueId in = builder.reshaped(node, x.id, form.name + "_row", from);
  if (!resize->repeats()) in = with_border(builder, node, in, *resize, form.name + "_border");
  std::vector<int64_t> strides, pads, ends;
  for (const LinearAxis& axis : resize->axes) {
    const int64_t border = axis.unit == 1 ? 0 : 1, size = int64_t(axis.weights.size());
    strides.push_back(axis.factor);
    pads.push_back(axis.first + border * axis.factor);
    ends.push_back(size - axis.factor + 2 * border * axis.factor - pads.back());
  }
  pads.insert(pads.end(), ends.begin(), ends.end());
  Tensor bias(ElementType::kI32, Shape{channels}), multiplier(ElementType::kI32, Shape{1}),
      shift(ElementType::kI32, Shape{1});
  for (int64_t c = 0; c < channels; ++c) bias.set_integer(c, -unit * x.quantization.zero_point);
  multiplier.set_integer(0, scale.multiplier);
  shift.set_integer(0, scale.shift);
  const ValueId out = builder.add_value(to == shape ? form.name : form.name + "_rows", form.type, to);
  const ValueId w = builder.add_constant(form.name + "_weights", spread_weights(*resize, channels));
  const ValueId b = builder.add_constant(form.name + "_bias", std::move(bias));
  const ValueId m = builder.add_constant(form.name + "_multiplier", std::move(multiplier));
  const ValueId s = builder.add_constant(form.name + "_shift", std::move(shift));
  Node& lowered = builder.add_node(node, "QConvTranspose", kTilewrightDomain, {in, w, b, m, s}, {out}, true);
  lowered.attributes = {{"group", channels},
                        {"strides", strides},
                        {"pads", pads},
                        {"dilations", std::vector<int64_t>{1, 1}},
                        {"output_padding", std::vector<int64_t>{0, 0}}};
  set_output_form(lowered, form);
  return builder.reshaped(node, out, form.name, shape);
}

}  // namespace tilewright
