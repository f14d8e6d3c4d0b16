// All spellings share a root of the sum of a mean of squares and a constant. From there one search goes back
// to what is normalised, one forwards to the normalised value; then everything in between must be read by
// nothing else.
#include "tilewright/transform/normalize/form_norms.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/host/broadcast_loop.h"
#include "tilewright/host/strided_copy.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

// A mean over the axes from `axis` on, kept with size 1.
struct TailMean {
  ValueId of = kNoValue;
  bool squares = false;  // the mean of the squares of `of`
  int axis = 0;
  std::vector<NodeId> nodes;
};

// x minus its mean.
struct Centred {
  ValueId x = kNoValue, mean = kNoValue;
  std::vector<NodeId> nodes;
};

class NormSearch {
 public:
  NormSearch(const GraphEditor& editor, NodeId root) : editor_(editor), root_(root) {}

  // Whether `root` is part of a normalisation, of a centred value or of one as it is.
  bool find(bool is_centred) {
    is_centred_ = is_centred;
    return find_squares() && find_normalized() && is_closed();
  }

  // Turns the last node of the normalisation into one operator and drops the others.
  void form(GraphEditor& editor) {
    take_casts();
    if (!scale_ && !bias_) take_parameter("Mul", scale_);
    if (is_centred_ && !bias_) take_parameter("Add", bias_);
    const std::string name = editor.node(last_).name;
    const Shape shape = normalized_shape();
    if (!scale_) {
      scale_ = Tensor(editor.value(x_).type, shape);
      for (int64_t i = 0; i < scale_->size(); ++i) scale_->set_number(i, 1);
    }
    std::vector<ValueId> inputs{x_, editor.add_constant(name + "_scale", std::move(*scale_))};
    if (bias_) inputs.push_back(editor.add_constant(name + "_bias", std::move(*bias_)));
    for (const NodeId id : nodes_) {
      if (id != last_ && !editor.is_dead(id)) editor.kill(id);
    }
    Node& node = editor.mutable_node(last_);
    node.op = is_centred_ ? "LayerNormalization" : "RMSNormalization";
    node.attributes = {{"axis", int64_t(-shape.rank())}, {"epsilon", epsilon_}};
    editor.set_inputs(last_, std::move(inputs));
  }

 private:
  NodeId producer(ValueId value, const char* op) const {
    const NodeId id = editor_.producer(value);
    return id != kNoNode && editor_.node(id).is(op) ? id : kNoNode;
  }

  // The only reader, if it is the operator `op`.
  NodeId reader(ValueId value, const char* op) const {
    const NodeId id = editor_.only_reader(value);
    return id != kNoNode && editor_.node(id).is(op) ? id : kNoNode;
  }

  ValueId output(NodeId id) const { return editor_.node(id).outputs[0]; }

  std::optional<double> number(ValueId value) const {
    if (value == kNoValue || !editor_.graph().is_constant(value)) return std::nullopt;
    const Tensor& tensor = *editor_.value(value).constant;
    return tensor.size() == 1 ? std::optional(tensor.number_at(0)) : std::nullopt;
  }

  // The input of a node of two that is not `value`; kNoValue when it has another form.
  ValueId other_input(NodeId id, ValueId value) const {
    const Node& node = editor_.node(id);
    if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return kNoValue;
    return node.inputs[0] == value ? node.inputs[1] : node.inputs[1] == value ? node.inputs[0] : kNoValue;
  }

  // The first of the axes that a reduction takes, if these are the last ones and stay with size 1.
  std::optional<int> tail_axis(const Node& node) const {
    const int rank = editor_.value(node.input(0)).shape.rank();
    if (node.is("GlobalAveragePool")) return rank > 2 ? std::optional(2) : std::nullopt;
    if (node.int_or("keepdims", 1) == 0) return std::nullopt;
    std::vector<int64_t> axes = node.ints_or("axes", {});
    if (node.has_input(1)) {
      const Tensor* given = editor_.graph().constant_input(node, 1);
      if (given == nullptr) return std::nullopt;
      axes = given->to_integers();
    }
    if (axes.empty()) {
      return node.int_or("noop_with_empty_axes", 0) == 0 && rank > 0 ? std::optional(0) : std::nullopt;
    }
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::ranges::sort(axes);
    const auto first = int(rank - int64_t(axes.size()));
    for (size_t k = 0; k < axes.size(); ++k) {
      if (axes[k] != first + int64_t(k)) return std::nullopt;
    }
    return first;
  }

  // The sum behind a division by `value` numbers, or a product with their reciprocal.
  std::optional<TailMean> mean_of_sum(NodeId id) const {
    const Node& node = editor_.node(id);
    const bool divides = node.is("Div");
    for (const int k : {0, 1}) {
      if (divides && k == 1) break;
      const auto factor = number(node.input(1 - k));
      const NodeId sum = editor_.producer(node.input(k));
      if (!factor || sum == kNoNode) continue;
      const bool squares = editor_.node(sum).is("ReduceSumSquare");
      if (!squares && !editor_.node(sum).is("ReduceSum")) continue;
      const auto axis = tail_axis(editor_.node(sum));
      if (!axis) continue;
      const Shape& shape = editor_.value(editor_.node(sum).input(0)).shape;
      const auto size = double(shape.count(*axis, shape.rank()));
      const double ratio = divides ? size / *factor : size * *factor;
      if (std::abs(ratio - 1) < 1e-6) return TailMean{editor_.node(sum).input(0), squares, *axis, {sum, id}};
    }
    return std::nullopt;
  }

  std::optional<TailMean> mean_of(ValueId value) const {
    const NodeId id = editor_.producer(value);
    if (id == kNoNode) return std::nullopt;
    const Node& node = editor_.node(id);
    if (node.is("ReduceMean") || node.is("GlobalAveragePool")) {
      const auto axis = tail_axis(node);
      if (axis) return TailMean{node.input(0), false, *axis, {id}};
    }
    if (node.is("Mul") || node.is("Div")) return mean_of_sum(id);
    return std::nullopt;
  }

  // Over the axes of this normalisation.
  std::optional<Centred> centred(ValueId value) const {
    const NodeId id = producer(value, "Sub");
    if (id == kNoNode) return std::nullopt;
    const ValueId x = editor_.node(id).input(0), mean = editor_.node(id).input(1);
    auto found = mean_of(mean);
    if (!found || found->squares || found->of != x || found->axis != axis_) return std::nullopt;
    found->nodes.push_back(id);
    return Centred{x, mean, std::move(found->nodes)};
  }

  void take(const std::vector<NodeId>& nodes) { nodes_.insert(nodes_.end(), nodes.begin(), nodes.end()); }

  // Back from the root: the constant, the mean, the square, and what is squared.
  bool find_squares() {
    const NodeId sum = producer(editor_.node(root_).input(0), "Add");
    if (sum == kNoNode) return false;
    for (const int k : {0, 1}) {
      const auto epsilon = number(editor_.node(sum).input(1 - k));
      if (!epsilon || !(*epsilon > 0) || !std::isfinite(*epsilon)) continue;
      const ValueId variance = editor_.node(sum).input(k);
      auto mean = mean_of(variance);
      if (!mean || editor_.value(variance).shape != editor_.value(output(sum)).shape) continue;
      if (!mean->squares) {
        const auto squared = square_of(mean->of, mean->nodes);
        if (!squared) continue;
        mean->of = *squared;
      }
      epsilon_ = float(*epsilon);
      axis_ = mean->axis;
      squared_ = x_ = mean->of;
      take(mean->nodes);
      take({sum, root_});
      if (is_centred_) {
        const auto difference = centred(squared_);
        if (!difference) return false;
        x_ = difference->x;
        take(difference->nodes);
      }
      return editor_.value(x_).type == ElementType::kF32 && normalized_shape().element_count() > 0;
    }
    return false;
  }

  std::optional<ValueId> square_of(ValueId value, std::vector<NodeId>& nodes) const {
    const NodeId id = editor_.producer(value);
    if (id == kNoNode) return std::nullopt;
    const Node& node = editor_.node(id);
    const bool multiplies = node.is("Mul") && node.input(0) == node.input(1);
    if (!multiplies && !(node.is("Pow") && number(node.input(1)) == 2.0)) return std::nullopt;
    if (editor_.value(node.input(0)).shape != editor_.value(value).shape) return std::nullopt;
    nodes.push_back(id);
    return node.input(0);
  }

  // Whether `value` is what the root divides.
  bool is_numerator(ValueId value) {
    if (value == squared_) return true;
    const auto difference = is_centred_ ? centred(value) : std::nullopt;
    if (!difference || difference->x != x_) return false;
    take(difference->nodes);
    return true;
  }

  bool ends_at(NodeId id) {
    last_ = id;
    take({id});
    return editor_.value(output(id)).shape == editor_.value(x_).shape;
  }

  // Forward from the root to the normalised value, the last node.
  bool find_normalized() {
    const Node& root = editor_.node(root_);
    ValueId value = root.outputs[0];
    if (!root.is("Pow") || number(root.input(1)) == 0.5) {
      if (const NodeId quotient = reader(value, "Div"); quotient != kNoNode) {
        const ValueId above = editor_.node(quotient).input(0);
        if (editor_.node(quotient).input(1) != value) return false;
        if (number(above) != 1.0) return is_numerator(above) && ends_at(quotient);
        take({quotient});
        value = output(quotient);
      } else {
        const NodeId inverse = reader(value, "Reciprocal");
        if (inverse == kNoNode) return false;
        take({inverse});
        value = output(inverse);
      }
    }
    return find_product(value);
  }

  // The product of what is normalised with `factor`, the reciprocal of the root.
  bool find_product(ValueId factor) {
    NodeId product = reader(factor, "Mul");
    if (product != kNoNode) {
      const ValueId other = other_input(product, factor);
      if (is_numerator(other)) return ends_at(product);
      scale_ = parameter(other);
      if (!scale_) return false;
      take({product});
      factor = output(product);
      product = reader(factor, "Mul");
      if (product != kNoNode) return is_numerator(other_input(product, factor)) && ends_at(product);
    }
    return is_centred_ && find_difference_of_products(factor);
  }

  // x * factor + (bias - mean * factor), or x * factor - mean * factor.
  bool find_difference_of_products(ValueId factor) {
    const std::vector<NodeId>& readers = editor_.readers(factor);
    if (readers.size() != 2 || editor_.graph().is_output(factor)) return false;
    for (const int k : {0, 1}) {
      const NodeId of_x = readers[size_t(k)], of_mean = readers[size_t(1 - k)];
      if (!editor_.node(of_x).is("Mul") || !editor_.node(of_mean).is("Mul")) return false;
      if (other_input(of_x, factor) != x_) continue;
      auto mean = mean_of(other_input(of_mean, factor));
      if (!mean || mean->squares || mean->of != x_ || mean->axis != axis_) continue;
      take(mean->nodes);
      take({of_x, of_mean});
      return find_sum(output(of_x), output(of_mean));
    }
    return false;
  }

  bool find_sum(ValueId product, ValueId shift) {
    if (const NodeId negative = reader(shift, "Neg"); negative != kNoNode) {
      take({negative});
      const NodeId sum = reader(output(negative), "Add");
      return sum != kNoNode && other_input(sum, output(negative)) == product && ends_at(sum);
    }
    const NodeId difference = reader(shift, "Sub");
    if (difference == kNoNode || editor_.node(difference).input(1) != shift) return false;
    const ValueId above = editor_.node(difference).input(0);
    if (above == product) return ends_at(difference);
    bias_ = parameter(above);
    const NodeId sum = reader(output(difference), "Add");
    if (!bias_ || sum == kNoNode || other_input(sum, output(difference)) != product) return false;
    take({difference});
    return ends_at(sum);
  }

  // Nothing else reads what the nodes before the last write.
  bool is_closed() const {
    const auto is_inside = [&](NodeId id) { return std::ranges::find(nodes_, id) != nodes_.end(); };
    return std::ranges::all_of(nodes_, [&](NodeId id) {
      const ValueId value = output(id);
      if (id == last_) return true;
      return editor_.node(id).outputs.size() == 1 && editor_.value(value).type == ElementType::kF32 &&
             !editor_.graph().is_output(value) && std::ranges::all_of(editor_.readers(value), is_inside);
    });
  }

  Shape normalized_shape() const {
    const Shape& shape = editor_.value(x_).shape;
    return Shape({shape.begin() + axis_, shape.end()});
  }

  // A constant that differs along the normalised axes alone, repeated along all of them.
  std::optional<Tensor> parameter(ValueId value) const {
    if (value == kNoValue || !editor_.graph().is_constant(value)) return std::nullopt;
    const Tensor& tensor = *editor_.value(value).constant;
    const Shape &given = tensor.shape(), wanted = normalized_shape();
    const int extra = given.rank() - wanted.rank();
    if (tensor.type() != editor_.value(x_).type || extra > axis_) return std::nullopt;
    for (int i = 0; i < extra; ++i) {
      if (given[i] != 1) return std::nullopt;
    }
    const Tensor own = tensor.reshaped(Shape({given.begin() + std::max(extra, 0), given.end()}));
    if (!broadcasts_to(own.shape(), wanted)) return std::nullopt;
    return strided_copy(own, wanted, broadcast_strides(wanted, own.shape()));
  }

  // x cast from another float type before, and the normalised value back to it.
  void take_casts() {
    const NodeId widened = producer(x_, "Cast"), narrowed = reader(output(last_), "Cast");
    if (widened == kNoNode || narrowed == kNoNode || scale_ || bias_) return;
    const ValueId narrow = editor_.node(widened).input(0);
    const ElementType type = editor_.value(narrow).type;
    if ((type != ElementType::kF16 && type != ElementType::kBF16) ||
        editor_.value(output(narrowed)).type != type) {
      return;
    }
    x_ = narrow;
    ends_at(narrowed);
  }

  void take_parameter(const char* op, std::optional<Tensor>& target) {
    const ValueId normalized = output(last_);
    const NodeId next = reader(normalized, op);
    if (next == kNoNode) return;
    target = parameter(other_input(next, normalized));
    if (target) ends_at(next);
  }

  const GraphEditor& editor_;
  const NodeId root_;
  bool is_centred_ = false;
  ValueId x_ = kNoValue, squared_ = kNoValue;
  int axis_ = 0;
  float epsilon_ = 0;
  std::optional<Tensor> scale_, bias_;
  NodeId last_ = kNoNode;
  std::vector<NodeId> nodes_;
};

bool may_be_root(const GraphEditor& editor, const Node& node) {
  if (node.is("Sqrt")) return true;
  const Tensor* exponent = node.is("Pow") ? editor.graph().constant_input(node, 1) : nullptr;
  return exponent != nullptr && exponent->size() == 1 && std::abs(exponent->number_at(0)) == 0.5;
}

}  // namespace

Graph form_norms(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    if (editor.is_dead(id) || !may_be_root(editor, editor.node(id))) continue;
    for (const bool is_centred : {true, false}) {
      NormSearch search(editor, id);
      if (!search.find(is_centred)) continue;
      search.form(editor);
      break;
    }
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
