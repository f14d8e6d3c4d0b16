// Random graphs in hardware numbers for tests: chains with residual additions of all layers that hardware
// has, in integers of 1 to 8 bits or in fixed point, with paddings, strides and zero points of every kind.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::pipeline {

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed * 7919 + 11) {
    graph_.name = "random" + std::to_string(seed);
    fixed_ = random_.chance(0.15);
    fraction_ = random_.between(4, 22);
    layers_left_ = random_.between(1, 6);
    twice_ = random_.chance(0.2);
  }

  Graph run() {
    const int64_t side = random_.chance(0.1) ? 1 : random_.between(2, 13);
    const int64_t rows = side, columns = random_.chance(0.7) ? side : random_.between(1, 13);
    ValueId value = graph_.add_input("input", fixed_ ? ElementType::kI32 : ElementType::kI8,
                                     {1, channels(), rows, columns});
    if (!fixed_) value = narrow_input(value);
    value = convolution(value, false);
    for (; layers_left_ > 0; --layers_left_) value = layer(value);
    if (random_.chance(0.5)) value = dense(value);
    graph_.outputs = {value};
    return std::move(graph_);
  }

  // Of small maps, also what is no network: views of every kind, several readers, sums of anything.
  Graph run_unusual() {
    fixed_ = random_.chance(0.5);
    graph_.add_input("input", fixed_ ? ElementType::kI32 : ElementType::kI8,
                     {1, random_.between(1, 6), random_.between(1, 4), random_.between(1, 4)});
    std::vector<ValueId> made = {convolution(graph_.inputs[0], false)};
    for (int64_t left = random_.between(2, 9); left > 0; --left) {
      const ValueId x =
          random_.chance(0.7) ? made.back() : made[size_t(random_.between(0, int64_t(made.size()) - 1))];
      made.push_back(unusual(x, made));
    }
    graph_.outputs = {made.back()};
    graph_.remove_dead();
    return std::move(graph_);
  }

 protected:
  const Shape& shape(ValueId value) const { return graph_.value(value).shape; }
  // Also primes, and numbers that share few factors with ports.
  int64_t channels() {
    static constexpr int64_t kSome[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 16, 18, 20, 24};
    return kSome[size_t(random_.between(0, int64_t(std::size(kSome)) - 1))];
  }

  ValueId add(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
    const bool own = op[0] == 'Q' || op.rfind("Fixed", 0) == 0;
    const ValueId out = graph_.add_value("v", ElementType::kF32, {});
    Node& node = graph_.add_node("n", op, std::move(inputs), {out}, own ? kTilewrightDomain : "");
    node.attributes = std::move(attributes);
    const TypedShape inferred = infer_node(graph_, node)[0];
    graph_.value(out).type = inferred.type;
    graph_.value(out).shape = inferred.shape;
    return out;
  }

  ValueId constant(ElementType type, Shape shape, int64_t low, int64_t high) {
    Tensor tensor(type, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random_.between(low, high));
    return graph_.add_constant("c", tensor);
  }

  // An input of fewer bits, or of signs: the host makes it.
  ValueId narrow_input(ValueId value) {
    if (random_.chance(0.6)) return value;
    if (random_.chance(0.25)) {
      const ValueId signs = add("QRequantize", {value},
                                {{"multiplier", int64_t{1}},
                                 {"shift", int64_t{0}},
                                 {"clip_low", int64_t{0}},
                                 {"clip_high", int64_t{1}},
                                 {"bipolar", int64_t{1}}});
      low_[signs] = -1, high_[signs] = 1, signs_[signs] = true;
      return signs;
    }
    const auto [low, high] = range();
    const ValueId clipped =
        add("QRequantize", {value},
            {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}, {"clip_low", low}, {"clip_high", high}});
    low_[clipped] = low, high_[clipped] = high;
    return clipped;
  }

  // Of an output of 1 to 8 bits, signed or after a ReLU.
  std::pair<int64_t, int64_t> range() {
    const int64_t bits = random_.chance(0.4) ? 8 : random_.between(1, 8);
    if (bits == 1) return {0, 1};
    const int64_t half = int64_t{1} << (bits - 1);
    if (random_.chance(0.3)) return {0, half - 1};
    if (random_.chance(0.1)) return {random_.between(-half, 0), random_.between(1, half - 1)};
    return {-half, half - 1};
  }
  int64_t low(ValueId value) const { return low_.count(value) != 0 ? low_.at(value) : -128; }
  int64_t high(ValueId value) const { return high_.count(value) != 0 ? high_.at(value) : 127; }

  // The output attributes of an integer layer, noted for `finish`.
  struct Output {
    int64_t low, high;
    bool bipolar;
  };
  Output output(Attributes& attributes) {
    auto [low, high] = range();
    const bool bipolar = low == 0 && high == 1 && random_.chance(0.5);
    attributes["clip_low"] = low;
    attributes["clip_high"] = high;
    if (bipolar) attributes["bipolar"] = int64_t{1};
    if (random_.chance(0.3)) attributes["y_zero_point"] = random_.between(low, high);
    return {low, high, bipolar};
  }
  ValueId noted(ValueId value, const Output& output) {
    low_[value] = output.bipolar ? -1 : output.low;
    high_[value] = output.high;
    signs_[value] = output.bipolar;
    return value;
  }

  // Multipliers that spread sums of about `size` over the output's range.
  Requantization scale(double size, const Output& output) {
    const double wanted = double(output.high - output.low + 1) / (2.0 * size) * (0.5 + random_.uniform());
    if (random_.chance(0.3)) {
      return {1, int32_t(std::clamp(std::lround(-std::log2(wanted)), 0L, 31L))};
    }
    return (twice_ ? encode_scale_twice : encode_scale)(std::max(wanted, 1e-8));
  }

  std::vector<int64_t> pads(int64_t kernel_rows, int64_t kernel_columns, bool of_pool) {
    if (random_.chance(0.3)) return {0, 0, 0, 0};
    // A Pad in front of a 1x1 convolution ends up as its padding.
    const int64_t more = !of_pool && random_.chance(0.15) ? 1 : 0;
    const auto pad = [&](int64_t kernel) { return random_.between(0, kernel - 1 + more); };
    return {pad(kernel_rows), pad(kernel_columns), pad(kernel_rows), pad(kernel_columns)};
  }

  // Kernel and stride that fit an image.
  struct Geometry {
    int64_t rows, columns;
    std::vector<int64_t> strides, pads;
  };
  Geometry geometry(ValueId x, int64_t largest, bool of_pool) {
    const int64_t rows = shape(x)[2], columns = shape(x)[3];
    Geometry g;
    g.rows = random_.between(1, std::min(largest, rows));
    g.columns =
        random_.chance(0.7) ? std::min(g.rows, columns) : random_.between(1, std::min(largest, columns));
    const int64_t stride = random_.chance(0.6) ? 1 : random_.between(1, 3);
    g.strides = {stride, random_.chance(0.8) ? stride : random_.between(1, 3)};
    g.pads = pads(g.rows, g.columns, of_pool);
    return g;
  }

  ValueId weights(Shape shape, int64_t* magnitude) {
    if (fixed_) {
      const int64_t limit = int64_t{1} << (fraction_ - 1);
      return constant(ElementType::kI32, shape, -limit, limit);
    }
    const int64_t bits = random_.chance(0.4) ? 8 : random_.between(1, 8);
    *magnitude = bits == 1 ? 1 : (int64_t{1} << (bits - 1)) - 1;
    const ValueId w = constant(ElementType::kI8, shape, -*magnitude, *magnitude);
    if (bits != 1 || random_.chance(0.3)) return w;
    Tensor& tensor = *graph_.value(w).constant;
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random_.chance(0.5) ? 1 : -1);
    return w;
  }

  // A layer with weights: bias and, of integers, multipliers after `inputs`.
  ValueId weighted(const std::string& op, ValueId x, Shape shape, Attributes attributes) {
    int64_t magnitude = 1, products = 1;
    for (int i = 1; i < shape.rank(); ++i) products *= shape[i];
    const int64_t outputs = shape[0];
    const ValueId w = weights(std::move(shape), &magnitude);
    if (fixed_) {
      const int64_t limit = int64_t{1} << fraction_;
      const ValueId bias = constant(ElementType::kI32, {outputs}, -limit, limit);
      attributes["fraction"] = fraction_;
      if (random_.chance(0.4)) attributes["clip_low"] = int64_t{0};
      if (random_.chance(0.2)) attributes["clip_high"] = int64_t{6} << fraction_;
      return add("Fixed" + op, {x, w, bias}, std::move(attributes));
    }
    const double size = std::sqrt(double(products)) * double(magnitude) * double(high(x) - low(x)) / 4 + 1;
    const Output out = output(attributes);
    const ValueId bias = constant(ElementType::kI32, {outputs}, -int64_t(size), int64_t(size));
    const int64_t scales = random_.chance(0.5) ? outputs : 1;
    Tensor multiplier(ElementType::kI32, {scales}), shift(ElementType::kI32, {scales});
    for (int64_t i = 0; i < scales; ++i) {
      const Requantization r = scale(size, out);
      multiplier.set_integer(i, r.multiplier);
      shift.set_integer(i, r.shift);
    }
    const ValueId m = graph_.add_constant("m", multiplier), s = graph_.add_constant("s", shift);
    return noted(add("Q" + op, {x, w, bias, m, s}, std::move(attributes)), out);
  }

  ValueId convolution(ValueId x, bool depthwise) {
    const int64_t in = shape(x)[1];
    const Geometry g = geometry(x, random_.chance(0.1) ? 7 : 4, false);
    Attributes attributes{{"strides", g.strides}, {"pads", g.pads}};
    if (depthwise) attributes["group"] = in;
    if (!fixed_ && random_.chance(0.5)) attributes["pad_value"] = random_.between(low(x), high(x));
    if (!fixed_ && signs_[x] && random_.chance(0.5)) attributes["pad_value"] = int64_t{-1};
    return weighted("Conv", x, {depthwise ? in : channels(), depthwise ? 1 : in, g.rows, g.columns},
                    std::move(attributes));
  }

  ValueId dense(ValueId x) {
    if (random_.chance(0.3)) x = pool(x, true);
    if (shape(x).rank() == 4) x = kept(add("Flatten", {x}, {{"axis", int64_t{1}}}), x);
    if (random_.chance(0.3)) x = weighted("Gemm", x, {channels(), shape(x)[1]}, {});
    return weighted("Gemm", x, {random_.between(1, 12), shape(x)[1]}, {});
  }

  // `value` has the numbers of `from`.
  ValueId kept(ValueId value, ValueId from) {
    if (fixed_) return value;
    low_[value] = low(from), high_[value] = high(from), signs_[value] = signs_[from];
    return value;
  }

  ValueId pool(ValueId x, bool whole) {
    const bool maximum = random_.chance(0.6);
    if (whole && maximum) return kept(add("GlobalMaxPool", {x}, {}), x);
    Geometry g = geometry(x, 3, true);
    if (whole) g = {shape(x)[2], shape(x)[3], {1, 1}, {0, 0, 0, 0}};
    Attributes attributes{
        {"kernel_shape", std::vector<int64_t>{g.rows, g.columns}}, {"strides", g.strides}, {"pads", g.pads}};
    if (maximum) return kept(add("MaxPool", {x}, std::move(attributes)), x);
    const int64_t window = g.rows * g.columns;
    if (fixed_) {
      attributes["fraction"] = fraction_;
      attributes["multiplier"] = std::max<int64_t>(1, (int64_t{1} << fraction_) / window);
      if (random_.chance(0.4)) attributes["clip_low"] = int64_t{0};
      if (random_.chance(0.2)) attributes["clip_high"] = int64_t{1} << fraction_;
      return add("FixedAveragePool", {x}, std::move(attributes));
    }
    const Output out = output(attributes);
    const Requantization r = scale(double(window * (high(x) - low(x))) / 3 + 1, out);
    attributes["multiplier"] = int64_t{r.multiplier};
    attributes["shift"] = int64_t{r.shift};
    attributes["bias"] = random_.between(-window, window);
    if (random_.chance(0.5)) attributes["pad_value"] = random_.between(low(x), high(x));
    return noted(add("QAveragePool", {x}, std::move(attributes)), out);
  }

  ValueId requantized(ValueId x) {
    Attributes attributes;
    const Output out = output(attributes);
    const Requantization r = scale(double(high(x) - low(x)) / 2 + 1, out);
    attributes["multiplier"] = int64_t{r.multiplier};
    attributes["shift"] = int64_t{r.shift};
    attributes["bias"] = random_.between(-10, 10);
    return noted(add("QRequantize", {x}, std::move(attributes)), out);
  }

  ValueId clipped(ValueId x) {
    if (random_.chance(0.5)) {
      const ValueId y = add("Relu", {x}, {});
      if (!fixed_) low_[y] = std::max<int64_t>(0, low(x)), high_[y] = std::max<int64_t>(0, high(x));
      return y;
    }
    const ElementType type = fixed_ ? ElementType::kI32 : ElementType::kI8;
    const int64_t from = random_.between(-60, 0), to = random_.between(1, 100);
    const auto bound = [&](int64_t value) {
      Tensor tensor(type, {});
      tensor.set_integer(0, fixed_ ? value << (fraction_ / 2) : value);
      return graph_.add_constant("bound", tensor);
    };
    const ValueId y = add("Clip", {x, bound(from), bound(to)}, {});
    if (!fixed_) low_[y] = std::clamp(low(x), from, to), high_[y] = std::clamp(high(x), from, to);
    return y;
  }

  ValueId looked_up(ValueId x) {
    if (fixed_) {
      const int64_t limit = int64_t{1} << fraction_;
      const ValueId table = constant(ElementType::kI32, {513}, -limit, limit);
      return add("FixedLookup", {x, table},
                 {{"fraction", fraction_}, {"input_shift", random_.between(0, 20)}});
    }
    const auto [low, high] = range();
    const ValueId y = add("QLookup", {x, constant(ElementType::kI8, {256}, low, high)}, {});
    low_[y] = low, high_[y] = high;
    return y;
  }

  ValueId sum(ValueId a, ValueId b) {
    if (fixed_) {
      return add("FixedAdd", {a, b},
                 random_.chance(0.5) ? Attributes{{"clip_low", int64_t{0}}} : Attributes{});
    }
    Attributes attributes;
    Output out = output(attributes);
    attributes.erase("bipolar");
    out.bipolar = false;
    const int64_t shift = random_.between(0, 12), one = int64_t{1} << shift;
    attributes["multiplier_a"] = random_.between(-one, one);
    attributes["multiplier_b"] = random_.between(1, one);
    attributes["bias"] = random_.between(-one, one);
    attributes["shift"] = shift;
    return noted(add("QAdd", {a, b}, std::move(attributes)), out);
  }

  ValueId layer(ValueId x) {
    switch (random_.between(0, 9)) {
      case 0:
      case 1:
        return convolution(x, false);
      case 2:
        return convolution(x, true);
      case 3:
        return pool(x, false);
      case 4:
        return fixed_ ? clipped(x) : requantized(x);
      case 5:
        return clipped(x);
      case 6:
        return looked_up(x);
      case 7:
      case 8:
        return residual(x);
      default:
        return pool(x, random_.chance(0.2));
    }
  }

  // A branch of one or two layers that keep the shape, added to what it came from or to another such branch.
  ValueId residual(ValueId x) {
    const auto branch = [&] {
      ValueId y = x;
      for (int64_t left = random_.between(1, 2); left > 0; --left) {
        const int64_t in = shape(y)[1],
                      kernel = std::min(shape(x)[2], shape(x)[3]) >= 3 && random_.chance(0.5) ? 3 : 1;
        const int64_t out = left == 1 ? shape(x)[1] : channels();
        const int64_t pad = kernel / 2;
        y = weighted("Conv", y, {out, in, kernel, kernel},
                     {{"pads", std::vector<int64_t>{pad, pad, pad, pad}}});
      }
      return y;
    };
    const ValueId one = branch(), other = random_.chance(0.7) ? x : branch();
    return random_.chance(0.5) ? sum(one, other) : sum(other, one);
  }

  ValueId unusual(ValueId x, const std::vector<ValueId>& made) {
    switch (random_.between(0, 9)) {
      case 9:
        return shared(x);
      case 0:
      case 1:
      case 2:
        return kept(view(x), x);
      case 3:
      case 4:
        return any_sum(x, made);
      case 5:
        return fixed_ || random_.chance(0.5) ? clipped(x) : requantized(x);
      case 6:
        return looked_up(x);
      default:
        if (shape(x).rank() != 4) return weighted("Gemm", x, {random_.between(1, 6), shape(x)[1]}, {});
        return random_.chance(0.4) ? pool(x, random_.chance(0.2)) : convolution(x, random_.chance(0.3));
    }
  }

  ValueId view(ValueId x) {
    const bool map = shape(x).rank() == 4;
    if (random_.chance(0.1)) return add("Identity", {x}, {});
    if (map && random_.chance(0.4)) return add("Flatten", {x}, {{"axis", int64_t{1}}});
    if (map && random_.chance(0.7)) {
      using Axes = std::vector<int64_t>;
      return add("Transpose", {x}, {{"perm", random_.chance(0.7) ? Axes{0, 2, 3, 1} : Axes{0, 3, 1, 2}}});
    }
    int64_t rest = 1;
    for (int axis = 0; axis < shape(x).rank(); ++axis) rest *= shape(x)[axis];
    std::vector<int64_t> sizes = {1, 1, 1, 1};
    for (int64_t left = random_.between(1, 2), axis = random_.between(1, 3); left > 0; --left) {
      int64_t size = random_.between(1, rest);
      while (rest % size != 0) --size;
      sizes[size_t(axis)] *= left == 1 ? rest : size;
      rest /= size;
      axis = axis % 3 + 1;
    }
    Tensor tensor(ElementType::kI64, {4});
    for (int64_t i = 0; i < 4; ++i) tensor.set_integer(i, sizes[size_t(i)]);
    return add("Reshape", {x, graph_.add_constant("shape", tensor)}, {});
  }

  // The sum of two ways that go out from one value through views, one of which changes it.
  ValueId shared(ValueId x) {
    const char* const same = shape(x).rank() == 4 && random_.chance(0.7) ? "Flatten" : "Identity";
    const auto way = [&] { return kept(add(same, {x}, {}), x); };
    const ValueId one = looked_up(way()), other = random_.chance(0.5) ? clipped(way()) : way();
    return random_.chance(0.5) ? sum(one, other) : sum(other, one);
  }

  // With a constant, a second input, itself, or another value of its shape.
  ValueId any_sum(ValueId x, std::vector<ValueId> made) {
    const ElementType type = fixed_ ? ElementType::kI32 : ElementType::kI8;
    made.push_back(graph_.inputs[0]);
    std::erase_if(made, [&](ValueId v) { return shape(v) != shape(x) || (v == x && !random_.chance(0.1)); });
    ValueId other = kNoValue;
    if (!made.empty() && random_.chance(0.9)) {
      other = made[size_t(random_.between(0, int64_t(made.size()) - 1))];
    } else {
      other =
          random_.chance(0.5) ? constant(type, shape(x), -100, 100) : graph_.add_input("z", type, shape(x));
    }
    const ValueId y = random_.chance(0.5) ? sum(x, other) : sum(other, x);
    if (fixed_ || !random_.chance(0.1)) return y;
    Attributes& attributes = graph_.nodes.back().attributes;
    attributes["bipolar"] = attributes["clip_high"] = int64_t{1};
    attributes["clip_low"] = attributes["y_zero_point"] = int64_t{0};
    return noted(y, {0, 1, true});
  }

  Random random_;
  bool twice_ = false;  // all layers round as TFLite's built-in kernels
  Graph graph_;
  bool fixed_ = false;
  int64_t fraction_ = 0, layers_left_ = 0;
  // What integer values hold.
  std::map<ValueId, int64_t> low_, high_;
  std::map<ValueId, bool> signs_;
};

// Errors (invalid input): none of the shapes that were drawn fits; take another seed.
inline Graph random_graph(uint64_t seed) { return RandomGraph(seed).run(); }
inline Graph random_unusual_graph(uint64_t seed) { return RandomGraph(seed).run_unusual(); }

}  // namespace tilewright::pipeline
