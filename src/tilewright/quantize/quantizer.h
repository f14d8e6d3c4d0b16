// Post-training quantisation: a float graph and sample inputs in, a graph in QDQ form out. The result is
// standard ONNX (QuantizeLinear, DequantizeLinear with signed 8-bit numbers, per-channel weights), so it runs
// in any ONNX runtime; `integerize` turns it into integer operators.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/calibrate/layer_reconstruction.h"
#include "tilewright/quantize/calibrate/range_selection.h"
#include "tilewright/quantize/equalize.h"

namespace tilewright {

enum class ScaleKind {
  kReal,        // multiplier and shift: the extended instruction set
  kPowerOfTwo,  // shifts only, zero points 0: the plain VTA instruction set
};

struct QuantizeOptions {
  int weight_bits = 8;      // 2..8; below 8 the integers still travel as i8
  int activation_bits = 8;  // 2..8; below 8 as QuantizeLinear -> Clip -> DequantizeLinear
  bool per_channel = true;
  // So many consecutive inputs of an output channel share a factor of their weights
  // (calibrate/weight_groups.h; Conv, Gemm and MatMul of fewer than 8 bits), 2 or more; 0: no groups.
  int64_t weight_group = 0;
  ScaleKind scales = ScaleKind::kReal;
  // Zero points of activations are 0. Powers of two are always symmetric.
  bool symmetric_activations = false;
  // How ranges are chosen. Not set, as the command has it: several methods and corrections are tried on the
  // samples, plain min-max ranges among them, and what leaves the least noise is taken (recipe_choice.h); the
  // corrections below are then those that may be taken. That costs several times as much.
  std::optional<CalibrationMethod> calibration = CalibrationMethod::kSquaredError;
  double percentile = 99.99;  // for kPercentile
  bool correct_bias = true;   // the mean error of each output channel goes into the bias
  // Weights are rounded for the smallest error of their layer's outputs (layer_reconstruction.h), not each to
  // the nearest integer.
  bool reconstruct = true;
  bool equalize = false;  // factors between layers (equalize.h)
  // Of the weights of single nodes, 2..8, and of single activations, 2..8 or 16, by name; all others have the
  // bits above. A group of values that share a scale has the bits of the last one named.
  std::map<std::string, int> layer_bits, value_bits;
  // Nodes that stay in float: names, in which * stands for any characters and ? for one. What only moves or
  // clips may be an integer operator nevertheless, where the values on both sides are.
  std::vector<std::string> float_nodes;
  int threads = 1;
};

// What a quantised graph's values mean beside those of the float graph.
struct QuantizeReport {
  QuantizeOptions recipe;  // with the method and the corrections that were taken
  // Convolutions and products of matrices, in graph order, with the errors that each adds.
  struct Layer {
    std::string node,
        output;  // output: the value that its integer form ends with, as the float graph names it
    LayerErrors errors;
  };
  std::vector<Layer> layers;
  double weight_bits = 0;  // on average, the factors of groups included
  // What was tried where the method was left open, with its ratios on runs that it was not fitted to: the
  // median of the quantised values, and the least of the outputs.
  struct Attempt {
    std::string recipe;  // "min-max", "layer-error with bias, rounding"
    double median_db = 0, output_db = 0;
    bool taken = false;
  };
  std::vector<Attempt> attempts;
  // Of values whose channels were multiplied; they have other names in the quantised graph (equalize.h).
  ChannelFactors factors;
};

// `float_graph` should be optimised before (batch normalisation folded, constants folded); f16 values are
// computed in f32. `samples`: as in SampleInputs (calibration.h). With powers of two every requantisation of
// the integer form is a shift by 0..15, except after average pools whose window is not a power of two.
// Errors: options out of range (1 bit: unsupported, bipolar networks are trained as such), groups of weights
// that all have 8 bits; a model that is quantised already; everything that calibration reports.
Graph quantize(const Graph& float_graph, const std::vector<Tensor>& samples,
               const QuantizeOptions& options = {}, QuantizeReport* report = nullptr);

}  // namespace tilewright
