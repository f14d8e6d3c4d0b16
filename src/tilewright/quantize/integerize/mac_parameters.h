// The constants of the integer multiply-accumulate operators (QConv, QConvTranspose, QGemm): weights without
// zero point, bias with the zero points folded in, multiplier and shift per output channel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/quantize/integerize/fit_scale.h"
#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {

// Which output channel a weight belongs to: element e of a row-major weight tensor has the channel
// (e / group_elements) * channels_per_group + (e / inner) % channels_per_group. Per-channel scales and zero
// points have channels_per_group entries.
struct ChannelLayout {
  int64_t groups = 1;
  int64_t channels_per_group = 1;
  int64_t inner = 1;  // consecutive elements of one channel
  int64_t channels() const { return groups * channels_per_group; }
};

struct MacOperands {
  const QuantizedConstant* weights = nullptr;
  ChannelLayout layout;
  Quantization x;
  ElementType x_type = ElementType::kI8;  // or i16
  Quantization y;
  IntegerRange clip{-128, 127};  // of the result
  Rounding rounding = Rounding::kOnce;
  bool is_dense = false;
  bool sign = false;                                // the result is whether it is not negative, as a bit
  double alpha = 1;                                 // factor of the product
  double beta = 1;                                  // factor of the bias
  const QuantizedConstant* integer_bias = nullptr;  // as dequantised by the source, or nullptr
  std::vector<double> real_bias;                    // further real bias: per channel, single, or empty
};

// Fills in what concerns the result: `form`, rounded as the source wants it.
void set_result(MacOperands& operands, const IntegerBuilder& builder, const IntegerForm& form);

struct MacParameters {
  Tensor weights;       // i8, or i16 where w - zero_point needs it; shape of the source's weights
  Tensor bias;          // i32 [O], or i64 [O] where sums of 16-bit activations can leave 32 bits
  Tensor multiplier;    // i32 [O] or [1]
  Tensor shift;         // i32, like multiplier
  std::string problem;  // not empty: there is no integer form, because of this
};

// Checked: scales that can be encoded, biases that fit 32 bits, and accumulators that cannot leave 32 bits
// for any input, the rounding constant included; of 16-bit activations: that they, and their products with
// the multipliers, cannot leave 64 bits.
MacParameters prepare_mac(const MacOperands& operands);

// Products whose operands the source holds as integers. Nullopt: refused, the reason is with the builder.
struct StoredProduct {
  const Twin* stored;  // the input
  Quantization x;      // of the input as it is stored
  QuantizedConstant weights;
};
struct StoredProductForm {
  StoredProduct product;
  IntegerForm form;  // that its output has in the source
};
// QLinearConv and QLinearMatMul.
std::optional<StoredProductForm> qlinear_product(IntegerBuilder& builder, const Node& node, int channel_axis);
// ConvInteger and MatMulInteger, whose sums `scales` follow: per channel, or one.
std::optional<StoredProduct> integer_product(IntegerBuilder& builder, const Node& node,
                                             const std::vector<double>& scales, int channel_axis);

}  // namespace tilewright
