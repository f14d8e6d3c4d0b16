// The quantisers of QONNX files (what Brevitas, FINN and hls4ml exchange), in terms of standard operators.
#pragma once

#include <string>

#include "tilewright/frontend/onnx/opset/opset_converters.h"

namespace tilewright {

// Quant, BipolarQuant and MultiThreshold of the domains that tools write them under.
bool is_qonnx_quantizer(const std::string& domain, const std::string& op);

// Activations: Quant becomes QuantizeLinear (after an Add of one step where the zero point is odd, as halves
// are rounded after it is added), Clip (where it is narrower than 8 bits) and DequantizeLinear,
// BipolarQuant becomes Where(x >= 0, scale, -scale). Weights are rounded here: to DequantizeLinear of
// integers, and those of one or two bits that only are -scale, 0 or scale to these real numbers, which batch
// normalisation can be folded into (integerize knows them again). Reports (unsupported) what is computed
// instead of constant, other rounding than to the nearest, and widths beyond 8 bits.
void convert_qonnx_quantizer(Node& node, NodeConversion& conversion);

// MultiThreshold, `out_scale * (how many thresholds of its channel x reaches) + out_bias`:
//  - one threshold: Where(x - threshold >= 0, ..), a sign where the two results are -s and s;
//  - equally spaced thresholds, the same step for all channels: QuantizeLinear, Clip and DequantizeLinear of
//    x less the offset of its channel. The step is taken smaller by 2^-20 and the offset as low as f32 needs,
//    so that what lies on a threshold counts as having reached it; so do numbers that are closer below one
//    than 2^-20 * levels + 2e-5 of a step, or than two roundings of the offset;
//  - others, up to 15: a sum of comparisons, which stays in float.
// Reports (unsupported) computed thresholds and more than 255 or, not equally spaced, 15 of them.
void convert_multi_threshold(Node& node, NodeConversion& conversion);

}  // namespace tilewright
