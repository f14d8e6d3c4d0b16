// Allocation of the scratchpads, and the conversions that no kernel needs to do specially.
#include "tilewright/overlay/execute/scratchpads.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/execute/kernel_set.h"

namespace tilewright::overlay {
namespace {

static_assert(std::endian::native == std::endian::little, "scratchpads hold DRAM bytes as host words");

void require_bits(const char* what, int bits, int low, int high) {
  if (bits >= low && bits <= high && std::has_single_bit(unsigned(bits))) return;
  throw Error(
      ErrorKind::kInvalidInput,
      std::string("the functional simulator has no ") + what + " of " + std::to_string(bits) + " bits",
      "use a power of two from " + std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace

Scratchpads::Scratchpads(const OverlayHardware& hardware, const KernelSet& kernels)
    : batch(hardware.batch),
      block_in(hardware.block_in),
      block_out(hardware.block_out),
      input_bits(hardware.input_bits),
      weight_bits(hardware.weight_bits),
      accumulator_bits(hardware.accumulator_bits),
      output_bits(hardware.output_bits) {
  require_bits("input lanes", input_bits, 1, 8);
  require_bits("weight lanes", weight_bits, 1, 8);
  require_bits("accumulator lanes", accumulator_bits, 8, 32);
  require_bits("output lanes", output_bits, 1, accumulator_bits);
  if (batch < 1 || block_in < 1 || block_out < 1 || hardware.input_bytes() < 1 ||
      hardware.weight_bytes() < 1 || hardware.output_bytes() < 1) {
    throw Error(ErrorKind::kInvalidInput,
                "overlay '" + hardware.name + "': an element is not a whole number of bytes");
  }
  input_depth = hardware.input_depth();
  weight_depth = hardware.weight_depth();
  accumulator_depth = hardware.accumulator_depth();
  uop_depth = hardware.uop_depth();
  input_row = round_up(block_in, kernels.layout.input_quantum);
  accumulator_row = round_up(block_out, kernels.layout.output_quantum);
  input_element = size_t(batch) * input_row * kernels.layout.input_lane_bytes;
  weight_element = size_t(accumulator_row) * input_row * kernels.layout.weight_lane_bytes;
  accumulator_lanes = size_t(batch) * accumulator_row;
  if (hardware.row_functions)
    weight_lanes.resize(size_t(weight_depth) * size_t(block_out) * size_t(block_in));
  const double total =
      double(input_depth) * double(input_element) + double(weight_depth) * double(weight_element) +
      double(accumulator_depth) * double(accumulator_lanes) * 4 + double(uop_depth) * sizeof(MicroOp);
  if (total > double(int64_t{1} << 32)) {
    throw Error(ErrorKind::kInvalidInput,
                "overlay '" + hardware.name + "': scratchpads of over 4 GiB cannot be simulated");
  }
  input = AlignedArray<std::byte>(size_t(input_depth) * input_element);
  weight = AlignedArray<std::byte>(size_t(weight_depth) * weight_element);
  correction = AlignedArray<int32_t>(size_t(weight_depth) * accumulator_row);
  accumulator = AlignedArray<int32_t>(size_t(accumulator_depth) * accumulator_lanes);
  uops.resize(size_t(uop_depth));
  kernels.fill_inputs(*this, 0, size_t(input_depth), 0);
  // Scratchpads start with zero bits, which are -1 where a lane is bipolar.
  if (input_bits == 1) {
    other_input = AlignedArray<std::byte>(size_t(input_depth) * input_element);
    swap_readings();
    kernels.fill_inputs(*this, 0, size_t(input_depth), -1);
    swap_readings();
  }
  if (weight_bits == 1) {
    const std::vector<int8_t> lanes(size_t(block_in) * size_t(block_out), -1);
    for (int64_t i = 0; i < weight_depth; ++i) kernels.pack_weight(*this, uint32_t(i), lanes.data());
  }
}

void Scratchpads::swap_readings() {
  if (input_bits != 1) return;
  std::swap(input, other_input);
  input_reading = input_reading == OneBit::kUnsigned ? OneBit::kBipolar : OneBit::kUnsigned;
}

void Scratchpads::load_accumulators(uint32_t index, const std::byte* source, size_t count, int bits) {
  int32_t* target = accumulator.data() + index * accumulator_lanes;
  if (bits == 32 && accumulator_row == block_out) {
    std::memcpy(target, source, count * accumulator_lanes * 4);
    return;
  }
  const size_t lane_bytes = size_t(bits) / 8;
  for (size_t row = 0; row < count * size_t(batch); ++row, target += accumulator_row) {
    for (int lane = 0; lane < block_out; ++lane, source += lane_bytes) {
      uint32_t value = 0;
      std::memcpy(&value, source, lane_bytes);
      target[lane] = int32_t(value << (32 - bits)) >> (32 - bits);
    }
  }
}

void Scratchpads::fill_accumulators(uint32_t index, size_t count, int32_t value) {
  int32_t* target = accumulator.data() + index * accumulator_lanes;
  std::fill(target, target + count * accumulator_lanes, value);
}

int8_t lane_value(int32_t value, int bits, OneBit reading) {
  if (bits != 1) return int8_t(int32_t(uint32_t(value) << (32 - bits)) >> (32 - bits));
  const int bit = value & 1;
  return int8_t(reading == OneBit::kBipolar ? 2 * bit - 1 : bit);
}

void unpack_lanes(const std::byte* source, int bits, OneBit reading, size_t count, int8_t* lanes) {
  if (bits == 8) {
    std::memcpy(lanes, source, count);
    return;
  }
  const size_t per_byte = 8 / size_t(bits);
  for (size_t i = 0; i < count; i += per_byte, ++source) {
    int32_t byte = int32_t(*source);
    for (size_t k = 0; k < per_byte && i + k < count; ++k, byte >>= bits) {
      lanes[i + k] = lane_value(byte, bits, reading);
    }
  }
}

void pack_lanes(const int32_t* lanes, int bits, size_t count, std::byte* target) {
  if (bits >= 8) {
    const size_t lane_bytes = size_t(bits) / 8;
    for (size_t i = 0; i < count; ++i) std::memcpy(target + i * lane_bytes, &lanes[i], lane_bytes);
    return;
  }
  const size_t per_byte = 8 / size_t(bits);
  const unsigned mask = (1u << bits) - 1;
  for (size_t i = 0; i < count; i += per_byte, ++target) {
    unsigned byte = 0;
    for (size_t k = 0; k < per_byte; ++k) byte |= (unsigned(lanes[i + k]) & mask) << (k * size_t(bits));
    *target = std::byte(byte);
  }
}

void pack_padded_lanes(const Scratchpads& pads, const int32_t* lanes, size_t count, std::byte* target) {
  std::vector<int32_t> dense(size_t(pads.batch) * size_t(pads.block_out));
  for (size_t e = 0; e < count; ++e) {
    for (int row = 0; row < pads.batch; ++row, lanes += pads.accumulator_row) {
      std::copy(lanes, lanes + pads.block_out, dense.begin() + ptrdiff_t(row) * pads.block_out);
    }
    pack_lanes(dense.data(), pads.output_bits, dense.size(), target);
    target += dense.size() * size_t(pads.output_bits) / 8;
  }
}

}  // namespace tilewright::overlay
