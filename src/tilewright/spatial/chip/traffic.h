// What moves where while a layer runs: counted by the simulator, and in closed form (JSSC 2017; the buffer
// and DRAM totals as in Tables V). All counts are words unless they say otherwise.
#pragma once

#include <cstdint>

#include "tilewright/spatial/chip/mapping.h"

namespace tilewright {

struct ArrayTraffic {
  int64_t macs = 0;
  // DRAM, before any compression.
  int64_t dram_weight_words = 0, dram_pixel_words = 0, dram_output_words = 0;
  // Global buffer. Finished outputs are read once more on their way to DRAM. Pixels arriving from DRAM are
  // not in here, nor the weights: they have their own buffer, read once per word.
  int64_t buffer_pixel_reads = 0, buffer_psum_reads = 0, buffer_psum_writes = 0, buffer_output_reads = 0;
  int64_t weight_buffer_reads = 0;
  // Words received by PEs from the three networks, sent by the tops of chains, and handed to a neighbour.
  int64_t filter_deliveries = 0, pixel_deliveries = 0, psum_in_deliveries = 0, psum_out_words = 0;
  int64_t link_words = 0;
  // Spads.
  int64_t filter_spad_reads = 0, filter_spad_writes = 0, pixel_spad_reads = 0, pixel_spad_writes = 0;
  int64_t psum_spad_reads = 0, psum_spad_writes = 0;

  bool operator==(const ArrayTraffic&) const = default;
  ArrayTraffic& operator+=(const ArrayTraffic& other) { return add(other, 1); }
  // Adds `times` times the other's counts.
  ArrayTraffic& add(const ArrayTraffic& other, int64_t times);
  int64_t buffer_words() const {
    return buffer_pixel_reads + buffer_psum_reads + buffer_psum_writes + buffer_output_reads;
  }
  int64_t dram_words() const { return dram_weight_words + dram_pixel_words + dram_output_words; }
};

// The same counts from formulas, for a legal mapping.
ArrayTraffic closed_form_traffic(const RowStationaryLayer& layer, const RowStationaryMapping& mapping);

}  // namespace tilewright
