// What the host writes into the overlay's DRAM: weights, parameters and activations in the overlay's layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::overlay {

// B is block_in, b the batch, S the sub-blocks of an output block (ChannelBlocks), B' block_out; lanes of
// fewer than 8 bits are packed, lane k at bit k * width.
//
// Bytes of a layer's weights; [O/B][needed input blocks][weight index][S][B'][B].
int64_t packed_weight_bytes(const OverlayLayer& layer, const OverlayHardware& hardware);
// `out` has packed_weight_bytes() bytes; all are written.
void pack_weights(const OverlayLayer& layer, const OverlayHardware& hardware, std::span<std::byte> out);

// The layer's table of bytes or words, entry (v + 128) mod 256 at that place; 0 bytes without one.
int64_t table_entry_bytes(const OverlayLayer& layer);
int64_t packed_table_bytes(const OverlayLayer& layer);
void pack_table(const OverlayLayer& layer, std::span<std::byte> out);

// What the layer's padding rows hold (LayerAddresses::padding): by plane of its input.
void pack_padding(const OverlayLayer& layer, const OverlayHardware& hardware, std::span<std::byte> out);

// [O/B'][vectors][b][B'] i32; `out` has ACC element size * sub-blocks * vectors bytes.
void pack_parameters(const OutputPasses& passes, const OverlayHardware& hardware, std::span<std::byte> out);

// Lanes of an activation that hold `values`: their low input_bits, of bipolar ones the bit. As many as fill
// `out`.
void pack_lanes_of(std::span<const int8_t> values, int bits, bool bipolar, std::span<std::byte> out);

// Bytes of an activation tensor [N/b][C/B][H][W][b][B].
int64_t packed_activation_bytes(const SourceView& view, const OverlayHardware& hardware);
// `tensor` has the elements of `view` in row-major order; lanes beyond the last channel become zero bits.
void pack_activation(const Tensor& tensor, const SourceView& view, bool bipolar,
                     const OverlayHardware& hardware, std::span<std::byte> out);
Tensor unpack_activation(std::span<const std::byte> bytes, const SourceView& view, bool bipolar,
                         const OverlayHardware& hardware);

// The folded form of an image batch (InputFold): [batch, channels*fold_y*fold_x, height, width].
Tensor fold_image(const Tensor& tensor, int64_t batch, const InputFold& fold, int64_t height, int64_t width);

}  // namespace tilewright::overlay
