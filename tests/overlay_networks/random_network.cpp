#include "random_network.h"

#include <algorithm>
#include <vector>

#include "tilewright/base/random.h"

namespace tilewright::overlay_networks {
namespace {

class NetworkBuilder {
 public:
  NetworkBuilder(uint64_t seed, const OverlayHardware& hardware)
      : random_(seed), hardware_(hardware), plain_(hardware.isa == IsaVersion::kVta) {}

  Graph build() {
    const Shape image{random_.between(1, 2), random_.between(1, 4), random_.between(8, 16),
                      random_.between(8, 16)};
    values_.push_back(graph_.add_input("image", ElementType::kI8, image));
    if (random_.chance(0.3)) values_.push_back(graph_.add_input("second", ElementType::kI8, image));
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
    return std::find(graph_.inputs.begin(), graph_.inputs.end(), value) != graph_.inputs.end();
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

  std::vector<ValueId> with_parameters(std::vector<ValueId> inputs, int64_t outputs) {
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
               const std::map<std::string, Attribute>& attributes) {
    const ValueId result = graph_.add_value("v", ElementType::kI8, std::move(shape));
    graph_.add_node(op, op, std::move(inputs), {result}, domain).attributes = attributes;
    return result;
  }

  std::map<std::string, Attribute> output_attributes() {
    const bool relu = random_.chance(0.5);
    return {{"y_zero_point", int64_t(random_.chance(0.5) ? 0 : random_.between(-20, 20))},
            {"clip_low", int64_t(relu ? 0 : -128)}};
  }

  void add_layer() {
    const ValueId x = any();
    const Shape shape = graph_.value(x).shape;
    switch (random_.between(0, 5)) {
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
        return values_.push_back(convolution(x, random_.between(1, 3 * hardware_.block_out), 0));
    }
  }

  ValueId convolution(ValueId x, int64_t outputs, int depthwise) {
    const Shape shape = graph_.value(x).shape;
    const int64_t k = random_.chance(0.3) ? 1 : 3,
                  stride = random_.chance(0.2) && shape[2] > 3 && shape[3] > 3 ? 2 : 1;
    const ValueId weights =
        tensor(ElementType::kI8, Shape{outputs, depthwise != 0 ? 1 : shape[1], k, k}, -127, 127);
    auto attributes = output_attributes();
    attributes["strides"] = std::vector<int64_t>{stride, stride};
    attributes["pads"] = std::vector<int64_t>(4, k / 2);
    attributes["group"] = depthwise != 0 ? shape[1] : int64_t{1};
    if (!plain_) attributes["pad_value"] = random_.between(-20, 20);
    return emit("QConv", with_parameters({x, weights}, outputs),
                Shape{shape[0], outputs, (shape[2] - 1) / stride + 1, (shape[3] - 1) / stride + 1},
                kTilewrightDomain, attributes);
  }

  ValueId classifier(ValueId x) {
    const Shape shape = graph_.value(x).shape;
    if (random_.chance(0.5)) {
      x = emit("QAveragePool", {x}, Shape{shape[0], shape[1], 1, 1}, kTilewrightDomain,
               {{"kernel_shape", std::vector<int64_t>{shape[2], shape[3]}}, {"shift", int64_t{4}}});
    }
    const Shape pooled = graph_.value(x).shape;
    const int64_t depth = pooled.count(1, 4);
    if (random_.chance(0.5)) {
      x = emit("Flatten", {x}, Shape{shape[0], depth}, "", {{"axis", int64_t{1}}});
    } else {
      const ValueId target = graph_.add_constant("s", Tensor::of<int64_t>(Shape{2}, {shape[0], depth}));
      x = emit("Reshape", {x, target}, Shape{shape[0], depth}, "", {});
    }
    if (random_.chance(0.3)) {
      x = emit("QRequantize", {x}, Shape{shape[0], depth}, kTilewrightDomain,
               {{"bias", int64_t{3}}, {"shift", int64_t{1}}});
    }
    for (int64_t i = random_.between(1, 2); i > 0; --i) {
      const int64_t outputs = random_.between(2, 40);
      const ValueId weights = tensor(ElementType::kI8, Shape{outputs, graph_.value(x).shape[1]}, -127, 127);
      x = emit("QGemm", with_parameters({x, weights}, outputs), Shape{shape[0], outputs}, kTilewrightDomain,
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
