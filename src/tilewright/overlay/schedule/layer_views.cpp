// How values lie in the overlay's memory: after their shape, after what they show, or side by side.
#include "tilewright/graph/operator_class.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

std::optional<SourceView> image_view(const Shape& shape) {
  switch (shape.rank()) {
    case 2:
      return SourceView{shape[0], shape[1], 1, 1};
    case 3:
      return SourceView{shape[0], shape[1], 1, shape[2]};
    case 4:
      return SourceView{shape[0], shape[1], shape[2], shape[3]};
    default:
      return std::nullopt;
  }
}

SourceView view_of(const OverlayLayer& layer, const LayerSource& source) {
  if (source.held_as) return *source.held_as;
  return {layer.batch, source.channels, source.height, source.width, {}, source.planes};
}

SourceView result_view(const OverlayLayer& layer) {
  if (layer.result_held_as) return *layer.result_held_as;
  SourceView view{layer.batch, layer.out_channels, layer.out_height, layer.out_width, layer.lanes};
  if (layer.out_plane == 0) return view;
  view.channels = layer.result_channels;
  view.planes = 2;
  return view;
}

bool is_view(const Graph& graph, const Node& node) {
  if (operator_class(node) != OperatorClass::kReshape) return false;
  const Value& from = graph.value(node.input(0));
  const Value& to = graph.value(node.outputs[0]);
  const auto view = image_view(from.shape);
  if ((from.type != ElementType::kI8 && from.type != ElementType::kI16) || !view || to.shape.rank() < 2 ||
      to.shape[0] != view->batch)
    return false;
  // Either everything after the batch becomes one axis, or only axes of size 1 come and go after the
  // channels.
  return to.shape.rank() == 2 || image_view(to.shape) == view;
}

int join_axis(const Graph& graph, const Node& node) {
  if (!node.is("Concat") || graph.value(node.outputs[0]).type != ElementType::kI8) return 0;
  const int rank = graph.value(node.outputs[0]).shape.rank();
  const int64_t given = node.int_or("axis", 0), axis = given < 0 ? given + rank : given;
  if (rank < 2 || rank > 4 || axis < 1) return 0;
  return rank == 3 && axis == 2 ? 3 : int(axis);  // rank 3 is one row
}

bool is_join(const Graph& graph, const Node& node) { return join_axis(graph, node) != 0; }

bool is_cache_update(const Node& node) { return node.is_tilewright("QCacheUpdate"); }

std::optional<SourceView> join_view(const Graph& graph, const Node& node, std::span<const SourceView> parts,
                                    const OverlayHardware& hardware, Diagnostics& refusals) {
  const auto refuse = [&](const std::string& reason) {
    refusals.error(ErrorKind::kUnsupported, where(node), node.op, reason, "run it on the host");
    return std::nullopt;
  };
  SourceView joined = *image_view(graph.value(node.outputs[0]).shape);
  const int axis = join_axis(graph, node);
  if (joined.batch > hardware.batch)
    return refuse("parts of more than one block of images do not lie together");
  if (axis == 1 && hardware.weight_bits == 1)
    return refuse("1-bit weights have no zero for the lanes between its parts");
  const int64_t block = hardware.block_in;
  if (axis > 1 && hardware.isa == IsaVersion::kVta && joined.width * (block / hardware.block_out) > 65535)
    return refuse("rows of more than 65535 positions do not fit the plain instructions");
  std::vector<int64_t> lanes;
  int64_t blocks = 0;
  bool gaps = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const SourceView& part = parts[i];
    if (graph.is_constant(node.inputs[i])) return refuse("a part of it is constant");
    if (part.batch != joined.batch || (axis != 2 && part.height != joined.height) ||
        (axis != 3 && part.width != joined.width)) {
      return refuse("a part of it lies in memory under another shape");
    }
    if (axis > 1) {
      if (part.channels != parts[0].channels || part.lanes != parts[0].lanes)
        return refuse("the channels of its parts lie in memory in different ways");
      continue;
    }
    for (int64_t c = 0; c < part.channels_of_value(); ++c) {
      gaps |= blocks * block + part.lane(c) != int64_t(lanes.size());
      lanes.push_back(blocks * block + part.lane(c));
    }
    joined.channels = blocks * block + part.channels;
    blocks += (part.channels + block - 1) / block;
  }
  if (axis > 1) {
    joined.channels = parts[0].channels;
    joined.lanes = parts[0].lanes;
  }
  if (gaps) joined.lanes = std::move(lanes);
  return joined;
}

}  // namespace tilewright::overlay
