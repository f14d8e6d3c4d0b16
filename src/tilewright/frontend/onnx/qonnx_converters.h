// The quantisers of QONNX files (what Brevitas, FINN and hls4ml exchange), in terms of standard operators.
#pragma once

#include <string>

#include "tilewright/frontend/onnx/opset_converters.h"

namespace tilewright {

// Quant and BipolarQuant of the domains that tools write them under.
bool is_qonnx_quantizer(const std::string& domain, const std::string& op);

// Activations: Quant becomes QuantizeLinear, Clip (where it is narrower than 8 bits) and DequantizeLinear,
// BipolarQuant becomes Where(x >= 0, scale, -scale). Weights are rounded here: to DequantizeLinear of
// integers, and those of one or two bits that only are -scale, 0 or scale to these real numbers, which batch
// normalisation can be folded into (integerize knows them again). Reports (unsupported) what is computed
// instead of constant, other rounding than to the nearest, and widths beyond 8 bits.
void convert_qonnx_quantizer(Node& node, NodeConversion& conversion);

}  // namespace tilewright
