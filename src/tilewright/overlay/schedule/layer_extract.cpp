// From graph nodes to layers, one function per operator of docs/arithmetic.md.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/value_range.h"
#include "tilewright/graph/window.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {
namespace {

constexpr int kMaxWeightPlanes = 4;
constexpr int64_t kMaxWindow = 4096;  // of one axis, dilation included

struct Unsupported {
  std::string reason;
};

WindowAxis flat_axis() { return {}; }

// Height and width of a window over one or two spatial axes.
struct Axes {
  WindowAxis y, x;
};

Axes axes_of(const Window& window) {
  for (const WindowAxis& axis : window.axes) {
    if (std::max({axis.kernel, axis.stride, axis.dilation, axis.pad_begin, axis.pad_end}) > kMaxWindow ||
        axis.effective_kernel() > kMaxWindow) {
      throw Unsupported{"windows wider than " + std::to_string(kMaxWindow) + " do not run on the overlay"};
    }
  }
  if (window.rank() == 2) return {window.height(), window.width()};
  if (window.rank() == 1) return {flat_axis(), window.axes[0]};
  throw Unsupported{"only one and two spatial axes run on the overlay"};
}

SourceView view_of(const Graph& graph, ValueId value) {
  if (graph.value(value).type != ElementType::kI8)
    throw Unsupported{"only i8 activations run on the overlay"};
  const auto view = image_view(graph.value(value).shape);
  if (!view) throw Unsupported{"only tensors of rank 2 to 4 run on the overlay"};
  if (graph.value(value).shape.element_count() == 0) throw Unsupported{"an empty tensor has nothing to run"};
  return *view;
}

LayerSource source_of(ValueId value, const SourceView& view) {
  return {value, view.channels, view.height, view.width};
}

const Tensor& constant(const Graph& graph, const Node& node, int index, const char* what) {
  const Tensor* tensor = graph.constant_input(node, index);
  if (tensor == nullptr) throw Unsupported{std::string(what) + " must be constant"};
  return *tensor;
}

std::vector<int32_t> as_i32(const Tensor& tensor) {
  std::vector<int32_t> result;
  for (const int64_t v : tensor.to_integers()) result.push_back(int32_t(v));
  return result;
}

void check_output(const LayerOutput& output) {
  for (const Requantization& scale : output.requantization) {
    if (scale.multiplier < 1 || scale.shift < 0 || scale.shift > 62) {
      throw Unsupported{"a multiplier must be positive and a shift in 0..62"};
    }
  }
  if (output.clip_low < -128 || output.clip_high > 127 || output.clip_low > output.clip_high ||
      output.zero_point < -128 || output.zero_point > 127) {
    throw Unsupported{"y_zero_point, clip_low and clip_high must lie in -128..127, in order"};
  }
}

void read_output_attributes(const Node& node, LayerOutput& output) {
  output.zero_point = int32_t(node.int_or("y_zero_point", 0));
  output.clip_low = int32_t(node.int_or("clip_low", -128));
  output.clip_high = int32_t(node.int_or("clip_high", 127));
  output.bipolar = node.int_or("bipolar", 0) != 0;
}

// B, M and S of QConv, QConvTranspose and QGemm.
void read_parameters(const Graph& graph, const Node& node, Layer& layer) {
  LayerOutput& output = layer.output;
  output.bias = node.has_input(2) ? as_i32(constant(graph, node, 2, "the bias"))
                                  : std::vector<int32_t>(size_t(layer.out_channels), 0);
  if (output.bias.size() == 1) output.bias.resize(size_t(layer.out_channels), output.bias[0]);
  const std::vector<int32_t> multiplier = as_i32(constant(graph, node, 3, "the multiplier"));
  const std::vector<int32_t> shift = as_i32(constant(graph, node, 4, "the shift"));
  const size_t count = std::max(multiplier.size(), shift.size());
  const size_t channels = size_t(layer.out_channels);
  if (output.bias.size() != channels || (count != 1 && count != channels)) {
    throw Unsupported{"bias, multiplier and shift must have one entry per output channel"};
  }
  for (size_t i = 0; i < count; ++i) {
    output.requantization.push_back(
        {multiplier[multiplier.size() == 1 ? 0 : i], shift[shift.size() == 1 ? 0 : i]});
  }
  read_output_attributes(node, output);
}

// Planes of `bits` bits that weights in [low, high] are a sum of.
int planes_for(int64_t low, int64_t high, int bits) {
  const int most = bits == 1 ? 1 : kMaxWeightPlanes;
  for (int planes = 1; planes <= most; ++planes) {
    if (low >= lowest_weight(bits) * planes && high <= highest_weight(bits) * planes) return planes;
  }
  throw Unsupported{"weights beyond " + std::to_string(most) + " passes of " + std::to_string(bits) +
                    " bits (" + std::to_string(low) + " to " + std::to_string(high) + ")"};
}

// Sum of the magnitudes of each of `rows` equal parts.
template <typename T>
std::vector<int64_t> magnitudes(std::span<const T> values, int64_t rows) {
  std::vector<int64_t> sums(static_cast<size_t>(rows));
  const size_t size = rows == 0 ? 0 : values.size() / size_t(rows);
  for (size_t row = 0; row < sums.size(); ++row) {
    int64_t sum = 0;
    for (size_t i = 0; i < size; ++i) sum += std::abs(int(values[row * size + i]));
    sums[row] = sum;
  }
  return sums;
}

void set_weights(Layer& layer, Tensor weights) {
  if (weights.type() != ElementType::kI8 && weights.type() != ElementType::kI16) {
    throw Unsupported{"weights must be i8 or i16"};
  }
  layer.weight_positions = int(weights.shape()[2]);
  layer.weight_planes = 1;
  if (weights.type() == ElementType::kI16 && weights.size() > 0) {
    const auto [low, high] =
        std::minmax_element(weights.data<int16_t>().begin(), weights.data<int16_t>().end());
    layer.weight_planes = planes_for(*low, *high, layer.weight_bits);
  } else if (layer.weight_bits < 8 && weights.size() > 0) {
    const auto [low, high] =
        std::minmax_element(weights.data<int8_t>().begin(), weights.data<int8_t>().end());
    layer.weight_planes = planes_for(*low, *high, layer.weight_bits);
  }
  layer.weight_magnitude = weights.type() == ElementType::kI8
                               ? magnitudes(weights.data<int8_t>(), weights.shape()[0])
                               : magnitudes(weights.data<int16_t>(), weights.shape()[0]);
  layer.weights = std::move(weights);
}

// One grid per weight plane.
void add_planes(const Layer& layer, Phase& phase, TapGrid grid) {
  for (int plane = 0; plane < layer.weight_planes; ++plane) {
    phase.grids.push_back(grid);
    grid.weight += layer.weight_positions;
  }
}

TapGrid window_grid(const Axes& axes, bool own_weights) {
  TapGrid grid;
  grid.ny = int(axes.y.kernel);
  grid.nx = int(axes.x.kernel);
  grid.dy = -int(axes.y.pad_begin);
  grid.dx = -int(axes.x.pad_begin);
  grid.dy_step = int(axes.y.dilation);
  grid.dx_step = int(axes.x.dilation);
  grid.weight_step_y = own_weights ? grid.nx : 0;
  grid.weight_step_x = own_weights ? 1 : 0;
  return grid;
}

void set_window(Layer& layer, const Axes& axes) {
  layer.in_step_y = int(axes.y.stride);
  layer.in_step_x = int(axes.x.stride);
  layer.out_height = axes.y.output;
  layer.out_width = axes.x.output;
}

void set_groups(Layer& layer, int64_t group, int64_t inputs) {
  if (group == 1) {
    layer.pattern = ChannelPattern::kDense;
  } else if (group == inputs && group == layer.out_channels) {
    layer.pattern = ChannelPattern::kDiagonal;
  } else {
    layer.pattern = ChannelPattern::kGrouped;
    layer.group_inputs = inputs / group;
    layer.group_outputs = layer.out_channels / group;
  }
}

void conv(const Graph& graph, const Node& node, Layer& layer) {
  const SourceView x = view_of(graph, node.input(0));
  const Tensor& weights = constant(graph, node, 1, "the weights");
  const Axes axes = axes_of(convolution_window(node, graph.value(node.input(0)).shape, weights.shape()));
  layer.sources = {source_of(node.input(0), x)};
  layer.batch = x.batch;
  layer.out_channels = weights.shape()[0];
  layer.pad_value = int32_t(node.int_or("pad_value", 0));
  set_window(layer, axes);
  set_groups(layer, node.int_or("group", 1), x.channels);
  set_weights(layer,
              weights.reshaped(Shape{layer.out_channels, weights.shape()[1], axes.y.kernel * axes.x.kernel}));
  layer.phases.resize(1);
  add_planes(layer, layer.phases[0], window_grid(axes, true));
  read_parameters(graph, node, layer);
  layer.macs = layer.batch * layer.out_height * layer.out_width * weights.size();
}

// The taps of one axis that reach output residue r, ordered by input offset. Kernel positions are counted
// from the far end, so that offsets and weights both ascend.
struct AxisTaps {
  int count = 0, offset = 0, step = 1, weight = 0, weight_step = 0;
};

AxisTaps taps_of(const WindowAxis& axis, int64_t residue) {
  AxisTaps taps;
  for (int64_t flipped = 0; flipped < axis.kernel; ++flipped) {
    const int64_t k = axis.kernel - 1 - flipped;
    const int64_t reach = residue + axis.pad_begin - k * axis.dilation;
    if (((reach % axis.stride) + axis.stride) % axis.stride != 0) continue;
    const int offset = int(reach / axis.stride);
    if (taps.count == 0) {
      taps.offset = offset;
      taps.weight = int(flipped);
    } else if (taps.count == 1) {
      taps.step = offset - taps.offset;
      taps.weight_step = int(flipped) - taps.weight;
    }
    ++taps.count;
  }
  return taps;
}

void conv_transpose(const Graph& graph, const Node& node, Layer& layer) {
  const SourceView x = view_of(graph, node.input(0));
  const Tensor& weights = constant(graph, node, 1, "the weights");
  const Axes axes = axes_of(transposed_window(node, graph.value(node.input(0)).shape, weights.shape()));
  const int64_t group = node.int_or("group", 1), per_group = weights.shape()[1];
  const int64_t positions = axes.y.kernel * axes.x.kernel, inputs = x.channels / group;
  layer.sources = {source_of(node.input(0), x)};
  layer.batch = x.batch;
  layer.out_channels = per_group * group;
  layer.out_height = axes.y.output;
  layer.out_width = axes.x.output;
  layer.out_step_y = int(axes.y.stride);
  layer.out_step_x = int(axes.x.stride);
  set_groups(layer, group, x.channels);
  Tensor flipped(weights.type(), Shape{layer.out_channels, inputs, positions});
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    for (int64_t i = 0; i < inputs; ++i) {
      const int64_t from = ((o / per_group * inputs + i) * per_group + o % per_group) * positions;
      for (int64_t p = 0; p < positions; ++p) {
        flipped.set_integer((o * inputs + i) * positions + positions - 1 - p, weights.integer_at(from + p));
      }
    }
  }
  set_weights(layer, std::move(flipped));
  for (int64_t ry = 0; ry < std::min(axes.y.stride, axes.y.output); ++ry) {
    for (int64_t rx = 0; rx < std::min(axes.x.stride, axes.x.output); ++rx) {
      const AxisTaps y = taps_of(axes.y, ry), t = taps_of(axes.x, rx);
      Phase phase{int(ry), int(rx), {}};
      TapGrid grid{.ny = y.count, .nx = t.count, .dy = y.offset, .dx = t.offset};
      grid.dy_step = y.step;
      grid.dx_step = t.step;
      grid.weight = y.weight * int(axes.x.kernel) + t.weight;
      grid.weight_step_y = y.weight_step * int(axes.x.kernel);
      grid.weight_step_x = t.weight_step;
      if (y.count > 0 && t.count > 0) add_planes(layer, phase, grid);
      const int64_t rows = (axes.y.output - ry + axes.y.stride - 1) / axes.y.stride;
      const int64_t cols = (axes.x.output - rx + axes.x.stride - 1) / axes.x.stride;
      layer.macs += layer.batch * rows * cols * y.count * t.count * layer.out_channels * inputs;
      layer.phases.push_back(std::move(phase));
    }
  }
  read_parameters(graph, node, layer);
}

void gemm(const Graph& graph, const Node& node, const std::optional<SourceView>& view, Layer& layer) {
  const Tensor& weights = constant(graph, node, 1, "the weights");
  const SourceView x = view ? *view : view_of(graph, node.input(0));
  if (graph.value(node.input(0)).shape.rank() != 2 || weights.shape().rank() != 2 ||
      x.channels * x.height * x.width != weights.shape()[1]) {
    throw Unsupported{"input and weights of a dense layer must be [N,K] and [O,K]"};
  }
  layer.sources = {source_of(node.input(0), x)};
  layer.batch = x.batch;
  layer.out_channels = weights.shape()[0];
  set_weights(layer, weights.reshaped(Shape{layer.out_channels, x.channels, x.height * x.width}));
  TapGrid grid{.ny = int(x.height), .nx = int(x.width)};
  grid.weight_step_y = grid.nx;
  grid.weight_step_x = 1;
  layer.phases.resize(1);
  add_planes(layer, layer.phases[0], grid);
  read_parameters(graph, node, layer);
  layer.macs = layer.batch * weights.size();
}

void set_elementwise(const SourceView& x, Layer& layer) {
  layer.pattern = ChannelPattern::kSharedDiagonal;
  layer.batch = x.batch;
  layer.out_channels = x.channels;
  layer.out_height = x.height;
  layer.out_width = x.width;
}

// Digits of a multiplier; three of eight bits.
int digit_count(int bits) { return 24 / bits; }

void add_tap(Layer& layer, int source, int64_t weight, int pass) {
  layer.phases[0].grids.push_back({.source = source, .pass = pass, .weight = int(layer.diagonal.size())});
  layer.diagonal.push_back(int8_t(weight));
}

// Adds source * multiplier: as a sum of weights when that is short, by digits of as many bits otherwise.
void add_scaled_source(Layer& layer, int source, int64_t multiplier, bool digits) {
  if (!digits) {
    while (multiplier != 0) {
      const int64_t part =
          clip(multiplier, lowest_weight(layer.weight_bits), highest_weight(layer.weight_bits));
      add_tap(layer, source, part, 0);
      multiplier -= part;
    }
    return;
  }
  for (int pass = digit_count(layer.weight_bits) - 1; pass >= 0; --pass) {
    const int64_t digit = wrap(multiplier, layer.weight_bits);
    if (digit != 0) add_tap(layer, source, digit, pass);
    multiplier = (multiplier - digit) / (int64_t{1} << layer.weight_bits);
  }
  if (multiplier != 0) throw Unsupported{"multiplier_a and multiplier_b must be below 2^23 in magnitude"};
}

// Passes count from the highest digit that is not zero. The lowest one is there even where both of its digits
// are zero, since it shifts the others into place.
void number_passes(Layer& layer, int digits) {
  std::vector<TapGrid>& grids = layer.phases[0].grids;
  const auto ascending = [](const TapGrid& l, const TapGrid& r) { return l.pass < r.pass; };
  std::stable_sort(grids.begin(), grids.end(), ascending);
  if (digits > 1 && grids.back().pass < digits - 1) add_tap(layer, 0, 0, digits - 1);
  const int first = grids.empty() ? 0 : grids.front().pass;
  for (TapGrid& grid : grids) grid.pass -= first;
}

void add(const Graph& graph, const Node& node, const std::optional<SourceView>& view, Layer& layer) {
  const SourceView shape_a = view_of(graph, node.input(0)), shape_b = view_of(graph, node.input(1));
  const SourceView a = view.value_or(shape_a), b = view && shape_a == shape_b ? *view : shape_b;
  if (a != b) throw Unsupported{"both operands of an addition must have the same shape"};
  set_elementwise(a, layer);
  layer.sources = {source_of(node.input(0), a), source_of(node.input(1), b)};
  int64_t ma = node.int_or("multiplier_a", 1), mb = node.int_or("multiplier_b", 1);
  int64_t bias = node.int_or("bias", 0), shift = node.int_or("shift", 0);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (shift < 0 || shift > 31 || std::max({std::abs(ma), std::abs(mb), std::abs(bias)}) > kMost) {
    throw Unsupported{"multipliers and bias of an addition must fit 32 bits and its shift 0..31"};
  }
  // A common power of two leaves the multipliers: floor((v*2^k + c) / 2^s) = floor((v + floor(c/2^k)) /
  // 2^(s-k)), if the sum cannot wrap.
  const int64_t both = ma | mb, largest = (std::abs(ma) + std::abs(mb)) * 128 + std::abs(bias);
  const int64_t k =
      both == 0 || largest >= kMost ? 0 : std::min<int64_t>(std::countr_zero(uint64_t(both)), shift);
  if (k > 0) {
    const int64_t rounded = (bias + (int64_t{1} << (shift - 1))) >> k;
    shift -= k;
    bias = rounded - (shift > 0 ? int64_t{1} << (shift - 1) : 0);
    ma >>= k;
    mb >>= k;
  }
  layer.phases.resize(1);
  const bool digits = std::max(std::abs(ma), std::abs(mb)) > 2 * highest_weight(layer.weight_bits);
  layer.pass_shift = layer.weight_bits;
  add_scaled_source(layer, 0, ma, digits);
  add_scaled_source(layer, 1, mb, digits);
  number_passes(layer, digits ? digit_count(layer.weight_bits) : 1);
  if (bias != int64_t(int32_t(bias))) throw Unsupported{"the bias of the addition leaves 32 bits"};
  layer.output.bias.assign(size_t(layer.out_channels), int32_t(bias));
  layer.output.requantization = {{1, int32_t(shift)}};
  read_output_attributes(node, layer.output);
}

void read_scalar_output(const Node& node, Layer& layer) {
  layer.output.bias.assign(size_t(layer.out_channels), int32_t(node.int_or("bias", 0)));
  layer.output.requantization = {{int32_t(node.int_or("multiplier", 1)), int32_t(node.int_or("shift", 0))}};
  read_output_attributes(node, layer.output);
}

void average_pool(const Graph& graph, const Node& node, Layer& layer) {
  const SourceView x = view_of(graph, node.input(0));
  const Axes axes = axes_of(pool_window(node, graph.value(node.input(0)).shape));
  set_elementwise(x, layer);
  set_window(layer, axes);
  layer.sources = {source_of(node.input(0), x)};
  layer.pad_value = int32_t(node.int_or("pad_value", 0));
  layer.diagonal = {1};
  layer.phases.push_back({0, 0, {window_grid(axes, false)}});
  read_scalar_output(node, layer);
}

void requantize_layer(const Graph& graph, const Node& node, const std::optional<SourceView>& view,
                      Layer& layer) {
  const SourceView x = view ? *view : view_of(graph, node.input(0));
  set_elementwise(x, layer);
  layer.sources = {source_of(node.input(0), x)};
  layer.diagonal = {1};
  layer.phases.push_back({0, 0, {TapGrid{}}});
  read_scalar_output(node, layer);
}

void max_pool(const Graph& graph, const Node& node, bool global, Layer& layer) {
  const SourceView x = view_of(graph, node.input(0));
  if (node.outputs.size() > 1 && node.outputs[1] != kNoValue) {
    throw Unsupported{"the indices of a maximum pool are not computed on the overlay"};
  }
  const Shape& shape = graph.value(node.input(0)).shape;
  const Axes axes = axes_of(global ? global_window(node, shape) : pool_window(node, shape));
  set_elementwise(x, layer);
  set_window(layer, axes);
  layer.kind = LayerKind::kMaximum;
  layer.sources = {source_of(node.input(0), x)};
  layer.diagonal = {1};
  layer.phases.push_back({0, 0, {window_grid(axes, false)}});
  layer.output.bias.assign(size_t(layer.out_channels), 0);
  layer.output.requantization = {{1, 0}};
}

// How wide the inputs are, from what makes them; 8-bit overlays take any i8.
void measure_inputs(const Graph& graph, int bits, Layer& layer) {
  if (bits == 8) return;
  layer.input_magnitude = bits == 1 ? 1 : -lowest_weight(bits);
  for (LayerSource& source : layer.sources) {
    const ValueRange range = value_range(graph, source.value);
    source.bipolar = bits == 1 && range.bipolar;
    const int64_t low = bits == 1 ? 0 : lowest_weight(bits);
    if (source.bipolar || (range.low >= low && range.high <= highest_weight(bits))) continue;
    throw Unsupported{"its inputs, " + std::to_string(range.low) + " to " + std::to_string(range.high) +
                      ", need more than " + std::to_string(bits) + " bits"};
  }
}

Layer extract(const Graph& graph, const Node& node, const OverlayHardware& hardware,
              const std::optional<SourceView>& view) {
  Layer layer;
  layer.weight_bits = hardware.weight_bits;
  layer.name = node.name;
  layer.op = node.op;
  layer.result = node.outputs[0];
  if (node.is_tilewright("QConv")) {
    conv(graph, node, layer);
  } else if (node.is_tilewright("QConvTranspose")) {
    conv_transpose(graph, node, layer);
  } else if (node.is_tilewright("QGemm")) {
    gemm(graph, node, view, layer);
  } else if (node.is_tilewright("QAdd")) {
    add(graph, node, view, layer);
  } else if (node.is_tilewright("QAveragePool")) {
    average_pool(graph, node, layer);
  } else if (node.is_tilewright("QRequantize")) {
    requantize_layer(graph, node, view, layer);
  } else if (node.is("MaxPool") || node.is("GlobalMaxPool")) {
    max_pool(graph, node, node.op == "GlobalMaxPool", layer);
  } else {
    throw Unsupported{"the overlay has no lowering for " + node.op};
  }
  if (layer.pad_value < -128 || layer.pad_value > 127) throw Unsupported{"pad_value must lie in -128..127"};
  check_output(layer.output);
  measure_inputs(graph, hardware.input_bits, layer);
  return layer;
}

}  // namespace

std::optional<SourceView> image_view(const Shape& shape) {
  switch (shape.rank()) {
    case 2:
      return SourceView{shape[0], shape[1], 1, 1};
    case 3:
      return SourceView{shape[0], shape[1], 1, shape[2]};
    case 4:
      return SourceView{shape[0], shape[1], shape[2], shape[3]};
    default:
      return std::nullopt;
  }
}

Layer extract_layer(const Graph& graph, const Node& node, const OverlayHardware& hardware,
                    std::optional<SourceView> view) {
  std::string reason;
  try {
    Layer layer = extract(graph, node, hardware, view);
    reason = why_not(layer, hardware);
    if (reason.empty()) return layer;
  } catch (const Unsupported& unsupported) {
    reason = unsupported.reason;
  }
  throw Error({{ErrorKind::kUnsupported, where(node), node.op, reason, "run it on the host"}});
}

bool is_view(const Graph& graph, const Node& node) {
  if (operator_class(node) != OperatorClass::kReshape) return false;
  const Value& from = graph.value(node.input(0));
  const Value& to = graph.value(node.outputs[0]);
  const auto view = image_view(from.shape);
  if (from.type != ElementType::kI8 || !view || to.shape.rank() < 2 || to.shape[0] != view->batch)
    return false;
  // Either everything behind the batch becomes one axis, or only axes of size 1 come and go behind the
  // channels.
  return to.shape.rank() == 2 || image_view(to.shape) == view;
}

bool supports(const Graph& graph, const Node& node, const OverlayHardware& hardware, std::string* reason) {
  if (is_view(graph, node)) return true;
  try {
    extract_layer(graph, node, hardware);
    return true;
  } catch (const Error& error) {
    if (reason != nullptr)
      *reason = error.diagnostics().empty() ? error.what() : error.diagnostics()[0].message;
    return false;
  }
}

}  // namespace tilewright::overlay
