// ONNX files, opsets 1 to 23, to a Graph of opset-17 semantics.
//
// What a file may contain but a Graph cannot: symbolic dimensions are bound by name
// (OnnxOptions::dimensions), Constant nodes become constants, operators of other opsets are rewritten
// (opset_converters.h), control flow of known length is unrolled and sequences are followed. Functions,
// optionals, strings, sparse tensors and most operators of other domains are unsupported. All problems of a
// file are reported together, each with its node and operator.
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

struct OnnxOptions {
  // Sizes of symbolic dimensions by name (--shape name=N). A dynamic dimension without a name is called
  // "INPUT.AXIS", e.g. "data.0".
  std::map<std::string, int64_t> dimensions;
  // Graph inputs that become constants, by name: for inputs that decide shapes.
  std::map<std::string, Tensor> fixed_inputs;
  // Values or nodes that become the outputs in place of the file's (--output-node); what only the others need
  // is not read. Empty: those of the file.
  std::vector<std::string> outputs;
  // Missing external data files give zeros and a warning instead of an error.
  bool allow_missing_weights = false;
};

// Errors (invalid input or unsupported): everything wrong with the file, at once. `warnings`, if given,
// receives what was tolerated.
Graph read_onnx(const std::filesystem::path& path, const OnnxOptions& options = {},
                Diagnostics* warnings = nullptr);
// The same for a file in memory; `folder` is where its external data lies (empty: nowhere).
Graph parse_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder = {},
                 const OnnxOptions& options = {}, Diagnostics* warnings = nullptr);

}  // namespace tilewright
