// What the operations on rows make of their sums: bias, multiplier and shift for a requantising step
// (docs/reference/isa.md, "Rows"). All lanes get the same three numbers. Sources: the definitions of QSoftmax
// and QLayerNorm in docs/reference/arithmetic.md.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tilewright/overlay/isa/isa.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::overlay {

struct RowParameters {
  int32_t bias = 0, multiplier = 0, shift = 0;
};

// What a row is reduced to. Sums wrap: to 32 bits, of the squares to 48, of the count to 16.
struct RowSums {
  int32_t largest = INT32_MIN;
  uint32_t sum = 0;
  int32_t narrow_sum = 0;  // of the values' low 17 bits, sign-extended, and of their squares
  uint64_t squares = 0;
  uint32_t count = 0;

  void add(AluOpcode opcode, int32_t value) {
    if (opcode == AluOpcode::kRowMax) {
      largest = std::max(largest, value);
    } else if (opcode == AluOpcode::kRowDivide) {
      sum += uint32_t(value);
    } else {
      const int64_t narrow = wrap(value, 17);
      narrow_sum = int32_t(uint32_t(narrow_sum) + uint32_t(narrow));
      squares += uint64_t(narrow * narrow);
      ++count;
    }
  }
};

// The fields of an instruction on rows.
struct RowOperands {
  explicit constexpr RowOperands(const AluInstruction& i)
      : lanes(uint32_t(i.imm) & 0xFFFF),
        shift((i.imm >> 16) & 63),
        fraction((i.imm >> 16) & 15),
        center((i.imm >> 20 & 1) != 0),
        number(uint64_t(uint32_t(i.clip_high)) << 32 | uint32_t(i.clip_low)) {}
  uint32_t lanes;   // of the last step of a row that count
  int shift;        // row_divide
  int fraction;     // row_norm
  bool center;      // row_norm
  uint64_t number;  // the numerator of row_divide, epsilon of row_norm
};

// The inverse function: the immediate of such an instruction.
constexpr int32_t row_immediate(int64_t lanes, int shift_or_fraction, bool center = false) {
  return int32_t(lanes | int64_t{shift_or_fraction} << 16 | int64_t{center} << 20);
}

constexpr RowParameters row_parameters(AluOpcode opcode, const RowSums& row, const RowOperands& fields) {
  if (opcode == AluOpcode::kRowMax) return {int32_t(-uint32_t(row.largest)), 1, 0};
  if (opcode == AluOpcode::kRowDivide) {
    const bool saturates = (fields.number >> 31) >= row.sum;
    return {0, saturates ? INT32_MAX : int32_t(fields.number / row.sum), fields.shift};
  }
  const int64_t s = fields.center ? row.narrow_sum : 0;
  const uint64_t spread =
      uint64_t(row.count & 0xFFFF) * (row.squares & ((uint64_t{1} << 48) - 1)) - uint64_t(s * s);
  const uint64_t v = std::max<uint64_t>((spread << 2 * fields.fraction) + fields.number, 1);
  const InverseRoot root = inverse_root(v);
  return {int32_t(-s), int32_t(root.factor), std::max(0, root.exponent - 1 - fields.fraction)};
}

}  // namespace tilewright::overlay
