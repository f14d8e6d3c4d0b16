// Cross-layer equalisation: factors for single channels between a layer and those that read it. The float
// network computes the same as before, and small channels use more of the steps that all channels share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tilewright/quantize/quantization_plan.h"

namespace tilewright {

// By the name of a value: what its channels (axis 1) were multiplied with.
using ChannelFactors = std::map<std::string, std::vector<float>>;

struct EqualizeOptions {
  int weight_bits = 8;       // 2..8
  int activation_bits = 8;   // 2..8
  bool per_channel = true;   // scales of weights
  int64_t weight_group = 0;  // as QuantizeOptions has it
  int threads = 1;
};

// Chains are a Conv of `plan`, activations and pools that commute with positive factors (Relu, LeakyRelu,
// PRelu, Clip from 0, maxima and averages), and the Convs of `plan` that alone read them. A channel's factor
// is a power between 0 and 1 of the largest channel's range over its own, the power that gives the readers
// the smallest expected error; it stays below what would reach the upper bound of a Clip on the samples.
// Changes constants only: `graph` keeps its nodes and values, except that multiplied values get new names
// (NAME_equalized). Returns the factors by the old names. Errors: those of channel_statistics.
ChannelFactors equalize_channels(Graph& graph, const QuantizationPlan& plan,
                                 const std::vector<Tensor>& samples, const EqualizeOptions& options);

}  // namespace tilewright
