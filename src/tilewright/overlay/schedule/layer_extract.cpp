// From the layers of a graph (layers/fused_layer.h) to those of the overlay, one function per operator
// function. What the overlay cannot do is noted with the node; the first reason ends the work.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/value_range.h"
#include "tilewright/layers/fused_layer.h"
#include "tilewright/overlay/schedule/channel_move.h"
#include "tilewright/overlay/schedule/layer.h"
#include "tilewright/overlay/schedule/layer_planes.h"
#include "tilewright/overlay/schedule/tap_grids.h"
#include "tilewright/overlay/schedule/token_layers.h"

namespace tilewright::overlay {
namespace {

constexpr int kMaxWeightPlanes = 4;
constexpr const char* kOtherPlaces =
    "its operands lie in the overlay's memory as images of different shapes or places";
constexpr int64_t kMaxWindow = 4096;  // of one axis, dilation included

LayerSource source_of(ValueId value, const SourceView& view) {
  return {value, view.channels, view.height, view.width};
}

// Sum of the magnitudes of each of `rows` equal parts.
template <typename T>
std::vector<int64_t> magnitudes(std::span<const T> values, int64_t rows) {
  std::vector<int64_t> sums(static_cast<size_t>(rows));
  const size_t size = rows == 0 ? 0 : values.size() / size_t(rows);
  for (size_t row = 0; row < sums.size(); ++row) {
    for (size_t i = 0; i < size; ++i) sums[row] += std::abs(int(values[row * size + i]));
  }
  return sums;
}

void set_elementwise(const SourceView& x, OverlayLayer& layer) {
  layer.pattern = ChannelPattern::kSharedDiagonal;
  layer.batch = x.batch;
  layer.out_channels = x.channels;
  layer.out_height = x.height;
  layer.out_width = x.width;
  layer.lanes = x.lanes;
}

// Builds one layer. Functions that return bool return false after a refusal.
class LayerExtraction {
 public:
  LayerExtraction(const Graph& graph, const Node& node, const OverlayHardware& hardware,
                  const SourceViews& views, Diagnostics& refusals)
      : graph_(graph), node_(node), hardware_(hardware), views_(views), refusals_(refusals) {}

  std::optional<OverlayLayer> run() {
    const OperatorTraits& traits = operator_traits(node_);
    if (is_token_operator(node_))
      return find_token_layer(graph_, node_, hardware_, views_, [this](const std::string& r) { refuse(r); });
    const bool integer = traits.numbers == OperatorNumbers::kInteger && has_output_stage(node_) &&
                         traits.kind != OperatorClass::kNormalization;
    const bool moves = is_channel_move(graph_, node_);
    const bool extreme = (node_.is("Max") || node_.is("Min")) && node_.inputs.size() == 2;
    if (!moves && !extreme && !integer && traits.function != OperatorFunction::kMaxPool) {
      refuse(works_on_floats() ? "it works on floats, the overlay on integers"
                               : "the overlay has no lowering for " + node_.op);
      return std::nullopt;
    }
    if (!see_sources() ||
        ((moves || extreme) && x_.planes + other_.planes > 2 &&
         !refuse("it has no lowering for 16-bit activations")) ||
        !(moves     ? move()
          : extreme ? build_extreme()
                    : read() && build() && use_planes()) ||
        !measure_inputs())
      return std::nullopt;
    const bool lacks_table = layer_.output.table != nullptr && !hardware_.lookup_table;
    const std::string reason = lacks_table ? "the overlay has no table (lookup_table in its description)"
                                           : why_not(layer_, hardware_);
    if (!reason.empty() && !refuse(reason)) return std::nullopt;
    return std::move(layer_);
  }

 private:
  bool refuse(const std::string& reason) {
    refusals_.error(ErrorKind::kUnsupported, where(node_), node_.op, reason, "run it on the host");
    return false;
  }

  bool works_on_floats() const {
    const auto is_float = [&](ValueId v) {
      return v != kNoValue && !graph_.is_constant(v) && tilewright::is_float(graph_.value(v).type);
    };
    return std::any_of(node_.inputs.begin(), node_.inputs.end(), is_float) ||
           std::any_of(node_.outputs.begin(), node_.outputs.end(), is_float);
  }

  // `any_shape`: the operator works element by element, or on all elements of an image.
  bool see(ValueId value, SourceView& seen, bool any_shape) {
    const ElementType type = graph_.value(value).type;
    if (type != ElementType::kI8 && type != ElementType::kI16)
      return refuse("only i8 and i16 activations run on the overlay");
    const auto view = image_view(graph_.value(value).shape);
    if (!view) return refuse("only tensors of rank 2 to 4 run on the overlay");
    if (graph_.value(value).shape.element_count() == 0) return refuse("an empty tensor has nothing to run");
    const auto known = views_.find(value);
    seen = known == views_.end() ? *view : known->second;
    seen.planes = type == ElementType::kI16 ? 2 : 1;
    const bool as_its_shape = seen.batch == view->batch && seen.channels_of_value() == view->channels &&
                              seen.height == view->height && seen.width == view->width;
    if (!as_its_shape && !any_shape) return refuse("its input lies in memory under another shape");
    if (!seen.lanes.empty() && hardware_.weight_bits == 1) {
      return refuse("1-bit weights have no zero for the lanes between the parts of its input");
    }
    return true;
  }

  bool see_sources() {
    const OperatorFunction function = operator_function(node_);
    if (function == OperatorFunction::kAddition) {
      if (!see(node_.input(0), x_, true) || !see(node_.input(1), other_, true)) return false;
      return x_ == other_ || refuse(kOtherPlaces);
    }
    if (function == OperatorFunction::kMultiplication || node_.is("Max") || node_.is("Min"))
      return see_factors();
    const bool any_shape = function == OperatorFunction::kDense || function == OperatorFunction::kRequantize;
    if (!see(node_.input(0), x_, any_shape)) return false;
    const bool indices = node_.outputs.size() > 1 && node_.outputs[1] != kNoValue;
    return !indices ||
           refuse(node_.is("Split") ? "a Split has no lowering before it is slices"
                                    : "the indices of a maximum pool are not computed on the overlay");
  }

  // The larger factor first; the other may be one position or one channel.
  bool see_factors() {
    if (!see(node_.input(0), x_, true) || !see(node_.input(1), other_, true)) return false;
    const Shape &a = graph_.value(node_.input(0)).shape, &b = graph_.value(node_.input(1)).shape,
                &y = graph_.value(node_.outputs[0]).shape;
    if (a.rank() != b.rank()) return refuse("both factors must have the same rank");
    swapped_ = a != y && operator_function(node_) == OperatorFunction::kMultiplication;
    if (swapped_) std::swap(x_, other_);
    if (a != y && b != y) return refuse("one of the factors must have the shape of the product");
    const bool channels = x_.channels == other_.channels && x_.lanes == other_.lanes;
    const bool positions = x_.height == other_.height && x_.width == other_.width;
    const bool one_position = other_.height == 1 && other_.width == 1;
    if (other_.batch == x_.batch && (channels || other_.channels == 1) && (positions || one_position))
      return true;
    return refuse("the factors do not lie in memory as a product needs them");
  }

  bool read() {
    Diagnostics problems;
    std::optional<FusedLayer> source = read_layer(graph_, node_, problems);
    for (const Diagnostic& problem : problems.errors()) refuse(problem.message);
    if (!source) return false;
    source_ = std::move(*source);
    layer_.weight_bits = hardware_.weight_bits;
    layer_.name = source_.name;
    layer_.op = source_.op;
    layer_.result = source_.result;
    layer_.pad_value = int32_t(source_.pad_value);
    layer_.sources = {source_of(swapped_ ? source_.other : source_.input, x_)};
    layer_.batch = x_.batch;
    layer_.output = source_.finish;
    return true;
  }

  bool build() {
    switch (source_.function) {
      case OperatorFunction::kConvolution:
        return build_convolution();
      case OperatorFunction::kTransposedConvolution:
        return build_transposed();
      case OperatorFunction::kDense:
        return build_dense();
      case OperatorFunction::kAddition:
        return build_addition();
      case OperatorFunction::kMultiplication:
        return build_product();
      case OperatorFunction::kAveragePool:
        return build_pool();
      case OperatorFunction::kMaxPool:
        layer_.kind = OverlayLayerKind::kMaximum;
        return build_pool();
      default:  // kRequantize
        set_elementwise(x_, layer_);
        layer_.diagonal = {1};
        layer_.phases.push_back({0, 0, {TapGrid{}}});
        set_single_scale();
        return true;
    }
  }

  bool find_axes(PlaneAxes& axes) {
    const Window& window = source_.geometry.window;
    for (const WindowAxis& axis : window.axes) {
      if (std::max({axis.kernel, axis.stride, axis.dilation, axis.pad_begin, axis.pad_end}) > kMaxWindow ||
          axis.effective_kernel() > kMaxWindow) {
        return refuse("windows wider than " + std::to_string(kMaxWindow) + " do not run on the overlay");
      }
    }
    if (window.rank() < 1 || window.rank() > 2)
      return refuse("only one and two spatial axes run on the overlay");
    axes.x = window.axes.back();
    if (window.is_2d()) axes.y = window.height();
    return true;
  }

  // Planes of `weight_bits` bits that weights in [low, high] are a sum of.
  bool set_planes(int64_t low, int64_t high) {
    const int bits = layer_.weight_bits, most = bits == 1 ? 1 : kMaxWeightPlanes;
    for (int planes = 1; planes <= most; ++planes) {
      layer_.weight_planes = planes;
      if (low >= lowest_weight(bits) * planes && high <= highest_weight(bits) * planes) return true;
    }
    return refuse("weights beyond " + std::to_string(most) + " passes of " + std::to_string(bits) +
                  " bits (" + std::to_string(low) + " to " + std::to_string(high) + ")");
  }

  template <typename T>
  bool measure_weights(const Tensor& weights) {
    const std::span<const T> values = weights.data<T>();
    layer_.weight_magnitude = magnitudes(values, weights.shape()[0]);
    if (values.empty() || (sizeof(T) == 1 && layer_.weight_bits >= 8)) return true;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return set_planes(*low, *high);
  }

  bool set_weights(Tensor weights) {
    if (weights.type() != ElementType::kI8 && weights.type() != ElementType::kI16)
      return refuse("weights must be i8 or i16");
    layer_.weight_positions = int(weights.shape()[2]);
    layer_.weight_planes = 1;
    const bool fit = weights.type() == ElementType::kI8 ? measure_weights<int8_t>(weights)
                                                        : measure_weights<int16_t>(weights);
    layer_.weights = std::move(weights);
    return fit;
  }

  // Weights [O, inputs per group, positions] as the channels of the input lie in memory: where there are
  // lanes between them, groups become zeros, and depthwise layers get as many outputs.
  Tensor at_lanes(Tensor weights, int64_t group) {
    const bool splits_groups = source_.output_bits == 16 && layer_.pattern == ChannelPattern::kGrouped;
    if (x_.lanes.empty() && !splits_groups) return weights;
    const int64_t outputs = weights.shape()[0], depth = weights.shape()[1], positions = weights.shape()[2];
    if (layer_.pattern == ChannelPattern::kDiagonal) {
      Tensor spread(weights.type(), Shape{x_.channels, 1, positions});
      for (int64_t c = 0; c < outputs; ++c) copy_row(weights, c, spread, x_.lane(c));
      spread_finish();
      layer_.out_channels = x_.channels;
      layer_.lanes = x_.lanes;
      return spread;
    }
    layer_.pattern = ChannelPattern::kDense;
    Tensor spread(weights.type(), Shape{outputs, x_.channels, positions});
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t first = o / (outputs / group) * depth;
      for (int64_t i = 0; i < depth; ++i) {
        copy_row(weights, o * depth + i, spread, o * x_.channels + x_.lane(first + i));
      }
    }
    return spread;
  }

  static void copy_row(const Tensor& from, int64_t from_row, Tensor& to, int64_t to_row) {
    const int64_t size = from.shape()[2];
    for (int64_t p = 0; p < size; ++p)
      to.set_integer(to_row * size + p, from.integer_at(from_row * size + p));
  }

  // Numbers of channels to their lanes; the lanes between take the first channel's scale.
  void spread_finish() {
    LayerFinish& output = layer_.output;
    const std::vector<int32_t> bias = output.bias;
    const std::vector<Requantization> scale = output.scale;
    output.bias.assign(size_t(x_.channels), 0);
    if (scale.size() > 1) output.scale.assign(size_t(x_.channels), scale[0]);
    for (size_t c = 0; c < x_.lanes.size(); ++c) {
      output.bias[size_t(x_.lanes[c])] = bias[c];
      if (scale.size() > 1) output.scale[size_t(x_.lanes[c])] = scale[c];
    }
  }

  // One bias for all channels, and the scale that is there or none.
  void set_single_scale() {
    LayerFinish& output = layer_.output;
    output.bias.assign(size_t(layer_.out_channels), output.bias.empty() ? 0 : output.bias[0]);
    if (output.scale.empty()) output.scale = {{1, 0}};
  }

  bool build_convolution() {
    const NodeGeometry& geometry = source_.geometry;
    const Tensor& weights = *source_.weights;
    PlaneAxes axes;
    if (!find_axes(axes)) return false;
    layer_.out_channels = geometry.output_channels;
    set_window(layer_, axes);
    set_groups(layer_, geometry.group, geometry.input_channels);
    const Shape by_tap{layer_.out_channels, weights.shape()[1], axes.y.kernel * axes.x.kernel};
    if (!set_weights(at_lanes(weights.reshaped(by_tap), geometry.group))) return false;
    layer_.phases.resize(1);
    add_planes(layer_, layer_.phases[0], window_grid(axes, true));
    layer_.macs = layer_.batch * layer_.out_height * layer_.out_width * weights.size();
    return true;
  }

  // Weights [O, C/group, positions] of a transposed convolution's [C, O/group, ...], positions from the last.
  Tensor flipped_weights(int64_t inputs, int64_t positions) const {
    const Tensor& weights = *source_.weights;
    const int64_t per_group = weights.shape()[1];
    Tensor flipped(weights.type(), Shape{layer_.out_channels, inputs, positions});
    for (int64_t o = 0; o < layer_.out_channels; ++o) {
      for (int64_t i = 0; i < inputs; ++i) {
        const int64_t from = ((o / per_group * inputs + i) * per_group + o % per_group) * positions;
        for (int64_t p = 0; p < positions; ++p) {
          flipped.set_integer((o * inputs + i) * positions + positions - 1 - p, weights.integer_at(from + p));
        }
      }
    }
    return flipped;
  }

  bool build_transposed() {
    PlaneAxes axes;
    if (!find_axes(axes)) return false;
    const int64_t group = source_.geometry.group, inputs = source_.geometry.input_channels / group;
    layer_.out_channels = source_.geometry.output_channels;
    layer_.out_height = axes.y.output;
    layer_.out_width = axes.x.output;
    layer_.out_step_y = int(axes.y.stride);
    layer_.out_step_x = int(axes.x.stride);
    set_groups(layer_, group, source_.geometry.input_channels);
    const int64_t outputs = layer_.out_channels;
    if (!set_weights(at_lanes(flipped_weights(inputs, axes.y.kernel * axes.x.kernel), group))) return false;
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
        if (y.count > 0 && t.count > 0) add_planes(layer_, phase, grid);
        const int64_t rows = (axes.y.output - ry + axes.y.stride - 1) / axes.y.stride;
        const int64_t cols = (axes.x.output - rx + axes.x.stride - 1) / axes.x.stride;
        layer_.macs += layer_.batch * rows * cols * y.count * t.count * outputs * inputs;
        layer_.phases.push_back(std::move(phase));
      }
    }
    return true;
  }

  bool build_dense() {
    const Tensor& weights = *source_.weights;
    layer_.out_channels = source_.geometry.output_channels;
    const Shape by_position{layer_.out_channels, x_.channels_of_value(), x_.height * x_.width};
    if (by_position.element_count() != weights.size())
      return refuse("input and weights of a dense layer must be [N,K] and [O,K]");
    if (!set_weights(at_lanes(weights.reshaped(by_position), 1))) return false;
    TapGrid grid{.ny = int(x_.height), .nx = int(x_.width)};
    grid.weight_step_y = grid.nx;
    grid.weight_step_x = 1;
    layer_.phases.resize(1);
    add_planes(layer_, layer_.phases[0], grid);
    layer_.macs = layer_.batch * weights.size();
    return true;
  }

  // Average and maximum.
  bool build_pool() {
    PlaneAxes axes;
    if (!find_axes(axes)) return false;
    set_elementwise(x_, layer_);
    set_window(layer_, axes);
    layer_.diagonal = {1};
    layer_.phases.push_back({0, 0, {window_grid(axes, false)}});
    set_single_scale();
    return true;
  }

  // The larger or the smaller of two values of one shape.
  bool build_extreme() {
    if (other_ != x_) return refuse(kOtherPlaces);
    start_without_numbers();
    layer_.kind = OverlayLayerKind::kProduct;
    layer_.pair = node_.is("Max") ? OverlayLayer::Pair::kLarger : OverlayLayer::Pair::kSmaller;
    set_elementwise(x_, layer_);
    layer_.sources.push_back(source_of(node_.input(1), other_));
    layer_.diagonal = {1};
    layer_.phases.push_back({0, 0, {TapGrid{}}});
    set_single_scale();
    return true;
  }

  // Of an operator of ONNX.
  void start_without_numbers() {
    layer_.weight_bits = hardware_.weight_bits;
    layer_.name = node_.name;
    layer_.op = node_.op;
    layer_.result = node_.outputs[0];
    layer_.sources = {source_of(node_.input(0), x_)};
    layer_.batch = x_.batch;
  }

  bool build_product() {
    layer_.kind = OverlayLayerKind::kProduct;
    set_elementwise(x_, layer_);
    layer_.sources.push_back(source_of(swapped_ ? source_.input : source_.other, other_));
    LayerSource &first = layer_.sources[0], &second = layer_.sources[1];
    first.zero_point = swapped_ ? source_.zero_point_b : source_.zero_point_a;
    second.zero_point = swapped_ ? source_.zero_point_a : source_.zero_point_b;
    second.one_position = other_.height * other_.width < x_.height * x_.width;
    second.one_channel = other_.channels < x_.channels;
    layer_.diagonal = {1};
    if (second.one_channel) {
      layer_.spread = 1;
      layer_.diagonal.push_back(1);
    }
    layer_.phases.push_back({0, 0, {TapGrid{}}});
    set_single_scale();
    return true;
  }

  bool build_addition() {
    set_elementwise(x_, layer_);
    layer_.sources.push_back(source_of(source_.other, other_));
    int64_t ma = source_.multiplier_a, mb = source_.multiplier_b;
    int64_t bias = source_.finish.bias[0], shift = source_.finish.scale[0].shift;
    // A common power of two leaves the multipliers: floor((v*2^k + c) / 2^s) = floor((v + floor(c/2^k)) /
    // 2^(s-k)), if the sum cannot wrap.
    const int64_t both = ma | mb, largest = (std::abs(ma) + std::abs(mb)) * 128 + std::abs(bias);
    const int64_t k = both == 0 || largest >= int64_t{1} << 31
                          ? 0
                          : std::min<int64_t>(std::countr_zero(uint64_t(both)), shift);
    if (k > 0) {
      const int64_t rounded = (bias + (int64_t{1} << (shift - 1))) >> k;
      shift -= k;
      bias = rounded - (shift > 0 ? int64_t{1} << (shift - 1) : 0);
      ma >>= k;
      mb >>= k;
    }
    if (!add_sum(layer_, ma, mb))
      return refuse("multiplier_a and multiplier_b must be below 2^23 in magnitude");
    // Beyond two passes over digits, a multiplication of each source in the ALU is less work.
    if (hardware_.isa == IsaVersion::kWide && hardware_.input_bits == 8 && passes_of(layer_) > 2) {
      layer_.kind = OverlayLayerKind::kProduct;
      layer_.pair = OverlayLayer::Pair::kSum;
      layer_.sources[0].multiplier = int32_t(ma);
      layer_.sources[1].multiplier = int32_t(mb);
      layer_.diagonal = {1};
      layer_.phases = {{0, 0, {TapGrid{}}}};
    }
    if (bias != int64_t(int32_t(bias))) return refuse("the bias of the addition leaves 32 bits");
    layer_.output.bias.assign(size_t(layer_.out_channels), int32_t(bias));
    layer_.output.scale = {{1, int32_t(shift)}};
    return true;
  }

  // Elements of the input at other positions, or those of other channels: sums of one product with 1.
  bool move() {
    start_without_numbers();
    const std::optional<ChannelMove> read = read_channel_move(graph_, node_);
    if (!read) return refuse("it moves elements in a way that the overlay has no lowering for");
    const ChannelMove& m = *read;
    layer_.out_height = m.height;
    layer_.out_width = m.width;
    layer_.in_step_y = int(m.in_step_y);
    layer_.in_step_x = int(m.in_step_x);
    layer_.out_step_y = int(m.out_step_y);
    layer_.out_step_x = int(m.out_step_x);
    layer_.pad_value = m.pad_value;
    const bool same = m.channels.empty();  // every channel is its own
    layer_.out_channels = same ? x_.channels : m.output_channels;
    layer_.lanes = same ? x_.lanes : std::vector<int64_t>{};
    layer_.pattern = same ? ChannelPattern::kSharedDiagonal : ChannelPattern::kDense;
    if (same) {
      layer_.diagonal = {1};
    } else if (!set_weights(selection(m))) {
      return false;
    }
    for (const ChannelMove::Piece& piece : m.pieces) {
      TapGrid grid{.dy = int(piece.dy), .dx = int(piece.dx)};
      if (!same) grid.weight = int(&piece - m.pieces.data());
      // Pieces of one output position are sums; those of others have phases of their own.
      if (layer_.phases.empty() || piece.out_y != layer_.phases.back().out_y ||
          piece.out_x != layer_.phases.back().out_x) {
        layer_.phases.push_back({int(piece.out_y), int(piece.out_x), {}});
      }
      layer_.phases.back().grids.push_back(grid);
    }
    set_single_scale();
    if (const int bits = hardware_.input_bits; bits < 8) {  // outputs are inputs
      layer_.output.clip_low = bits == 1 ? 0 : int32_t(lowest_weight(bits));
      layer_.output.clip_high = int32_t(highest_weight(bits));
    }
    return true;
  }

  // A 1 for the channel that each output channel takes from each piece.
  Tensor selection(const ChannelMove& m) const {
    const int64_t pieces = int64_t(m.pieces.size()), outputs = m.output_channels;
    Tensor weights(ElementType::kI8, Shape{outputs, x_.channels, pieces});
    for (int64_t p = 0; p < pieces; ++p) {
      for (int64_t o = 0; o < outputs; ++o) {
        const int64_t from = m.channels[size_t(p * outputs + o)];
        if (from >= 0) weights.set_integer((o * x_.channels + x_.lane(from)) * pieces + p, 1);
      }
    }
    return weights;
  }

  // 16-bit activations in planes of 8 bits.
  bool use_planes() {
    const bool reads = source_.input_bits == 16, writes = source_.output_bits == 16;
    if (reads && source_.function == OperatorFunction::kTransposedConvolution)
      return refuse("transposed convolutions of 16-bit activations have no lowering");
    if (writes && !x_.lanes.empty()) return refuse("its input lies in memory in parts, its result in planes");
    if (reads) read_in_planes(layer_);
    if (writes) write_in_planes(layer_, hardware_.block_in);
    return true;
  }

  // How wide the inputs are, from what makes them; 8-bit overlays take any i8.
  bool measure_inputs() {
    const int bits = hardware_.input_bits;
    if (bits == 8) return true;
    layer_.input_magnitude = bits == 1 ? 1 : -lowest_weight(bits);
    for (LayerSource& source : layer_.sources) {
      const ValueRange range = value_range(graph_, source.value);
      source.bipolar = bits == 1 && range.bipolar;
      const int64_t low = bits == 1 ? 0 : lowest_weight(bits);
      if (source.bipolar || (range.low >= low && range.high <= highest_weight(bits))) continue;
      return refuse("its inputs, " + std::to_string(range.low) + " to " + std::to_string(range.high) +
                    ", need more than " + std::to_string(bits) + " bits");
    }
    return true;
  }

  const Graph& graph_;
  const Node& node_;
  const OverlayHardware& hardware_;
  const SourceViews& views_;
  Diagnostics& refusals_;
  SourceView x_, other_;  // of the inputs
  bool swapped_ = false;  // of a product: x_ is the second input
  FusedLayer source_;
  OverlayLayer layer_;
};

}  // namespace

std::optional<OverlayLayer> find_layer(const Graph& graph, const Node& node, const OverlayHardware& hardware,
                                       Diagnostics& refusals, const SourceViews& views) {
  return LayerExtraction(graph, node, hardware, views, refusals).run();
}

OverlayLayer extract_layer(const Graph& graph, const Node& node, const OverlayHardware& hardware,
                           const SourceViews& views) {
  Diagnostics refusals;
  std::optional<OverlayLayer> layer = find_layer(graph, node, hardware, refusals, views);
  refusals.raise_if_any();
  return std::move(*layer);
}

bool supports(const Graph& graph, const Node& node, const OverlayHardware& hardware, std::string* reason) {
  if (is_view(graph, node)) return true;
  if (is_cache_update(node) && hardware.row_functions && hardware.batch == 1) return true;
  Diagnostics refusals;
  try {
    if (is_join(graph, node)) {
      std::vector<SourceView> parts;
      for (const ValueId v : node.inputs) parts.push_back(*image_view(graph.value(v).shape));
      if (join_view(graph, node, parts, hardware, refusals)) return true;
    } else if (find_layer(graph, node, hardware, refusals)) {
      return true;
    }
  } catch (const Error& error) {  // a window that does not fit
    for (const Diagnostic& problem : error.diagnostics()) refusals.add(problem);
  }
  if (reason == nullptr) return false;
  reason->clear();
  for (const Diagnostic& refusal : refusals.errors())
    *reason += (reason->empty() ? "" : "; ") + refusal.message;
  return false;
}

}  // namespace tilewright::overlay
