// Which ranges and corrections a network gets, by what they leave of its values on the samples.
#pragma once

#include <string>
#include <vector>

#include "tilewright/quantize/quantizer.h"

namespace tilewright {

// "min-max, one scale per tensor", "layer-error with bias, rounding".
std::string recipe_name(const QuantizeOptions& options);

// What is tried first where `options` leaves the method open: plain min-max (and with one scale per weight
// tensor, if options allows more), then min-max and other ranges with the corrections that options allows and
// that cost little: all but the rounding of weights.
std::vector<QuantizeOptions> recipes(const QuantizeOptions& options);

// Quantises by each of recipes(options) and keeps the best: fitted to every other run and measured on those
// between, the one with the highest sum of two ratios, the median over the computed values and the least over
// the outputs. To it, the rounding of weights is added and judged in the same way. A recipe is passed over if
// one of its ratios is below that of the plain recipe with the better median, there or fitted to all runs and
// measured on them, as what is returned is. A single run is fitted and measured alike; 8 to 64 runs are
// measured, more of smaller networks. Errors: those of quantize.
Graph quantize_with_best(const Graph& float_graph, const std::vector<Tensor>& samples,
                         const QuantizeOptions& options, QuantizeReport& report);

}  // namespace tilewright
