// What a network is made of, and its evaluation as the hardware computes it: every layer is sums of products
// (or a maximum) over windows, then the finish.
#include "tilewright/pipeline/network/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::pipeline {
namespace {

// FixedLookup of docs/reference/arithmetic.md.
int64_t interpolate(const FusedLookup& lookup, int64_t x) {
  const int64_t limit = int64_t{256} << lookup.input_shift;
  x = clip(x, -limit, limit - 1);
  const int64_t index = (x >> lookup.input_shift) + 256;
  const int64_t rest = x - ((index - 256) << lookup.input_shift);
  const int64_t low = lookup.table[size_t(index)], high = lookup.table[size_t(index + 1)];
  return low + round_shift((high - low) * rest, lookup.input_shift);
}

// The finish of one sum: `channel` of the layer, `other` of the fused addition.
int32_t finished_sum(const Network& network, const Layer& layer, int64_t sum, int64_t channel,
                     int32_t other) {
  const size_t c = size_t(channel);
  int64_t value = 0;
  if (network.number == NumberType::kFixed) {
    const int64_t biased = int64_t(uint64_t(sum) + (uint64_t(layer.finish.bias[c]) << network.fraction));
    value = layer.kind == LayerKind::kMaxPool
                ? sum
                : clip(round_shift(biased, network.fraction), layer.finish.clip_low, layer.finish.clip_high);
    if (layer.add) value = clip(value + other, layer.add->clip_low, layer.add->clip_high);
    if (layer.lookup) value = interpolate(*layer.lookup, value);
    return int32_t(value);
  }
  value = requantize(int32_t(uint32_t(sum) + uint32_t(layer.finish.bias[c])), layer.finish.scale[c],
                     layer.finish.zero_point, layer.finish.clip_low, layer.finish.clip_high);
  if (layer.finish.bipolar) value = 2 * value - 1;
  if (layer.add) {
    const FusedAdd& add = *layer.add;
    const int64_t both =
        add.product
            ? (value - add.zero_a) * (int64_t(other) - add.zero_b) * add.multiplier_a
            : int64_t(int32_t(value * add.multiplier_a + int64_t(other) * add.multiplier_b + add.bias));
    value = clip(round_shift(both, add.shift) + add.zero_point, add.clip_low, add.clip_high);
  }
  if (layer.lookup) value = layer.lookup->table[size_t(value + 128)];
  return int32_t(value);
}

// Sum or maximum over the window of output (y, x) for one output channel.
int64_t accumulate(const Layer& layer, const TensorShape& in, const std::vector<int32_t>& data, int64_t y,
                   int64_t x, int64_t channel) {
  const LayerWindow& w = layer.window;
  const bool all = layer.kind == LayerKind::kConvolution;
  const bool maximum = layer.kind == LayerKind::kMaxPool;
  uint64_t sum = 0;
  int64_t largest = INT64_MIN;
  for (int64_t ky = 0; ky < w.rows; ++ky) {
    for (int64_t kx = 0; kx < w.columns; ++kx) {
      const int64_t iy = y * w.stride_y - w.top + ky, ix = x * w.stride_x - w.left + kx;
      const bool inside = iy >= 0 && iy < in.rows && ix >= 0 && ix < in.columns;
      const int64_t first = (iy * in.columns + ix) * in.channels;
      const int64_t tap = ky * w.columns + kx;
      for (int64_t c = all ? 0 : channel; c < (all ? in.channels : channel + 1); ++c) {
        const int64_t value = inside ? data[size_t(first + c)] : w.pad_value;
        const int64_t weight =
            all ? layer.weights[size_t((channel * w.rows * w.columns + tap) * in.channels + c)]
            : layer.weights.empty() ? 1
                                    : layer.weights[size_t(channel * w.rows * w.columns + tap)];
        sum += uint64_t(value * weight);
        largest = std::max(largest, value);
      }
    }
  }
  return maximum ? largest : int64_t(sum);
}

}  // namespace

const char* kind_name(LayerKind kind) {
  switch (kind) {
    case LayerKind::kConvolution:
      return "convolution";
    case LayerKind::kDepthwise:
      return "depthwise";
    case LayerKind::kMaxPool:
      return "maximum";
    case LayerKind::kAveragePool:
      return "average";
    case LayerKind::kMap:
      return "map";
  }
  return "";
}

std::string description(const Network& network, const Layer& layer) {
  const auto shape = [&](int tensor) {
    const TensorShape& s = network.tensors[size_t(tensor)].shape;
    return fmt::format("{} x {} x {}", s.rows, s.columns, s.channels);
  };
  std::string text = fmt::format("{}: {}", layer.name, kind_name(layer.kind));
  const LayerWindow& w = layer.window;
  if (w.rows * w.columns > 1) text += fmt::format(" {} x {}", w.rows, w.columns);
  if (w.stride_y * w.stride_x > 1) text += fmt::format(" in steps of {} x {}", w.stride_y, w.stride_x);
  text += fmt::format(" of {} to {}", shape(layer.input), shape(layer.output));
  if (layer.add) {
    text += (layer.add->product ? ", times " : ", plus ") + network.tensors[size_t(layer.add->tensor)].name;
  }
  return text;
}

int64_t Network::macs() const {
  int64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.macs;
  return sum;
}

int64_t Network::readers(int tensor) const {
  int64_t count = tensor == output ? 1 : 0;
  for (const Layer& layer : layers)
    count += (layer.input == tensor ? 1 : 0) + (layer.add && layer.add->tensor == tensor ? 1 : 0);
  return count;
}

int64_t Network::weight_bits() const {
  int64_t sum = 0;
  for (const Layer& layer : layers) sum += int64_t(layer.weights.size()) * layer.weight_bits;
  return sum;
}

const Layer* Network::writer(int tensor) const {
  for (const Layer& layer : layers) {
    if (layer.output == tensor) return &layer;
  }
  return nullptr;
}

namespace {

// The elements of all tensors; those of parts lie in the outermost tensors.
class TensorValues {
 public:
  explicit TensorValues(const Network& network) : network_(network), wholes_(network.tensors.size()) {
    for (size_t t = 0; t < wholes_.size(); ++t) {
      if (!network.tensors[t].part) wholes_[t].resize(size_t(network.tensors[t].shape.elements()));
    }
  }

  std::vector<int32_t> read(int tensor) {
    std::vector<int32_t> values(size_t(network_.tensors[size_t(tensor)].shape.elements()));
    each(tensor, [&](size_t at, int32_t& element) { values[at] = element; });
    return values;
  }
  void write(int tensor, const std::vector<int32_t>& values) {
    TILEWRIGHT_CHECK(int64_t(values.size()) == network_.tensors[size_t(tensor)].shape.elements(),
                     "a tensor of another size");
    each(tensor, [&](size_t at, int32_t& element) { element = values[at]; });
  }

 private:
  template <typename Visit>
  void each(int tensor, Visit&& visit) {
    const TensorPart place = place_in_whole(network_, tensor);
    const TensorShape &shape = network_.tensors[size_t(tensor)].shape,
                      &whole = network_.tensors[size_t(place.whole)].shape;
    std::vector<int32_t>& values = wholes_[size_t(place.whole)];
    size_t at = 0;
    for (int64_t y = 0; y < shape.rows; ++y) {
      for (int64_t x = 0; x < shape.columns; ++x) {
        const int64_t row = place.row + y * place.row_step, column = place.column + x * place.column_step;
        const int64_t first = (row * whole.columns + column) * whole.channels + place.channel;
        for (int64_t c = 0; c < shape.channels; ++c, ++at) visit(at, values.at(size_t(first + c)));
      }
    }
  }

  const Network& network_;
  std::vector<std::vector<int32_t>> wholes_;
};

}  // namespace

std::vector<std::vector<int32_t>> evaluate(const Network& network, const std::vector<int32_t>& input) {
  TensorValues tensors(network);
  tensors.write(network.input, input);
  for (const Layer& layer : network.layers) {
    const TensorShape& in = network.tensors[size_t(layer.input)].shape;
    const TensorShape& out = network.tensors[size_t(layer.output)].shape;
    const std::vector<int32_t> data = tensors.read(layer.input);
    const std::vector<int32_t> others = layer.add ? tensors.read(layer.add->tensor) : std::vector<int32_t>{};
    std::vector<int32_t> result(size_t(out.elements()));
    size_t at = 0;
    for (int64_t y = 0; y < out.rows; ++y) {
      for (int64_t x = 0; x < out.columns; ++x) {
        for (int64_t c = 0; c < out.channels; ++c, ++at) {
          const int32_t other = layer.add ? others[at] : 0;
          result[at] = finished_sum(network, layer, accumulate(layer, in, data, y, x, c), c, other);
        }
      }
    }
    tensors.write(layer.output, result);
  }
  std::vector<std::vector<int32_t>> all;
  for (size_t t = 0; t < network.tensors.size(); ++t) all.push_back(tensors.read(int(t)));
  return all;
}

}  // namespace tilewright::pipeline
