// Tap (ky, kx) of part p reads the image at r * (stride * y + ky - pad) + i_p, so it is tap r * ky + i_p of a
// kernel of r * k on the image, whose padding is r times as wide.
#include "tilewright/transform/fold/fold_focus.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

// Where a part of the channels begins in the image.
struct Corner {
  ValueId image = kNoValue;
  std::array<int64_t, 2> begin{0, 0}, step{1, 1};
};

// One Slice of rows or columns, added to what the slices after it say; false where it is another.
bool add_slice(const GraphEditor& editor, const Node& node, Corner& corner) {
  const Graph& graph = editor.graph();
  const Tensor *starts = graph.constant_input(node, 1), *ends = graph.constant_input(node, 2);
  const Tensor *axes = graph.constant_input(node, 3), *steps = graph.constant_input(node, 4);
  if (!starts || !ends || !axes || (node.has_input(4) && !steps)) return false;
  const Shape& shape = editor.value(node.input(0)).shape;
  if (shape.rank() != 4) return false;
  for (int64_t i = 0; i < axes->size(); ++i) {
    int64_t axis = axes->integer_at(i);
    if (axis < 0) axis += 4;
    const int64_t step = steps ? steps->integer_at(i) : 1, begin = starts->integer_at(i);
    if (axis < 2 || step < 1 || begin < 0 || begin >= shape[int(axis)]) return false;
    if (ends->integer_at(i) < shape[int(axis)] && ends->integer_at(i) >= 0) return false;
    corner.begin[size_t(axis - 2)] = begin + step * corner.begin[size_t(axis - 2)];
    corner.step[size_t(axis - 2)] *= step;
  }
  return true;
}

std::optional<Corner> corner_of(const GraphEditor& editor, ValueId part) {
  Corner corner{part};
  for (NodeId id = editor.producer(part); id != kNoNode && editor.node(id).is("Slice");
       id = editor.producer(corner.image)) {
    if (!add_slice(editor, editor.node(id), corner)) return std::nullopt;
    corner.image = editor.node(id).input(0);
  }
  return corner;
}

// The parts of what `id` puts together, all of one image and one step; empty where they are not.
std::vector<Corner> corners_of(const GraphEditor& editor, NodeId id) {
  const Node& node = editor.node(id);
  std::vector<Corner> corners;
  if (node.is("SpaceToDepth")) {
    const int64_t block = node.int_or("blocksize", 1);
    for (int64_t y = 0; y < block; ++y) {
      for (int64_t x = 0; x < block; ++x) corners.push_back({node.input(0), {y, x}, {block, block}});
    }
    return corners;
  }
  if (!node.is("Concat") || node.int_or("axis", 0) != 1) return {};
  for (const ValueId part : node.inputs) {
    const auto corner = corner_of(editor, part);
    if (!corner) return {};
    corners.push_back(*corner);
  }
  const Corner& first = corners[0];
  for (const Corner& corner : corners) {
    const bool alike = corner.image == first.image && corner.step == first.step;
    if (!alike || corner.begin[0] >= corner.step[0] || corner.begin[1] >= corner.step[1]) return {};
  }
  return corners;
}

Tensor spread_weights(const Tensor& weights, const std::vector<Corner>& corners, int64_t channels) {
  const Shape& from = weights.shape();
  const int64_t ry = corners[0].step[0], rx = corners[0].step[1];
  Tensor spread(ElementType::kF32, {from[0], channels, ry * from[2], rx * from[3]});
  const Shape& to = spread.shape();
  const float* w = weights.data<float>().data();
  float* const out = spread.mutable_data<float>().data();
  for (int64_t o = 0; o < from[0]; ++o) {
    for (int64_t i = 0; i < from[1]; ++i) {
      const Corner& corner = corners[size_t(i / channels)];
      for (int64_t ky = 0; ky < from[2]; ++ky) {
        for (int64_t kx = 0; kx < from[3]; ++kx, ++w) {
          const int64_t row = ry * ky + corner.begin[0], column = rx * kx + corner.begin[1];
          out[((o * channels + i % channels) * to[2] + row) * to[3] + column] += *w;
        }
      }
    }
  }
  return spread;
}

std::vector<int64_t> times(std::vector<int64_t> values, const Corner& corner) {
  for (size_t i = 0; i < values.size(); ++i) values[i] *= corner.step[i % 2];
  return values;
}

void fold(GraphEditor& editor, NodeId id) {
  const Node& node = editor.node(id);
  const Tensor* weights = editor.graph().constant_input(node, 1);
  const NodeId joined = editor.producer(node.input(0));
  if (!weights || weights->type() != ElementType::kF32 || weights->shape().rank() != 4 || joined == kNoNode ||
      editor.only_reader(node.input(0)) != id || node.int_or("group", 1) != 1 ||
      node.ints_or("dilations", {1, 1}) != std::vector<int64_t>{1, 1} ||
      node.string_or("auto_pad", "NOTSET") != "NOTSET") {
    return;
  }
  const std::vector<Corner> corners = corners_of(editor, joined);
  if (corners.empty() || corners[0].step[0] * corners[0].step[1] == 1) return;
  const Corner& first = corners[0];
  const Shape image = editor.value(first.image).shape;
  const int64_t channels = image[1];
  if (image[2] % first.step[0] != 0 || image[3] % first.step[1] != 0 ||
      weights->shape()[1] != int64_t(corners.size()) * channels) {
    return;
  }
  const Tensor spread = spread_weights(*weights, corners, channels);
  const ValueId w = editor.add_constant(node.name + "_spread_weights", spread);
  Node& changed = editor.mutable_node(id);
  const std::vector<int64_t> strides = changed.ints_or("strides", {1, 1}),
                             pads = changed.ints_or("pads", {0, 0, 0, 0});
  changed.attributes["strides"] = times(strides, first);
  changed.attributes["pads"] = times(pads, first);
  changed.attributes["kernel_shape"] = std::vector<int64_t>{spread.shape()[2], spread.shape()[3]};
  editor.set_input(id, 0, first.image);
  editor.set_input(id, 1, w);
}

}  // namespace

Graph fold_focus(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    if (!editor.is_dead(id) && editor.node(id).is("Conv")) fold(editor, id);
  }
  Graph folded = std::move(editor).finish();
  folded.remove_dead();
  return folded;
}

}  // namespace tilewright
