// The scratchpads of the functional simulator, in the form its kernels need: elements unpacked to whole bytes
// or words, weights transposed for the dot-product instructions, rows padded to a whole vector. What a
// program can observe (LOAD, STORE) is converted at the border.
//
//   input        [depth][batch][input_row] lanes of one kernel's type; 1-bit inputs a second time, read as
//                bipolar
//   weight       [depth][kernel's own order]
//   correction   [depth][accumulator_row] int32: what a kernel adds per micro-op to undo its input offset
//   accumulator  [depth][batch][accumulator_row] int32; with accumulators of fewer bits only the low bits
//   mean
//                anything, readers sign-extend them
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

struct KernelSet;

// Zero-filled, aligned to a cache line (and so to every vector).
template <typename T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(size_t count)
      : data_(
            static_cast<T*>(::operator new[](count * sizeof(T) + kAlignment, std::align_val_t{kAlignment}))) {
    std::memset(static_cast<void*>(data_), 0, count * sizeof(T) + kAlignment);
  }
  AlignedArray(AlignedArray&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  AlignedArray& operator=(AlignedArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~AlignedArray() { ::operator delete[](data_, std::align_val_t{kAlignment}); }
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  static constexpr size_t kAlignment = 64;
  T* data_ = nullptr;
};

// What the bit of a 1-bit lane means: 0 and 1, or -1 and +1.
enum class OneBit : uint8_t { kUnsigned, kBipolar };

struct Scratchpads {
  // Errors (invalid input): element widths without a simulator, scratchpads of over 4 GiB.
  Scratchpads(const OverlayHardware& hardware, const KernelSet& kernels);

  int batch, block_in, block_out;
  int input_bits, weight_bits, accumulator_bits, output_bits;
  int64_t input_depth, weight_depth, accumulator_depth, uop_depth;
  int input_row;             // lanes of one batch row of an input element, padded
  int accumulator_row;       // lanes of one batch row of an accumulator, padded
  size_t input_element;      // bytes of one element in kernel form
  size_t weight_element;     // bytes
  size_t accumulator_lanes;  // batch * accumulator_row

  AlignedArray<std::byte> input, weight;
  AlignedArray<std::byte> other_input;       // 1-bit inputs: the reading that is not in `input`
  OneBit input_reading = OneBit::kUnsigned;  // of `input`
  AlignedArray<int32_t> correction, accumulator;
  std::array<int8_t, 256> table{};        // of hardware with lookup_table
  std::array<int32_t, 256> wide_table{};  // of hardware with row_functions
  // Of hardware with row_functions: the weights as bytes [depth][block_out][block_in], since LOADs may change
  // a part of an element.
  std::vector<int8_t> weight_lanes;
  std::vector<MicroOp> uops;

  // Exchanges the readings of 1-bit inputs; nothing for wider ones.
  void swap_readings();
  // `count` accumulator elements from packed DRAM bytes of `bits` wide lanes, sign-extended.
  void load_accumulators(uint32_t index, const std::byte* source, size_t count, int bits);
  void fill_accumulators(uint32_t index, size_t count, int32_t value);
};

// While it lives, and if `wanted`, pads.input is the bipolar reading of 1-bit inputs.
class OtherReading {
 public:
  OtherReading(Scratchpads& pads, bool wanted) : pads_(pads), wanted_(wanted) {
    if (wanted_) pads_.swap_readings();
  }
  OtherReading(const OtherReading&) = delete;
  OtherReading& operator=(const OtherReading&) = delete;
  ~OtherReading() {
    if (wanted_) pads_.swap_readings();
  }

 private:
  Scratchpads& pads_;
  const bool wanted_;
};

// `action` writes pads.input; of 1-bit inputs it does so for both readings.
template <class Action>
void for_each_reading(Scratchpads& pads, const Action& action) {
  action();
  if (pads.input_bits != 1) return;
  const OtherReading other(pads, true);
  action();
}

// lanes[i] = the i-th `bits`-wide field (1, 2, 4, 8) of `source`: two's complement, one bit as `reading`
// says.
void unpack_lanes(const std::byte* source, int bits, OneBit reading, size_t count, int8_t* lanes);
// What a lane filled with the low `bits` of `value` is.
int8_t lane_value(int32_t value, int bits, OneBit reading);
// The inverse: the low `bits` (1, 2, 4, 8, 16, 32) of each lane, packed little-endian; count * bits is a
// multiple of 8.
void pack_lanes(const int32_t* lanes, int bits, size_t count, std::byte* target);
// The same for `count` whole accumulators whose rows are padded.
void pack_padded_lanes(const Scratchpads& pads, const int32_t* lanes, size_t count, std::byte* target);

}  // namespace tilewright::overlay
