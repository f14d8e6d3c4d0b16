// From sums to results (docs/design/pipeline/pipeline.md, rtl/pipeline/tw_stream_finish.sv): the rows of its
// task table, and its time.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/image/row_layout.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// What is constant for a layer. `beats`: of results, at least 1. Of fixed point (NumberType::kFixed) only the
// clips, `add` and `lookup` count, and `input_shift`; of integers that does not.
struct FinishRow {
  int64_t beats = 1;
  int64_t drain = 0;  // beats per PO sums, the others are dropped; 0: all of them
  bool raw = false;   // fixed point: the lowest 32 bits of acc + (bias << FRACTION) are the value (a maximum)
  int64_t zero_point = 0, clip_low = 0, clip_high = 0;
  bool bipolar = false;  // results 0 and 1 become -1 and +1 in elements of more than one bit
  bool add = false;
  int64_t add_a = 0, add_b = 0, add_bias = 0, add_shift = 0, add_zero = 0, add_low = 0, add_high = 0;
  // With `add`: the product (value - add_a) * (residual - add_b) * add_bias instead of the sum.
  bool product = false;
  bool lookup = false;
  int64_t table = 0, input_shift = 0;
};

// The task table.
MemoryImage encode(const std::vector<FinishRow>& rows, NumberType number);
std::vector<FinishRow> decode_finish(const MemoryImage& table, NumberType number);

// What a param beat holds for one lane, in the order of the lanes. Fixed point: the bias alone.
struct FinishLane {
  int64_t bias = 0, multiplier = 1, shift = 0;
};
// Their layout; of integers with the parameter MULTIPLIER_BITS (0: no multiplier is stored, all are 1).
RowFields<FinishLane> finish_lane_fields(NumberType number);
int64_t finish_lane_bits(NumberType number, int64_t multiplier_bits);

// Steps from the start of a beat to its result.
int64_t finish_steps(const netlist::Parameters& parameters);
// Bits of a lane's part of a param beat.
int64_t finish_param_bits(const netlist::Parameters& parameters);

}  // namespace tilewright::pipeline
