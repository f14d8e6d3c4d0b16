// Some published workload files describe 8-bit networks as Conv nodes over int8 tensors, which ONNX does not
// allow.
#pragma once

#include "tilewright/frontend/onnx/proto/onnx_model.h"

namespace tilewright {

// Conv and ConvTranspose with 8-bit weights: the weights and the declared types around them become f32, so
// that shapes and work can be seen; one warning says so. A model without such nodes stays as it is.
void widen_integer_typed_convolutions(OnnxModel& model, Diagnostics& diagnostics);

}  // namespace tilewright
