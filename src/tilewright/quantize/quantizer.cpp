// Options are checked here; recipe_choice.cpp decides what is done, network_quantizer.cpp does it.
#include "tilewright/quantize/quantizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/quantize/recipe_choice.h"
#include "tilewright/quantize/recipe_fitter.h"

namespace tilewright {
namespace {

void check(const QuantizeOptions& options) {
  Diagnostics problems;
  const auto bits = [&](const char* field, int value) {
    if (value == 1) {
      problems.error(ErrorKind::kUnsupported, "quantization options", field,
                     "1 bit is not supported after training", "train a bipolar network and import it");
    } else if (value < 2 || value > 8) {
      problems.error(ErrorKind::kInvalidInput, "quantization options", field,
                     fmt::format("{} bits are not possible", value), "choose 2 to 8");
    }
  };
  bits("weight_bits", options.weight_bits);
  bits("activation_bits", options.activation_bits);
  for (const auto& [name, value] : options.layer_bits) bits("layer_bits", value);
  for (const auto& [name, value] : options.value_bits) {
    if (value != 16) bits("value_bits", value);
  }
  const bool narrow =
      options.weight_bits < 8 || std::any_of(options.layer_bits.begin(), options.layer_bits.end(),
                                             [](const auto& layer) { return layer.second < 8; });
  if (options.weight_group < 0 || options.weight_group == 1) {
    problems.error(ErrorKind::kInvalidInput, "quantization options", "weight_group",
                   fmt::format("groups of {} weights are not possible", options.weight_group),
                   "choose 2 or more, for example 32");
  } else if (options.weight_group > 0 && !narrow) {
    problems.error(ErrorKind::kInvalidInput, "quantization options", "weight_group",
                   "weights of 8 bits leave no room for the factors of groups",
                   "choose fewer bits of a weight, for example 4");
  }
  if (!(options.percentile > 50 && options.percentile <= 100)) {
    problems.error(ErrorKind::kInvalidInput, "quantization options", "percentile",
                   fmt::format("{} is outside 50..100", options.percentile), "choose for example 99.99");
  }
  problems.raise_if_any();
}

void check_is_float(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const bool quantized = node.op == "QuantizeLinear" || node.op == "DequantizeLinear" ||
                           node.op.rfind("QLinear", 0) == 0 || node.domain == kTilewrightDomain;
    if (!quantized) continue;
    throw Error({{ErrorKind::kInvalidInput, where(node), node.op, "the model is quantised already",
                  "use it as it is, or start from the float model"}});
  }
}

}  // namespace

Graph quantize(const Graph& float_graph, const std::vector<Tensor>& samples, const QuantizeOptions& options,
               QuantizeReport* report) {
  check(options);
  check_is_float(float_graph);
  QuantizeReport ignored;
  QuantizeReport& told = report != nullptr ? *report : ignored;
  if (options.calibration)
    return RecipeFitter(float_graph, samples, options.threads, options.float_nodes).quantize(options, told);
  return quantize_with_best(float_graph, samples, options, told);
}

}  // namespace tilewright
