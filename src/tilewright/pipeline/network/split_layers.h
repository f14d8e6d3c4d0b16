// Convolutions in groups, with dilations and transposed ones as several plain layers on parts of tensors.
#pragma once

#include <cstdint>

#include "tilewright/pipeline/network/tensor_assembly.h"

namespace tilewright::pipeline {

// What a plain layer has not.
struct WideWindow {
  int64_t groups = 1;                      // of channels; each has its own weights
  int64_t dilation_y = 1, dilation_x = 1;  // from tap to tap
  bool transposed = false;                 // strides are those of the output
};

// Adds `layer`, whose input and output are set, as the layers it takes:
//   groups: one for every few of them, on their channels;
//   dilations: one for each phase of rows and columns, whose taps are neighbours there;
//   transposed: one for each phase of the output, with the taps that reach it.
// Weights as Layer has them, of a transposed layer by the output channel too: [out][ky][kx][in of the group].
// false: a maximum with strides and dilations, which no plain layers make.
bool append_split(TensorAssembly& assembly, Network& network, const Layer& layer, const WideWindow& wide);

}  // namespace tilewright::pipeline
