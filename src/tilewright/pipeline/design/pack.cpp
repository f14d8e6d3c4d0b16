// Weights are stored [out][ky][kx][in], so a word of the array is po runs of pi neighbours.
#include "tilewright/pipeline/design/pack.h"

#include <algorithm>
#include <cstdlib>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/finish.h"

namespace tilewright::pipeline {
namespace {

// One bit stands for the sign, 1 for +1.
int64_t stored(int64_t weight, int bits) { return bits == 1 ? (weight > 0 ? 1 : 0) : weight; }

int bits_of_magnitude(uint64_t magnitude) {
  int bits = 1;
  while (bits < 63 && (uint64_t{1} << (bits - 1)) <= magnitude) ++bits;
  return bits;
}

// The largest magnitude of a layer's sums, with or without bias.
uint64_t largest_sum(const Network& network, const Layer& layer, bool with_bias) {
  const NetworkTensor& in = network.tensors[size_t(layer.input)];
  const uint64_t activation = in.bipolar ? 1 : uint64_t{1} << (in.bits - 1);
  const int64_t outputs = int64_t(layer.finish.bias.size());
  uint64_t largest = 0;
  for (int64_t o = 0; o < outputs; ++o) {
    uint64_t sum = 0;
    if (layer.weights.empty()) {
      sum = layer.kind == LayerKind::kAveragePool ? uint64_t(layer.window.rows * layer.window.columns) : 1;
    } else {
      const int64_t per_output = int64_t(layer.weights.size()) / outputs;
      for (int64_t k = 0; k < per_output; ++k) {
        sum += uint64_t(std::abs(int64_t(layer.weights[size_t(o * per_output + k)])));
      }
    }
    const uint64_t bias = with_bias ? uint64_t(std::abs(int64_t(layer.finish.bias[size_t(o)]))) : 0;
    largest = std::max(largest, sum * activation + bias);
  }
  return largest;
}

}  // namespace

void append_mac_weights(MemoryImage& image, const Layer& layer, int64_t in_channels, int64_t pi, int64_t po,
                        int bits, bool all_taps) {
  const int64_t taps = layer.window.rows * layer.window.columns;
  const int64_t outputs = int64_t(layer.weights.size()) / (taps * in_channels);
  const int64_t in_blocks = ceil_div(in_channels, pi);
  const int64_t taps_per_word = all_taps ? taps : 1;
  for (int64_t ob = 0; ob < ceil_div(outputs, po); ++ob) {
    for (int64_t first_tap = 0; first_tap < taps; first_tap += taps_per_word) {
      for (int64_t cb = 0; cb < in_blocks; ++cb) {
        const int64_t word = image.add_word();
        for (int64_t o = ob * po; o < std::min((ob + 1) * po, outputs); ++o) {
          for (int64_t t = 0; t < taps_per_word; ++t) {
            for (int64_t c = cb * pi; c < std::min((cb + 1) * pi, in_channels); ++c) {
              const int32_t weight = layer.weights[size_t((o * taps + first_tap + t) * in_channels + c)];
              const int64_t at = ((o - ob * po) * taps_per_word + t) * pi + c - cb * pi;
              image.set(word, at * bits, bits, stored(weight, bits));
            }
          }
        }
      }
    }
  }
}

void append_lane_weights(MemoryImage& image, const Layer& layer, int64_t channels, int64_t p, int bits,
                         bool all_taps) {
  const int64_t taps = layer.window.rows * layer.window.columns;
  const int64_t taps_per_word = all_taps ? taps : 1;
  for (int64_t cb = 0; cb < ceil_div(channels, p); ++cb) {
    for (int64_t first_tap = 0; first_tap < taps; first_tap += taps_per_word) {
      const int64_t word = image.add_word();
      for (int64_t t = 0; t < taps_per_word; ++t) {
        for (int64_t c = cb * p; c < std::min((cb + 1) * p, channels); ++c) {
          const int64_t weight = layer.weights.empty() ? 1 : layer.weights[size_t(c * taps + first_tap + t)];
          image.set(word, (t * p + c - cb * p) * bits, bits, stored(weight, bits));
        }
      }
      if (layer.kind == LayerKind::kMaxPool) image.set(word, taps_per_word * p * bits, 1, 1);
    }
  }
}

int finish_word_bits(NumberType number, int64_t pf, int multiplier_bits) {
  return int(pf * finish_lane_bits(number, multiplier_bits));
}

void append_finish_words(MemoryImage& image, const Network& network, const Layer& layer, int64_t channels,
                         int64_t po, int64_t pf, int multiplier_bits) {
  const bool fixed = network.number == NumberType::kFixed;
  const int64_t words = ceil_div(channels, po) * po / pf;
  const RowFields<FinishLane> fields = finish_lane_fields(network.number);
  const netlist::Parameters sizes = {{"MULTIPLIER_BITS", int64_t{multiplier_bits}}};
  for (int64_t w = 0; w < words; ++w) {
    RowWriter word(image);
    for (int64_t c = w * pf; c < (w + 1) * pf; ++c) {
      FinishLane lane{0, 0, 0};
      if (c < channels) {
        lane.bias = layer.finish.bias[size_t(c)];
        if (!fixed) lane.multiplier = layer.finish.scale[size_t(c)].multiplier;
        if (!fixed) lane.shift = layer.finish.scale[size_t(c)].shift % kTwice;
      }
      write_row(word, fields, lane, sizes);
    }
  }
}

int accumulator_bits(const Network& network, const Layer& layer) {
  if (network.number == NumberType::kFixed) return 64;
  return std::clamp(bits_of_magnitude(largest_sum(network, layer, false)), 2, 32);
}

int biased_sum_bits(const Network& network, const Layer& layer) {
  if (network.number == NumberType::kFixed) return 64;
  return std::min(32, bits_of_magnitude(largest_sum(network, layer, true)));
}

int multiplier_bits(const Layer& layer) {
  int32_t largest = 1;
  for (const Requantization& scale : layer.finish.scale) largest = std::max(largest, scale.multiplier);
  return largest == 1 ? 0 : std::bit_width(uint32_t(largest)) + 1;
}

bool rounds_twice(const Layer& layer) {
  return std::any_of(layer.finish.scale.begin(), layer.finish.scale.end(),
                     [](const Requantization& r) { return r.shift >= kTwice; });
}

}  // namespace tilewright::pipeline
