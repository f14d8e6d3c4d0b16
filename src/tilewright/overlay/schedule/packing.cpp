// Lays values out one byte per lane, then packs the lanes to their width; 8-bit weights are written in place.
// Lanes beyond the last input channel hold zero weights, or +1 and -1 in turn where weights have one bit.
#include "tilewright/overlay/schedule/packing.h"

#include <algorithm>
#include <cstring>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/execute/scratchpads.h"
#include "tilewright/tensor/layout.h"

namespace tilewright::overlay {
namespace {

// Whether a 1-bit lane is set: the sign of a bipolar value, else the low bit.
bool is_set(int8_t value, bool bipolar) { return bipolar ? value > 0 : (value & 1) != 0; }

// A 16-bit image [N,C,H,W] as bytes: the channels of its high bytes, zeros up to a multiple of `block`, and
// those of its low bytes, each 128 less.
Tensor planes_of(const Tensor& image, int64_t block) {
  const Shape& shape = image.shape();
  const int64_t plane = round_up(shape[1], block), size = shape[2] * shape[3];
  Tensor bytes(ElementType::kI8, Shape{shape[0], 2 * plane, shape[2], shape[3]});
  const int16_t* from = image.data<int16_t>().data();
  int8_t* const to = bytes.mutable_data<int8_t>().data();
  for (int64_t n = 0; n < shape[0]; ++n) {
    int8_t* high = to + n * 2 * plane * size;
    int8_t* low = high + plane * size;
    for (int64_t i = 0; i < shape[1] * size; ++i, ++from) {
      *high++ = int8_t(*from >> 8);
      *low++ = int8_t((*from & 0xFF) - 128);
    }
  }
  return bytes;
}

// The other way round: the first `channels` of each plane.
Tensor joined_planes(const Tensor& bytes, int64_t channels) {
  const Shape& shape = bytes.shape();
  const int64_t plane = shape[1] / 2, size = shape[2] * shape[3];
  Tensor image(ElementType::kI16, Shape{shape[0], channels, shape[2], shape[3]});
  const int8_t* const from = bytes.data<int8_t>().data();
  int16_t* to = image.mutable_data<int16_t>().data();
  for (int64_t n = 0; n < shape[0]; ++n) {
    const int8_t* high = from + n * 2 * plane * size;
    const int8_t* low = high + plane * size;
    for (int64_t i = 0; i < channels * size; ++i) *to++ = int16_t(256 * *high++ + *low++ + 128);
  }
  return image;
}

// One output channel of weights, i8, single plane: from [inputs][positions] to its lanes, `stride` lanes from
// position to position.
void pack_row(const int8_t* from, int64_t inputs, int64_t positions, int64_t block, int64_t stride,
              int8_t* to) {
  for (int64_t i = 0; i < inputs; i += block) {
    const int64_t lanes = std::min(block, inputs - i);
    int8_t* blocks = to + i / block * positions * stride;
    if (positions == 1) {
      std::memcpy(blocks, from + i, size_t(lanes));
      continue;
    }
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int8_t* row = from + (i + lane) * positions;
      for (int64_t p = 0; p < positions; ++p) blocks[p * stride + lane] = row[p];
    }
  }
}

// Weights one byte to a lane, in the order of pack_weights.
class WeightLanes {
 public:
  WeightLanes(const OverlayLayer& layer, const OverlayHardware& hardware, int8_t* lanes)
      : layer_(layer),
        blocks_(layer, hardware),
        block_in_(hardware.block_in),
        block_out_(hardware.block_out),
        count_(layer.weight_count()),
        element_(block_in_ * block_out_),
        lanes_(lanes) {}

  void fill() {
    if (blocks_.shared) return fill_diagonal();
    const bool plain =
        blocks_.dense && layer_.weights.type() == ElementType::kI8 && layer_.weight_planes == 1;
    const int8_t* rows = plain ? layer_.weights.data<int8_t>().data() : nullptr;
    const int64_t inputs = layer_.sources[0].channels;
    for (int64_t o = 0; o < layer_.out_channels; ++o) {
      const int64_t stride = blocks_.subs(o / block_in_) * element_;
      int8_t* const to = channel(o);
      if (plain) {
        pack_row(rows + o * inputs * count_, inputs, count_, block_in_, stride, to);
      } else {
        fill_channel(o, stride, to);
      }
      if (layer_.weight_bits == 1) balance(o, stride, to);
    }
  }

 private:
  // The first lane of output channel o.
  int8_t* channel(int64_t o) const {
    const int64_t block = o / block_in_, in_block = o % block_in_;
    return lanes_ + blocks_.offset[size_t(block)] * count_ * element_ + in_block / block_out_ * element_ +
           in_block % block_out_ * block_in_;
  }

  void fill_channel(int64_t o, int64_t stride, int8_t* to) {
    const Range needed = blocks_.needed[size_t(o / block_in_)];
    const int64_t end = std::min(needed.end * block_in_, layer_.sources[0].channels);
    for (int64_t i = needed.begin * block_in_; i < end; ++i) {
      int8_t* lane = to + (i / block_in_ - needed.begin) * count_ * stride + i % block_in_;
      for (int64_t w = 0; w < count_; ++w) lane[w * stride] = layer_.weight(o, i, int(w));
    }
  }

  // Lanes beyond the last input channel: +1 and -1 in turn, because 1-bit weights have no zero.
  void balance(int64_t o, int64_t stride, int8_t* to) {
    const Range needed = blocks_.needed[size_t(o / block_in_)];
    const int64_t inputs = layer_.sources[0].channels;
    for (int64_t i = inputs; i < needed.end * block_in_; ++i) {
      int8_t* lane = to + (i / block_in_ - needed.begin) * count_ * stride + i % block_in_;
      for (int64_t w = 0; w < count_; ++w) lane[w * stride] = int8_t((i - inputs) % 2 == 0 ? 1 : -1);
    }
  }

  void fill_diagonal() {
    const int64_t subs = blocks_.subs(0);
    for (int64_t w = 0; w < count_; ++w) {
      for (int64_t lane = 0; lane < subs * block_out_; ++lane) {
        const int64_t from = w == layer_.spread ? 0 : lane;
        lanes_[(w * subs * block_out_ + lane) * block_in_ + from] = layer_.diagonal[size_t(w)];
      }
    }
  }

  const OverlayLayer& layer_;
  const ChannelBlocks blocks_;
  const int64_t block_in_, block_out_, count_, element_;
  int8_t* const lanes_;
};

}  // namespace

void pack_lanes_of(std::span<const int8_t> values, int bits, bool bipolar, std::span<std::byte> out) {
  TILEWRIGHT_CHECK(values.size() * size_t(bits) == out.size() * 8, "lanes and bytes of different sizes");
  if (bits == 8) {
    std::ranges::copy(std::as_bytes(values), out.begin());
    return;
  }
  const size_t per_byte = 8 / size_t(bits);
  const unsigned mask = (1u << bits) - 1;
  for (size_t i = 0; i < out.size(); ++i) {
    unsigned byte = 0;
    for (size_t k = 0; k < per_byte; ++k) {
      const int8_t value = values[i * per_byte + k];
      const unsigned lane = bits == 1 ? unsigned(is_set(value, bipolar)) : unsigned(value) & mask;
      byte |= lane << (k * size_t(bits));
    }
    out[i] = std::byte(byte);
  }
}

int64_t table_entry_bytes(const OverlayLayer& layer) { return layer.rows && layer.rows->table ? 4 : 1; }

int64_t packed_table_bytes(const OverlayLayer& layer) {
  const bool any = layer.output.table != nullptr || (layer.rows && layer.rows->table != nullptr);
  return any ? kTableEntries * table_entry_bytes(layer) : 0;
}

// A softmax looks up minus the difference to the largest score.
void pack_table(const OverlayLayer& layer, std::span<std::byte> out) {
  if (out.empty()) return;
  if (layer.output.table != nullptr)
    return void(std::ranges::copy(std::as_bytes(layer.output.table->data<int8_t>()), out.begin()));
  for (int64_t difference = 0; difference < kTableEntries; ++difference) {
    const auto entry = uint32_t(layer.rows->table->integer_at(difference));
    const size_t at = size_t(uint8_t(128 - difference)) * 4;
    for (size_t byte = 0; byte < 4; ++byte) out[at + byte] = std::byte(entry >> (8 * byte));
  }
}

int64_t packed_weight_bytes(const OverlayLayer& layer, const OverlayHardware& hardware) {
  if (layer.computed) return 0;
  return ChannelBlocks(layer, hardware).offset.back() * layer.weight_count() * hardware.weight_bytes();
}

void pack_weights(const OverlayLayer& layer, const OverlayHardware& hardware, std::span<std::byte> out) {
  if (layer.computed) return;
  if (hardware.weight_bits == 8) {
    std::fill(out.begin(), out.end(), std::byte{0});
    return WeightLanes(layer, hardware, reinterpret_cast<int8_t*>(out.data())).fill();
  }
  std::vector<int8_t> lanes(out.size() * 8 / size_t(hardware.weight_bits));
  WeightLanes(layer, hardware, lanes.data()).fill();
  pack_lanes_of(lanes, hardware.weight_bits, true, out);
}

void pack_parameters(const OutputPasses& passes, const OverlayHardware& hardware, std::span<std::byte> out) {
  const int64_t block = hardware.block_out, batch = hardware.batch,
                vectors = int64_t(passes.parameters.size());
  std::fill(out.begin(), out.end(), std::byte{0});
  for (int64_t p = 0; p < vectors; ++p) {
    const std::vector<int32_t>& values = passes.parameters[size_t(p)];
    const auto channels = int64_t(values.size());
    for (int64_t o = 0; o < round_up(channels, block); ++o) {
      const int32_t value = o < channels ? values[size_t(o)] : passes.unused[size_t(p)];
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t at = ((o / block * vectors + p) * batch + b) * block + o % block;
        std::memcpy(out.data() + at * 4, &value, 4);
      }
    }
  }
}

void pack_padding(const OverlayLayer& layer, const OverlayHardware& hardware, std::span<std::byte> out) {
  const auto planes = size_t(layer.sources[0].planes);
  const size_t bytes = out.size() / planes;
  for (size_t plane = 0; plane < planes; ++plane) {
    const std::vector<int8_t> lanes(bytes * 8 / size_t(hardware.input_bits),
                                    int8_t(padding_lane(layer, plane)));
    pack_lanes_of(lanes, hardware.input_bits, false, out.subspan(plane * bytes, bytes));
  }
}

int64_t packed_activation_bytes(const SourceView& view, const OverlayHardware& hardware) {
  const int64_t batches = ceil_div(view.batch, hardware.batch);
  const int64_t blocks = ceil_div(view.channels, hardware.block_in) * view.planes;
  return batches * blocks * view.height * view.width * hardware.input_bytes();
}

void pack_activation(const Tensor& tensor, const SourceView& view, bool bipolar,
                     const OverlayHardware& hardware, std::span<std::byte> out) {
  TILEWRIGHT_CHECK(view.lanes.empty(), "the host writes channels one after the other");
  const Tensor image = tensor.reshaped(Shape{view.batch, view.channels, view.height, view.width});
  const Tensor blocked = block_activations(view.planes == 2 ? planes_of(image, hardware.block_in) : image,
                                           hardware.batch, hardware.block_in);
  pack_lanes_of(blocked.data<int8_t>(), hardware.input_bits, bipolar, out);
}

Tensor unpack_activation(std::span<const std::byte> bytes, const SourceView& view, bool bipolar,
                         const OverlayHardware& hardware) {
  const int64_t batches = ceil_div(view.batch, hardware.batch);
  const int64_t blocks = ceil_div(view.channels, hardware.block_in) * view.planes;
  Tensor blocked(ElementType::kI8,
                 Shape{batches, blocks, view.height, view.width, hardware.batch, hardware.block_in});
  const auto lanes = blocked.mutable_data<int8_t>();
  TILEWRIGHT_CHECK(lanes.size() * size_t(hardware.output_bits) == bytes.size() * 8,
                   "packed activation of another size");
  unpack_lanes(bytes.data(), hardware.output_bits, bipolar ? OneBit::kBipolar : OneBit::kUnsigned,
               lanes.size(), lanes.data());
  if (view.planes == 2)
    return joined_planes(unblock_activations(blocked, view.batch, blocks * hardware.block_in), view.channels);
  const Tensor all = unblock_activations(blocked, view.batch, view.channels);
  if (view.lanes.empty()) return all;
  const int64_t plane = view.height * view.width, channels = view.channels_of_value();
  Tensor picked(ElementType::kI8, Shape{view.batch, channels, view.height, view.width});
  const int8_t* from = all.data<int8_t>().data();
  int8_t* to = picked.mutable_data<int8_t>().data();
  for (int64_t n = 0; n < view.batch; ++n) {
    for (int64_t c = 0; c < channels; ++c, to += plane) {
      std::copy_n(from + (n * view.channels + view.lane(c)) * plane, plane, to);
    }
  }
  return picked;
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
