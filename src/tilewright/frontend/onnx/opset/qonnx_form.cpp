// Each DequantizeLinear becomes the Quant; the QuantizeLinear and Clip before it are then read by nothing.
#include "tilewright/frontend/onnx/opset/qonnx_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

constexpr const char* kUseQdq = "write the model in QDQ form";
constexpr int kMostActivationBits = 8, kBiasBits = 32;

// The numbers of one Quant.
struct QuantNumbers {
  Tensor scale;
  int64_t zero_point = 0;
  int bits = 8;
  bool is_signed = true, is_narrow = false;
};

struct LevelRange {
  int64_t low = 0, high = 0;
};

// The Quant whose levels are exactly these.
std::optional<QuantNumbers> numbers_with_levels(const LevelRange& levels) {
  QuantNumbers numbers;
  numbers.is_signed = levels.low < 0;
  for (numbers.bits = numbers.is_signed ? 2 : 1; numbers.bits <= kMostActivationBits; ++numbers.bits) {
    const int64_t span = int64_t{1} << numbers.bits;
    const int64_t low = numbers.is_signed ? -span / 2 : 0, high = low + span - 1;
    numbers.is_narrow = numbers.is_signed ? levels.low == low + 1 : levels.high == high - 1;
    const LevelRange has = {low + (numbers.is_signed && numbers.is_narrow),
                            high - (!numbers.is_signed && numbers.is_narrow)};
    if (has.low == levels.low && has.high == levels.high && has.low < has.high) return numbers;
  }
  return std::nullopt;
}

class QonnxForm {
 public:
  explicit QonnxForm(Graph graph) : graph_(std::move(graph)) {}

  Graph run() {
    producers_ = graph_.producers();
    for (Node& node : graph_.nodes) {
      if (node.is("DequantizeLinear")) become_quant(node);
    }
    graph_.remove_dead();
    for (const Node& node : graph_.nodes) refuse_integers(node);
    diagnostics_.raise_if_any();
    return std::move(graph_);
  }

 private:
  void refuse(const Node& node, const std::string& message) {
    if (reported_.insert(node.name).second)
      diagnostics_.error(ErrorKind::kUnsupported, where(node), node.op, message, kUseQdq);
  }

  const Node* producer(ValueId value) const {
    const NodeId node = value == kNoValue ? kNoNode : producers_[size_t(value)];
    return node == kNoNode ? nullptr : &graph_.nodes[size_t(node)];
  }

  void become_quant(Node& node) {
    const bool is_constant = graph_.is_constant(node.input(0));
    ValueId x = kNoValue;
    const std::optional<QuantNumbers> numbers =
        is_constant ? constant_numbers(node, x) : activation_numbers(node, x);
    if (!numbers) return;
    const auto add = [&](const char* role, Tensor tensor) {
      return graph_.add_constant(fmt::format("{}_{}", node.name, role), std::move(tensor));
    };
    node.domain = kQonnxDomain;
    node.op = "Quant";
    node.inputs = {x, add("scale", numbers->scale), add("zeropt", Tensor::scalar(float(numbers->zero_point))),
                   add("bitwidth", Tensor::scalar(float(numbers->bits)))};
    node.attributes = {{"signed", int64_t(numbers->is_signed)},
                       {"narrow", int64_t(numbers->is_narrow)},
                       {"rounding_mode", std::string("ROUND")}};
  }

  // --- activations

  std::optional<QuantNumbers> activation_numbers(const Node& node, ValueId& x) {
    const Node* before = producer(node.input(0));
    const Node* clip = before && before->is("Clip") ? before : nullptr;
    const Node* quantize = clip ? producer(clip->input(0)) : before;
    if (!quantize || !quantize->is("QuantizeLinear")) {
      return failed(node, nullptr, "dequantises integers that no QuantizeLinear makes");
    }
    const Tensor *scale = scale_of(node, quantize), *first_scale = graph_.constant_input(*quantize, 1);
    const std::optional<int64_t> zero = zero_point_of(node, quantize);
    if (!scale || !zero) return std::nullopt;
    const auto first_zero = first_zero_point(*quantize);
    if (scale->size() != 1) return failed(node, quantize, "has several scales for one activation");
    if (!first_scale || !first_scale->identical(*scale) || first_zero != zero) {
      return failed(node, quantize, "has another scale or zero point than the QuantizeLinear before it");
    }
    const ElementType type = graph_.value(quantize->outputs[0]).type;
    LevelRange levels = {lowest(type), highest(type)};
    if (clip && !clip_levels(*clip, levels)) return failed(node, quantize, "is clipped to computed limits");
    std::optional<QuantNumbers> numbers = numbers_with_levels(levels);
    if (!numbers) {
      return failed(node, quantize,
                    fmt::format("has integers {}..{}, which is the range of no width up to {} bits",
                                levels.low, levels.high, kMostActivationBits));
    }
    if (*zero < levels.low || *zero > levels.high) {
      return failed(node, quantize,
                    fmt::format("has the zero point {} and integers {}..{}", *zero, levels.low, levels.high));
    }
    numbers->zero_point = *zero;
    numbers->scale = Tensor::scalar(scale->data<float>()[0]);
    if (*zero % 2 != 0) {
      numbers->zero_point = levels.low + levels.high - *zero;
      numbers->scale = Tensor::scalar(-scale->data<float>()[0]);
      if (numbers->zero_point % 2 != 0) {
        return failed(
            node, quantize,
            fmt::format("has the odd zero point {} and integers {}..{}, which QONNX rounds differently",
                        *zero, levels.low, levels.high));
      }
    }
    x = quantize->input(0);
    return numbers;
  }

  bool clip_levels(const Node& clip, LevelRange& levels) const {
    for (const int index : {1, 2}) {
      if (!clip.has_input(index)) continue;
      const Tensor* limit = graph_.constant_input(clip, index);
      if (!limit || limit->size() != 1) return false;
      int64_t& level = index == 1 ? levels.low : levels.high;
      level = std::clamp(limit->integer_at(0), levels.low, levels.high);
    }
    return true;
  }

  // --- constants

  std::optional<QuantNumbers> constant_numbers(const Node& node, ValueId& x) {
    const Tensor *integers = graph_.constant_input(node, 0), *scale = scale_of(node, nullptr);
    const std::optional<int64_t> zero = zero_point_of(node, nullptr);
    if (!scale || !zero) return std::nullopt;
    const Shape& shape = integers->shape();
    const int64_t axis = node.int_or("axis", 1) + (node.int_or("axis", 1) < 0 ? shape.rank() : 0);
    const bool by_axis = scale->size() > 1;
    if (by_axis && (axis < 0 || axis >= shape.rank() || shape[int(axis)] != scale->size())) {
      return failed(node, nullptr, "has scales along something else than an axis");
    }
    const bool is_wide = bit_width(integers->type()) > 8;
    QuantNumbers numbers;
    numbers.zero_point = is_wide ? 0 : *zero;
    numbers.is_signed = is_wide || lowest(integers->type()) < 0;
    numbers.bits = is_wide ? kBiasBits : bits_of(*integers, *zero, numbers.is_signed);
    // Of each element, the integer less its zero point, and its scale.
    const int64_t inner = by_axis ? shape.count(int(axis) + 1, shape.rank()) : 1;
    std::vector<int64_t> counts(size_t(integers->size()));
    std::vector<float> scales(counts.size());
    for (size_t i = 0; i < counts.size(); ++i) {
      counts[i] = integers->integer_at(int64_t(i)) - *zero;
      scales[i] = scale->data<float>()[by_axis ? size_t(int64_t(i) / inner % scale->size()) : 0];
    }
    if (is_wide && shape.rank() == 1 && coarsen(counts, scales)) {
      numbers.scale = Tensor(shape, std::span<const float>(scales));
    } else {
      std::vector<int64_t> dims(by_axis ? size_t(shape.rank()) : 0, 1);
      if (by_axis) dims[size_t(axis)] = scale->size();
      numbers.scale = Tensor(Shape(dims), scale->data<float>());
    }
    Tensor real(ElementType::kF32, shape);
    for (size_t i = 0; i < counts.size(); ++i) {
      const float number = scales[i] * float(counts[i]);
      const double level = std::nearbyint(double(number) / double(scales[i]) + double(numbers.zero_point));
      if (level != double(counts[i] + numbers.zero_point)) {
        return failed(node, nullptr,
                      fmt::format("has the constant {} times {}, which f32 does not hold to the unit",
                                  counts[i], scales[i]));
      }
      real.mutable_data<float>()[i] = number;
    }
    x = graph_.add_constant(node.name + "_real", std::move(real));
    return numbers;
  }

  // The fewest bits that hold all integers and the zero point; a signed Quant has at least two.
  static int bits_of(const Tensor& integers, int64_t zero, bool is_signed) {
    int bits = is_signed ? 2 : 1;
    const auto hold = [&](int64_t integer) {
      bits = std::max(bits, int(std::bit_width(uint64_t(integer < 0 ? ~integer : integer))) + is_signed);
    };
    hold(zero);
    for (int64_t i = 0; i < integers.size(); ++i) hold(integers.integer_at(i));
    return bits;
  }

  // Counts of more bits than f32 keeps through the division by its scale count in larger powers of two, where
  // they can. Returns whether any do.
  static bool coarsen(std::vector<int64_t>& counts, std::vector<float>& scales) {
    constexpr int kExactBits = 22;
    bool any = false;
    for (size_t i = 0; i < counts.size(); ++i) {
      const auto magnitude = uint64_t(std::llabs(counts[i]));
      const int excess = int(std::bit_width(magnitude)) - kExactBits;
      if (excess <= 0 || std::countr_zero(magnitude) < excess) continue;
      counts[i] /= int64_t{1} << excess;
      scales[i] = std::ldexp(scales[i], excess);
      any = true;
    }
    return any;
  }

  // --- both

  // The scale of a DequantizeLinear; nullptr: reported, as is the QuantizeLinear before it.
  const Tensor* scale_of(const Node& node, const Node* quantize) {
    const Tensor* scale = graph_.constant_input(node, 1);
    const bool is_usable = scale && scale->type() == ElementType::kF32 && scale->size() > 0;
    if (!is_usable) {
      failed(node, quantize, "has a scale that is computed or not of type f32");
      return nullptr;
    }
    for (const float number : scale->data<float>()) {
      if (number > 0 && std::isfinite(number)) continue;
      failed(node, quantize, fmt::format("has the scale {}", number));
      return nullptr;
    }
    return scale;
  }

  std::optional<int64_t> first_zero_point(const Node& node) const {
    const Tensor* zeros = graph_.constant_input(node, 2);
    if (!node.has_input(2)) return 0;
    return zeros && zeros->size() > 0 ? std::optional(zeros->integer_at(0)) : std::nullopt;
  }

  // The only zero point; nullopt: reported.
  std::optional<int64_t> zero_point_of(const Node& node, const Node* quantize) {
    const std::optional<int64_t> first = first_zero_point(node);
    if (!first) {
      failed(node, quantize, "has a computed zero point");
      return std::nullopt;
    }
    const Tensor* zeros = graph_.constant_input(node, 2);
    for (int64_t i = 1; zeros && i < zeros->size(); ++i) {
      if (zeros->integer_at(i) == *first) continue;
      failed(node, quantize, "has several zero points");
      return std::nullopt;
    }
    return first;
  }

  std::nullopt_t failed(const Node& node, const Node* quantize, const std::string& message) {
    refuse(node, message);
    if (quantize) reported_.insert(quantize->name);
    return std::nullopt;
  }

  // What is left of the integers.
  void refuse_integers(const Node& node) {
    if (node.is("QuantizeLinear")) {
      refuse(node, "its integers are read by something else than a DequantizeLinear");
      return;
    }
    const bool is_integer_operator = node.domain == kTilewrightDomain || node.op.rfind("QLinear", 0) == 0 ||
                                     node.is("ConvInteger") || node.is("MatMulInteger") ||
                                     node.is("DynamicQuantizeLinear");
    if (is_integer_operator) refuse(node, "computes with integers, and QONNX with real numbers alone");
  }

  Graph graph_;
  std::vector<NodeId> producers_;
  std::set<std::string> reported_;  // names of nodes
  Diagnostics diagnostics_;
};

}  // namespace

Graph in_qonnx(Graph graph) { return QonnxForm(std::move(graph)).run(); }

}  // namespace tilewright
