// A product of two activations is a convolution of 1x1 images, a token each, whose weights another layer
// makes; its heads are groups of channels. Softmax and norms are copies whose output stage works on whole
// rows.
#include "tilewright/overlay/schedule/token_layers.h"

#include <fmt/format.h>

#include "tilewright/base/integer_math.h"
#include "tilewright/graph/product_places.h"
#include "tilewright/overlay/schedule/layer_planes.h"

namespace tilewright::overlay {
namespace {

constexpr int64_t kMostLines = 65535;  // rows of one LOAD

class TokenLayer {
 public:
  using Refuse = std::function<void(const std::string&)>;

  TokenLayer(const Graph& graph, const Node& node, const OverlayHardware& hardware, const SourceViews& views,
             const Refuse& refuse)
      : graph_(graph), node_(node), hardware_(hardware), views_(views), refuse_(refuse) {}

  std::optional<OverlayLayer> run() {
    if (!hardware_.row_functions)
      return no("the overlay has no row functions (row_functions in its description)");
    if (graph_.value(node_.outputs[0]).type != ElementType::kI8) return no("its result has 16 bits");
    if (graph_.value(node_.outputs[0]).shape.rank() != 2)
      return no("only matrices, a row for each token, run on the overlay");
    if (graph_.value(node_.outputs[0]).shape.element_count() == 0)
      return no("an empty tensor has nothing to run");
    start();
    const bool built = node_.op == "QMatMul" ? build_product() : build_rows();
    if (!built) return {};
    return std::move(layer_);
  }

 private:
  std::nullopt_t no(const std::string& reason) {
    refuse_(reason);
    return std::nullopt;
  }
  bool refuse(const std::string& reason) {
    refuse_(reason);
    return false;
  }
  const Shape& shape_of(ValueId id) const { return graph_.value(id).shape; }
  int64_t blocks(int64_t channels) const { return ceil_div(channels, hardware_.block_in); }

  void start() {
    layer_.name = node_.name;
    layer_.op = node_.op;
    layer_.result = node_.outputs[0];
    layer_.weight_bits = hardware_.weight_bits;
    LayerFinish& finish = layer_.output;
    finish.zero_point = int32_t(node_.int_or("y_zero_point", 0));
    finish.bipolar = node_.int_or("bipolar", 0) != 0;
    finish.clip_low = int32_t(node_.int_or("clip_low", INT8_MIN));
    finish.clip_high = int32_t(node_.int_or("clip_high", INT8_MAX));
    layer_.phases.push_back({0, 0, {TapGrid{}}});
  }

  // Whether the value lies as its shape says.
  bool lies_as_matrix(ValueId id) {
    if (shape_of(id).rank() != 2) return refuse("only matrices, a row for each token, run on the overlay");
    const auto known = views_.find(id);
    SourceView view = *image_view(shape_of(id));
    if (graph_.value(id).type == ElementType::kI16) view.planes = 2;
    return known == views_.end() || known->second == view ||
           refuse("its input lies in memory under another shape");
  }

  LayerSource source(ValueId id, int64_t channels) const {
    LayerSource source{id, channels, 1, 1};
    source.held_as = *image_view(shape_of(id));
    return source;
  }

  // Matrices side by side need whole blocks of columns.
  bool starts_blocks(int64_t columns, bool side_by_side, const char* what) {
    return !side_by_side || columns % hardware_.block_in == 0 ||
           refuse(fmt::format("{} columns of each head of {} are no multiple of the block of {} channels",
                              columns, what, hardware_.block_in));
  }

  // Of matrices of `rows` x `columns`.
  BlockPlaces places(bool side_by_side, int64_t heads, int64_t rows, int64_t columns) const {
    if (heads == 1) return {};
    const int64_t width = blocks(columns);
    return side_by_side ? BlockPlaces{width, heads * width, width} : BlockPlaces{width, width, rows * width};
  }

  bool build_product() {
    const ValueId a = node_.input(0), b = node_.input(1);
    const ProductParameters p = product_places(node_);
    const ProductGeometry g = *product_geometry(shape_of(a), shape_of(b), p);
    if (graph_.is_constant(b)) return refuse("its second operand is constant; a dense layer takes those");
    for (const ValueId id : {a, b}) {
      if (graph_.value(id).type != ElementType::kI8) return refuse("its operands must have 8 bits");
      if (!lies_as_matrix(id)) return false;
    }
    if (const int64_t zero = node_.int_or("b_zero_point", 0); zero != 0) {
      return refuse(fmt::format("its second operand has the zero point {}; only 0 has a lowering", zero));
    }
    if (p.transpose_b && g.depth % hardware_.block_in != 0) {
      return refuse(fmt::format("the {} channels that it sums over are no multiple of the block of {}",
                                g.depth, hardware_.block_in));
    }
    const int64_t b_columns = p.transpose_b ? g.depth : g.columns;
    const bool heads = g.heads > 1, groups = g.groups > 1;
    if (!starts_blocks(g.depth, heads && p.a_columns, "its first operand") ||
        !starts_blocks(b_columns, groups && p.b_columns, "its second operand") ||
        !starts_blocks(g.columns, heads && p.y_columns, "its result"))
      return false;
    if (std::max(g.depth, g.columns) > kMostLines)
      return refuse(fmt::format("matrices of more than {} rows have no lowering", kMostLines));
    const int64_t depth = heads ? blocks(g.depth) * hardware_.block_in : g.depth;
    const int64_t columns = heads ? blocks(g.columns) * hardware_.block_in : g.columns;
    layer_.batch = g.rows;
    layer_.sources = {source(a, g.heads * depth)};
    layer_.sources[0].places = places(p.a_columns, g.heads, g.rows, g.depth);
    layer_.out_channels = g.heads * columns;
    layer_.result_places = places(p.y_columns, g.heads, g.rows, g.columns);
    layer_.result_held_as = *image_view(g.result);
    if (heads) {
      layer_.pattern = ChannelPattern::kGrouped;
      layer_.group_inputs = depth;
      layer_.group_outputs = columns;
    }
    ComputedWeights matrix{source(b, shape_of(b)[1]), !p.transpose_b, g.columns, g.depth};
    matrix.heads_of_group = g.heads / g.groups;
    const int64_t width = blocks(b_columns), lines = p.transpose_b ? g.columns : g.depth;
    matrix.line_stride = groups && p.b_columns ? g.groups * width : width;
    matrix.head_stride = groups && p.b_columns ? width : lines * width;
    matrix.input_offset = -int32_t(node_.int_or("a_zero_point", 0));
    layer_.computed = matrix;
    layer_.weight_magnitude.assign(size_t(layer_.out_channels), 128 * g.depth);
    layer_.output.bias.assign(size_t(layer_.out_channels), 0);
    layer_.output.scale = {{int32_t(node_.int_or("multiplier", 1)), int32_t(node_.int_or("shift", 0))}};
    if (node_.has_input(2) && !add_softmax(g.columns)) return false;
    if (node_.has_input(3) && !see_tokens_before(g)) return false;
    layer_.macs = g.heads * g.rows * g.columns * g.depth;
    return true;
  }

  // Columns of scores, or rows of what they are the shares of, stand for tokens.
  bool see_tokens_before(const ProductGeometry& g) {
    if (g.rows != 1) return refuse("products with a cache have a lowering for one token, not for several");
    if (hardware_.block_in != hardware_.block_out)
      return refuse("products with a cache need as many inputs as outputs in a block");
    const bool scores = node_.has_input(2);
    if (layer_.computed->columns == scores) return refuse("its cache lies across its tokens");
    layer_.visible = scores ? OverlayLayer::Visible::kOutputs : OverlayLayer::Visible::kInputs;
    return true;
  }

  // Of the product's rows: what finishes the product comes first.
  bool add_softmax(int64_t columns) {
    RowFunction rows;
    rows.last_lanes = lanes_of_last(columns);
    rows.number = uint64_t(node_.int_or("softmax_numerator", 1));
    rows.shift = int(node_.int_or("softmax_shift", 0));
    rows.table = graph_.constant_input(node_, 2);
    rows.first = layer_.output;
    layer_.output.zero_point = int32_t(node_.int_or("softmax_zero_point", 0));
    layer_.output.clip_low = int32_t(node_.int_or("softmax_clip_low", INT8_MIN));
    layer_.output.clip_high = int32_t(node_.int_or("softmax_clip_high", INT8_MAX));
    layer_.output.scale = {{1, 0}};
    layer_.rows = rows;
    return rows.table != nullptr || refuse("its table is not constant");
  }

  int lanes_of_last(int64_t channels) const {
    return int(channels - (blocks(channels) - 1) * hardware_.block_out);
  }

  bool build_rows() {
    const ValueId x = node_.input(0);
    if (!lies_as_matrix(x)) return false;
    const Shape& shape = shape_of(x);
    layer_.pattern = ChannelPattern::kSharedDiagonal;
    layer_.diagonal = {1};
    layer_.batch = shape[0];
    layer_.out_channels = shape[1];
    layer_.sources = {LayerSource{x, shape[1], 1, 1}};
    RowFunction rows;
    rows.last_lanes = lanes_of_last(shape[1]);
    const bool built = node_.op == "QSoftmax" ? build_softmax(rows) : build_norm(rows);
    layer_.rows = rows;
    if (built && graph_.value(x).type == ElementType::kI16) read_in_planes(layer_);
    return built;
  }

  bool build_softmax(RowFunction& rows) {
    if (node_.int_or("causal", 0) != 0) return refuse("a causal softmax of several rows has no lowering");
    rows.number = uint64_t(node_.int_or("numerator", 1));
    rows.shift = int(node_.int_or("shift", 0));
    rows.table = graph_.constant_input(node_, 1);
    layer_.output.bias.assign(size_t(layer_.out_channels), 0);
    layer_.output.scale = {{1, 0}};
    return rows.table != nullptr || refuse("its table is not constant");
  }

  // What is added to all values of a row leaves a centred norm as it is. The planes of 16 bits add up to
  // 128 less than the value.
  bool build_norm(RowFunction& rows) {
    rows.kind = RowFunction::Kind::kNorm;
    rows.number = uint64_t(node_.int_or("epsilon", 1));
    rows.fraction = int(node_.int_or("fraction", 0));
    rows.center = node_.int_or("center", 1) != 0;
    if (!rows.center) {
      const bool wide = graph_.value(node_.input(0)).type == ElementType::kI16;
      rows.offset = (wide ? 128 : 0) - int32_t(node_.int_or("x_zero_point", 0));
    }
    const Tensor* numbers[3];
    for (int i = 0; i < 3; ++i) {
      numbers[i] = graph_.constant_input(node_, i + 1);
      if (numbers[i] == nullptr) return refuse("its scales are not constant");
    }
    for (const int64_t bias : numbers[0]->to_integers()) layer_.output.bias.push_back(int32_t(bias));
    const int64_t scales = std::max(numbers[1]->size(), numbers[2]->size());
    for (int64_t c = 0; c < scales; ++c) {
      const auto of = [&](const Tensor& t) { return int32_t(t.integer_at(t.size() == 1 ? 0 : c)); };
      layer_.output.scale.push_back({of(*numbers[1]), of(*numbers[2])});
    }
    return true;
  }

  const Graph& graph_;
  const Node& node_;
  const OverlayHardware& hardware_;
  const SourceViews& views_;
  const Refuse& refuse_;
  OverlayLayer layer_;
};

}  // namespace

bool is_token_operator(const Node& node) {
  return node.is_tilewright("QMatMul") || node.is_tilewright("QSoftmax") || node.is_tilewright("QLayerNorm");
}

std::optional<OverlayLayer> find_token_layer(const Graph& graph, const Node& node,
                                             const OverlayHardware& hardware, const SourceViews& views,
                                             const std::function<void(const std::string&)>& refuse) {
  return TokenLayer(graph, node, hardware, views, refuse).run();
}

}  // namespace tilewright::overlay
