// An operand of a product is followed through Reshapes and Transposes to the value that it is a view of, as
// strides of its axes. Where these are those of matrices below each other or side by side, the view becomes
// attributes. Rows of other operators only need their leading axes merged.
#include "tilewright/transform/normalize/form_matrices.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/product_places.h"
#include "tilewright/transform/edit/graph_editor.h"
#include "tilewright/transform/edit/permutation.h"
#include "tilewright/transform/normalize/normalize_reshapes.h"
#include "tilewright/transform/normalize/remove_no_ops.h"

namespace tilewright {
namespace {

struct Axis {
  int64_t size = 1, stride = 0;  // in elements of the value that is viewed
};

std::vector<int64_t> row_major(const Shape& shape) {
  std::vector<int64_t> strides(size_t(shape.rank()), 1);
  for (int axis = shape.rank() - 2; axis >= 0; --axis)
    strides[size_t(axis)] = strides[size_t(axis + 1)] * shape[axis + 1];
  return strides;
}

// `stride` elements of the Transpose's result as elements of its input; nullopt: an axis of `size` such steps
// leaves the axis of the result that it is on.
std::optional<int64_t> stride_before(const Shape& in, const std::vector<int64_t>& permutation, int64_t size,
                                     int64_t stride) {
  std::vector<int64_t> dims;
  for (const int64_t axis : permutation) dims.push_back(in[int(axis)]);
  const std::vector<int64_t> after = row_major(Shape(dims)), before = row_major(in);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t step = stride / after[axis];
    if (step < 1 || stride % after[axis] != 0 || step >= std::max<int64_t>(dims[axis], 2)) continue;
    if ((size - 1) * step >= dims[axis]) continue;
    return step * before[size_t(permutation[axis])];
  }
  return {};
}

// A matrix of each head, as axes of `value`.
struct MatrixView {
  ValueId value = kNoValue;
  Axis head, row, column;

  bool side_by_side() const {
    return column.stride == 1 && row.stride == head.size * column.size && head.stride == column.size;
  }
  bool stacked() const {
    return column.stride == 1 && row.stride == column.size &&
           (head.size == 1 || head.stride == row.size * column.size);
  }
};

class MatrixForms {
 public:
  explicit MatrixForms(Graph graph) : editor_(std::move(graph)) {}

  Graph run() {
    const NodeId count = editor_.node_count();
    for (NodeId id = 0; id < count; ++id) {
      if (editor_.is_dead(id)) continue;
      if (editor_.node(id).is_tilewright("QMatMul")) {
        form_product(id);
      } else if (editor_.node(id).is_tilewright("QRotary")) {
        form_rotary_rows(id);
      } else if (works_on_rows(id)) {
        form_rows(id);
      }
    }
    return std::move(editor_).finish();
  }

 private:
  const Shape& shape_of(ValueId id) const { return editor_.value(id).shape; }

  // Whether `id` is what a Reshape makes of rows of the same length.
  bool shows_rows(ValueId id) const {
    const NodeId producer = editor_.producer(id);
    if (producer == kNoNode || operator_class(editor_.node(producer)) != OperatorClass::kReshape)
      return false;
    const Shape &to = shape_of(id), &from = shape_of(editor_.node(producer).input(0));
    return from.rank() == 2 && to.rank() > 2 && to[to.rank() - 1] == from[1];
  }

  bool works_on_rows(NodeId id) const {
    const Node& node = editor_.node(id);
    if (node.domain != kTilewrightDomain || node.outputs.size() != 1) return false;
    const Shape& shape = shape_of(node.outputs[0]);
    if (shape.rank() < 3) return false;
    if (node.op == "QSoftmax" || node.op == "QLayerNorm") return true;
    if (node.op != "QAdd" && node.op != "QRescaledAdd" && node.op != "QMul" && node.op != "QRequantize" &&
        node.op != "QLookup") {
      return false;
    }
    bool rows = false;
    for (int i = 0; i < operands(node); ++i) {
      if (shape_of(node.input(i)) != shape || editor_.value(node.input(i)).constant) return false;
      rows = rows || shows_rows(node.input(i));
    }
    return rows;
  }

  static int operands(const Node& node) {
    return node.op == "QAdd" || node.op == "QRescaledAdd" || node.op == "QMul" ? 2 : 1;
  }

  ValueId reshaped(ValueId id, const Shape& shape) {
    if (shape_of(id) == shape) return id;
    const std::string name = editor_.value(id).name + "_matrix";
    const ValueId result = editor_.add_value(name, editor_.value(id).type, shape);
    reshape(name, id, result);
    return result;
  }

  void reshape(const std::string& name, ValueId from, ValueId to) {
    const Shape& shape = shape_of(to);
    Tensor dims({int64_t(shape.rank())}, std::span<const int64_t>(shape.dims()));
    editor_.insert(name, "Reshape", {from, editor_.add_constant(name + "_shape", std::move(dims))}, {to});
  }

  // Output 0 of the node gets `shape`; its readers read a Reshape of it.
  void reshape_output(NodeId id, const Shape& shape) {
    const ValueId old = editor_.node(id).outputs[0];
    if (shape_of(old) == shape) return;
    const std::string name = editor_.value(old).name + "_rows";
    const ValueId made = editor_.add_value(name, editor_.value(old).type, shape);
    editor_.set_output(id, 0, made);
    reshape(name, made, old);
  }

  void form_rows(NodeId id) {
    const Shape shape = shape_of(editor_.node(id).outputs[0]);
    const int64_t length = shape[shape.rank() - 1];
    const Shape rows{shape.count(0, shape.rank() - 1), length};
    for (int i = 0; i < operands(editor_.node(id)); ++i)
      editor_.set_input(id, i, reshaped(editor_.node(id).input(i), rows));
    reshape_output(id, rows);
  }

  // Heads stand side by side: where they are moved there before, they are moved from there after.
  void form_rotary_rows(NodeId id) {
    const Shape shape = shape_of(editor_.node(id).outputs[0]);
    const MatrixView all = view_of(editor_.node(id).input(0), shape);
    if (shape.rank() < 3) return;
    if (all.head.size == 1) return form_rows(id);
    bool turned = false;
    const MatrixView x = resolve(all, false, turned, false);
    if (!x.side_by_side()) return;
    const Shape rows = matrix_shape(x);
    const ValueId from = reshaped(x.value, rows);
    editor_.set_input(id, 0, from);
    editor_.mutable_node(id).attributes["heads"] = x.head.size;
    const ValueId old = editor_.node(id).outputs[0];
    const std::string name = editor_.value(old).name;
    const auto made = [&](const char* suffix, const Shape& wanted) {
      return editor_.add_value(name + suffix, editor_.value(old).type, wanted);
    };
    const ValueId y = made("_rows", rows), split = made("_split", {x.row.size, x.head.size, x.column.size}),
                  heads = made("_heads", {x.head.size, x.row.size, x.column.size});
    editor_.set_output(id, 0, y);
    reshape(name + "_split", y, split);
    const NodeId transpose = editor_.insert(name + "_heads", "Transpose", {split}, {heads});
    editor_.mutable_node(transpose).attributes["perm"] = Permutation{1, 0, 2};
    reshape(name + "_by_head", heads, old);
  }

  // The view of one operand as its shape says it: [..., rows, columns], each head of as many parts.
  static MatrixView view_of(ValueId id, const Shape& shape, int64_t parts = 1) {
    const int rank = shape.rank();
    const int64_t rows = shape[rank - 2] / parts, columns = shape[rank - 1];
    return {id, {shape.count(0, rank - 2) * parts, rows * columns}, {rows, columns}, {columns, 1}};
  }

  // Into how many heads a Reshape from or to `other` divides the rows of one matrix of `shape`: the heads
  // that share one matrix B. 1: it does not.
  static int64_t divided_rows(const Shape& shape, const Shape& other) {
    const int rank = shape.rank(), last = other.rank() - 1;
    if (rank < 2 || last < 2 || other[last] != shape[rank - 1] || other[last - 1] < 1) return 1;
    const int64_t rows = shape[rank - 2];
    return rows % other[last - 1] == 0 ? rows / other[last - 1] : 1;
  }

  // The Reshape that alone reads `output` and divides its rows.
  NodeId dividing_reader(ValueId output) const {
    const NodeId reader = editor_.only_reader(output);
    if (reader == kNoNode || operator_class(editor_.node(reader)) != OperatorClass::kReshape) return kNoNode;
    return divided_rows(shape_of(output), shape_of(editor_.node(reader).outputs[0])) > 1 ? reader : kNoNode;
  }

  // The heads that share each matrix B of a product, as the Reshapes around it tell.
  int64_t shared_heads(NodeId id) const {
    const ValueId a = editor_.node(id).input(0), y = editor_.node(id).outputs[0];
    if (const NodeId reader = dividing_reader(y); reader != kNoNode)
      return divided_rows(shape_of(y), shape_of(editor_.node(reader).outputs[0]));
    const NodeId producer = editor_.producer(a);
    if (producer == kNoNode || operator_class(editor_.node(producer)) != OperatorClass::kReshape) return 1;
    return divided_rows(shape_of(a), shape_of(editor_.node(producer).input(0)));
  }

  bool follow(MatrixView& view) const {
    const NodeId producer = editor_.producer(view.value);
    if (producer == kNoNode) return false;
    const Node& node = editor_.node(producer);
    if (operator_class(node) == OperatorClass::kReshape) {
      view.value = node.input(0);
      return true;
    }
    if (!node.is("Transpose")) return false;
    const Shape& in = shape_of(node.input(0));
    const std::vector<int64_t> permutation = permutation_of(node, in.rank());
    MatrixView before = view;
    before.value = node.input(0);
    for (Axis* axis : {&before.head, &before.row, &before.column}) {
      if (axis->size == 1) continue;
      const std::optional<int64_t> stride = stride_before(in, permutation, axis->size, axis->stride);
      if (!stride) return false;
      axis->stride = *stride;
    }
    view = before;
    return true;
  }

  // The deepest value that holds the matrices in one of the two ways; `turned`: with rows and columns
  // exchanged.
  MatrixView resolve(MatrixView view, bool may_turn, bool& turned, bool may_stack = true) const {
    MatrixView best = view;
    turned = false;
    for (bool first = true; first || follow(view); first = false) {
      MatrixView other = view;
      std::swap(other.row, other.column);
      for (const bool turn : {false, true}) {
        if (turn && !may_turn) continue;
        MatrixView candidate = turn ? other : view;
        settle(candidate);
        if (!candidate.side_by_side() && !(may_stack && candidate.stacked())) continue;
        best = candidate;
        turned = turn;
        break;
      }
    }
    return best;
  }

  // Strides of axes of size 1 mean nothing: those that fit.
  static void settle(MatrixView& view) {
    if (view.column.size == 1) view.column.stride = 1;
    if (view.row.size == 1) view.row.stride = view.head.size * view.column.size;
    if (view.row.size == 1 && view.head.size > 1 && view.head.stride == view.column.size)
      view.row.stride = view.head.size * view.column.size;
    if (view.head.size == 1) view.row.stride = view.row.size == 1 ? view.column.size : view.row.stride;
  }

  static Shape matrix_shape(const MatrixView& view) {
    if (view.head.size > 1 && view.side_by_side())
      return Shape{view.row.size, view.head.size * view.column.size};
    return Shape{view.head.size * view.row.size, view.column.size};
  }

  void form_product(NodeId id) {
    const Shape a_shape = shape_of(editor_.node(id).input(0)), b_shape = shape_of(editor_.node(id).input(1));
    const ValueId output = editor_.node(id).outputs[0];
    if (a_shape.element_count() == 0 || b_shape.element_count() == 0) return;
    const ProductParameters places = product_places(editor_.node(id));
    if (places.heads != 1) return;  // formed before
    bool turned = false, b_turned = false;
    const int64_t shared = shared_heads(id);
    MatrixView a = resolve(view_of(editor_.node(id).input(0), a_shape, shared), false, turned);
    // Single rows stand both ways: as their value has them.
    const Shape& held = shape_of(a.value);
    if (a.row.size == 1 && a.head.size > 1 && held[held.rank() - 1] == a.column.size)
      a.row.stride = a.column.size;
    const MatrixView b = resolve(view_of(editor_.node(id).input(1), b_shape), true, b_turned);
    const ValueId a_value = reshaped(a.value, matrix_shape(a)), b_value = reshaped(b.value, matrix_shape(b));
    editor_.set_input(id, 0, a_value);
    editor_.set_input(id, 1, b_value);
    const auto flag = [&](const char* name, bool value) {
      Attributes& attributes = editor_.mutable_node(id).attributes;
      attributes.erase(name);
      if (value) attributes[name] = int64_t{1};
    };
    const int64_t heads = a.head.size;
    flag("transpose_b", places.transpose_b != b_turned);
    flag("a_columns", heads > 1 && a.side_by_side());
    flag("b_columns", b.head.size > 1 && b.side_by_side());
    if (heads > 1) editor_.mutable_node(id).attributes["heads"] = heads;
    if (shared > 1) editor_.mutable_node(id).attributes["groups"] = b.head.size;
    const Shape y = shape_of(output);
    const int64_t rows = y[y.rank() - 2] / shared, columns = y[y.rank() - 1];
    const NodeId divided = shared > 1 ? dividing_reader(output) : kNoNode;
    const ValueId by_head = divided == kNoNode ? output : editor_.node(divided).outputs[0];
    if (heads > 1 && rows == 1 && !softmax_reads(output)) {  // the heads of one token lie as they do in both
      flag("y_columns", true);
      reshape_output(id, Shape{1, heads * columns});
    } else if (const NodeId transpose = side_by_side_reader(by_head, {heads, rows, columns});
               transpose != kNoNode) {
      flag("y_columns", true);
      const ValueId to = editor_.node(transpose).outputs[0];
      const std::string name = editor_.value(output).name + "_columns";
      const ValueId made = editor_.add_value(name, editor_.value(output).type, Shape{rows, heads * columns});
      editor_.kill(transpose);
      if (divided != kNoNode) editor_.kill(divided);
      editor_.set_output(id, 0, made);
      reshape(name, made, to);
    } else {
      reshape_output(id, Shape{heads * rows, columns});
    }
  }

  // Whether a QSoftmax reads the value, as it is or under another shape.
  bool softmax_reads(ValueId value) const {
    return std::ranges::any_of(editor_.readers(value), [&](NodeId reader) {
      const Node& node = editor_.node(reader);
      if (operator_class(node) == OperatorClass::kReshape) return softmax_reads(node.outputs[0]);
      return node.is_tilewright("QSoftmax");
    });
  }

  // The Transpose that alone reads [heads, rows, columns] and makes [rows, heads, columns] of it; kNoNode.
  NodeId side_by_side_reader(ValueId output, const std::vector<int64_t>& sizes) const {
    if (sizes[0] == 1) return kNoNode;
    const NodeId reader = editor_.only_reader(output);
    if (reader == kNoNode || !editor_.node(reader).is("Transpose")) return kNoNode;
    const Shape& shape = shape_of(output);
    std::vector<int64_t> axes;  // of more than one element, as the Transpose orders them
    for (const int64_t axis : permutation_of(editor_.node(reader), shape.rank()))
      if (shape[int(axis)] != 1) axes.push_back(axis);
    std::vector<int64_t> wanted;
    const int64_t row = shape.rank() - 2, column = shape.rank() - 1;
    if (sizes[1] != 1) wanted.push_back(row);
    for (int64_t axis = 0; axis < row; ++axis)
      if (shape[int(axis)] != 1) wanted.push_back(axis);
    if (sizes[2] != 1) wanted.push_back(column);
    return axes == wanted ? reader : kNoNode;
  }

  GraphEditor editor_;
};

}  // namespace

Graph form_matrices(Graph graph) {
  const auto is_of_rows = [](const Node& node) {
    return node.is_tilewright("QMatMul") || node.is_tilewright("QSoftmax") ||
           node.is_tilewright("QLayerNorm") || node.is_tilewright("QRotary");
  };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_of_rows)) return graph;
  return remove_no_ops(normalize_reshapes(MatrixForms(std::move(graph)).run()));
}

}  // namespace tilewright
