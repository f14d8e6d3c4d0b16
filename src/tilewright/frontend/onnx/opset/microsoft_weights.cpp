// MatMulNBits of com.microsoft: a product with weights of few bits, packed in blocks that share a scale.
// Definition: ONNX Runtime's description of its contributed operators.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/onnx/opset/microsoft_converters.h"
#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

// The weights as [columns][rows in blocks] of integers of `bits`, low bits first in a byte.
class BlockedWeights {
 public:
  BlockedWeights(Node& node, NodeConversion& conversion)
      : node_(node),
        conversion_(conversion),
        rows_(node.int_or("K", 0)),
        columns_(node.int_or("N", 0)),
        bits_(node.int_or("bits", 4)),
        block_(node.int_or("block_size", 0)) {}

  bool read() {
    if (node_.has_input(4)) {
      conversion_.unsupported("takes its weights in an order of their own (g_idx)",
                              "quantise the model without reordering (act order)");
      return false;
    }
    if (bits_ != 2 && bits_ != 4 && bits_ != 8)
      return fail(fmt::format("has weights of {} bits", bits_), "quantise the model to 2, 4 or 8");
    constexpr int64_t kLongest = int64_t{1} << 30;
    const bool is_power = block_ > 0 && (block_ & (block_ - 1)) == 0;
    if (!is_power || block_ < 16 || block_ > kLongest)
      return fail(fmt::format("attribute 'block_size' is {}", block_),
                  "it has to be a power of two, from 16 on");
    if (rows_ < 1 || columns_ < 1 || rows_ > kLongest || columns_ > kLongest)
      return fail(fmt::format("attributes 'K' and 'N' are {} and {}", rows_, columns_),
                  "they are the sizes of the weights");
    blocks_ = (rows_ + block_ - 1) / block_;
    return read_tensor(1, "weights", &packed_) && read_tensor(2, "scales", &scales_) && check_sizes() &&
           read_zero_points();
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  bool has_one_block() const { return blocks_ == 1; }
  ElementType scale_type() const { return scales_.type(); }

  // [rows, columns] of unsigned integers; of 8 bits also where fewer are used.
  Tensor integers() const {
    Tensor result(ElementType::kU8, {rows_, columns_});
    const std::span<uint8_t> out = result.mutable_data<uint8_t>();
    for (int64_t n = 0; n < columns_; ++n) {
      for (int64_t k = 0; k < rows_; ++k) out[size_t(k * columns_ + n)] = uint8_t(integer(n, k));
    }
    return result;
  }
  // Of the only block of every column.
  Tensor scales_of_columns() const { return scales_.reshaped({columns_}); }
  Tensor zero_points_of_columns() const {
    Tensor result(ElementType::kU8, {columns_});
    for (int64_t n = 0; n < columns_; ++n) result.set_number(n, zero_point(n, 0));
    return result;
  }
  bool has_integer_zero_points() const { return !is_float(zero_points_.type()); }

  // [rows, columns] of real numbers.
  Tensor numbers() const {
    Tensor result(ElementType::kF32, {rows_, columns_});
    const std::span<float> out = result.mutable_data<float>();
    for (int64_t n = 0; n < columns_; ++n) {
      for (int64_t block = 0; block < blocks_; ++block) {
        const float scale = float(scales_.number_at(n * blocks_ + block)), zero = float(zero_point(n, block));
        const int64_t end = std::min(rows_, (block + 1) * block_);
        for (int64_t k = block * block_; k < end; ++k)
          out[size_t(k * columns_ + n)] = (float(integer(n, k)) - zero) * scale;
      }
    }
    return result;
  }

 private:
  bool fail(const std::string& message, const std::string& hint) {
    conversion_.error(ErrorKind::kInvalidInput, message, hint);
    return false;
  }

  bool read_tensor(int input, const char* what, Tensor* tensor) {
    const auto known = conversion_.constant_of(node_.input(input));
    if (known) {
      *tensor = *known;
      return true;
    }
    if (!node_.has_input(input)) return fail(fmt::format("has no {}", what), "quantise the model again");
    conversion_.unsupported(fmt::format("its {} are not constant", what), "keep them as initializers");
    return false;
  }

  // Bytes of `count` integers.
  int64_t bytes(int64_t count) const { return (count * bits_ + 7) / 8; }

  bool check_sizes() {
    const int64_t wanted = columns_ * blocks_ * bytes(block_);
    if (packed_.type() != ElementType::kU8 || packed_.size() != wanted) {
      return fail(fmt::format("its weights are {}", to_string(packed_.type(), packed_.shape())),
                  fmt::format("{} x {} weights of {} bits in blocks of {} are u8[{}x{}x{}]", rows_, columns_,
                              bits_, block_, columns_, blocks_, bytes(block_)));
    }
    if (is_float(scales_.type()) && scales_.size() == columns_ * blocks_) return true;
    return fail(fmt::format("its scales are {}", to_string(scales_.type(), scales_.shape())),
                fmt::format("give it {} for each of {} columns", blocks_, columns_));
  }

  bool read_zero_points() {
    if (!node_.has_input(3)) return true;
    if (!read_tensor(3, "zero points", &zero_points_)) return false;
    const bool is_packed = zero_points_.type() == ElementType::kU8;
    const int64_t wanted = columns_ * (is_packed ? bytes(blocks_) : blocks_);
    if ((is_packed || is_float(zero_points_.type())) && zero_points_.size() == wanted) return true;
    return fail(fmt::format("its zero points are {}", to_string(zero_points_.type(), zero_points_.shape())),
                fmt::format("give it {} bytes of packed integers, or {} real numbers",
                            columns_ * bytes(blocks_), columns_ * blocks_));
  }

  int64_t bits_at(std::span<const uint8_t> data, int64_t first_byte, int64_t index) const {
    const int64_t per_byte = 8 / bits_;
    return (data[size_t(first_byte + index / per_byte)] >> (index % per_byte * bits_)) & ((1 << bits_) - 1);
  }
  int64_t integer(int64_t column, int64_t row) const {
    const int64_t first = (column * blocks_ + row / block_) * bytes(block_);
    return bits_at(packed_.data<uint8_t>(), first, row % block_);
  }
  double zero_point(int64_t column, int64_t block) const {
    if (!node_.has_input(3)) return double(1 << (bits_ - 1));
    if (is_float(zero_points_.type())) return zero_points_.number_at(column * blocks_ + block);
    return double(bits_at(zero_points_.data<uint8_t>(), column * bytes(blocks_), block));
  }

  Node& node_;
  NodeConversion& conversion_;
  int64_t rows_, columns_, bits_, block_, blocks_ = 0;
  Tensor packed_, scales_, zero_points_{ElementType::kU8, {0}};
};

}  // namespace

// With one block per column the integers stay, behind a DequantizeLinear per column. The graph has no scales
// per block: with several, the weights become real numbers here.
void convert_matmul_n_bits(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  BlockedWeights weights(node, conversion);
  if (!weights.read()) return;
  const Shape x = s.shape(node.input(0));
  if (x.rank() < 1 || x[x.rank() - 1] != weights.rows()) {
    return conversion.error(ErrorKind::kInvalidInput, fmt::format("its input is {}", to_string(x)),
                            fmt::format("its last axis has to be {} (attribute 'K')", weights.rows()));
  }
  const ElementType type = s.type(node.input(0));
  ValueId matrix = kNoValue;
  if (weights.has_one_block() && weights.has_integer_zero_points() &&
      weights.scale_type() == ElementType::kF32) {
    matrix = s.op("DequantizeLinear",
                  {conversion.constant("weights", weights.integers()),
                   conversion.constant("scales", weights.scales_of_columns()),
                   conversion.constant("zero_points", weights.zero_points_of_columns())},
                  {{"axis", int64_t{1}}});
    matrix = s.cast(matrix, type);
  } else {
    matrix = conversion.constant("weights", weights.numbers().cast(type));
  }
  ValueId y = s.op("MatMul", {node.input(0), matrix});
  if (node.has_input(5)) {
    if (s.shape(node.input(5)) != Shape{weights.columns()}) {
      return conversion.error(ErrorKind::kInvalidInput,
                              fmt::format("its bias is {}", to_string(s.shape(node.input(5)))),
                              fmt::format("give it {} numbers", weights.columns()));
    }
    y = s.op("Add", {y, node.input(5)});
  }
  conversion.define(node.outputs[0], y);
  node.outputs.clear();
}

}  // namespace tilewright
