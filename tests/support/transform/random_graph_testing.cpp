// Operators are added one by one to a set of square feature maps, each reading the latest or, for branches,
// an older one. With redundancies come patterns that passes look for: BatchNormalization after Conv, pairs
// of Transposes, a Pad before a window, no-ops, twins, pixel shuffles.
#include "support/transform/random_graph_testing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "support/transform/layer_builder_testing.h"

namespace tilewright {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, const RandomGraphOptions& options) : build_(seed), options_(options) {}

  Graph run() {
    const int64_t size = draw(5, 12);
    maps_.push_back(build_.input({draw(1, 2), draw(1, 6), size, size}));
    for (int k = 0; k < options_.layers; ++k) layer();
    std::vector<ValueId> outputs = {maps_.back()};
    if (options_.dense_head && chance(0.6)) outputs = {head(maps_.back())};
    while (outputs.size() < 3 && chance(0.25)) {  // a value inside becomes an output as well
      const ValueId extra = pick();
      const bool taken = std::find(outputs.begin(), outputs.end(), extra) != outputs.end();
      if (!taken && extra != maps_.front()) outputs.push_back(extra);
    }
    return build_.finish(outputs);
  }

 private:
  int64_t draw(int64_t low, int64_t high) { return build_.random().between(low, high); }
  bool chance(double p) { return build_.random().chance(p); }
  // Mostly the last feature map, sometimes an older one.
  ValueId pick() {
    if (!options_.branches || chance(0.7)) return maps_.back();
    return maps_[size_t(draw(0, int64_t(maps_.size()) - 1))];
  }
  void push(ValueId value) { maps_.push_back(value); }

  void layer() {
    const ValueId x = pick();
    const int64_t kind = draw(0, options_.redundancies ? 16 : 6);
    switch (kind) {
      case 0:
      case 1:
        return convolution(x);
      case 2:
        return activation(x);
      case 3:
        return pooling(x);
      case 4:
        return combine(x);
      case 5:
        return concat(x);
      case 6:
        return transposed_convolution(x);
      case 7:
        return push(build_.batch_norm(x));
      case 8:
        return channel_affine(x);
      case 9:
        return padded(x);
      case 10:
        return hand_on(x);
      case 11:
        return transposed_activation(x);
      case 12:
        return reshaped(x);
      case 13:
        return sum(x);
      case 15:
        return pixel_shuffle(x);
      case 14:
        return push(build_.batch_norm(conv(x)));
      default:
        return push(build_.relu(build_.batch_norm(conv(x))));
    }
  }

  ValueId conv(ValueId x) {
    const Shape shape = build_.shape(x);
    ConvLayer layer;
    layer.group = chance(0.2) ? shape[1] : 1;
    layer.channels = layer.group * draw(1, layer.group > 1 ? 2 : 6);
    layer.kernel = draw(1, std::min<int64_t>(3, shape[2]));
    layer.pad = draw(0, layer.kernel / 2);
    layer.stride = shape[2] > 4 ? draw(1, 2) : 1;
    layer.bias = chance(0.6);
    return build_.conv(x, layer);
  }
  void convolution(ValueId x) { push(conv(x)); }

  void transposed_convolution(ValueId x) {
    if (build_.shape(x)[2] > 10) return convolution(x);
    ConvLayer layer;
    const int64_t channels = build_.shape(x)[1];
    layer.group = channels % 2 == 0 && chance(0.5) ? 2 : 1;
    layer.channels = layer.group * draw(1, 3);
    layer.kernel = draw(2, 3);
    layer.bias = chance(0.5);
    const ValueId y = build_.conv_transpose(x, layer);
    push(chance(0.5) ? build_.batch_norm(y) : y);
  }

  void activation(ValueId x) {
    const auto scalar = [&](float value) { return build_.constant(Tensor::scalar(value)); };
    switch (draw(0, options_.redundancies ? 4 : 3)) {
      case 0:
        return push(build_.node("Clip", {x, scalar(0), scalar(6)}));
      case 1:
        return push(build_.node("LeakyRelu", {x}, {{"alpha", 0.1f}}));
      case 2:
        return push(build_.node("Sigmoid", {x}));
      case 3:
        return push(build_.relu(x));
      default: {
        const ValueId y = build_.node("Max", {x, scalar(chance(0.5) ? 0.0f : -0.5f)});
        return push(chance(0.5) ? build_.relu(y) : build_.node("Min", {scalar(0.6f), y}));
      }
    }
  }

  void pooling(ValueId x) {
    const int64_t size = build_.shape(x)[2];
    if (size < 3) return activation(x);
    const bool whole = chance(0.15);
    const int64_t kernel = whole ? size : draw(2, 3);
    push(build_.pool(x, chance(0.5) ? "MaxPool" : "AveragePool", kernel, draw(1, 2), whole ? 0 : draw(0, 1)));
  }

  // Another feature map of the same shape, or kNoValue.
  ValueId partner(ValueId x, bool channels_too) {
    std::vector<ValueId> fitting;
    for (const ValueId other : maps_) {
      Shape shape = build_.shape(other);
      if (!channels_too) shape[1] = build_.shape(x)[1];
      if (other != x && shape == build_.shape(x)) fitting.push_back(other);
    }
    if (fitting.empty()) return kNoValue;
    return fitting[size_t(draw(0, int64_t(fitting.size()) - 1))];
  }

  void combine(ValueId x) {
    const ValueId other = partner(x, true);
    if (other == kNoValue || !options_.branches) return activation(x);
    const ValueId y = build_.add(x, other);
    push(chance(0.5) ? build_.relu(y) : y);
  }

  void concat(ValueId x) {
    const ValueId other = partner(x, false);
    if (other == kNoValue || !options_.branches || build_.shape(x)[1] + build_.shape(other)[1] > 16) {
      return push(build_.node("Concat", {x}, {{"axis", int64_t{1}}}));
    }
    push(build_.node("Concat", {x, other}, {{"axis", int64_t{1}}}));
  }

  void channel_affine(ValueId x) {
    const int64_t channels = build_.shape(x)[1];
    const ValueId base = chance(0.6) ? conv(x) : x;
    const int64_t size = base == x ? channels : build_.shape(base)[1];
    const char* const ops[] = {"Mul", "Add", "Sub", "Div"};
    const Shape shape = chance(0.3) ? Shape{} : Shape{size, 1, 1};
    const ValueId constant = build_.uniform(shape, 0.5, 1.5, "affine");
    const std::string op = ops[draw(0, 3)];
    const bool reversed = op != "Div" && chance(0.3);
    push(reversed ? build_.node(op, {constant, base}) : build_.node(op, {base, constant}));
  }

  void padded(ValueId x) {
    if (build_.shape(x)[2] > 10) return activation(x);
    std::vector<int64_t> amounts(8, 0);
    amounts[2] = amounts[7] = draw(0, 1);  // the map stays square
    amounts[3] = amounts[6] = draw(0, 1);
    if (chance(0.1)) amounts[1] = 1;
    const ValueId source = chance(0.5) ? build_.relu(x) : x;
    const float value = chance(0.8) ? 0.0f : 0.5f;
    const ValueId y = build_.pad(source, amounts, value);
    if (chance(0.2)) maps_.push_back(y);  // the padded value gets a second reader
    switch (build_.shape(y)[2] < 2 ? 0 : draw(0, 2)) {
      case 0:
        return convolution(y);
      case 1:
        return push(build_.pool(y, "MaxPool", 2, 2, 0));
      default:
        return push(build_.pool(y, "AveragePool", 2, 1, 0));
    }
  }

  void hand_on(ValueId x) {
    const Shape shape = build_.shape(x);
    switch (draw(0, 6)) {
      case 6:
        return push(build_.add(build_.relu(x), build_.relu(x)));  // twins
      case 0:
        return push(build_.node("Identity", {x}));
      case 1:
        return push(build_.node("Dropout", {x}));
      case 2:
        return push(build_.reshape(x, shape.dims()));
      case 3:
        return push(build_.transpose(x, {0, 1, 2, 3}));
      case 4:
        return push(build_.node("Cast", {x}, {{"to", int64_t{1}}}));
      default:
        return push(build_.pad(x, std::vector<int64_t>(8, 0)));
    }
  }

  // What an importer of an NHWC model leaves: Transpose, something element-wise, Transpose.
  void transposed_activation(ValueId x) {
    ValueId y = build_.transpose(x, {0, 2, 3, 1});
    if (chance(0.5)) y = build_.relu(y);
    if (chance(0.3)) y = build_.add(y, build_.uniform({build_.shape(y)[3]}));
    if (chance(0.2)) y = build_.node("Concat", {y, y}, {{"axis", int64_t{3}}});
    if (chance(0.2)) y = build_.pad(y, {0, 1, 1, 0, 0, 1, 1, 0});
    if (build_.shape(y)[3] > 16) return activation(x);
    push(build_.transpose(y, {0, 3, 1, 2}));
  }

  void reshaped(ValueId x) {
    const Shape shape = build_.shape(x);
    const ValueId flat = build_.reshape(x, {shape[0], -1});
    push(build_.reshape(chance(0.3) ? build_.relu(flat) : flat, shape.dims()));
  }

  void pixel_shuffle(ValueId x) {
    const Shape shape = build_.shape(x);
    if (shape[2] > 5) return convolution(build_.batch_norm(x));
    const int64_t channels = draw(1, 3);
    ConvLayer layer;
    layer.channels = 4 * channels;
    layer.kernel = 1;
    const ValueId y = build_.conv(x, layer);
    const bool crd = chance(0.5);
    const std::vector<int64_t> split =
        crd ? std::vector<int64_t>{shape[0], channels, 2, 2, shape[2], shape[3]}
            : std::vector<int64_t>{shape[0], 2, 2, channels, shape[2], shape[3]};
    const std::vector<int64_t> perm =
        crd ? std::vector<int64_t>{0, 1, 4, 2, 5, 3} : std::vector<int64_t>{0, 3, 4, 1, 5, 2};
    push(build_.reshape(build_.transpose(build_.reshape(y, split), perm),
                        {shape[0], channels, 2 * shape[2], 2 * shape[3]}));
  }

  void sum(ValueId x) {
    const ValueId a = partner(x, true), b = partner(x, true);
    std::vector<ValueId> terms = {x};
    if (a != kNoValue) terms.push_back(a);
    if (b != kNoValue && chance(0.5)) terms.push_back(b);
    push(build_.node("Sum", terms));
  }

  // Every combination of a Gemm's factors and operands; the sum after it may be a bias.
  ValueId gemm(ValueId x, int64_t columns) {
    const int64_t rows = build_.shape(x)[0], depth = build_.shape(x)[1];
    const bool transposed = chance(0.5);
    Attributes attributes = {{"transB", int64_t{transposed}}};
    if (chance(0.5)) attributes["alpha"] = 0.5f;
    if (chance(0.5)) attributes["beta"] = chance(0.3) ? 0.0f : 1.5f;
    const Shape weights = transposed ? Shape{columns, depth} : Shape{depth, columns};
    std::vector<ValueId> inputs = {x, build_.uniform(weights, -0.3, 0.3)};
    const Shape shapes[] = {{columns}, {1, columns}, {rows, 1}, {1}, {rows, columns}};
    if (chance(0.5)) inputs.push_back(build_.uniform(shapes[draw(0, 4)], -0.5, 0.5, "b"));
    const ValueId y = build_.node("Gemm", inputs, attributes);
    return chance(0.5) ? build_.add(y, build_.uniform(shapes[draw(0, 4)], -0.5, 0.5, "c")) : y;
  }

  ValueId head(ValueId x) {
    const Shape shape = build_.shape(x);
    ValueId y = x;
    switch (draw(0, 3)) {
      case 0:
        y = build_.node("GlobalAveragePool", {x});
        break;
      case 1:
        y = build_.node("ReduceMean", {x}, {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}});
        break;
      case 2: {
        const ValueId nhwc = build_.transpose(x, {0, 2, 3, 1});
        y = build_.node("ReduceMean", {nhwc},
                        {{"axes", std::vector<int64_t>{1, 2}}, {"keepdims", int64_t{0}}});
        break;
      }
      default:
        break;
    }
    if (build_.shape(y).rank() != 2) {
      y = chance(0.5) ? build_.node("Flatten", {y}, {{"axis", int64_t{1}}})
                      : build_.reshape(y, {shape[0], -1});
    }
    const int64_t columns = draw(2, 6);
    if (chance(0.5)) {
      y = build_.node("MatMul", {y, build_.uniform({build_.shape(y)[1], columns}, -0.3, 0.3)});
      if (chance(0.7)) y = build_.add(y, build_.uniform({columns}));
    } else {
      y = chance(0.5) ? build_.dense(y, columns) : gemm(y, columns);
    }
    return chance(0.5) ? build_.node("Softmax", {y}, {{"axis", int64_t{-1}}}) : y;
  }

  LayerBuilder build_;
  RandomGraphOptions options_;
  std::vector<ValueId> maps_;  // feature maps, N x C x H x W with H = W
};

}  // namespace

Graph random_graph(uint64_t seed, const RandomGraphOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace tilewright
