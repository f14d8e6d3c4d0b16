// Closed forms for a row-stationary chip: what a mapping stores and moves, and the least time it needs.
// Formulas inferred from the JSSC 2017 paper and checked against its tables
// (tests/spatial/claims/row_stationary_chip_test).
#pragma once

#include <cstdint>

#include "tilewright/spatial/taxonomy/layer_shape.h"
#include "tilewright/spatial/taxonomy/study_machine.h"

namespace tilewright::study {

// A mapping as the paper lists it: a pass covers n images, q r channels, p t filters and a strip of e output
// rows; partial sums of m filters stay in the buffer. r x t sets of R x e PEs run side by side.
struct PassMapping {
  int64_t m = 1, n = 1, e = 1, p = 1, q = 1, r = 1, t = 1;
};

struct ChipCost {
  double active_pes = 0;
  double buffer_input_bytes = 0;    // stored for a pass
  double buffer_output_bytes = 0;   // stored for a group of passes
  double buffer_traffic_bytes = 0;  // read and written for a layer, weights not counted
  double dram_weight_bytes = 0;     // moved for a layer
  double dram_input_bytes = 0;      // padding included, strips overlapping; not compressed
  double dram_output_bytes = 0;     // not compressed
  double passes = 0;
  double compute_cycles = 0;  // passes times F S p q n, every strip as long as a full one
  double ideal_cycles = 0;    // MACs / active PEs

  double dram_bytes() const { return dram_weight_bytes + dram_input_bytes + dram_output_bytes; }
  // Weights are not compressed, and neither are the inputs of a network's first layer.
  double compressed_dram_bytes(double input_ratio, double output_ratio) const {
    return dram_weight_bytes + dram_input_bytes * input_ratio + dram_output_bytes * output_ratio;
  }
};

// Errors (invalid input): factors below 1, e above the layer's rows.
ChipCost chip_cost(const StudyMachine& machine, const LayerShape& layer, const PassMapping& mapping);

// Compressed size per plain size, in the machine's run-length code (1 without one), of data with this share
// of zeros, independent of each other: a pair covers 1 + z + ... + z^(2^run_bits - 1) words on average.
double run_length_ratio(const StudyMachine& machine, double zero_fraction);

// Share of zeros among the values themselves when `zero_fraction` counts the padding of the layer as well;
// `padding` rows and columns on every side.
double zeros_without_padding(double zero_fraction, const LayerShape& layer, int64_t padding);
// Share of zeros before a max pool, when a window holds this many independent values: its result is zero only
// when all of them are.
double zeros_before_pool(double zero_fraction, double independent_values);

}  // namespace tilewright::study
