// One walk: each value is followed with the axis that its tokens lie on, on which the new value has one
// entry. What depends on a token's place is gathered from its table. Where a product needs the rows of all
// tokens, the rows that are known end in a cache, and the moves from there on are repeated behind it.
#include "tilewright/transform/token_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/transform/edit/permutation.h"

namespace tilewright {
namespace {

// The axis of a value on which its tokens lie: `outer` times all of them, each `inner` times. The last axis
// of one with `keys` stands for the tokens that a token looks at; with `shares` it is zero for later ones.
struct TokenAxis {
  int axis = -1;
  int64_t outer = 1, inner = 1;
  bool keys = false, shares = false;

  bool any() const { return axis >= 0; }
};

class TokenStep {
 public:
  explicit TokenStep(const Graph& window) : window_(window), producers_(window.producers()) {}

  Graph run() {
    step_.name = window_.name;
    step_.rounding = window_.rounding;
    known_.resize(window_.values.size(), kNoValue);
    axes_.resize(window_.values.size());
    add_inputs();
    for (const Node& node : window_.nodes) {
      if (!node.outputs.empty() && can_follow(node)) follow(node);
    }
    problems_.raise_if_any("the network of one token");
    for (const ValueId output : window_.outputs) {
      if (!axes_[size_t(output)].any()) {
        throw Error(ErrorKind::kUnsupported,
                    fmt::format("output '{}' has no row for each token", window_.value(output).name));
      }
      step_.outputs.push_back(known_[size_t(output)]);
    }
    for (const ValueId cache : caches_) step_.outputs.push_back(cache);
    step_.remove_dead();
    return std::move(step_);
  }

 private:
  const Shape& shape_of(ValueId id) const { return window_.value(id).shape; }
  const std::string& name_of(ValueId id) const { return window_.value(id).name; }
  TokenAxis& axis_of(ValueId id) { return axes_[size_t(id)]; }

  void add_inputs() {
    const bool one = window_.inputs.size() == 1;
    const Value* given = one ? &window_.value(window_.inputs[0]) : nullptr;
    const bool numbers = one && (given->type == ElementType::kI64 || given->type == ElementType::kI32);
    const Shape shape = one ? given->shape : Shape{};
    if (!numbers || shape.rank() < 1 || shape.rank() > 2 || shape.element_count() < 2 ||
        shape[shape.rank() - 1] != shape.element_count()) {
      throw Error(
          ErrorKind::kUnsupported,
          fmt::format("a network that decodes has one input, the numbers of its tokens, [1, tokens]; this "
                      "one has {}",
                      one ? fmt::format("'{}' {}", given->name, to_string(given->type, shape))
                          : fmt::format("{} inputs", window_.inputs.size())),
          "take a language model that was read with a window of fixed length");
    }
    tokens_ = shape.element_count();
    const ValueId old = window_.inputs[0];
    axis_of(old) = {.axis = shape.rank() - 1};
    const std::string name = given->name == "position" ? "token" : given->name;
    known_[size_t(old)] = step_.add_input(name, given->type, step_shape(old));
    position_ = step_.add_input("position", ElementType::kI64, Shape{1});
  }

  // Of the new value.
  Shape step_shape(ValueId old) const {
    const TokenAxis& axis = axes_[size_t(old)];
    std::vector<int64_t> dims(shape_of(old).begin(), shape_of(old).end());
    if (axis.any()) dims[size_t(axis.axis)] = axis.outer * axis.inner;
    return Shape(dims);
  }

  // Whether all inputs are there; those of a node that was refused are not.
  bool can_follow(const Node& node) {
    for (const ValueId v : node.inputs) {
      if (v == kNoValue || known_[size_t(v)] != kNoValue) continue;
      if (!window_.is_constant(v)) return false;
      known_[size_t(v)] = step_.add_constant(name_of(v), *window_.value(v).constant);
    }
    return true;
  }

  bool refuse(const Node& node, const std::string& reason) {
    problems_.error(
        ErrorKind::kUnsupported, where(node), node.op, reason,
        "a network that decodes must look at earlier tokens only, through attention with a causal mask");
    return false;
  }

  void follow(const Node& node) {
    TokenAxis axis;
    for (const ValueId v : node.inputs)
      if (v != kNoValue && axis_of(v).any() && !axis.any()) axis = axis_of(v);
    entries_.clear();
    if (!axis.any()) return copy(node, {});
    if (find_axis(node, axis)) finish(node, axis);
  }

  // The same node, on values of one token.
  void copy(const Node& node, TokenAxis axis) {
    std::vector<ValueId> inputs;
    for (int i = 0; i < int(node.inputs.size()); ++i) {
      const auto entry = entries_.find(i);
      const ValueId v = node.input(i);
      inputs.push_back(entry != entries_.end() ? entry->second : v == kNoValue ? v : known_[size_t(v)]);
    }
    emit(node, node.op, std::move(inputs), axis);
  }

  Node& emit(const Node& node, const std::string& op, std::vector<ValueId> inputs, TokenAxis axis) {
    std::vector<ValueId> outputs;
    for (const ValueId v : node.outputs) {
      if (v == kNoValue) {
        outputs.push_back(kNoValue);
        continue;
      }
      axis_of(v) = axis;
      known_[size_t(v)] = step_.add_value(name_of(v), window_.value(v).type, step_shape(v));
      outputs.push_back(known_[size_t(v)]);
    }
    Node& made = step_.add_node(node.name, op, std::move(inputs), std::move(outputs), node.domain);
    made.attributes = node.attributes;
    return made;
  }

  // How many inputs are broadcast against each other; the others are parameters.
  static int operands(const Node& node) {
    if (node.is_tilewright("QAdd") || node.is_tilewright("QMul") || node.is_tilewright("QRescaledAdd"))
      return 2;
    return operator_class(node) == OperatorClass::kBroadcast ? int(node.inputs.size()) : 1;
  }

  // Where the result's tokens lie. False: refused.
  bool find_axis(const Node& node, TokenAxis& axis) {
    const ValueId x = node.input(0), y = node.outputs[0];
    const int last = shape_of(y).rank() - 1;
    switch (operator_class(node)) {
      case OperatorClass::kElementwise:
      case OperatorClass::kBroadcast:
      case OperatorClass::kConversion:
        return find_broadcast_axis(node, axis);
      case OperatorClass::kCopy:
        return true;
      case OperatorClass::kReshape:
        return reshape_axis(node, axis);
      default:
        break;
    }
    if (node.is("Gather")) {
      if (axis_of(x).any()) return refuse(node, "it picks among tokens");
      const int64_t given = node.int_or("axis", 0);
      axis.axis += int(given < 0 ? given + shape_of(x).rank() : given);
      return true;
    }
    if (node.is("Transpose")) {
      const std::vector<int64_t> order = permutation_of(node, shape_of(x).rank());
      if (axis.keys && order.back() != shape_of(x).rank() - 1) return refuse(node, "it turns scores");
      axis.axis = int(std::ranges::find(order, axis.axis) - order.begin());
      return true;
    }
    if (node.is_tilewright("QMatMul")) return product_axis(node, axis);
    if (!only_data_of_tokens(node)) return refuse(node, "its parameters depend on tokens");
    if (axis.axis == last && shape_of(y).rank() > 1) return refuse(node, "it works across tokens");
    if (node.is_tilewright("QSoftmax")) return softmax_axis(node, axis);
    if (axis.keys) return refuse(node, "it works across the scores of tokens");
    if (node.is_tilewright("QRotary"))
      return (axis.axis == last - 1 && axis.outer * axis.inner == 1 && node.int_or("heads", 1) == 1) ||
             refuse(node, "its tokens do not lie beside its angles");
    const bool of_rows = node.is("LayerNormalization") || node.is("RMSNormalization") || node.is("Softmax");
    if (node.is_tilewright("QLayerNorm") || (of_rows && node.int_or("axis", -1) == -1)) return true;
    if (node.is("MatMul") && !axis_of(node.input(1)).any()) return true;
    if (node.is_tilewright("QGemm")) return axis.axis == 0 || refuse(node, "its tokens are not its rows");
    if (node.is("Slice") || node.is("Split") || node.is("Concat")) return keeps_tokens(node, axis);
    return refuse(node, "it has no form for one token");
  }

  // Whether its data have an axis of tokens and its other inputs, unless they are data as well, none.
  bool only_data_of_tokens(const Node& node) {
    for (int i = 0; i < int(node.inputs.size()); ++i) {
      const bool data = i == 0 || node.is("Concat");
      if (node.has_input(i) && axis_of(node.input(i)).any() != data) return false;
    }
    return true;
  }

  bool keeps_tokens(const Node& node, const TokenAxis& axis) {
    const bool concat = node.is("Concat");
    for (const ValueId v : concat ? node.inputs : std::vector<ValueId>{node.input(0)}) {
      const TokenAxis& other = axis_of(v);
      if (other.axis != axis.axis || other.outer != axis.outer || other.inner != axis.inner)
        return refuse(node, "it joins values of tokens with others");
    }
    for (const ValueId v : node.outputs) {
      if (shape_of(v)[axis.axis] != shape_of(node.input(0))[axis.axis])
        return refuse(node, "it takes some of the tokens");
    }
    return true;
  }

  bool find_broadcast_axis(const Node& node, TokenAxis& axis) {
    const int rank = shape_of(node.outputs[0]).rank();
    std::optional<TokenAxis> found;
    for (int i = 0; i < operands(node); ++i) {
      const ValueId v = node.input(i);
      if (v == kNoValue || !axis_of(v).any()) continue;
      TokenAxis here = axis_of(v);
      here.axis += rank - shape_of(v).rank();
      if (found && (found->axis != here.axis || found->outer != here.outer || found->inner != here.inner))
        return refuse(node, "it combines values of different tokens");
      here.shares = false;  // what it makes of zero need not be zero
      if (found) here.keys = here.keys || found->keys;
      found = here;
    }
    if (!found) return refuse(node, "its parameters depend on tokens");
    // A table of numbers by place.
    for (int i = 0; i < operands(node); ++i) {
      const ValueId v = node.input(i);
      if (v == kNoValue || axis_of(v).any()) continue;
      const int at = found->axis - (rank - shape_of(v).rank());
      if (at < 0 || shape_of(v)[at] == 1) continue;
      if (found->outer * found->inner != 1 || shape_of(v)[at] != tokens_)
        return refuse(node, fmt::format("'{}' has numbers by token in a way without a lowering", name_of(v)));
      entries_[i] = at_position(known_[size_t(v)], at);
    }
    axis = *found;
    return true;
  }

  // The entry of a table for the token's place.
  ValueId at_position(ValueId table, int axis) {
    const auto [at, is_new] = gathered_.try_emplace({table, axis}, kNoValue);
    if (!is_new) return at->second;
    std::vector<int64_t> dims(step_.value(table).shape.begin(), step_.value(table).shape.end());
    dims[size_t(axis)] = 1;
    const std::string name = step_.value(table).name + "_at_position";
    at->second = step_.add_value(name, step_.value(table).type, Shape(dims));
    step_.add_node(name, "Gather", {table, position_}, {at->second}).attributes["axis"] = int64_t{axis};
    return at->second;
  }

  bool reshape_axis(const Node& node, TokenAxis& axis) {
    const Shape &from = shape_of(node.input(0)), &to = shape_of(node.outputs[0]);
    if (axis.keys && (to.rank() < 2 || to[to.rank() - 1] != from[from.rank() - 1]))
      return refuse(node, "it regroups the scores of tokens");
    const int64_t before = from.count(0, axis.axis) * axis.outer;
    int64_t product = 1;
    for (int b = 0; b < to.rank(); product *= to[b++]) {
      if (before % product != 0) continue;
      const int64_t outer = before / product;
      if (to[b] % (outer * tokens_) != 0) continue;
      const int64_t inner = to[b] / (outer * tokens_);
      if (product * outer * tokens_ * inner * to.count(b + 1, to.rank()) != from.element_count()) continue;
      axis.axis = b;
      axis.outer = outer;
      axis.inner = inner;
      return true;
    }
    return refuse(node, "it regroups tokens");
  }

  bool softmax_axis(const Node& node, TokenAxis& axis) {
    if (!axis.keys) return true;
    const int rank = shape_of(node.input(0)).rank();
    if (node.int_or("causal", 0) != tokens_ || axis.axis != rank - 2 || axis.inner != 1)
      return refuse(node, "its softmax is over all tokens, later ones too");
    axis.shares = true;
    return true;
  }

  bool product_axis(const Node& node, TokenAxis& axis) {
    const ValueId a = node.input(0), b = node.input(1);
    const int rank = shape_of(a).rank();
    if (!axis_of(a).any() || axis_of(a).axis != rank - 2)
      return refuse(node, "its first operand has no row for each token");
    if (node.int_or("heads", 1) != 1) return refuse(node, "its heads lie in one matrix");
    axis = axis_of(a);
    const TokenAxis& other = axis_of(b);
    if (!other.any()) return axis.keys ? refuse(node, "it mixes scores of tokens with constants") : true;
    if (other.outer * other.inner != 1 || other.axis < rank - 2)
      return refuse(node, "the tokens of its second operand do not lie along a matrix");
    const bool sums_over_tokens = (other.axis == rank - 2) == (node.int_or("transpose_b", 0) == 0);
    if (sums_over_tokens != axis.shares || axis.keys != axis.shares)
      return refuse(node, "it mixes tokens without a causal softmax");
    axis.keys = !sums_over_tokens;
    axis.shares = false;
    return true;
  }

  void finish(const Node& node, const TokenAxis& axis) {
    if (node.is_tilewright("QMatMul") && axis_of(node.input(1)).any()) {
      emit_product(node, axis);
    } else if (node.is_tilewright("QRotary")) {
      emit_rotation(node, axis);
    } else if (operator_class(node) == OperatorClass::kReshape) {
      const ValueId x = known_[size_t(node.input(0))];
      const TokenAxis kept = axis;
      axis_of(node.outputs[0]) = kept;
      Node& made = emit(node, "Reshape", {x, dims_constant(node.name, step_shape(node.outputs[0]))}, kept);
      made.attributes.clear();
    } else if (node.is_tilewright("QSoftmax") && axis.shares) {
      Node& made = emit(node, node.op,
                        {known_[size_t(node.input(0))], known_[size_t(node.input(1))], position_}, axis);
      made.attributes["causal"] = int64_t{1};
    } else {
      copy(node, axis);
    }
  }

  ValueId dims_constant(const std::string& name, const Shape& shape) {
    return step_.add_constant(name + "_shape",
                              Tensor({int64_t(shape.rank())}, std::span<const int64_t>(shape.dims())));
  }

  ValueId reshaped(const std::string& name, ValueId x, const Shape& shape) {
    if (step_.value(x).shape == shape) return x;
    const ValueId y = step_.add_value(name, step_.value(x).type, shape);
    step_.add_node(name, "Reshape", {x, dims_constant(name, shape)}, {y});
    return y;
  }

  void emit_product(const Node& node, const TokenAxis& axis) {
    std::vector<ValueId> inputs = {known_[size_t(node.input(0))], all_tokens(node.input(1))};
    if (!axis.keys) inputs.insert(inputs.end(), {kNoValue, position_});
    emit(node, node.op, std::move(inputs), axis);
  }

  // The window's value in the new graph: a cache and the moves behind it.
  ValueId all_tokens(ValueId old) {
    const auto [at, is_new] = cached_.try_emplace(old, kNoValue);
    if (!is_new) return at->second;
    const NodeId producer = producers_[size_t(old)];
    const Node* node = producer == kNoNode ? nullptr : &window_.nodes[size_t(producer)];
    if (node == nullptr || (!node->is("Transpose") && operator_class(*node) != OperatorClass::kReshape))
      return at->second = cache(old);
    const ValueId x = all_tokens(node->input(0));
    const std::string name = name_of(old) + ".of_cache";
    if (!node->is("Transpose")) return cached_[old] = reshaped(name, x, shape_of(old));
    const ValueId y = step_.add_value(name, window_.value(old).type, shape_of(old));
    step_.add_node(name, "Transpose", {x}, {y}).attributes = node->attributes;
    return cached_[old] = y;
  }

  // Its tokens first, and the other axes in their order.
  ValueId cache(ValueId old) {
    const TokenAxis& axis = axis_of(old);
    const Shape& shape = shape_of(old);
    const int64_t channels = shape.element_count() / tokens_;
    const ElementType type = window_.value(old).type;
    const ValueId before = step_.add_input(name_of(old) + ".cache", type, Shape{tokens_, channels});
    const std::string name = step_.value(before).name;
    const ValueId row = reshaped(name_of(old) + ".row", known_[size_t(old)], Shape{1, channels});
    const ValueId after = step_.add_value(name + ".next", type, Shape{tokens_, channels});
    step_.add_node(name, "QCacheUpdate", {before, row, position_}, {after}, kTilewrightDomain);
    caches_.push_back(after);
    std::vector<int64_t> first{tokens_}, order;
    for (int i = 0; i < shape.rank(); ++i) {
      order.push_back(i == axis.axis ? 0 : i < axis.axis ? i + 1 : i);
      if (i != axis.axis) first.push_back(shape[i]);
    }
    const ValueId split = reshaped(name + ".split", after, Shape(first));
    if (axis.axis == 0) return split;
    const ValueId whole = step_.add_value(name + ".whole", type, shape);
    step_.add_node(name + ".whole", "Transpose", {split}, {whole}).attributes["perm"] = order;
    return whole;
  }

  // A rotation by the angles of one place is a product with a matrix, which is taken from a table of them.
  void emit_rotation(const Node& node, const TokenAxis& axis) {
    const ValueId old = node.input(0);
    const Shape shape = step_shape(old);
    const int64_t size = shape[shape.rank() - 1], heads = shape.element_count() / size;
    const ValueId x = reshaped(name_of(old) + ".row", known_[size_t(old)], Shape{1, heads * size});
    const ValueId y = step_.add_value(name_of(node.outputs[0]) + ".row", window_.value(node.outputs[0]).type,
                                      Shape{1, heads * size});
    Node& made = step_.add_node(node.name, "QMatMul", {x, rotation(node)}, {y}, kTilewrightDomain);
    made.attributes = node.attributes;
    for (const char* gone : {"heads", "x_zero_point"}) made.attributes.erase(gone);
    if (const int64_t zero = node.int_or("x_zero_point", 0); zero != 0)
      made.attributes["a_zero_point"] = zero;
    if (heads > 1) {
      made.attributes["heads"] = heads;
      for (const char* flag : {"groups", "a_columns", "y_columns"}) made.attributes[flag] = int64_t{1};
    }
    axis_of(node.outputs[0]) = axis;
    known_[size_t(node.outputs[0])] = reshaped(name_of(node.outputs[0]), y, shape);
  }

  ValueId rotation(const Node& node) {
    const Tensor &cosines = *window_.constant_input(node, 1), &sines = *window_.constant_input(node, 2);
    for (const Rotation& known : rotations_) {
      if (known.cosines->identical(cosines) && known.sines->identical(sines)) return known.matrix;
    }
    const int64_t half = cosines.shape()[1], size = 2 * half;
    Tensor matrices(ElementType::kI8, Shape{tokens_, size * size});
    for (int64_t t = 0; t < tokens_; ++t) {
      for (int64_t i = 0; i < half; ++i) {
        const int64_t c = cosines.integer_at(t * half + i), s = sines.integer_at(t * half + i);
        const auto set = [&](int64_t row, int64_t column, int64_t value) {
          matrices.set_integer((t * size + row) * size + column, value);
        };
        set(i, i, c);
        set(i + half, i, -s);
        set(i, i + half, s);
        set(i + half, i + half, c);
      }
    }
    const ValueId table = step_.add_constant(name_of(node.input(1)) + "_rotations", std::move(matrices));
    const ValueId row = at_position(table, 0);
    const ValueId matrix = reshaped(step_.value(row).name + "_matrix", row, Shape{size, size});
    rotations_.push_back({&cosines, &sines, matrix});
    return matrix;
  }

  const Graph& window_;
  const std::vector<NodeId> producers_;
  Graph step_;
  Diagnostics problems_;
  int64_t tokens_ = 0;
  ValueId position_ = kNoValue;
  std::vector<ValueId> known_;      // by the window's value: the new one
  std::vector<TokenAxis> axes_;     // by the window's value
  std::vector<ValueId> caches_;     // after their update
  std::map<int, ValueId> entries_;  // of tables for the token's place, by input of the node at hand
  std::map<ValueId, ValueId> cached_;
  std::map<std::pair<ValueId, int>, ValueId> gathered_;
  // Of the same angles, for all that they turn.
  struct Rotation {
    const Tensor *cosines, *sines;
    ValueId matrix;
  };
  std::vector<Rotation> rotations_;
};

}  // namespace

Graph form_token_step(const Graph& window) { return TokenStep(window).run(); }

}  // namespace tilewright
