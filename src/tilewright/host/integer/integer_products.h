// The micro-kernels of integer_matrix.h: a block of 8 rows, or one row, times a panel of 1 to 3 vectors. A
// step is 4 bytes of every row and lane: four 8-bit or two 16-bit values of k.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewright {

inline constexpr int64_t kRowBlock = 8;

// rows: [steps][rows of the block][4 bytes], panel: [steps][vectors * 16 lanes][4 bytes],
// acc: [rows of the block][vectors * 16 lanes], overwritten.
using IntegerProduct = void (*)(const std::byte* rows, const std::byte* panel, int64_t steps, int32_t* acc);

// Row blocks of kRowBlock rows, or of one.
struct IntegerProducts {
  IntegerProduct block[3];  // by vectors - 1
  IntegerProduct single[3];
};

const IntegerProducts& portable_word_products();
#if defined(__x86_64__)
const IntegerProducts& avx2_word_products();
const IntegerProducts& avx512_byte_products();
const IntegerProducts& avx512_word_products();
#endif

}  // namespace tilewright
