// A model in 8 bits with both kinds of scales and every calibration.
#pragma once

#include <functional>
#include <vector>

#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"

namespace tilewright {

// quantised(options) is integers throughout, shifts alone where the scales are powers of two. check(options,
// report) gets how it does on `images` beside `graph`, which is printed.
void for_each_calibration(const Graph& graph, const Tensor& images, const std::vector<int64_t>& labels,
                          int threads, const std::function<Graph(const QuantizeOptions&)>& quantised,
                          const std::function<void(const QuantizeOptions&, const AccuracyReport&)>& check);

}  // namespace tilewright
