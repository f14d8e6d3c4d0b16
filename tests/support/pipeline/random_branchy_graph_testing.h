// Random graphs whose branches are cut, moved, multiplied and put together again, with windows of every kind,
// several inputs and outputs.
#pragma once

#include "support/pipeline/random_network_graph_testing.h"

namespace tilewright::pipeline {

class RandomBranchyGraph : private RandomGraph {
 public:
  explicit RandomBranchyGraph(uint64_t seed) : RandomGraph(seed) {}

  Graph run() {
    fixed_ = random_.chance(0.15);
    const int64_t rows = random_.between(2, 9), columns = random_.chance(0.7) ? rows : random_.between(2, 9);
    ValueId value = graph_.add_input("input", fixed_ ? ElementType::kI32 : ElementType::kI8,
                                     {1, channels(), rows, columns});
    std::vector<ValueId> made = {convolution(value, false)};
    if (random_.chance(0.2)) {
      value = graph_.add_input("second", graph_.value(value).type, {1, channels(), rows, columns});
      made.push_back(random_.chance(0.5) ? value : convolution(value, false));
    }
    for (int64_t left = random_.between(1, 5); left > 0; --left) {
      const ValueId x =
          random_.chance(0.6) ? made.back() : made[size_t(random_.between(0, int64_t(made.size()) - 1))];
      made.push_back(random_.chance(0.2) ? layer(x) : branchy(x, made));
    }
    if (random_.chance(0.7))
      made.push_back(random_.chance(0.3) ? dense(made.back()) : convolution(made.back(), false));
    graph_.outputs = {made.back()};
    if (random_.chance(0.2) && made[0] != made.back()) graph_.outputs.push_back(made[0]);
    graph_.remove_dead();
    return std::move(graph_);
  }

 private:
  // Of a value and one of its shape, of its channels or of its pixels; the other is made if there is none.
  ValueId product(ValueId x, const std::vector<ValueId>& made) {
    if (fixed_) return sum(x, convolution(x, false));
    ValueId other = x;
    if (random_.chance(0.5)) {
      const int64_t rows = shape(x)[2], columns = shape(x)[3];
      other = add("GlobalMaxPool", {x}, {});
      kept(other, x);
      other = weighted("Conv", other, {shape(x)[1], shape(x)[1], 1, 1}, {});
      if (random_.chance(0.3)) other = looked_up(other);
      if (rows * columns == 1) return product_of(x, other);
    } else if (random_.chance(0.3)) {
      other = weighted("Conv", x, {1, shape(x)[1], 1, 1}, {});
    } else {
      for (const ValueId value : made) {
        if (shape(value) == shape(x)) other = value;
      }
      if (other == x) other = weighted("Conv", x, {shape(x)[1], shape(x)[1], 1, 1}, {});
    }
    return random_.chance(0.5) ? product_of(x, other) : product_of(other, x);
  }
  ValueId product_of(ValueId a, ValueId b) {
    Attributes attributes;
    Output out = output(attributes);
    attributes.erase("bipolar");
    out.bipolar = false;
    attributes["a_zero_point"] = random_.between(low(a), high(a));
    attributes["b_zero_point"] = random_.between(low(b), high(b));
    const Requantization r = scale(double(high(a) - low(a) + 1) * double(high(b) - low(b) + 1) / 6 + 1, out);
    attributes["multiplier"] = int64_t{r.multiplier};
    attributes["shift"] = int64_t{r.shift};
    return noted(add("QMul", {a, b}, std::move(attributes)), out);
  }

  ValueId integers(std::vector<int64_t> values) {
    Tensor tensor(ElementType::kI64, {int64_t(values.size())});
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, values[size_t(i)]);
    return graph_.add_constant("sizes", tensor);
  }

  ValueId branchy(ValueId x, const std::vector<ValueId>& made) {
    switch (random_.between(0, 11)) {
      case 10:
      case 11:
        return product(x, made);
      case 0:
      case 1:
        return concatenation(x, made);
      case 2:
      case 3:
        return slice(x);
      case 4:
        return kept(pad(x), x);
      case 5:
        return kept(resize(x), x);
      case 6:
        return kept(rearranged(x), x);
      case 7:
        return transposed(x);
      default:
        return wide_convolution(x);
    }
  }

  // Along any axis, of two or three values whose other axes are the same; or of a value and what layers make
  // of it.
  ValueId concatenation(ValueId x, const std::vector<ValueId>& made) {
    const int64_t axis = random_.chance(0.7) ? 1 : random_.between(2, 3);
    std::vector<ValueId> parts;
    for (const ValueId other : made) {
      Shape one = shape(x), two = shape(other);
      if (other == x || two.rank() != one.rank()) continue;
      bool same = true;
      for (int a = 0; a < one.rank(); ++a) same = same && (a == axis || one[a] == two[a]);
      if (same && random_.chance(0.7)) parts.push_back(other);
    }
    if (parts.empty()) {
      const auto one = [&](ValueId from) {
        return weighted("Conv", from, {axis == 1 ? channels() : shape(x)[1], shape(from)[1], 1, 1}, {});
      };
      parts.push_back(one(x));
      if (random_.chance(0.5)) parts.push_back(one(parts[0]));
    }
    parts.insert(parts.begin() + random_.between(0, int64_t(parts.size())), x);
    const ValueId y = add("Concat", parts, {{"axis", axis}});
    if (fixed_) return y;
    low_[y] = 127, high_[y] = -128, signs_[y] = true;
    for (const ValueId part : parts) {
      low_[y] = std::min(low_[y], low(part)), high_[y] = std::max(high_[y], high(part));
      signs_[y] = signs_[y] && signs_[part];
    }
    return y;
  }

  ValueId slice(ValueId x) {
    const int64_t axis = random_.between(1, 3), size = shape(x)[int(axis)];
    const int64_t first = random_.between(0, size - 1), last = random_.between(first + 1, size);
    const int64_t step = axis > 1 && random_.chance(0.4) ? random_.between(1, 3) : 1;
    return kept(
        add("Slice", {x, integers({first}), integers({last}), integers({axis}), integers({step})}, {}), x);
  }

  ValueId pad(ValueId x) {
    std::vector<int64_t> pads(8, 0);
    for (const int axis : {2, 3, 6, 7}) pads[size_t(axis)] = random_.between(0, 2);
    Tensor value(fixed_ ? ElementType::kI32 : ElementType::kI8, {});
    value.set_integer(0, fixed_ ? 100 : random_.between(low(x), high(x)));
    if (signs_[x]) value.set_integer(0, 1);
    return add("Pad", {x, integers(pads), graph_.add_constant("value", value)}, {});
  }

  ValueId resize(ValueId x) {
    Tensor scales(ElementType::kF32, {4});
    const double factors[] = {1, 1, double(random_.between(1, 3)), double(random_.between(1, 3))};
    for (int64_t i = 0; i < 4; ++i) scales.mutable_data<float>()[size_t(i)] = float(factors[i]);
    return add(
        "Resize", {x, kNoValue, graph_.add_constant("scales", scales)},
        {{"mode", std::string("nearest")},
         {"coordinate_transformation_mode", std::string(random_.chance(0.5) ? "asymmetric" : "half_pixel")},
         {"nearest_mode", std::string(random_.chance(0.5) ? "floor" : "round_prefer_floor")}});
  }

  // Between space and depth, and channels shuffled between groups.
  ValueId rearranged(ValueId x) {
    const Shape from = shape(x);
    if (from[2] % 2 == 0 && from[3] % 2 == 0 && random_.chance(0.5)) {
      return add("SpaceToDepth", {x}, {{"blocksize", int64_t{2}}});
    }
    if (from[1] % 4 == 0 && random_.chance(0.5)) {
      return add("DepthToSpace", {x},
                 {{"blocksize", int64_t{2}}, {"mode", std::string(random_.chance(0.5) ? "DCR" : "CRD")}});
    }
    const int64_t groups = from[1] % 3 == 0 ? 3 : from[1] % 2 == 0 ? 2 : 1;
    const ValueId five = add("Reshape", {x, integers({1, groups, from[1] / groups, from[2], from[3]})}, {});
    const ValueId turned = add("Transpose", {five}, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}});
    return add("Reshape", {turned, integers({1, from[1], from[2], from[3]})}, {});
  }

  // In groups, with dilations.
  ValueId wide_convolution(ValueId x) {
    const int64_t in = shape(x)[1];
    std::vector<int64_t> groups;
    for (int64_t g = 1; g <= in; ++g) {
      if (in % g == 0) groups.push_back(g);
    }
    const int64_t group = groups[size_t(random_.between(0, int64_t(groups.size()) - 1))];
    const int64_t outputs = group * random_.between(1, std::max<int64_t>(1, 16 / group));
    const int64_t kernel = std::min({shape(x)[2], shape(x)[3], random_.between(1, 3)});
    const int64_t dilation = random_.chance(0.6) ? random_.between(1, 3) : 1;
    const int64_t reach = (kernel - 1) * dilation, pad = random_.chance(0.6) ? reach / 2 : reach;
    const int64_t stride = random_.chance(0.8) ? 1 : 2;
    Attributes attributes{{"group", group},
                          {"dilations", std::vector<int64_t>{dilation, dilation}},
                          {"strides", std::vector<int64_t>{stride, stride}},
                          {"pads", std::vector<int64_t>{pad, pad, pad, pad}}};
    if (!fixed_ && random_.chance(0.5)) attributes["pad_value"] = random_.between(low(x), high(x));
    return weighted("Conv", x, {outputs, in / group, kernel, kernel}, std::move(attributes));
  }

  ValueId transposed(ValueId x) {
    if (fixed_) return wide_convolution(x);
    const int64_t in = shape(x)[1], group = in % 2 == 0 && random_.chance(0.3) ? 2 : 1;
    const int64_t kernel = random_.between(1, 4), stride = random_.between(1, 3);
    const int64_t pad = random_.between(0, kernel - 1);
    Attributes attributes{{"group", group},
                          {"strides", std::vector<int64_t>{stride, stride}},
                          {"pads", std::vector<int64_t>{pad, pad, pad, pad}}};
    if (stride > 1 && random_.chance(0.3)) attributes["output_padding"] = std::vector<int64_t>{1, 1};
    const int64_t outputs = random_.between(1, 4);
    // weighted() counts channels by the first axis; here that is the input's.
    int64_t magnitude = 1;
    const ValueId w = weights({in, outputs, kernel, kernel}, &magnitude);
    const double size =
        std::sqrt(double(in * kernel * kernel)) * double(magnitude) * double(high(x) - low(x)) / 4 + 1;
    const Output out = output(attributes);
    const ValueId bias = constant(ElementType::kI32, {outputs * group}, -int64_t(size), int64_t(size));
    const Requantization r = scale(size, out);
    const ValueId m = constant(ElementType::kI32, {1}, r.multiplier, r.multiplier);
    const ValueId s = constant(ElementType::kI32, {1}, r.shift, r.shift);
    return noted(add("QConvTranspose", {x, w, bias, m, s}, std::move(attributes)), out);
  }
};

// Errors as those of random_graph.
inline Graph random_branchy_graph(uint64_t seed) { return RandomBranchyGraph(seed).run(); }

}  // namespace tilewright::pipeline
