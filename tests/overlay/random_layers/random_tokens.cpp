// Random operators of transformers with their reference results: products of two activations with heads in
// all places, softmax and norms over rows of any length.
#include <algorithm>

#include "random_layer.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/graph.h"
#include "tilewright/tensor/reference_rows.h"

namespace tilewright::random_layers {
namespace {

class TokenBuilder {
 public:
  TokenBuilder(uint64_t seed, const OverlayHardware& hardware) : random_(seed), block_(hardware.block_in) {
    output_.y_zero_point = int32_t(random_.between(-128, 127));
    if (random_.chance(0.3)) {
      output_.clip_low = int32_t(random_.between(-128, 0));
      output_.clip_high = int32_t(random_.between(output_.clip_low, 127));
    }
  }

  Case product() {
    ProductParameters p;
    p.transpose_b = random_.chance(0.5);
    if (random_.chance(0.7)) {
      p.groups = random_.between(1, 3);
      p.heads = p.groups * random_.between(1, 2);
    }
    const bool heads = p.heads > 1, groups = p.groups > 1;
    p.a_columns = random_.chance(0.5);
    p.b_columns = random_.chance(0.5);
    p.y_columns = random_.chance(0.5);
    const int64_t m = random_.between(1, 40),
                  n = size(!p.transpose_b && groups && p.b_columns, heads && p.y_columns),
                  k = size(p.transpose_b, heads && p.a_columns);
    const int64_t b_rows = p.transpose_b ? n : k, b_columns = p.transpose_b ? k : n;
    const int64_t matrices = std::max<int64_t>(p.groups, 1);
    const Tensor a = values(ElementType::kI8, p.a_columns ? Shape{m, p.heads * k} : Shape{p.heads * m, k});
    const Tensor b = values(ElementType::kI8, p.b_columns ? Shape{b_rows, matrices * b_columns}
                                                          : Shape{matrices * b_rows, b_columns});
    p.a_zero_point = random_.chance(0.3) ? 0 : int32_t(random_.between(-128, 127));
    p.multiplier = int32_t(random_.between(1 << 30, INT32_MAX));
    p.shift = int32_t(random_.between(36, 46));
    p.output = output_;
    Node& node = build("QMatMul", {a, b}, {});
    const std::pair<const char*, int64_t> attributes[] = {
        {"transpose_b", p.transpose_b},   {"heads", p.heads},           {"groups", p.groups},
        {"a_columns", p.a_columns},       {"b_columns", p.b_columns},   {"y_columns", p.y_columns},
        {"a_zero_point", p.a_zero_point}, {"multiplier", p.multiplier}, {"shift", p.shift}};
    for (const auto& [name, value] : attributes) node.attributes[name] = value;
    const Tensor result = reference_product(a, b, p);
    const bool side_by_side = heads && p.y_columns;
    return side_by_side || random_.chance(0.5) ? finish(node, result) : with_softmax(node, result);
  }

  Case softmax() {
    const Tensor x = values(ElementType::kI8, {random_.between(1, 40), random_.between(1, 7 * block_)});
    const Tensor table = exponentials(x.shape()[1]);
    const SoftmaxParameters p = softmax_parameters(table);
    Node& node = build("QSoftmax", {x}, {table});
    node.attributes["numerator"] = p.numerator;
    node.attributes["shift"] = int64_t{p.shift};
    return finish(node, reference_softmax(x, table, p));
  }

  Case norm() {
    const bool wide = random_.chance(0.4);
    const int64_t channels = random_.between(1, 7 * block_);
    const Tensor x = values(wide ? ElementType::kI16 : ElementType::kI8, {random_.between(1, 40), channels});
    NormParameters p;
    p.x_zero_point = int32_t(wide ? random_.between(-32768, 32767) : random_.between(-128, 127));
    p.center = random_.chance(0.6);
    p.fraction = int32_t(random_.between(0, wide ? 4 : 8));
    p.epsilon = random_.chance(0.5) ? random_.between(1, 1000) : random_.between(1, kMostEpsilon);
    p.output = output_;
    const int64_t scales = random_.chance(0.7) ? channels : 1;
    Tensor bias(ElementType::kI32, {channels}), multiplier(ElementType::kI32, {scales}),
        shift(ElementType::kI32, {scales});
    for (int64_t c = 0; c < channels; ++c) bias.set_integer(c, random_.between(-(1 << 30), 1 << 30));
    for (int64_t c = 0; c < scales; ++c) {
      const int64_t factor = random_.between(1 << 30, INT32_MAX);
      multiplier.set_integer(c, random_.chance(0.3) ? -factor : factor);
      shift.set_integer(c, random_.between(40, 60));
    }
    Node& node = build("QLayerNorm", {x}, {bias, multiplier, shift});
    node.attributes["x_zero_point"] = int64_t{p.x_zero_point};
    node.attributes["center"] = int64_t{p.center};
    node.attributes["fraction"] = int64_t{p.fraction};
    node.attributes["epsilon"] = p.epsilon;
    return finish(node, reference_norm(x, bias, multiplier, shift, p));
  }

 private:
  // For rows of this length.
  Tensor exponentials(int64_t length) {
    const int64_t one = random_.between(1, std::min(kMostExponential, INT32_MAX / length));
    Tensor table(ElementType::kI32, {256});
    for (int64_t i = 0; i < 256; ++i) table.set_integer(i, i == 0 ? one : random_.between(0, one));
    return table;
  }

  SoftmaxParameters softmax_parameters(const Tensor& table) {
    SoftmaxParameters p;
    p.numerator = random_.between(1, table.integer_at(0) * INT32_MAX);
    p.shift = int32_t(random_.between(0, 62));
    p.output = output_;
    return p;
  }

  // The product's node, which gives `scores`, with a softmax of its rows.
  Case with_softmax(Node& node, const Tensor& scores) {
    const Tensor table = exponentials(scores.shape()[1]);
    SoftmaxParameters p = softmax_parameters(table);
    p.output.y_zero_point = int32_t(random_.between(-128, 127));
    p.output.clip_low = int32_t(random_.between(-128, 0));
    p.output.clip_high = int32_t(random_.between(p.output.clip_low, 127));
    node.inputs.push_back(result_.graph.add_constant("table", table));
    node.attributes["softmax_numerator"] = p.numerator;
    node.attributes["softmax_shift"] = int64_t{p.shift};
    node.attributes["softmax_zero_point"] = int64_t{p.output.y_zero_point};
    node.attributes["softmax_clip_low"] = int64_t{p.output.clip_low};
    node.attributes["softmax_clip_high"] = int64_t{p.output.clip_high};
    return finish(node, reference_softmax(scores, table, p));
  }

  // Whole blocks where one of the conditions needs them.
  int64_t size(bool whole, bool also) {
    return whole || also ? block_ * random_.between(1, 4) : random_.between(1, 5 * block_);
  }

  // Whole ranges, narrow ones, and rows of one value.
  Tensor values(ElementType type, Shape shape) {
    Tensor tensor(type, std::move(shape));
    const int64_t low = lowest(type), high = highest(type);
    const int64_t middle = random_.between(low, high),
                  spread = random_.chance(0.3) ? random_.between(0, 5) : high - low;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      tensor.set_integer(i, random_.between(std::max(low, middle - spread), std::min(high, middle + spread)));
    }
    return tensor;
  }

  Node& build(const char* op, const std::vector<Tensor>& data, const std::vector<Tensor>& constants) {
    std::vector<ValueId> ids;
    for (const Tensor& tensor : data) {
      ids.push_back(result_.graph.add_input("x", tensor.type(), tensor.shape()));
      result_.inputs.insert_or_assign(ids.back(), tensor);
    }
    for (const Tensor& tensor : constants) ids.push_back(result_.graph.add_constant("c", tensor));
    const ValueId y = result_.graph.add_value("y", ElementType::kI8, Shape{1});
    result_.graph.outputs = {y};
    Node& node = result_.graph.add_node("layer", op, ids, {y}, kTilewrightDomain);
    node.attributes["y_zero_point"] = int64_t{output_.y_zero_point};
    node.attributes["clip_low"] = int64_t{output_.clip_low};
    node.attributes["clip_high"] = int64_t{output_.clip_high};
    return node;
  }

  Case finish(Node& node, Tensor expected) {
    result_.graph.value(node.outputs[0]).shape = expected.shape();
    result_.expected = std::move(expected);
    return std::move(result_);
  }

  Random random_;
  int64_t block_;
  OutputStage output_;
  Case result_;
};

}  // namespace

Case make_token_case(uint64_t seed, Kind kind, const OverlayHardware& hardware) {
  TokenBuilder builder(seed, hardware);
  if (kind == Kind::kMatrices) return builder.product();
  return kind == Kind::kSoftmax ? builder.softmax() : builder.norm();
}

}  // namespace tilewright::random_layers
