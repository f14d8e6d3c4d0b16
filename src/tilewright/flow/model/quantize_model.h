// What `quantize` does: a float model in, its QDQ or fixed-point form out, and what that costs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/model/network_state.h"
#include "tilewright/flow/samples/input_samples.h"

namespace tilewright {

// bias: the mean error of each output channel goes into the bias; rounding: weights are rounded for the
// smallest error of their layer's outputs; equalize: factors between layers (quantize/equalize.h).
inline constexpr const char* kCorrections[] = {"bias", "rounding", "equalize"};

struct QuantizeRequest {
  ModelFile model;
  // int8 needs samples for calibration; fixed point ("q10.22") needs none to be written, only to be judged.
  std::string number_type = "int8";
  SampleRequest calibration, evaluation;  // evaluation: of the accuracy; empty: the calibration's
  std::vector<StatePair> states;          // besides those of find_states: the samples are call after call
  std::optional<SampleSource> labels;     // class numbers of the evaluation; empty: none
  std::filesystem::path output;           // ONNX file; empty: none is written
  std::string format = "qdq";             // of that file: see write_quantized
  std::string scales = "real";            // or power-of-two
  // How ranges are chosen: layer-error, squared-error, min-max, percentile, kl; best: what leaves the least
  // noise on the samples, of several with and without corrections (quantize/recipe_choice.h).
  std::string method = "best";
  // What is done beyond ranges: names of kCorrections, separated by commas, or "none".
  std::string corrections = "bias,rounding";
  bool per_tensor = false;       // one weight scale per tensor instead of one per channel
  bool integer_borders = false;  // 8-bit integers go in and come out
  bool symmetric = false;        // zero points of activations are 0
  int weight_bits = 8, activation_bits = 8;
  int64_t weight_group =
      0;  // consecutive weights that share a factor, QuantizeOptions::weight_group; 0: none
  // Bits that a layer's weights may have, "4,8"; with 16 among them activations may have 16. Empty: all
  // layers have weight_bits. One bound belongs to it: the outputs' least ratio, or the mean bits of a weight;
  // 0: none.
  std::string mixed;
  double target_db = 0, mean_bits = 0;
  std::vector<std::string> keep_float;  // nodes, as in QuantizeOptions::float_nodes
  int threads = 1;
};

struct QuantizedModel {
  Graph graph;  // QDQ, or operators in fixed point
  Answer report;
};

// Errors (invalid input): a number type or bits that do not exist, no samples for int8, labels that do not
// fit; (unsupported) nothing in the model can be quantised; those of reading, quantising and writing.
QuantizedModel quantize_model(const QuantizeRequest& request);

// Writes a quantised model as an ONNX file: "qdq" (QuantizeLinear and DequantizeLinear), or "qonnx" (Quant,
// frontend/onnx/opset/qonnx_form.h). Errors (invalid input): another format, a file that cannot be written;
// (unsupported) nodes that the format has no form for, all of them.
void write_quantized(const std::filesystem::path& path, const Graph& graph, const std::string& format);

}  // namespace tilewright
