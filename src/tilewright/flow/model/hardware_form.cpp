// The steps are those of the commands `optimize` and `quantize`; which of them a model needs, it says itself.
#include "tilewright/flow/model/hardware_form.h"

#include <optional>

#include "tilewright/base/error.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {

Graph hardware_form(Graph model, const NumberFormat& format, const std::vector<Tensor>& calibration,
                    int threads, Recipe recipe) {
  if (is_fixed_point(model)) return model;
  const bool quantized = is_quantized(model);
  const Graph graph = optimize(std::move(model));
  if (format.fixed) {
    if (quantized) {
      throw Error(ErrorKind::kInvalidInput, "the model is quantised to integers already",
                  "omit the number type, or give the float model");
    }
    return to_fixed_point(graph, format.fraction);
  }
  if (quantized) return integerize(graph);
  if (calibration.empty()) {
    throw Error(ErrorKind::kInvalidInput, "a float model needs calibration inputs to be computed in integers",
                "give an array with --calibration, or --number-type q10.22");
  }
  QuantizeOptions options;
  options.calibration = std::nullopt;  // the best, as the command quantises
  if (recipe == Recipe::kQuickest) {
    options.calibration = CalibrationMethod::kMinMax;
    options.correct_bias = options.reconstruct = false;
  }
  options.weight_bits = format.weight_bits;
  options.activation_bits = format.activation_bits;
  options.threads = threads;
  return integerize(quantize(graph, calibration, options));
}

}  // namespace tilewright
