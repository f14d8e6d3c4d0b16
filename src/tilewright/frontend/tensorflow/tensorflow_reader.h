// TensorFlow GraphDef (frozen .pb) and SavedModel files to a Graph of opset-17 semantics. Variables get their
// values from the folder variables/ of a SavedModel; without it, they can be filled with random weights.
//
// Inputs keep the file's layout (NHWC); layers get Transposes around them, which the graph passes remove.
// docs/reference/tensorflow.md has the rules. All problems of a file are reported together, each with its
// node and operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

struct TensorflowOptions {
  // Sizes of input axes, as "INPUT.AXIS" ("Placeholder.0"). The first axis is 1 without an entry, whatever
  // the file says; other axes of unknown size need one.
  std::map<std::string, int64_t> dimensions;
  // The signature of a SavedModel that states inputs and outputs; empty: the usual one for serving.
  std::string signature;
  // Nodes whose values are the network's outputs; empty: those of the signature, or inferred.
  std::vector<std::string> outputs;
  // Nodes that become inputs, and their shapes where the file does not tell ({} otherwise).
  std::map<std::string, Shape> feeds;
  // Keep an ArgMax at the end of inferred outputs; without it the scores are the output.
  bool keep_arg_max = false;
  // Above 0: variables are drawn with this gain.
  double fill_gain = 0;
  // Variables without a value get stand-ins (drawn with gain 1), with a warning.
  bool allow_missing_weights = false;
};

// The content of a graph at one stage of reading, with nodes counted as in TensorFlow: constants and
// variables are nodes.
struct TfStage {
  int nodes = 0;
  int constants = 0;        // constants and variables
  int random = 0;           // random numbers: dropout and initial values
  int moving_averages = 0;  // whose name says moving_mean, moving_variance or ExponentialMovingAverage
  int normalizations = 0;   // batch normalisation as one operator
  int rsqrts = 0;           // spelled out: Rsqrt, Sqrt, Reciprocal
  int scales = 0;           // Mul and division by a constant or variable
};

struct TfStages {
  TfStage stored;     // in the file
  TfStage reachable;  // from the outputs, over data edges
  TfStage frozen;     // without training, dropout, control flow; variables are constants
};

// Errors (invalid input, unsupported): everything wrong with the file, at once. `warnings`, if given,
// receives what was assumed; `stages` the numbers of nodes. A folder means its saved_model.pb; the variables
// of a SavedModel are in variables/ beside it. parse_tensorflow reads no variables.
Graph read_tensorflow(const std::filesystem::path& path, const TensorflowOptions& options = {},
                      Diagnostics* warnings = nullptr, TfStages* stages = nullptr);
Graph parse_tensorflow(std::span<const std::byte> bytes, const TensorflowOptions& options = {},
                       Diagnostics* warnings = nullptr, TfStages* stages = nullptr);

// Whether the bytes are a TensorFlow file rather than another kind of model.
bool is_tensorflow(std::span<const std::byte> bytes);

}  // namespace tilewright
