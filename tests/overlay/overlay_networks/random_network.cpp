#include "random_network.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/graph/value_range.h"

namespace tilewright::overlay_networks {
namespace {

class NetworkBuilder {
 public:
  NetworkBuilder(uint64_t seed, const OverlayHardware& hardware)
      : random_(seed), hardware_(hardware), plain_(hardware.isa == IsaVersion::kVta) {}

  Graph build() {
    const Shape image{random_.between(1, 2), random_.between(1, 4), random_.between(8, 16),
                      random_.between(8, 16)};
    values_.push_back(narrowed(graph_.add_input("image", ElementType::kI8, image)));
    if (random_.chance(0.3)) values_.push_back(narrowed(graph_.add_input("second", ElementType::kI8, image)));
    const int64_t length = random_.between(3, 9);
    for (int64_t i = 0; i < length; ++i) add_layer();
    ValueId last = values_.back();
    if (random_.chance(0.7)) last = classifier(last);
    graph_.outputs = {last};
    // A value in the middle that somebody else wants as well.
    if (random_.chance(0.4) && values_[values_.size() / 2] != last &&
        !is_input(values_[values_.size() / 2])) {
      graph_.outputs.push_back(values_[values_.size() / 2]);
    }
    return std::move(graph_);
  }

 private:
  bool is_input(ValueId value) const {
    return std::find(graph_.inputs.begin(), graph_.inputs.end(), value) != graph_.inputs.end() ||
           graph_.value(value).name.starts_with("narrow");
  }

  int bits() const { return hardware_.input_bits; }
  int64_t low() const { return bits() == 1 ? 0 : -(int64_t{1} << (bits() - 1)); }
  int64_t high() const { return bits() == 1 ? 1 : (int64_t{1} << (bits() - 1)) - 1; }

  // The host makes inputs as narrow as the overlay is.
  ValueId narrowed(ValueId x) {
    if (bits() == 8) return x;
    const ValueId y = graph_.add_value("narrow", ElementType::kI8, graph_.value(x).shape);
    Node& node = graph_.add_node("narrow", "QRequantize", {x}, {y}, kTilewrightDomain);
    node.attributes = output_attributes();
    node.attributes["shift"] = int64_t{8 - bits()};
    node.attributes["multiplier"] = int64_t{1};
    return y;
  }

  ValueId weights(Shape shape) {
    const int width = hardware_.weight_bits;
    if (width == 8) return tensor(ElementType::kI8, std::move(shape), -127, 127);
    if (width > 1) {
      return tensor(ElementType::kI8, std::move(shape), -(1 << (width - 1)), (1 << (width - 1)) - 1);
    }
    Tensor signs(ElementType::kI8, std::move(shape));
    for (int64_t i = 0; i < signs.size(); ++i) signs.set_integer(i, random_.chance(0.5) ? 1 : -1);
    return graph_.add_constant("c", std::move(signs));
  }

  // What may lie around `x`.
  int64_t padding(ValueId x) {
    if (bits() == 8) return random_.between(-20, 20);
    const bool bipolar = value_range(graph_, x).bipolar, even = graph_.value(x).shape[1] % 2 == 0;
    if (bits() == 1 && !even) return bipolar ? -1 : 0;
    if (bipolar) return random_.chance(0.5) ? -1 : 1;
    return random_.between(low(), high());
  }
  ValueId any() {
    return values_[size_t(
        random_.between(std::max<int64_t>(0, int64_t(values_.size()) - 3), int64_t(values_.size()) - 1))];
  }

  ValueId tensor(ElementType type, Shape shape, int64_t low, int64_t high) {
    Tensor result(type, std::move(shape));
    for (int64_t i = 0; i < result.size(); ++i) result.set_integer(i, random_.between(low, high));
    return graph_.add_constant("c", std::move(result));
  }

  // Narrow: scales that keep outputs from being all the same.
  std::vector<ValueId> with_narrow_parameters(std::vector<ValueId> inputs, int64_t outputs) {
    const Shape shape = graph_.value(inputs[1]).shape;
    const double terms = std::sqrt(double(shape.element_count()) / double(shape[0]));
    const auto spread = int64_t(terms * double(high()) * double(high()) / 2) + 1;
    const int64_t shift = std::max(0, int(std::log2(terms * double(high()) / 2)));
    inputs.push_back(tensor(ElementType::kI32, Shape{outputs}, -spread, spread));
    inputs.push_back(plain_ ? tensor(ElementType::kI32, Shape{1}, 1, 1)
                            : tensor(ElementType::kI32, Shape{outputs}, int64_t{1} << 30, INT32_MAX));
    inputs.push_back(tensor(ElementType::kI32, Shape{plain_ ? 1 : outputs}, plain_ ? shift : shift + 30,
                            plain_ ? shift + 1 : shift + 31));
    return inputs;
  }

  std::vector<ValueId> with_parameters(std::vector<ValueId> inputs, int64_t outputs) {
    if (bits() < 8) return with_narrow_parameters(std::move(inputs), outputs);
    inputs.push_back(tensor(ElementType::kI32, Shape{outputs}, -3000, 3000));
    if (plain_) {
      inputs.push_back(tensor(ElementType::kI32, Shape{1}, 1, 1));
      inputs.push_back(tensor(ElementType::kI32, Shape{random_.chance(0.5) ? outputs : 1}, 6, 10));
    } else {
      inputs.push_back(tensor(ElementType::kI32, Shape{outputs}, int64_t{1} << 30, INT32_MAX));
      inputs.push_back(tensor(ElementType::kI32, Shape{outputs}, 37, 41));
    }
    return inputs;
  }

  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Shape shape, const std::string& domain,
               const Attributes& attributes) {
    const ValueId result = graph_.add_value("v", ElementType::kI8, std::move(shape));
    graph_.add_node(op, op, std::move(inputs), {result}, domain).attributes = attributes;
    return result;
  }

  Attributes output_attributes() {
    if (bits() == 1) {
      return {{"y_zero_point", int64_t(random_.chance(0.3))},
              {"clip_low", int64_t{0}},
              {"clip_high", int64_t{1}},
              {"bipolar", int64_t(random_.chance(0.5))}};
    }
    const bool relu = random_.chance(bits() == 8 ? 0.5 : 0.1);
    if (bits() < 8) {
      return {{"y_zero_point", int64_t(random_.chance(0.5) ? 0 : -1)},
              {"clip_low", relu ? 0 : low()},
              {"clip_high", high()}};
    }
    return {{"y_zero_point", int64_t(random_.chance(0.5) ? 0 : random_.between(-20, 20))},
            {"clip_low", int64_t(relu ? 0 : -128)}};
  }

  void add_layer() {
    const ValueId x = any();
    const Shape shape = graph_.value(x).shape;
    // Single bits have no zero weights, which all but dense layers need.
    switch (hardware_.weight_bits == 1 ? 5 : random_.between(0, 5)) {
      case 0:
        return values_.push_back(convolution(x, shape[1], 1));
      case 1: {
        ValueId partner = x;
        for (const ValueId other : values_) {
          if (graph_.value(other).shape == shape) partner = other;
        }
        auto attributes = output_attributes();
        attributes["multiplier_a"] = int64_t(plain_ ? 4 : 1234567);
        attributes["multiplier_b"] = int64_t(plain_ ? 2 : 2345678);
        attributes["shift"] = int64_t(plain_ ? 3 : 22);
        return values_.push_back(emit("QAdd", {x, partner}, shape, kTilewrightDomain, attributes));
      }
      case 2:
        if (shape[2] < 3 || shape[3] < 3) return;
        return values_.push_back(emit(
            "MaxPool", {x}, Shape{shape[0], shape[1], (shape[2] - 1) / 2 + 1, (shape[3] - 1) / 2 + 1}, "",
            {{"kernel_shape", std::vector<int64_t>{3, 3}},
             {"strides", std::vector<int64_t>{2, 2}},
             {"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
      default:
        return values_.push_back(convolution(
            x, random_.between(1, random_.chance(0.2) ? hardware_.block_in + 20 : 3 * hardware_.block_out),
            0));
    }
  }

  ValueId convolution(ValueId x, int64_t outputs, int depthwise) {
    const Shape shape = graph_.value(x).shape;
    const int64_t k = random_.chance(0.3) ? 1 : 3,
                  stride = random_.chance(0.2) && shape[2] > 3 && shape[3] > 3 ? 2 : 1;
    const ValueId kernel = weights(Shape{outputs, depthwise != 0 ? 1 : shape[1], k, k});
    auto attributes = output_attributes();
    attributes["strides"] = std::vector<int64_t>{stride, stride};
    attributes["pads"] = std::vector<int64_t>(4, k / 2);
    attributes["group"] = depthwise != 0 ? shape[1] : int64_t{1};
    if (!plain_) attributes["pad_value"] = padding(x);
    return emit("QConv", with_parameters({x, kernel}, outputs),
                Shape{shape[0], outputs, (shape[2] - 1) / stride + 1, (shape[3] - 1) / stride + 1},
                kTilewrightDomain, attributes);
  }

  ValueId classifier(ValueId x) {
    const Shape shape = graph_.value(x).shape;
    if (hardware_.weight_bits > 1 && random_.chance(0.5)) {
      auto attributes = bits() == 8 ? Attributes{} : output_attributes();
      attributes["kernel_shape"] = std::vector<int64_t>{shape[2], shape[3]};
      attributes["shift"] = int64_t{4};
      x = emit("QAveragePool", {x}, Shape{shape[0], shape[1], 1, 1}, kTilewrightDomain, attributes);
    }
    const Shape pooled = graph_.value(x).shape;
    const int64_t depth = pooled.count(1, 4);
    if (random_.chance(0.5)) {
      x = emit("Flatten", {x}, Shape{shape[0], depth}, "", {{"axis", int64_t{1}}});
    } else {
      const ValueId target = graph_.add_constant("s", Tensor::of<int64_t>(Shape{2}, {shape[0], depth}));
      x = emit("Reshape", {x, target}, Shape{shape[0], depth}, "", {});
    }
    if (hardware_.weight_bits > 1 && random_.chance(0.3)) {
      auto attributes = bits() == 8 ? Attributes{} : output_attributes();
      attributes["bias"] = bits() == 8 ? int64_t{3} : int64_t{1};
      attributes["shift"] = int64_t{1};
      x = emit("QRequantize", {x}, Shape{shape[0], depth}, kTilewrightDomain, attributes);
    }
    for (int64_t i = random_.between(1, 2); i > 0; --i) {
      const int64_t outputs = random_.between(2, 40);
      const ValueId matrix = weights(Shape{outputs, graph_.value(x).shape[1]});
      x = emit("QGemm", with_parameters({x, matrix}, outputs), Shape{shape[0], outputs}, kTilewrightDomain,
               output_attributes());
    }
    return x;
  }

  Random random_;
  const OverlayHardware& hardware_;
  bool plain_;
  Graph graph_;
  std::vector<ValueId> values_;
};

}  // namespace

Graph random_network(uint64_t seed, const OverlayHardware& hardware) {
  return NetworkBuilder(seed, hardware).build();
}

}  // namespace tilewright::overlay_networks
