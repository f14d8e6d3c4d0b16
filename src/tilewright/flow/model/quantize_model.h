// What `quantize` does: a float model in, its QDQ or fixed-point form in a file out, and what that costs.
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/model/samples.h"

namespace tilewright {

struct QuantizeRequest {
  ModelFile model;
  // int8 needs samples for calibration; fixed point ("q10.22") needs none to be written, only to be judged.
  std::string number_type = "int8";
  SampleFile calibration, evaluation;    // evaluation: of the accuracy; no path: the calibration's
  std::filesystem::path labels;          // class numbers of the evaluation; empty: none
  std::filesystem::path output;          // ONNX file
  std::string scales = "real";           // or power-of-two
  std::string method = "squared-error";  // how ranges are chosen: min-max, percentile, kl
  bool per_tensor = false;               // one weight scale per tensor instead of one per channel
  int weight_bits = 8, activation_bits = 8;
  int threads = 1;
};

// Errors (invalid input): a number type or bits that do not exist, no samples for int8, labels that do not
// fit; (unsupported) nothing in the model can be quantised; those of reading and quantising.
Answer quantize_model(const QuantizeRequest& request);

}  // namespace tilewright
