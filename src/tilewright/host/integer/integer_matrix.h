// Exact integer matrix products, the inner loop of every integer operator of the host engine:
//   acc[row][lane] = sum over k of rows[row][k] * panel[k][lane]      (modulo 2^32)
// One side is an IntegerMatrix (a few rows at a time, each element broadcast), the other an IntegerPanel
// (lanes in vector registers). On machines with AVX-512 VNNI both are 8 bits wide, signed times unsigned;
// elsewhere, and for rows that need more than 8 bits, they are 16 bits wide, because the 8-bit products of
// AVX2 saturate.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace tilewright {

// Which instructions the products use; all give the same bits.
enum class IntegerIsa { kPortable, kAvx2, kAvx512Vnni };

bool is_available(IntegerIsa isa);
IntegerIsa best_integer_isa();

enum class IntegerWidth { kBytes, kWords };

// 8 bits if `isa` multiplies them and all rows fit, else 16.
IntegerWidth choose_width(IntegerIsa isa, bool rows_fit_i8);

inline constexpr int64_t kLanesPerVector = 16;
inline constexpr int kMaxVectors = 3;
inline constexpr int64_t kMaxLanes = kLanesPerVector * kMaxVectors;

// Up to kMaxLanes columns of the right-hand side, with consecutive k interleaved as the instructions want
// them.
class IntegerPanel {
 public:
  IntegerPanel(IntegerWidth width, int64_t depth);

  // Lane i of row k becomes source[offsets[k] + first + i], for whole vectors of lanes: the source must have
  // kMaxLanes readable elements from offsets[k] + first on. Bytes are unsigned, words signed.
  void fill(const uint8_t* source, std::span<const int64_t> offsets, int64_t first, int64_t lanes);
  void fill(const int16_t* source, std::span<const int64_t> offsets, int64_t first, int64_t lanes);

  int vectors() const { return vectors_; }
  IntegerWidth width() const { return width_; }
  int64_t depth() const { return depth_; }
  const std::byte* data() const { return data_.get(); }

 private:
  IntegerWidth width_;
  int64_t depth_;
  int vectors_ = 0;
  std::unique_ptr<std::byte[]> data_;
};

// The left-hand side: rows x depth, packed in blocks of rows.
class IntegerMatrix {
 public:
  // `values` are row-major. With IntegerWidth::kBytes each must fit i8. `isa` must be available.
  IntegerMatrix(std::span<const int16_t> values, int64_t rows, int64_t depth, IntegerWidth width,
                IntegerIsa isa);

  int64_t rows() const { return rows_; }
  int64_t depth() const { return depth_; }
  IntegerWidth width() const { return width_; }
  // Sum of one row, modulo 2^32.
  uint32_t row_sum(int64_t row) const { return row_sums_[size_t(row)]; }

  // Calls emit(row, acc) for the rows in [from, to) with the sums of all lanes of the panel (vectors *
  // kLanesPerVector of them), valid during the call.
  using Emit = std::function<void(int64_t row, const int32_t* acc)>;
  void multiply(const IntegerPanel& panel, int64_t from, int64_t to, const Emit& emit) const;

 private:
  void pack(std::span<const int16_t> values);
  // Where the packed block that begins at `row` starts, in bytes.
  int64_t block_offset(int64_t row) const { return row * steps_ * 4; }

  int64_t rows_, depth_, steps_;
  IntegerWidth width_;
  IntegerIsa isa_;
  std::vector<std::byte> data_;
  std::vector<uint32_t> row_sums_;
};

}  // namespace tilewright
