// The content of an ONNX file in plain structures: what the protobuf classes hold, checked for form but not
// yet interpreted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

inline constexpr int kOldestOpset = 1;
inline constexpr int kNewestOpset = 23;

// The metadata that hold Graph::rounding where it is not kOnce.
inline constexpr const char* kRoundingProperty = "tilewright.rounding";

struct OnnxDimension {
  int64_t size = -1;   // -1: dynamic
  std::string symbol;  // its name, possibly empty
};

// A declared type of a value.
struct OnnxValueInfo {
  std::string name;
  std::optional<ElementType> type;  // nullopt: not a tensor of a type that a Graph can hold
  std::string type_name;            // for messages
  bool has_shape = false;
  std::vector<OnnxDimension> dims;
};

struct OnnxGraph;

struct OnnxNode {
  std::string name;   // as in the file, possibly empty
  std::string label;  // for messages; "node 'conv1'" or "node #3 (output 'x')"
  std::string domain;
  std::string op;
  std::vector<std::string> inputs;  // "" is an absent one
  std::vector<std::string> outputs;
  Attributes attributes;
  bool is_usable = true;  // false after a diagnostic about its attributes
  std::map<std::string, std::shared_ptr<const OnnxGraph>> graphs;  // the bodies of control flow, by attribute
};

// Of a model, or of a node with control flow; then its nodes may also read the values around that node.
struct OnnxGraph {
  std::string name;
  std::vector<OnnxValueInfo> inputs;  // with those that are initializers too
  std::vector<OnnxValueInfo> outputs;
  std::vector<OnnxValueInfo> value_infos;
  // In file order; nullopt for those with a diagnostic.
  std::vector<std::pair<std::string, std::optional<Tensor>>> initializers;
  std::vector<OnnxNode> nodes;
};

struct OnnxModel : OnnxGraph {
  int opset = 0;                                 // of the standard domain
  std::map<std::string, int64_t> other_domains;  // domain -> version
  std::vector<std::string> functions;            // "domain:name" of model-local functions
  Rounding rounding = Rounding::kOnce;           // metadata kRoundingProperty
};

struct OnnxModelOptions {
  std::filesystem::path folder;  // of external data
  bool allow_missing_weights = false;
};

// Errors (invalid input), thrown: not an ONNX file at all, an opset outside of kOldestOpset..kNewestOpset.
// Everything else goes to `diagnostics`.
OnnxModel parse_onnx_model(std::span<const std::byte> bytes, const OnnxModelOptions& options,
                           Diagnostics& diagnostics);

}  // namespace tilewright
