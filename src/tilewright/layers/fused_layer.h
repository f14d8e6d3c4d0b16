// One integer or fixed-point operator of docs/reference/arithmetic.md with all its numbers: what a graph node
// computes, before any backend has cut, packed or fused it. The overlay and generated designs both start from
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/graph/operator_class.h"
#include "tilewright/layers/node_geometry.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {

enum class NumberType { kInteger, kFixed };  // i8 or i16 with i32 sums; i32 with 64-bit sums

// What turns a sum into a stored element.
//   integer: clip(scaled(sum + bias) + zero_point, clip_low, clip_high), by multiplier and shift
//   fixed:   clip(round_shift(sum * multiplier + bias * 2^fraction, fraction), clip_low, clip_high)
struct LayerFinish {
  std::vector<int32_t> bias;  // per output channel of a product; else one, or none
  // Per output channel, or one for all: multiplier and shift, in fixed point multiplier and fraction. None
  // where nothing is scaled: lookups, clips, maxima, fixed-point additions.
  std::vector<Requantization> scale;
  int32_t zero_point = 0;
  int32_t clip_low = -128, clip_high = 127;  // in fixed point i32; the ends of the type do not clip
  bool bipolar = false;                      // the clip, 0..1, is the bit that stands for -1 and +1
  // i8[256] or none: the stored element is entry clipped + 128.
  const Tensor* table = nullptr;

  const Requantization& scale_of(int64_t channel) const {
    return scale[scale.size() == 1 ? 0 : size_t(channel)];
  }
};

// Values and tensors are those of the graph, which must outlive the layer.
struct FusedLayer {
  std::string name, op;  // of the node
  OperatorFunction function = OperatorFunction::kOther;
  NumberType number = NumberType::kInteger;
  int input_bits = 8, output_bits = 8;  // of integer layers: 8 or 16
  ValueId input = kNoValue, result = kNoValue;
  NodeGeometry geometry;            // convolutions, dense layers and pools
  int64_t pad_value = 0;            // what padding holds; of no meaning to a maximum
  const Tensor* weights = nullptr;  // of products, in the order of their operator
  // kAddition: multiplier_a * input + multiplier_b * other.
  // kMultiplication: (input - zero_point_a) * (other - zero_point_b); their shapes broadcast.
  ValueId other = kNoValue;
  int64_t multiplier_a = 1, multiplier_b = 1;
  int32_t zero_point_a = 0, zero_point_b = 0;
  // kLookup: an entry per i8, or the 513 ends of straight pieces of 2^input_shift.
  const Tensor* table = nullptr;
  int input_shift = 0;
  LayerFinish finish;
};

// The number type of a node that read_layer takes, as far as its operator and element type tell: nullopt for
// operators of floats and of other integers, and for those that are no layer.
std::optional<NumberType> layer_number(const Graph& graph, const Node& node);

// The layer of a node, or nullopt after adding every reason why there is none to `refusals`, each naming the
// node (kind unsupported). Layers: the operators with an output stage, lookups, and MaxPool, GlobalMaxPool,
// Clip and Relu on i8 and i32; of 16-bit activations, products with 32-bit sums, average pools and copies.
// The graph has shapes. Errors (invalid input): windows that do not fit.
std::optional<FusedLayer> read_layer(const Graph& graph, const Node& node, Diagnostics& refusals);

}  // namespace tilewright
