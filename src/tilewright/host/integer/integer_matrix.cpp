// Packing. Rows are stored in blocks of kRowBlock (the last rows % kRowBlock one by one), panels
// lane-interleaved; k is padded with zero rows to whole steps, so what a panel holds there does not matter.
#include "tilewright/host/integer/integer_matrix.h"

#include <algorithm>
#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/host/integer/integer_products.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tilewright {
namespace {

int64_t values_per_step(IntegerWidth width) { return width == IntegerWidth::kBytes ? 4 : 2; }

int64_t step_count(IntegerWidth width, int64_t depth) {
  return (depth + values_per_step(width) - 1) / values_per_step(width);
}

const IntegerProducts& products(IntegerWidth width, IntegerIsa isa) {
#if defined(__x86_64__)
  if (width == IntegerWidth::kBytes) return avx512_byte_products();
  if (isa == IntegerIsa::kAvx512Vnni) return avx512_word_products();
  if (isa == IntegerIsa::kAvx2) return avx2_word_products();
#endif
  TILEWRIGHT_CHECK(width == IntegerWidth::kWords, "byte products need AVX-512 VNNI");
  (void)isa;
  return portable_word_products();
}

// Interleaves four rows of 16 bytes: out[lane][row].
void interleave(const uint8_t* const rows[4], std::byte* out) {
#if defined(__x86_64__)
  const auto load = [](const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  const __m128i a = load(rows[0]), b = load(rows[1]), c = load(rows[2]), d = load(rows[3]);
  const __m128i ab_low = _mm_unpacklo_epi8(a, b), ab_high = _mm_unpackhi_epi8(a, b);
  const __m128i cd_low = _mm_unpacklo_epi8(c, d), cd_high = _mm_unpackhi_epi8(c, d);
  auto* to = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(to, _mm_unpacklo_epi16(ab_low, cd_low));
  _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(ab_low, cd_low));
  _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(ab_high, cd_high));
  _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(ab_high, cd_high));
#else
  for (int lane = 0; lane < 16; ++lane) {
    for (int row = 0; row < 4; ++row) out[lane * 4 + row] = std::byte(rows[row][lane]);
  }
#endif
}

// Interleaves two rows of 16 words: out[lane][row].
void interleave(const int16_t* const rows[2], std::byte* out) {
#if defined(__x86_64__)
  auto* to = reinterpret_cast<__m128i*>(out);
  for (int half = 0; half < 2; ++half) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[0] + 8 * half));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[1] + 8 * half));
    _mm_storeu_si128(to + 2 * half, _mm_unpacklo_epi16(a, b));
    _mm_storeu_si128(to + 2 * half + 1, _mm_unpackhi_epi16(a, b));
  }
#else
  for (int lane = 0; lane < 16; ++lane) {
    for (int row = 0; row < 2; ++row) std::memcpy(out + lane * 4 + row * 2, rows[row] + lane, 2);
  }
#endif
}

template <typename T, int kPerStep>
void fill_panel(const T* source, std::span<const int64_t> offsets, int64_t first, int vectors,
                std::byte* out) {
  const int64_t depth = int64_t(offsets.size());
  for (int64_t k = 0; k < depth; k += kPerStep) {
    const T* rows[kPerStep];
    for (int64_t i = 0; i < kPerStep; ++i) {
      rows[i] = source + offsets[size_t(std::min(k + i, depth - 1))] + first;
    }
    for (int v = 0; v < vectors; ++v) {
      interleave(rows, out);
      out += kLanesPerVector * 4;
      for (const T*& row : rows) row += kLanesPerVector;
    }
  }
}

}  // namespace

bool is_available(IntegerIsa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case IntegerIsa::kAvx512Vnni:
      return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case IntegerIsa::kAvx2:
      return __builtin_cpu_supports("avx2");
    case IntegerIsa::kPortable:
      return true;
  }
#endif
  return isa == IntegerIsa::kPortable;
}

IntegerIsa best_integer_isa() {
  if (is_available(IntegerIsa::kAvx512Vnni)) return IntegerIsa::kAvx512Vnni;
  return is_available(IntegerIsa::kAvx2) ? IntegerIsa::kAvx2 : IntegerIsa::kPortable;
}

IntegerWidth choose_width(IntegerIsa isa, bool rows_fit_i8) {
  return isa == IntegerIsa::kAvx512Vnni && rows_fit_i8 ? IntegerWidth::kBytes : IntegerWidth::kWords;
}

IntegerPanel::IntegerPanel(IntegerWidth width, int64_t depth)
    : width_(width),
      depth_(depth),
      data_(std::make_unique_for_overwrite<std::byte[]>(
          size_t(std::max<int64_t>(step_count(width, depth), 1) * kMaxLanes * 4))) {}

void IntegerPanel::fill(const uint8_t* source, std::span<const int64_t> offsets, int64_t first,
                        int64_t lanes) {
  TILEWRIGHT_CHECK(width_ == IntegerWidth::kBytes && int64_t(offsets.size()) == depth_ && lanes <= kMaxLanes,
                   "panel filled with something else");
  vectors_ = int(ceil_div(lanes, kLanesPerVector));
  fill_panel<uint8_t, 4>(source, offsets, first, vectors_, data_.get());
}

void IntegerPanel::fill(const int16_t* source, std::span<const int64_t> offsets, int64_t first,
                        int64_t lanes) {
  TILEWRIGHT_CHECK(width_ == IntegerWidth::kWords && int64_t(offsets.size()) == depth_ && lanes <= kMaxLanes,
                   "panel filled with something else");
  vectors_ = int(ceil_div(lanes, kLanesPerVector));
  fill_panel<int16_t, 2>(source, offsets, first, vectors_, data_.get());
}

IntegerMatrix::IntegerMatrix(std::span<const int16_t> values, int64_t rows, int64_t depth, IntegerWidth width,
                             IntegerIsa isa)
    : rows_(rows), depth_(depth), steps_(step_count(width, depth)), width_(width), isa_(isa) {
  TILEWRIGHT_CHECK(int64_t(values.size()) == rows * depth, "matrix built from the wrong number of values");
  row_sums_.resize(size_t(rows));
  for (int64_t row = 0; row < rows; ++row) {
    uint32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += uint32_t(int32_t(values[size_t(row * depth + k)]));
    row_sums_[size_t(row)] = sum;
  }
  pack(values);
}

void IntegerMatrix::pack(std::span<const int16_t> values) {
  const int64_t per_step = values_per_step(width_);
  data_.resize(size_t(rows_ * steps_ * 4));
  const int64_t blocked = rows_ / kRowBlock * kRowBlock;
  for (int64_t row = 0; row < rows_; ++row) {
    const int64_t block_rows = row < blocked ? kRowBlock : 1;
    const int64_t block = row / block_rows * block_rows;
    for (int64_t k = 0; k < depth_; ++k) {
      const int16_t value = values[size_t(row * depth_ + k)];
      std::byte* to = data_.data() + block_offset(block) + (k / per_step * block_rows + row - block) * 4;
      if (width_ == IntegerWidth::kBytes) {
        to[k % 4] = std::byte(uint8_t(value));
      } else {
        std::memcpy(to + k % 2 * 2, &value, sizeof value);
      }
    }
  }
}

void IntegerMatrix::multiply(const IntegerPanel& panel, int64_t from, int64_t to, const Emit& emit) const {
  TILEWRIGHT_CHECK(panel.width() == width_ && panel.depth() == depth_, "matrix and panel do not fit");
  const IntegerProducts& kernels = products(width_, isa_);
  const size_t form = size_t(panel.vectors() - 1);
  const int64_t lanes = panel.vectors() * kLanesPerVector;
  const int64_t blocked = rows_ / kRowBlock * kRowBlock;
  alignas(64) int32_t acc[size_t(kRowBlock * kMaxLanes)];
  for (int64_t row = from; row < to;) {
    const bool whole = row < blocked;
    const int64_t begin = whole ? row / kRowBlock * kRowBlock : row;
    const int64_t end = std::min(begin + (whole ? kRowBlock : 1), to);
    const IntegerProduct product = whole ? kernels.block[form] : kernels.single[form];
    product(data_.data() + block_offset(begin), panel.data(), steps_, acc);
    for (; row < end; ++row) emit(row, acc + (row - begin) * lanes);
  }
}

}  // namespace tilewright
