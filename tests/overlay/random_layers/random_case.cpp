// Random operators with their reference results.
#include <algorithm>
#include <bit>
#include <cmath>

#include "random_layer.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/schedule/layer.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright::random_layers {
namespace {

Tensor random_tensor(Random& random, ElementType type, Shape shape, int64_t low, int64_t high) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

// The integers of one operand: -2^(bits-1) .. 2^(bits-1)-1, of single bits 0 and 1 or -1 and +1.
struct Numbers {
  int bits = 8;
  bool bipolar = false;
  int64_t low() const { return bits == 1 ? (bipolar ? -1 : 0) : overlay::lowest_weight(bits); }
  int64_t high() const { return bits == 1 ? 1 : overlay::highest_weight(bits); }
  int64_t draw(Random& random) const {
    if (bits == 1 && bipolar) return random.chance(0.5) ? 1 : -1;
    if (bits == 16 && random.chance(0.1)) return random.chance(0.5) ? low() : high();
    return random.between(low(), high());
  }
};

Tensor random_numbers(Random& random, Shape shape, const Numbers& numbers) {
  Tensor tensor(numbers.bits == 16 ? ElementType::kI16 : ElementType::kI8, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, numbers.draw(random));
  return tensor;
}

class Builder {
 public:
  Builder(uint64_t seed, const OverlayHardware& hardware)
      : random_(seed), hardware_(hardware), plain_(hardware.isa == IsaVersion::kVta) {
    inputs_.bits = hardware.input_bits;
    weights_ = {hardware.weight_bits, true};
    if (inputs_.bits == 1) inputs_.bipolar = random_.chance(0.6), output_.bipolar = random_.chance(0.5);
    outputs_ = inputs_;
  }

  // At times with activations of 16 bits; `seed` draws for itself, so that other cases stay what they were.
  void widen(uint64_t seed, bool input_as_well) {
    if (plain_ || inputs_.bits != 8 || weights_.bits != 8) return;
    Random random(seed * 6151 + 16);
    if (input_as_well && random.chance(0.3)) inputs_.bits = 16;
    if (random.chance(0.3)) outputs_.bits = output_.bits = 16;
  }

  Case conv(Kind kind) {
    const int64_t block = hardware_.block_out;
    int64_t group = 1, inputs = channels(), outputs = channels();
    if (kind == Kind::kDepthwise) {
      group = outputs = inputs;
    } else if (kind == Kind::kGroup) {
      group = random_.between(2, 5);
      inputs = group * random_.between(1, std::max<int64_t>(2, block));
      outputs = group * random_.between(1, std::max<int64_t>(2, block));
      // Single bits have no zero between groups: whole blocks only.
      if (weights_.bits == 1) group = 2, inputs = outputs = 2 * hardware_.block_in;
    }
    const int64_t kh = random_.between(1, 4), kw = random_.between(1, 4);
    ConvParameters p;
    p.window = window(kh, kw);
    p.group = group;
    if (!plain_ || random_.chance(0.2)) p.pad_value = pad_value();
    const Tensor x = input(inputs, kh, kw, p.window);
    const bool wide_weights = weights_.bits > 1 && random_.chance(0.15);
    const int64_t limit = (1 << weights_.bits) - 1;
    const Shape shape{outputs, inputs / group, kh, kw};
    const Tensor w = wide_weights         ? random_tensor(random_, ElementType::kI16, shape, -limit, limit)
                     : weights_.bits == 8 ? random_tensor(random_, ElementType::kI8, shape, -127, 127)
                                          : random_numbers(random_, shape, weights_);
    parameters(outputs, inputs / group * kh * kw);
    p.output = output_;
    Node& node = build("QConv", {x}, {w, bias_, multiplier_, shift_});
    window_attributes(node, p.window);
    node.attributes["group"] = group;
    node.attributes["pad_value"] = int64_t(p.pad_value);
    return finish(node, reference_conv(x, w, bias_, multiplier_, shift_, p));
  }

  Case transposed() {
    const int64_t group = random_.chance(0.25) ? 2 : 1;
    const int64_t inputs = group * random_.between(1, 2 * hardware_.block_in);
    const int64_t per_group = random_.between(1, 2 * hardware_.block_out);
    const int64_t kh = random_.between(1, 5), kw = random_.between(1, 5);
    ConvTransposeParameters p;
    for (int axis = 0; axis < 2; ++axis) {
      p.window.strides[size_t(axis)] = random_.between(1, 3);
      p.window.dilations[size_t(axis)] = random_.chance(0.2) ? 2 : 1;
      p.output_padding[size_t(axis)] = random_.between(0, p.window.strides[size_t(axis)] - 1);
    }
    for (int64_t& pad : p.window.pads) pad = random_.between(0, std::min(kh, kw) - 1);
    p.group = group;
    const Tensor x = random_numbers(
        random_, Shape{batch(), inputs, random_.between(3, 9), random_.between(3, 9)}, inputs_);
    const Tensor w = random_numbers(random_, Shape{inputs, per_group, kh, kw}, weights_);
    parameters(per_group * group, inputs / group * kh * kw);
    p.output = output_;
    Node& node = build("QConvTranspose", {x}, {w, bias_, multiplier_, shift_});
    window_attributes(node, p.window);
    node.attributes["group"] = group;
    node.attributes["output_padding"] = std::vector<int64_t>{p.output_padding[0], p.output_padding[1]};
    return finish(node, reference_conv_transpose(x, w, bias_, multiplier_, shift_, p));
  }

  Case dense() {
    const int64_t inputs = random_.between(1, 6 * hardware_.block_in),
                  outputs = random_.between(1, 6 * hardware_.block_out);
    const Tensor x = random_numbers(random_, Shape{random_.between(1, 9), inputs}, inputs_);
    const Tensor w = random_numbers(random_, Shape{outputs, inputs}, weights_);
    parameters(outputs, inputs);
    Node& node = build("QGemm", {x}, {w, bias_, multiplier_, shift_});
    return finish(node, reference_gemm(x, w, bias_, multiplier_, shift_, output_));
  }

  Case add() {
    AddParameters p;
    if (plain_ ? random_.chance(0.5) : random_.chance(0.3)) {
      p.multiplier_a = power_of_two();
      p.multiplier_b = power_of_two();
      p.shift = int32_t(random_.between(0, 12));
      // Few values soon saturate: bring the sum back to where the operands were.
      if (narrow()) p.shift = std::bit_width(unsigned(std::max(p.multiplier_a, p.multiplier_b)));
    } else {
      p.multiplier_a = int32_t(random_.between(-(1 << 22), 1 << 22));
      p.multiplier_b = int32_t(random_.between(-(1 << 21), 1 << 21));
      p.shift = int32_t(random_.between(18, 24));
    }
    p.bias =
        int32_t(narrow() ? random_.between(-(1 << p.shift), 1 << p.shift) : random_.between(-1000, 1000));
    p.output = output_stage();
    const Tensor a = elementwise_input();
    return addition(p, a, random_numbers(random_, a.shape(), inputs_));
  }

  // Of operands of this shape, whose first elements are the pairs of the extremes.
  Case addition(AddParameters p, const Shape& shape) {
    p.output = output_stage();
    Tensor a = random_numbers(random_, shape, inputs_), b = random_numbers(random_, shape, inputs_);
    for (int64_t i = 0; i < std::min<int64_t>(4, a.size()); ++i) {
      a.set_integer(i, i % 2 == 0 ? inputs_.low() : inputs_.high());
      b.set_integer(i, i / 2 == 0 ? inputs_.low() : inputs_.high());
    }
    return addition(p, a, b);
  }

  Case requantize_case() {
    RequantizeParameters p;
    p.bias = scalar_bias();
    scalar_scale(1, &p.multiplier, &p.shift);
    p.output = output_stage();
    const Tensor x = elementwise_input();
    Node& node = build("QRequantize", {x}, {});
    scalar_attributes(node, p.bias, p.multiplier, p.shift);
    return finish(node, reference_requantize(x, p));
  }

  // The larger or the smaller of two values.
  Case extreme() {
    const Tensor a = elementwise_input(), b = random_numbers(random_, a.shape(), inputs_);
    const char* const op = random_.chance(0.5) ? "Max" : "Min";
    Node& node = build(op, {a, b}, {}, "");
    node.attributes.clear();
    result_.graph.value(node.outputs[0]).shape = a.shape();
    const std::vector<const Tensor*> values{&a, &b};
    return finish(node, evaluate(result_.graph, node, values)[0]);
  }

  // The second operand is as large as the first, one position, one channel, or both; either comes first.
  Case multiply() {
    MultiplyParameters p;
    p.a_zero_point = random_.chance(0.3) ? 0 : int32_t(random_.between(-128, 127));
    p.b_zero_point = random_.chance(0.3) ? 0 : int32_t(random_.between(-128, 127));
    const Requantization r = scale(1);
    p.multiplier = r.multiplier;
    p.shift = r.shift;
    p.output = output_stage();
    const Tensor a = elementwise_input();
    std::vector<int64_t> shape = a.shape().dims();
    if (random_.chance(0.5)) shape[2] = shape[3] = 1;
    if (random_.chance(0.25)) shape[1] = 1;
    const Tensor b = random_numbers(random_, Shape(shape), inputs_);
    const bool swapped = random_.chance(0.3);
    Node& node = swapped ? build("QMul", {b, a}, {}) : build("QMul", {a, b}, {});
    node.attributes["a_zero_point"] = int64_t(p.a_zero_point);
    node.attributes["b_zero_point"] = int64_t(p.b_zero_point);
    node.attributes["multiplier"] = int64_t(p.multiplier);
    node.attributes["shift"] = int64_t(p.shift);
    return finish(node, swapped ? reference_multiply(b, a, p) : reference_multiply(a, b, p));
  }

  // Slice, Pad, Resize, Gather, DepthToSpace or SpaceToDepth.
  Case move() {
    const int64_t factor = random_.between(1, 3), kind = random_.between(0, 5);
    Shape shape = elementwise_input().shape();
    if (kind == 4) shape = {shape[0], shape[1] * factor * factor, shape[2], shape[3]};
    if (kind == 5) shape = {shape[0], shape[1], shape[2] * factor, shape[3] * factor};
    const Tensor x = random_numbers(random_, shape, inputs_);
    switch (kind) {
      case 0:
        return moved(x, "Slice", slice_operands(shape), {});
      case 1:
        return moved(x, "Pad",
                     {integers({0, 0, random_.between(0, 3), random_.between(0, 3), 0, 0,
                                random_.between(0, 3), random_.between(0, 3)}),
                      random_numbers(random_, Shape{1}, inputs_).reshaped(Shape{})},
                     {});
      case 2: {
        Tensor scales(ElementType::kF32, Shape{4});
        for (int64_t i = 0; i < 4; ++i)
          scales.set_number(i, i < 2 ? 1 : double(i == 2 ? factor : factor + 1));
        const bool halves = random_.chance(0.5);
        return moved(x, "Resize", {Tensor(), scales},
                     {{"mode", std::string("nearest")},
                      {"coordinate_transformation_mode", std::string(halves ? "half_pixel" : "asymmetric")},
                      {"nearest_mode", std::string(halves ? "round_prefer_floor" : "floor")}});
      }
      case 3: {
        std::vector<int64_t> picked;
        const int64_t count = random_.between(1, 2 * shape[1]);
        for (int64_t i = 0; i < count; ++i) picked.push_back(random_.between(-shape[1], shape[1] - 1));
        return moved(x, "Gather", {integers(picked)}, {{"axis", int64_t{1}}});
      }
      case 4:
        return moved(x, "DepthToSpace", {},
                     {{"blocksize", factor}, {"mode", std::string(random_.chance(0.5) ? "DCR" : "CRD")}});
      default:
        return moved(x, "SpaceToDepth", {}, {{"blocksize", factor}});
    }
  }

  Case average_pool() {
    AveragePoolParameters p;
    p.kernel = {random_.between(1, 4), random_.between(1, 4)};
    p.window = window(p.kernel[0], p.kernel[1]);
    p.window.dilations = {1, 1};
    if (!plain_) p.pad_value = int32_t(inputs_.draw(random_));
    for (size_t i = 0; i < 4; ++i) p.window.pads[i] = std::min(p.window.pads[i], p.kernel[i % 2] - 1);
    p.bias = scalar_bias();
    scalar_scale(p.kernel[0] * p.kernel[1], &p.multiplier, &p.shift);
    p.output = output_stage();
    const Tensor x = input(channels(), p.kernel[0], p.kernel[1], p.window);
    Node& node = build("QAveragePool", {x}, {});
    window_attributes(node, p.window);
    node.attributes["kernel_shape"] = std::vector<int64_t>{p.kernel[0], p.kernel[1]};
    node.attributes["pad_value"] = int64_t(p.pad_value);
    node.attributes.erase("dilations");
    scalar_attributes(node, p.bias, p.multiplier, p.shift);
    return finish(node, reference_average_pool(x, p));
  }

  Case max_pool() {
    MaxPoolParameters p;
    p.kernel = {random_.between(1, 4), random_.between(1, 4)};
    p.window = window(p.kernel[0], p.kernel[1]);
    for (size_t i = 0; i < 4; ++i) p.window.pads[i] = std::min(p.window.pads[i], p.kernel[i % 2] - 1);
    p.ceil_mode = random_.chance(0.3);
    const Tensor x = input(channels(), p.kernel[0], p.kernel[1], p.window);
    Node& node = build("MaxPool", {x}, {}, "");
    node.attributes.clear();
    window_attributes(node, p.window);
    node.attributes["kernel_shape"] = std::vector<int64_t>{p.kernel[0], p.kernel[1]};
    node.attributes["ceil_mode"] = int64_t(p.ceil_mode);
    return finish(node, reference_max_pool(x, p));
  }

 private:
  static Tensor integers(const std::vector<int64_t>& numbers) {
    return Tensor(Shape{int64_t(numbers.size())}, std::span<const int64_t>(numbers));
  }

  std::vector<Tensor> slice_operands(const Shape& shape) {
    std::vector<int64_t> starts, ends, axes, steps;
    for (int64_t axis = 1; axis < 4; ++axis) {
      if (random_.chance(0.3)) continue;
      const int64_t size = shape[int(axis)], begin = random_.between(0, size - 1);
      const bool from_end = random_.chance(0.3);
      starts.push_back(from_end ? begin - size : begin);
      ends.push_back(random_.chance(0.3) ? INT64_MAX : random_.between(begin + 1, size));
      axes.push_back(random_.chance(0.3) ? axis - 4 : axis);
      steps.push_back(random_.between(1, 3));
    }
    return {integers(starts), integers(ends), integers(axes), integers(steps)};
  }

  // `x` through an operator of ONNX; a constant without elements is an input that is left out.
  Case moved(const Tensor& x, const std::string& op, const std::vector<Tensor>& constants,
             Attributes attributes) {
    Node& node = build(op, {x}, constants, "");
    node.attributes = std::move(attributes);
    std::vector<const Tensor*> values{&x};
    for (size_t i = 0; i < constants.size(); ++i) {
      const bool absent = constants[i].size() == 0 && op == "Resize";
      if (absent) node.inputs[i + 1] = kNoValue;
      values.push_back(absent ? nullptr : &constants[i]);
    }
    result_.graph.value(node.outputs[0]).shape = infer_node(result_.graph, node).at(0).shape;
    return finish(node, evaluate(result_.graph, node, values)[0]);
  }

  Case addition(const AddParameters& p, const Tensor& a, const Tensor& b) {
    Node& node = build("QAdd", {a, b}, {});
    node.attributes["multiplier_a"] = int64_t(p.multiplier_a);
    node.attributes["multiplier_b"] = int64_t(p.multiplier_b);
    node.attributes["bias"] = int64_t(p.bias);
    node.attributes["shift"] = int64_t(p.shift);
    return finish(node, reference_add(a, b, p));
  }

  int32_t power_of_two() {
    const int32_t power = 1 << random_.between(0, random_.chance(0.3) ? 22 : 8);
    return random_.chance(0.2) ? -power : power;
  }

  bool narrow() const { return inputs_.bits < 8; }
  int64_t batch() { return random_.chance(0.3) ? random_.between(2, 5) : 1; }
  int64_t channels() {
    if (hardware_.block_in != hardware_.block_out && random_.chance(0.3)) {
      return random_.between(hardware_.block_in - 1, hardware_.block_in + 3 * hardware_.block_out);
    }
    return random_.between(1, 3 * hardware_.block_out + 1);
  }

  WindowParameters window(int64_t kh, int64_t kw) {
    WindowParameters w;
    for (int axis = 0; axis < 2; ++axis) {
      w.strides[size_t(axis)] = random_.between(1, 3);
      w.dilations[size_t(axis)] = random_.chance(0.25) ? random_.between(2, 3) : 1;
    }
    // Now and then wider than the plain instruction's padding fields.
    const int64_t most = random_.chance(0.05) ? 19 : 3;
    for (size_t i = 0; i < 4; ++i)
      w.pads[i] = random_.chance(0.4) ? 0 : random_.between(0, std::max(kh, kw) > 1 ? most : 1);
    return w;
  }

  Tensor input(int64_t depth, int64_t kh, int64_t kw, const WindowParameters& w) {
    const int64_t most = inputs_.bits == 8 ? 16 : 10;
    const int64_t h = random_.between((kh - 1) * w.dilations[0] + 1, most),
                  v = random_.between((kw - 1) * w.dilations[1] + 1, most);
    return random_numbers(random_, Shape{batch(), depth, h, v}, inputs_);
  }

  Tensor elementwise_input() {
    return random_numbers(random_, Shape{batch(), channels(), random_.between(1, 14), random_.between(1, 14)},
                          inputs_);
  }

  int32_t pad_value() {
    if (inputs_.bipolar) return random_.chance(0.8) ? -1 : 1;
    return random_.chance(0.5) ? 0 : int32_t(inputs_.draw(random_));
  }

  OutputStage output_stage() {
    if (inputs_.bits == 1) {
      output_.clip_low = 0;
      output_.clip_high = 1;
      return output_;
    }
    const int64_t low = outputs_.low(), high = outputs_.high();
    if (narrow()) {
      output_.y_zero_point = random_.chance(0.5) ? 0 : -1;
      output_.clip_low = int32_t(random_.chance(0.7) ? low : low / 2);
      output_.clip_high = int32_t(random_.chance(0.7) ? high : (high + 1) / 2);
      return output_;
    }
    output_.y_zero_point = random_.chance(0.5) ? 0 : int32_t(random_.between(low, high));
    output_.clip_low =
        int32_t(random_.chance(0.5) ? low : random_.between(low, std::max<int64_t>(0, high / 6)));
    output_.clip_high = int32_t(random_.chance(0.5) ? high : random_.between(output_.clip_low, high));
    return output_;
  }

  // A scale that brings sums of `terms` products into the width of an output, more or less.
  Requantization scale(int64_t terms) {
    int low = 3, high = 9;
    if (narrow()) {
      const double deviation = std::sqrt(double(terms)) * double(inputs_.high() * weights_.high() + 1) / 2;
      low = std::max(0, int(std::log2(deviation / double(inputs_.high() + 1))));
      high = low + 1;
    } else {
      int bits = 7;
      while (terms > 1) {
        terms = (terms + 2) / 3;
        ++bits;
      }
      const int more = inputs_.bits - outputs_.bits;
      low = std::max(0, bits / 2 + more);
      high = std::max(2, bits + 2 + more);
    }
    if (plain_ || random_.chance(0.2)) return {1, int32_t(random_.between(low, high + (narrow() ? 0 : 1)))};
    return {int32_t(random_.between(int64_t{1} << 30, INT32_MAX)), int32_t(31 + random_.between(low, high))};
  }

  Requantization rounded_once_or_twice(Requantization r) {
    if (!plain_ && r.shift >= 32 && random_.chance(0.3)) r.shift += kTwice;
    return r;
  }

  void scalar_scale(int64_t terms, int32_t* multiplier, int32_t* shift) {
    Requantization r = scale(terms);
    if (narrow()) r.shift = std::max(r.shift - weights_.bits + 1, 0);
    if (terms == 1 && !narrow()) r.shift = std::max(r.shift - 6, 0);
    r = rounded_once_or_twice(r);
    *multiplier = r.multiplier;
    *shift = r.shift;
  }
  int32_t scalar_bias() { return int32_t(narrow() ? random_.between(-2, 2) : random_.between(-300, 300)); }

  void parameters(int64_t outputs, int64_t terms) {
    const int64_t count = random_.chance(0.5) ? outputs : 1;
    const double root = std::sqrt(double(terms));
    const int64_t most = narrow() ? 1 + int64_t(root * double(inputs_.high() * weights_.high()) / 2) : 20000;
    bias_ = random_tensor(random_, ElementType::kI32, Shape{outputs}, -most, most);
    multiplier_ = Tensor(ElementType::kI32, Shape{count});
    shift_ = Tensor(ElementType::kI32, Shape{count});
    for (int64_t i = 0; i < count; ++i) {
      const Requantization r = rounded_once_or_twice(scale(terms));
      multiplier_.set_integer(i, r.multiplier);
      shift_.set_integer(i, r.shift);
    }
    output_stage();
  }

  Node& build(const std::string& op, const std::vector<Tensor>& data, const std::vector<Tensor>& constants,
              const std::string& domain = kTilewrightDomain) {
    std::vector<ValueId> ids;
    for (const Tensor& tensor : data) {
      ids.push_back(narrowed(result_.graph.add_input("x", tensor.type(), tensor.shape())));
      result_.inputs.insert_or_assign(ids.back(), tensor);
    }
    for (const Tensor& tensor : constants) ids.push_back(result_.graph.add_constant("c", tensor));
    const bool wide = outputs_.bits == 16;
    const ValueId y = result_.graph.add_value("y", wide ? ElementType::kI16 : ElementType::kI8, Shape{1});
    result_.graph.outputs = {y};
    Node& node = result_.graph.add_node("layer", op, ids, {y}, domain);
    node.attributes["y_zero_point"] = int64_t(output_.y_zero_point);
    node.attributes["clip_low"] = int64_t(output_.clip_low);
    node.attributes["clip_high"] = int64_t(output_.clip_high);
    if (output_.bipolar) node.attributes["bipolar"] = int64_t{1};
    if (wide) node.attributes["output_bits"] = int64_t{16};
    return node;
  }

  // What says how narrow an input is: the host's node ahead of the layer, whose output the case feeds.
  ValueId narrowed(ValueId x) {
    if (inputs_.bits >= 8) return x;
    const ValueId y = result_.graph.add_value("narrow", ElementType::kI8, result_.graph.value(x).shape);
    Node& node = result_.graph.add_node("narrow", "QRequantize", {x}, {y}, kTilewrightDomain);
    node.attributes["multiplier"] = int64_t{1};
    node.attributes["shift"] = int64_t{0};
    node.attributes["clip_low"] = inputs_.bipolar ? int64_t{0} : inputs_.low();
    node.attributes["clip_high"] = inputs_.high();
    if (inputs_.bipolar) node.attributes["bipolar"] = int64_t{1};
    return y;
  }

  static void window_attributes(Node& node, const WindowParameters& w) {
    node.attributes["strides"] = std::vector<int64_t>{w.strides[0], w.strides[1]};
    node.attributes["pads"] = std::vector<int64_t>{w.pads[0], w.pads[1], w.pads[2], w.pads[3]};
    node.attributes["dilations"] = std::vector<int64_t>{w.dilations[0], w.dilations[1]};
  }
  static void scalar_attributes(Node& node, int32_t bias, int32_t multiplier, int32_t shift) {
    node.attributes["bias"] = int64_t(bias);
    node.attributes["multiplier"] = int64_t(multiplier);
    node.attributes["shift"] = int64_t(shift);
  }

  // At times with a table, where the overlay has one.
  Case finish(Node& node, Tensor expected) {
    if (hardware_.lookup_table && table_input(node) >= 0 && random_.chance(0.25) && outputs_.bits <= 8) {
      const Tensor table = random_tensor(random_, ElementType::kI8, Shape{256}, -128, 127);
      for (int8_t& y : expected.mutable_data<int8_t>()) y = table.data<int8_t>()[size_t(y + 128)];
      node.inputs.resize(size_t(table_input(node)), kNoValue);
      node.inputs.push_back(result_.graph.add_constant("table", table));
    }
    result_.graph.value(node.outputs[0]).shape = expected.shape();
    result_.expected = std::move(expected);
    return std::move(result_);
  }

  Random random_;
  const OverlayHardware& hardware_;
  bool plain_;
  Numbers inputs_, weights_, outputs_;
  OutputStage output_;
  Tensor bias_, multiplier_, shift_;
  Case result_;
};

}  // namespace

const char* kind_name(Kind kind) {
  static constexpr const char* kNames[] = {
      "conv", "depthwise",  "group",    "transposed", "dense",    "maximum_pool", "average_pool",
      "add",  "requantize", "multiply", "move",       "matrices", "softmax",      "norm"};
  return kNames[int(kind)];
}

Case make_case(uint64_t seed, Kind kind, const OverlayHardware& hardware) {
  if (works_on_tokens(kind)) return make_token_case(seed, kind, hardware);
  Builder builder(seed, hardware);
  const bool sums = kind == Kind::kConv || kind == Kind::kDepthwise || kind == Kind::kGroup ||
                    kind == Kind::kDense || kind == Kind::kAveragePool || kind == Kind::kRequantize;
  if (sums || kind == Kind::kTransposed) builder.widen(seed, sums);
  switch (kind) {
    case Kind::kConv:
    case Kind::kDepthwise:
    case Kind::kGroup:
      return builder.conv(kind);
    case Kind::kTransposed:
      return builder.transposed();
    case Kind::kDense:
      return builder.dense();
    case Kind::kMaxPool:
      return builder.max_pool();
    case Kind::kAveragePool:
      return builder.average_pool();
    case Kind::kAdd:
      return builder.add();
    case Kind::kRequantize:
      return builder.requantize_case();
    case Kind::kMultiply:
      return seed % 5 == 0 ? builder.extreme() : builder.multiply();
    default:
      return builder.move();
  }
}

Case make_addition(uint64_t seed, const AddParameters& parameters, const OverlayHardware& hardware) {
  return Builder(seed, hardware).addition(parameters, Shape{1, hardware.block_out + 1, 3, 5});
}

}  // namespace tilewright::random_layers
