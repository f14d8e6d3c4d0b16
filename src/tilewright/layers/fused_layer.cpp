// Reads a node once: geometry, constants, attributes. Every reason against a layer is noted; reading goes on
// as long as the next question makes sense.
#include "tilewright/layers/fused_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tilewright {
namespace {

using Function = OperatorFunction;

class LayerReader {
 public:
  LayerReader(const Graph& graph, const Node& node, Diagnostics& refusals)
      : graph_(graph), node_(node), refusals_(refusals) {}

  std::optional<FusedLayer> read() {
    const std::optional<NumberType> number = layer_number(graph_, node_);
    if (!number) {
      refuse("it is not an integer or fixed-point layer");
      return std::nullopt;
    }
    layer_.name = node_.name;
    layer_.op = node_.op;
    layer_.function = operator_function(node_);
    layer_.number = *number;
    layer_.input = node_.input(0);
    layer_.result = node_.outputs[0];
    layer_.pad_value = node_.int_or("pad_value", 0);
    if (!read_widths()) return std::nullopt;
    read_output_attributes();
    if (is_geometric() && !read_geometry()) return std::nullopt;
    read_function();
    if (!fixed()) check_ranges();
    return refused_ ? std::nullopt : std::optional(std::move(layer_));
  }

 private:
  bool fixed() const { return layer_.number == NumberType::kFixed; }

  void refuse(const std::string& reason) {
    refused_ = true;
    refusals_.error(ErrorKind::kUnsupported, where(node_), node_.op, reason);
  }

  // Which layers of 16-bit activations are read. False after a refusal.
  bool read_widths() {
    if (fixed()) return true;
    layer_.input_bits = bit_width(graph_.value(node_.input(0)).type);
    layer_.output_bits = bit_width(graph_.value(node_.outputs[0]).type);
    if (node_.has_input(2) && graph_.value(node_.input(2)).type == ElementType::kI64) {
      refuse("its sums need 64 bits, which only the host has");
      return false;
    }
    const bool two = layer_.function == Function::kMultiplication || layer_.function == Function::kAddition;
    const bool wide = layer_.input_bits > 8 || layer_.output_bits > 8 ||
                      (two && bit_width(graph_.value(node_.input(1)).type) > 8);
    const bool covered = node_.domain == kTilewrightDomain && !two && layer_.function != Function::kLookup;
    if ((!wide || covered) && !node_.is_tilewright("QRescaledAdd")) return true;
    refuse("only products, average pools and copies of 16-bit activations are layers");
    return false;
  }

  const Tensor* constant(int index, const char* what) {
    const Tensor* const tensor = graph_.constant_input(node_, index);
    if (tensor == nullptr) refuse(std::string(what) + " must be constant");
    return tensor;
  }

  void read_output_attributes() {
    const bool wide = layer_.output_bits == 16;
    const int64_t lowest = fixed() ? INT32_MIN : wide ? INT16_MIN : -128;
    const int64_t highest = fixed() ? INT32_MAX : wide ? INT16_MAX : 127;
    const int64_t zero_point = node_.int_or("y_zero_point", 0);
    const int64_t low = node_.int_or("clip_low", lowest), high = node_.int_or("clip_high", highest);
    if (low < lowest || high > highest || low > high || zero_point < lowest || zero_point > highest) {
      refuse(
          fmt::format("y_zero_point, clip_low and clip_high must lie in {}..{}, in order", lowest, highest));
    }
    layer_.finish.zero_point = int32_t(zero_point);
    layer_.finish.clip_low = int32_t(low);
    layer_.finish.clip_high = int32_t(high);
    layer_.finish.bipolar = node_.int_or("bipolar", 0) != 0;
    const int table = table_input(node_);
    if (node_.has_input(table)) layer_.finish.table = constant(table, "the table");
  }

  bool is_geometric() const {
    const OperatorClass kind = operator_class(node_);
    return kind == OperatorClass::kProduct || kind == OperatorClass::kPool;
  }

  bool read_geometry() {
    if (node_.is_tilewright("QMatMul")) {
      refuse("both matrices are computed; only constant weights have a layer");
      return false;
    }
    const std::optional<NodeGeometry> geometry = node_geometry(graph_, node_);
    const bool dense = layer_.function == Function::kDense;
    const Shape* const w = dense && node_.has_input(1) ? &graph_.value(node_.input(1)).shape : nullptr;
    if (!geometry || (w != nullptr && geometry->input_channels != (*w)[1])) {
      refuse(dense ? "input and weights of a dense layer must be [N,K] and [O,K]"
                   : "it has no data or no weights");
      return false;
    }
    layer_.geometry = *geometry;
    return true;
  }

  void read_function() {
    switch (layer_.function) {
      case Function::kConvolution:
      case Function::kTransposedConvolution:
      case Function::kDense:
        return read_product();
      case Function::kAddition:
        return read_addition();
      case Function::kMultiplication:
        layer_.other = node_.input(1);
        layer_.zero_point_a = int32_t(node_.int_or("a_zero_point", 0));
        layer_.zero_point_b = int32_t(node_.int_or("b_zero_point", 0));
        return read_single_scale();
      case Function::kAveragePool:
      case Function::kRequantize:
        return read_single_scale();
      case Function::kLookup:
        layer_.table = constant(1, "the table");
        layer_.input_shift = int(node_.int_or("input_shift", 0));
        return;
      case Function::kClip:
        return read_clip();
      default:  // a maximum has no numbers
        return;
    }
  }

  // Weights, B, M and S of QConv, QConvTranspose and QGemm; weights and B of their fixed-point forms.
  void read_product() {
    LayerFinish& finish = layer_.finish;
    const size_t channels = size_t(layer_.geometry.output_channels);
    layer_.weights = constant(1, "the weights");
    const Tensor* const bias = node_.has_input(2) ? constant(2, "the bias") : nullptr;
    const std::vector<int64_t> biases = bias == nullptr ? std::vector<int64_t>{0} : bias->to_integers();
    for (const int64_t value : biases) finish.bias.push_back(int32_t(value));
    if (finish.bias.size() == 1) finish.bias.resize(channels, finish.bias[0]);
    if (fixed()) {
      finish.scale = {{1, int32_t(node_.int_or("fraction", 0))}};
      return;
    }
    const Tensor *const multiplier = constant(3, "the multiplier"), *const shift = constant(4, "the shift");
    if (multiplier == nullptr || shift == nullptr) return;
    const std::vector<int64_t> multipliers = multiplier->to_integers(), shifts = shift->to_integers();
    const size_t count = std::max(multipliers.size(), shifts.size());
    if (finish.bias.size() != channels || (count != 1 && count != channels) ||
        (multipliers.size() != 1 && multipliers.size() != count) ||
        (shifts.size() != 1 && shifts.size() != count)) {
      return refuse("bias, multiplier and shift must have one entry per output channel");
    }
    for (size_t i = 0; i < count; ++i) {
      finish.scale.push_back({int32_t(multipliers[multipliers.size() == 1 ? 0 : i]),
                              int32_t(shifts[shifts.size() == 1 ? 0 : i])});
    }
  }

  void read_addition() {
    layer_.other = node_.input(1);
    if (fixed()) return;
    layer_.multiplier_a = node_.int_or("multiplier_a", 1);
    layer_.multiplier_b = node_.int_or("multiplier_b", 1);
    const int64_t bias = node_.int_or("bias", 0), shift = node_.int_or("shift", 0);
    constexpr int64_t kMost = int64_t{1} << 31;
    if (shift < 0 || shift > 31 || bias != int64_t(int32_t(bias)) ||
        std::max(std::abs(layer_.multiplier_a), std::abs(layer_.multiplier_b)) > kMost) {
      return refuse("multipliers and bias of an addition must fit 32 bits and its shift 0..31");
    }
    layer_.finish.bias = {int32_t(bias)};
    layer_.finish.scale = {{1, int32_t(shift)}};
  }

  void read_single_scale() {
    const int32_t multiplier = int32_t(node_.int_or("multiplier", 1));
    layer_.finish.bias = {int32_t(node_.int_or("bias", 0))};
    layer_.finish.scale = {{multiplier, int32_t(node_.int_or(fixed() ? "fraction" : "shift", 0))}};
  }

  void read_clip() {
    LayerFinish& finish = layer_.finish;
    if (node_.is("Relu")) {
      finish.clip_low = 0;
      return;
    }
    const auto bound = [&](int index, const char* what, int32_t& value) {
      if (!node_.has_input(index)) return;
      const Tensor* const tensor = constant(index, what);
      if (tensor != nullptr) value = int32_t(tensor->integer_at(0));
    };
    bound(1, "the lower bound", finish.clip_low);
    bound(2, "the upper bound", finish.clip_high);
  }

  void check_ranges() {
    const int64_t end = int64_t{1} << (layer_.input_bits - 1);
    if (layer_.pad_value < -end || layer_.pad_value >= end)
      refuse(fmt::format("pad_value must lie in {}..{}", -end, end - 1));
    for (const Requantization& scale : layer_.finish.scale) {
      if (scale.multiplier >= 1 && is_shift(scale.shift)) continue;
      return refuse("a multiplier must be positive and a shift in 0..62 or, to round twice, 96..126");
    }
  }

  const Graph& graph_;
  const Node& node_;
  Diagnostics& refusals_;
  FusedLayer layer_;
  bool refused_ = false;
};

}  // namespace

std::optional<NumberType> layer_number(const Graph& graph, const Node& node) {
  const OperatorTraits& traits = operator_traits(node);
  if (traits.numbers == OperatorNumbers::kAny) {
    if (traits.function != Function::kMaxPool && traits.function != Function::kClip) return std::nullopt;
    const ElementType type = graph.value(node.outputs[0]).type;
    if (type != ElementType::kI8 && type != ElementType::kI32) return std::nullopt;
    return type == ElementType::kI8 ? NumberType::kInteger : NumberType::kFixed;
  }
  if (traits.function == Function::kOther) return std::nullopt;
  return traits.numbers == OperatorNumbers::kFixed ? NumberType::kFixed : NumberType::kInteger;
}

std::optional<FusedLayer> read_layer(const Graph& graph, const Node& node, Diagnostics& refusals) {
  return LayerReader(graph, node, refusals).read();
}

}  // namespace tilewright
