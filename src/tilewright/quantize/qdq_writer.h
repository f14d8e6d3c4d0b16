// The QDQ form of a network whose scales and integers are chosen.
#pragma once

#include <vector>

#include "tilewright/quantize/calibrate/range_selection.h"
#include "tilewright/quantize/prepared_network.h"

namespace tilewright {

inline constexpr double kLargestBias = 0x1p30;  // in accumulator units; leaves room for the products

struct QuantizedLayer {
  std::vector<double> scales;  // of the weights: one for each index of the layer's axis, or one
  Tensor integers;             // i8
  std::vector<double> bias;    // real, per output channel; empty: stays as it is
};

struct QuantizedGroup {
  Quantization quantization;
  NumberForm form;  // 9 bits and more are stored in i16
};

// layers: as network.layers; groups: by the plan's number. Standard ONNX operators: QuantizeLinear,
// DequantizeLinear, and a Clip between the two for fewer than 8 bits.
Graph write_qdq(const PreparedNetwork& network, const std::vector<QuantizedLayer>& layers,
                const std::vector<QuantizedGroup>& groups);

}  // namespace tilewright
