#include "tilewright/overlay/packing.h"

#include <algorithm>
#include <cstring>

#include "tilewright/tensor/layout.h"

namespace tilewright::overlay {
namespace {

// One output channel of weights, i8, single plane: from [inputs][positions] to the strided lanes of its
// blocks.
void pack_row(const int8_t* from, int64_t inputs, int64_t positions, int64_t block, std::byte* to) {
  const int64_t element = block * block;
  for (int64_t i = 0; i < inputs; i += block) {
    const int64_t lanes = std::min(block, inputs - i);
    std::byte* blocks = to + i / block * positions * element;
    if (positions == 1) {
      std::memcpy(blocks, from + i, size_t(lanes));
      continue;
    }
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int8_t* row = from + (i + lane) * positions;
      for (int64_t p = 0; p < positions; ++p) blocks[p * element + lane] = std::byte(row[p]);
    }
  }
}

}  // namespace

int64_t packed_weight_bytes(const Layer& layer, const OverlayHardware& hardware) {
  return ChannelBlocks(layer, hardware.block_out).offset.back() * layer.weight_count() *
         hardware.weight_bytes();
}

void pack_weights(const Layer& layer, const OverlayHardware& hardware, std::span<std::byte> out) {
  const int64_t block = hardware.block_out, count = layer.weight_count(), element = block * block;
  const ChannelBlocks blocks(layer, block);
  std::fill(out.begin(), out.end(), std::byte{0});
  if (blocks.shared) {
    for (int64_t w = 0; w < count; ++w) {
      for (int64_t lane = 0; lane < block; ++lane) {
        out[size_t(w * element + lane * block + lane)] = std::byte(layer.diagonal[size_t(w)]);
      }
    }
    return;
  }
  const bool plain = blocks.dense && layer.weights.type() == ElementType::kI8;
  const int8_t* rows = plain ? layer.weights.data<int8_t>().data() : nullptr;
  const int64_t inputs = layer.sources[0].channels;
  for (int64_t o = 0; o < layer.out_channels; ++o) {
    const int64_t ob = o / block, lane = o % block;
    const Range needed = blocks.needed[size_t(ob)];
    std::byte* base = out.data() + blocks.offset[size_t(ob)] * count * element + lane * block;
    if (plain) {
      pack_row(rows + o * inputs * count, inputs, count, block, base);
      continue;
    }
    const int64_t end = std::min(needed.end * block, inputs);
    for (int64_t i = needed.begin * block; i < end; ++i) {
      std::byte* to = base + (i / block - needed.begin) * count * element + i % block;
      for (int64_t w = 0; w < count; ++w) to[w * element] = std::byte(layer.weight(o, i, int(w)));
    }
  }
}

void pack_parameters(const OutputPasses& passes, const OverlayHardware& hardware, std::span<std::byte> out) {
  const int64_t block = hardware.block_out, batch = hardware.batch,
                vectors = int64_t(passes.parameters.size());
  std::fill(out.begin(), out.end(), std::byte{0});
  for (int64_t p = 0; p < vectors; ++p) {
    const std::vector<int32_t>& values = passes.parameters[size_t(p)];
    for (int64_t o = 0; o < int64_t(values.size()); ++o) {
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t at = ((o / block * vectors + p) * batch + b) * block + o % block;
        std::memcpy(out.data() + at * 4, &values[size_t(o)], 4);
      }
    }
  }
}

int64_t packed_activation_bytes(const SourceView& view, const OverlayHardware& hardware) {
  const int64_t batches = (view.batch + hardware.batch - 1) / hardware.batch;
  const int64_t blocks = (view.channels + hardware.block_in - 1) / hardware.block_in;
  return batches * blocks * view.height * view.width * hardware.input_bytes();
}

void pack_activation(const Tensor& tensor, const SourceView& view, const OverlayHardware& hardware,
                     std::span<std::byte> out) {
  const Tensor blocked =
      block_activations(tensor.reshaped(Shape{view.batch, view.channels, view.height, view.width}),
                        hardware.batch, hardware.block_in);
  TILEWRIGHT_CHECK(blocked.size_bytes() == out.size(), "packed activation of another size");
  std::memcpy(out.data(), blocked.bytes().data(), out.size());
}

Tensor unpack_activation(std::span<const std::byte> bytes, const SourceView& view,
                         const OverlayHardware& hardware) {
  const int64_t batches = (view.batch + hardware.batch - 1) / hardware.batch;
  const int64_t blocks = (view.channels + hardware.block_out - 1) / hardware.block_out;
  Tensor blocked(ElementType::kI8,
                 Shape{batches, blocks, view.height, view.width, hardware.batch, hardware.block_out});
  TILEWRIGHT_CHECK(blocked.size_bytes() == bytes.size(), "packed activation of another size");
  std::memcpy(blocked.mutable_bytes().data(), bytes.data(), bytes.size());
  return unblock_activations(blocked, view.batch, view.channels);
}

Tensor fold_image(const Tensor& tensor, int64_t batch, const InputFold& fold, int64_t height, int64_t width) {
  const int64_t lanes = int64_t(fold.fold_y) * fold.fold_x;
  Tensor folded(ElementType::kI8, Shape{batch, fold.channels * lanes, height, width});
  const auto from = tensor.data<int8_t>();
  const auto to = folded.mutable_data<int8_t>();
  size_t at = 0;
  for (int64_t plane = 0; plane < batch * fold.channels; ++plane) {
    const int8_t* image = from.data() + plane * fold.height * fold.width;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t shift_y = fold.origin_y + lane / fold.fold_x * fold.step_y;
      const int64_t shift_x = fold.origin_x + lane % fold.fold_x * fold.step_x;
      for (int64_t y = 0; y < height; ++y) {
        const int64_t row = y * fold.sample_y + shift_y;
        const bool inside = row >= 0 && row < fold.height;
        for (int64_t x = 0; x < width; ++x, ++at) {
          const int64_t col = x * fold.sample_x + shift_x;
          to[at] =
              inside && col >= 0 && col < fold.width ? image[row * fold.width + col] : int8_t(fold.pad_value);
        }
      }
    }
  }
  return folded;
}

}  // namespace tilewright::overlay
