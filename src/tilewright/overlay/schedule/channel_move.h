// Operators that only move elements of [N, C, H, W] tensors: slices, paddings, repeated and regrouped
// positions, selected channels. As what the lowering knows, they are sums of one product each with a weight
// of 1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright::overlay {

// Output position (piece.out_y + qy * out_step_y, piece.out_x + qx * out_step_x) is input position
// (qy * in_step_y + piece.dy, qx * in_step_x + piece.dx), or pad_value outside of the image.
struct ChannelMove {
  struct Piece {
    int64_t out_y = 0, out_x = 0, dy = 0, dx = 0;
  };
  int64_t output_channels = 1, height = 1, width = 1;  // of the output
  int64_t in_step_y = 1, in_step_x = 1, out_step_y = 1, out_step_x = 1;
  int32_t pad_value = 0;
  std::vector<Piece> pieces;
  // channels[p * output_channels + o]: the input channel that output channel o takes from piece p; -1: none.
  // Empty: each its own, from the only piece of its position.
  std::vector<int64_t> channels;
};

// Whether `node` is of a kind that may be one: Slice, Pad, Resize, Gather, DepthToSpace, SpaceToDepth of i8.
bool is_channel_move(const Graph& graph, const Node& node);
// nullopt: it moves something else, or in another way (axes, modes, operands that are not constant).
std::optional<ChannelMove> read_channel_move(const Graph& graph, const Node& node);

}  // namespace tilewright::overlay
