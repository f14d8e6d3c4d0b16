// The time of arrays: beats of activations and weights are taken together, sums leave a fixed number of steps
// after the last beat of a window (rtl/pipeline/tw_stream_beat_pipeline.sv).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/pipeline/component/component.h"

namespace tilewright::pipeline {

// Ports act(act_bits)+last, weight(weight_bits), acc(acc_bits), in this order.
std::vector<ComponentPort> array_ports(int64_t act_bits, int64_t weight_bits, int64_t acc_bits);

// `steps`, 2..64: from taking a beat to the accumulators.
std::unique_ptr<CycleModel> array_model(int64_t steps);

// Steps of a multiplier (rtl/pipeline/tw_stream_multiply.sv): one, or two where blocks of 25 x 18 bits are
// put together.
int64_t multiplier_steps(int64_t a_bits, int64_t b_bits, bool lut);

// Outputs that share a block: of MULTIPLY "packed2" to "packed4"; else 0.
int64_t packed_rows(const std::string& multiply);
// Bits of a block's wider operand for packed products (rtl/pipeline/tw_stream_multiply_packed.sv), and what
// the largest block that is known takes there (UltraScale+).
int64_t packed_bits(int64_t rows, int64_t activation_bits, int64_t weight_bits);
constexpr int kWidestBlockBits = 27;

// Steps from taking a beat to its sums, of the components of these names.
int64_t mac_array_steps(const netlist::Parameters& parameters);
int64_t lane_array_steps(const netlist::Parameters& parameters);

// ceil(log2(count)), count >= 1: the levels of a tree of pairs.
int64_t tree_levels(int64_t count);

}  // namespace tilewright::pipeline
