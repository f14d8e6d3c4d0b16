// One reader per operator, after the ONNX definitions. Rank 3 is an image of one row, rank 2 one of a
// position.
#include "tilewright/overlay/schedule/channel_move.h"

#include <algorithm>
#include <cmath>

namespace tilewright::overlay {
namespace {

struct Image {
  int64_t channels = 1, height = 1, width = 1;
};

std::optional<Image> image_of(const Shape& shape) {
  if (shape.rank() == 2) return Image{shape[1], 1, 1};
  if (shape.rank() == 3) return Image{shape[1], 1, shape[2]};
  if (shape.rank() == 4) return Image{shape[1], shape[2], shape[3]};
  return std::nullopt;
}

ChannelMove move_to(const Image& output) {
  ChannelMove move;
  move.output_channels = output.channels;
  move.height = output.height;
  move.width = output.width;
  return move;
}

// Where an axis of the value begins and how far apart its elements are; the batch is not sliced.
std::optional<ChannelMove> read_slice(const Graph& graph, const Node& node, const Image& from,
                                      const Image& to) {
  const Tensor *starts = graph.constant_input(node, 1), *ends = graph.constant_input(node, 2);
  const Tensor *axes = graph.constant_input(node, 3), *steps = graph.constant_input(node, 4);
  if (!starts || !ends || (node.has_input(3) && !axes) || (node.has_input(4) && !steps)) return std::nullopt;
  const Shape& shape = graph.value(node.input(0)).shape;
  const int64_t rank = shape.rank();
  std::vector<int64_t> begin(size_t(rank), 0), step(size_t(rank), 1);
  for (int64_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes ? axes->integer_at(i) : i;
    if (axis < 0) axis += rank;
    const int64_t size = shape[int(axis)], by = steps ? steps->integer_at(i) : 1;
    if (by < 1) return std::nullopt;
    int64_t start = starts->integer_at(i);
    if (start < 0) start += size;
    begin[size_t(axis)] = std::clamp<int64_t>(start, 0, size);
    step[size_t(axis)] = by;
  }
  if (shape[0] != graph.value(node.outputs[0]).shape[0]) return std::nullopt;
  ChannelMove move = move_to(to);
  move.pieces = {{}};
  if (rank > 2) {
    const size_t last = size_t(rank - 1);
    move.in_step_x = step[last];
    move.pieces[0].dx = begin[last];
  }
  if (rank == 4) {
    move.in_step_y = step[2];
    move.pieces[0].dy = begin[2];
  }
  if (to.channels != from.channels) {
    for (int64_t o = 0; o < to.channels; ++o) move.channels.push_back(begin[1] + o * step[1]);
  }
  return move;
}

std::optional<ChannelMove> read_pad(const Graph& graph, const Node& node, const Image& to) {
  const Tensor* pads = graph.constant_input(node, 1);
  const Tensor* value = graph.constant_input(node, 2);
  if (!pads || node.has_input(3) || node.string_or("mode", "constant") != "constant" ||
      (node.has_input(2) && (!value || value->size() != 1))) {
    return std::nullopt;
  }
  const int64_t rank = graph.value(node.input(0)).shape.rank();
  if (rank < 3 || pads->size() != 2 * rank) return std::nullopt;
  for (const int64_t axis : {int64_t{0}, int64_t{1}, rank, rank + 1}) {
    if (pads->integer_at(axis) != 0) return std::nullopt;
  }
  ChannelMove move = move_to(to);
  move.pad_value = value ? int32_t(value->integer_at(0)) : 0;
  move.pieces = {{0, 0, rank == 4 ? -pads->integer_at(2) : 0, -pads->integer_at(rank - 1)}};
  return move;
}

// The whole number that an axis is repeated by, if it is.
std::optional<int64_t> repeats(const Node& node, int64_t from, int64_t to) {
  if (to % from != 0) return std::nullopt;
  const int64_t factor = to / from;
  const std::string place = node.string_or("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = node.string_or("nearest_mode", "round_prefer_floor");
  for (int64_t y = 0; y < std::min<int64_t>(to, 4 * factor); ++y) {
    double at = 0;
    if (place == "asymmetric") {
      at = double(y) / double(factor);
    } else if (place == "half_pixel" || (place == "pytorch_half_pixel" && to > 1)) {
      at = (double(y) + 0.5) / double(factor) - 0.5;
    } else {
      return std::nullopt;
    }
    const double nearest = rounding == "floor"               ? std::floor(at)
                           : rounding == "ceil"              ? std::ceil(at)
                           : rounding == "round_prefer_ceil" ? std::floor(at + 0.5)
                                                             : std::ceil(at - 0.5);
    if (std::clamp<double>(nearest, 0, double(from - 1)) != double(y / factor)) return std::nullopt;
  }
  return factor;
}

std::optional<ChannelMove> read_resize(const Graph& graph, const Node& node, const Image& from,
                                       const Image& to) {
  const Shape &x = graph.value(node.input(0)).shape, &y = graph.value(node.outputs[0]).shape;
  if (node.string_or("mode", "nearest") != "nearest" || from.channels != to.channels || x[0] != y[0] ||
      from.height == 0 || from.width == 0) {
    return std::nullopt;
  }
  const auto rows = repeats(node, from.height, to.height), columns = repeats(node, from.width, to.width);
  if (!rows || !columns) return std::nullopt;
  ChannelMove move = move_to(to);
  move.out_step_y = *rows;
  move.out_step_x = *columns;
  for (int64_t ry = 0; ry < *rows; ++ry) {
    for (int64_t rx = 0; rx < *columns; ++rx) move.pieces.push_back({ry, rx, 0, 0});
  }
  return move;
}

std::optional<ChannelMove> read_gather(const Graph& graph, const Node& node, const Image& from,
                                       const Image& to) {
  const Tensor* indices = graph.constant_input(node, 1);
  const int64_t rank = graph.value(node.input(0)).shape.rank(), axis = node.int_or("axis", 0);
  if (!indices || indices->shape().rank() != 1 || (axis < 0 ? axis + rank : axis) != 1) return std::nullopt;
  ChannelMove move = move_to(to);
  move.pieces = {{}};
  for (int64_t o = 0; o < to.channels; ++o) {
    const int64_t index = indices->integer_at(o);
    move.channels.push_back(index < 0 ? index + from.channels : index);
  }
  return move;
}

// DepthToSpace: each position of a block of outputs is a piece with channels of its own.
ChannelMove read_depth_to_space(const Node& node, const Image& to) {
  const int64_t block = node.int_or("blocksize", 1);
  const bool columns_first = node.string_or("mode", "DCR") == "CRD";
  ChannelMove move = move_to(to);
  move.out_step_y = move.out_step_x = block;
  for (int64_t ry = 0; ry < block; ++ry) {
    for (int64_t rx = 0; rx < block; ++rx) {
      move.pieces.push_back({ry, rx, 0, 0});
      for (int64_t o = 0; o < to.channels; ++o) {
        move.channels.push_back(columns_first ? (o * block + ry) * block + rx
                                              : (ry * block + rx) * to.channels + o);
      }
    }
  }
  return move;
}

// SpaceToDepth: each position of a block of inputs is a piece that some output channels take theirs from.
ChannelMove read_space_to_depth(const Node& node, const Image& from, const Image& to) {
  const int64_t block = node.int_or("blocksize", 1);
  ChannelMove move = move_to(to);
  move.in_step_y = move.in_step_x = block;
  for (int64_t ry = 0; ry < block; ++ry) {
    for (int64_t rx = 0; rx < block; ++rx) {
      move.pieces.push_back({0, 0, ry, rx});
      for (int64_t o = 0; o < to.channels; ++o) {
        const bool here = o / from.channels == ry * block + rx;
        move.channels.push_back(here ? o % from.channels : -1);
      }
    }
  }
  return move;
}

}  // namespace

bool is_channel_move(const Graph& graph, const Node& node) {
  static constexpr const char* kMoves[] = {"Slice",  "Pad",          "Resize",
                                           "Gather", "DepthToSpace", "SpaceToDepth"};
  if (std::none_of(std::begin(kMoves), std::end(kMoves), [&](const char* op) { return node.is(op); })) {
    return false;
  }
  return node.has_input(0) && graph.value(node.input(0)).type == ElementType::kI8;
}

std::optional<ChannelMove> read_channel_move(const Graph& graph, const Node& node) {
  const auto from = image_of(graph.value(node.input(0)).shape),
             to = image_of(graph.value(node.outputs[0]).shape);
  if (!from || !to) return std::nullopt;
  if (node.is("Slice")) return read_slice(graph, node, *from, *to);
  if (node.is("Pad")) return read_pad(graph, node, *to);
  if (node.is("Resize")) return read_resize(graph, node, *from, *to);
  if (node.is("Gather")) return read_gather(graph, node, *from, *to);
  if (node.is("DepthToSpace")) return read_depth_to_space(node, *to);
  return read_space_to_depth(node, *from, *to);
}

}  // namespace tilewright::overlay
