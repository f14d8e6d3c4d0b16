// TensorFlow GraphDef (frozen .pb) and SavedModel files to a Graph of opset-17 semantics. Variables' values
// are not read from checkpoints: freeze a model first, or have its weights drawn.
//
// Inputs keep the file's layout (NHWC); layers get Transposes around them, which the graph passes remove.
// docs/tensorflow.md has the rules. All problems of a file are reported together, each with its node and
// operator.
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
  // Nodes whose values are the network's outputs; empty: inferred.
  std::vector<std::string> outputs;
  // Nodes that become inputs, and their shapes where the file does not tell ({} otherwise).
  std::map<std::string, Shape> feeds;
  // Keep an ArgMax at the end; without it the scores are the output.
  bool keep_arg_max = false;
  // Above 0: variables are drawn with this gain.
  double fill_gain = 0;
  // Variables without a value are zeros, with a warning.
  bool allow_missing_weights = false;
};

// Nodes as TensorFlow counts them (constants are nodes) after each step of reading.
struct TfStageCounts {
  int stored = 0;     // in the file
  int reachable = 0;  // from the outputs, over data edges
  int frozen = 0;     // without training, dropout, control flow, reads of variables
  // Of the nodes that are left: by operator name.
  std::map<std::string, int> frozen_operators;
};

// Errors (invalid input, unsupported): everything wrong with the file, at once. `warnings`, if given,
// receives what was assumed; `counts` the numbers of nodes. A folder stands for its saved_model.pb.
Graph read_tensorflow(const std::filesystem::path& path, const TensorflowOptions& options = {},
                      Diagnostics* warnings = nullptr, TfStageCounts* counts = nullptr);
Graph parse_tensorflow(std::span<const std::byte> bytes, const TensorflowOptions& options = {},
                       Diagnostics* warnings = nullptr, TfStageCounts* counts = nullptr);

// Whether the bytes are a TensorFlow file rather than another kind of model.
bool is_tensorflow(std::span<const std::byte> bytes);

}  // namespace tilewright
