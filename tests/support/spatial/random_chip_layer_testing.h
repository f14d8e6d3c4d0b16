// What the tests of the array simulator share: random small chips, layers, legal mappings and data, and the
// plain convolution that outputs are compared with.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/spatial/chip/array_simulator.h"

namespace tilewright::testing {

struct RandomArrayCase {
  RowStationaryChip chip;
  RowStationaryLayer layer;
  RowStationaryMapping mapping;
};

inline std::string to_string(const RandomArrayCase& c) {
  const RowStationaryLayer& l = c.layer;
  const RowStationaryMapping& a = c.mapping;
  return fmt::format("G{} N{} C{} M{} H{} W{} R{} S{} U{} on {}x{} PEs, m,n,e,p,q,r,t = {},{},{},{},{},{},{}",
                     l.groups, l.batch, l.channels, l.filters, l.height, l.width, l.kernel_height,
                     l.kernel_width, l.stride, c.chip.rows, c.chip.columns, a.m, a.n, a.e, a.p, a.q, a.r,
                     a.t);
}

// A chip with odd sizes and widths, and every combination of overlaps.
inline RowStationaryChip random_chip(Random& random) {
  RowStationaryChip chip;
  chip.name = "random";
  chip.rows = random.between(3, 12);
  chip.columns = random.between(2, 9);
  chip.diagonal_ids = 32;
  chip.filter_spad_words = random.between(8, 64);
  chip.pixel_spad_words = random.between(3, 14);
  chip.psum_spad_words = random.between(1, 9);
  chip.pipeline_stages = random.between(1, 5);
  chip.buffer_banks = random.between(2, 30);
  chip.bank_bytes = 512;
  chip.bank_access_words = random.between(1, 4);
  chip.weight_buffer_bytes = random.between(256, 4096);
  chip.filter_words_per_cycle = random.between(1, 5);
  chip.pixel_words_per_cycle = random.between(1, 3);
  chip.psum_in_words_per_cycle = random.between(1, 4);
  chip.psum_out_words_per_cycle = random.between(1, 4);
  chip.link_words_per_cycle = random.between(1, 4);
  chip.overlap.shared_adder = random.chance(0.7);
  chip.overlap.weight_run_ahead = random.chance(0.5);
  chip.overlap.pixel_run_ahead = random.chance(0.3);
  chip.overlap.start_when_loaded = random.chance(0.3);
  chip.overlap.single_port_banks = random.chance(0.5);
  chip.overlap.psum_fifo_words = random.between(4, 12);
  return chip;
}

inline RowStationaryLayer random_small_layer(Random& random) {
  RowStationaryLayer layer;
  layer.name = "random";
  layer.groups = random.between(1, 2);
  layer.batch = random.between(1, 3);
  layer.channels = random.between(1, 6);
  layer.filters = random.between(1, 8);
  layer.kernel_height = random.between(1, 4);
  layer.kernel_width = random.between(1, 4);
  layer.stride = random.between(1, 4);
  layer.height = layer.kernel_height + random.between(0, 11);
  layer.width = layer.kernel_width + random.between(0, 11);
  return layer;
}

// A mapping that keeps every rule; the case is fully determined by the seed.
inline RandomArrayCase random_array_case(uint64_t seed) {
  Random random(seed);
  RandomArrayCase c;
  while (true) {
    c.chip = random_chip(random);
    c.layer = random_small_layer(random);
    for (int attempt = 0; attempt < 50; ++attempt) {
      RowStationaryMapping& a = c.mapping;
      a.m = random.between(1, c.layer.filters);
      a.n = random.between(1, c.layer.batch);
      a.e = random.between(1, c.layer.output_height());
      a.t = random.between(1, a.m);
      a.p = random.between(1, a.m / a.t);
      a.r = random.between(1, c.layer.channels);
      a.q = random.between(1, c.layer.channels / a.r);
      Diagnostics diagnostics;
      verify_mapping(c.chip, c.layer, a, diagnostics);
      if (diagnostics.ok()) return c;
    }
  }
}

// Uniform over all 16-bit values.
inline std::vector<int16_t> random_words(Random& random, int64_t count) {
  std::vector<int16_t> words(static_cast<size_t>(count));
  for (int16_t& word : words) word = int16_t(random.between(-32768, 32767));
  return words;
}

// [N, G*M, E, F]: one loop per index, nothing else.
inline std::vector<int64_t> plain_convolution(const RowStationaryLayer& l, const std::vector<int16_t>& input,
                                              const std::vector<int16_t>& weights) {
  const int64_t rows = l.output_height(), columns = l.output_width();
  std::vector<int64_t> outputs(size_t(l.output_words()));
  for (int64_t image = 0; image < l.batch; ++image) {
    for (int64_t filter = 0; filter < l.groups * l.filters; ++filter) {
      int64_t* out = &outputs[size_t((image * l.groups * l.filters + filter) * rows * columns)];
      for (int64_t c = 0; c < l.channels; ++c) {
        const int64_t channel = filter / l.filters * l.channels + c;
        const int16_t* in = &input[size_t((image * l.groups * l.channels + channel) * l.height * l.width)];
        const int16_t* kernel =
            &weights[size_t((filter * l.channels + c) * l.kernel_height * l.kernel_width)];
        for (int64_t i = 0; i < l.kernel_height; ++i) {
          for (int64_t s = 0; s < l.kernel_width; ++s) {
            const int32_t weight = kernel[i * l.kernel_width + s];
            for (int64_t y = 0; y < rows; ++y) {
              const int16_t* row = in + (y * l.stride + i) * l.width + s;
              for (int64_t x = 0; x < columns; ++x)
                out[y * columns + x] += weight * int32_t{row[x * l.stride]};
            }
          }
        }
      }
    }
  }
  return outputs;
}

}  // namespace tilewright::testing
