// One level of calls is replaced at a time until none is left. A call becomes an IdentityN over what the
// function returns, so that its readers need no change. Inside a function a reference is an argument's name
// or "node:output name:index"; the output's name decides the first number of operators with several outputs,
// and of calls of other functions.
#include "tilewright/frontend/tensorflow/tf_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright_graphdef.pb.h"

namespace tilewright {
namespace {

constexpr int kMostLevels = 32;
constexpr int kMostNodes = 200000;
// What all calls together may write: so much, and several times what the file has (weights may stand in a
// function that is called through others).
constexpr int64_t kMostInlinedBytes = int64_t{64} << 20;
constexpr int64_t kMostSharing = 8;

using Functions = std::unordered_map<std::string, const graphdef::FunctionDef*>;

// The function that a node calls, or nothing.
std::string called_function(const graphdef::NodeDef& node, const Functions& functions) {
  if (node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall") {
    for (const graphdef::AttrEntry& entry : node.attr()) {
      if (entry.key() == "f") return entry.value().func().name();
    }
    return "";
  }
  return functions.count(node.op()) ? node.op() : "";
}

// The number of the first tensor of an output that has this name, for operators with several named ones.
int first_output_of_operator(const std::string& output_name) {
  static const std::map<std::string, int> kLater = {
      {"output_true", 1}, {"value_index", 1}, {"indices", 1}, {"batch_mean", 1}, {"batch_variance", 2}};
  const auto found = kLater.find(output_name);
  return found == kLater.end() ? 0 : found->second;
}

// Bytes that may still be written.
class Budget {
 public:
  explicit Budget(int64_t bytes) : bytes_(bytes), left_(bytes) {}
  void take(size_t bytes) {
    left_ -= int64_t(bytes);
    if (left_ >= 0) return;
    throw Error(ErrorKind::kInvalidInput, fmt::format("its functions expand to over {} bytes", bytes_));
  }

 private:
  int64_t bytes_, left_;
};

class Expansion {
 public:
  Expansion(const graphdef::NodeDef& call, const graphdef::FunctionDef& function, const Functions& functions)
      : prefix_(call.name() + "/"), function_(function) {
    for (const graphdef::NodeDef& node : function.node_def()) {
      const auto called = functions.find(node.op());
      if (called != functions.end()) calls_[node.name()] = called->second;
    }
    std::vector<std::string> arguments;
    for (const std::string& input : call.input()) {
      if (input.empty() || input[0] != '^') arguments.push_back(input);
    }
    const auto& declared = function.signature().input_arg();
    if (int(arguments.size()) != declared.size()) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("node '{}' gives {} arguments to function '{}', which takes {}", call.name(),
                              arguments.size(), function.signature().name(), declared.size()));
    }
    for (int i = 0; i < declared.size(); ++i) arguments_[declared[i].name()] = arguments[size_t(i)];
  }

  void append(const graphdef::NodeDef& call, graphdef::GraphDef& result, Budget& budget) const {
    const auto outer = [&](const std::string& inner) {
      std::string name = outer_name(inner);
      budget.take(name.size());
      return name;
    };
    for (const graphdef::NodeDef& source : function_.node_def()) {
      budget.take(source.ByteSizeLong() + prefix_.size());
      graphdef::NodeDef& node = *result.add_node();
      node = source;
      node.set_name(prefix_ + source.name());
      for (std::string& input : *node.mutable_input()) input = outer(input);
    }
    graphdef::NodeDef& results = *result.add_node();
    results.set_name(call.name());
    results.set_op("IdentityN");
    for (const graphdef::Arg& output : function_.signature().output_arg()) {
      const auto returned =
          std::find_if(function_.ret().begin(), function_.ret().end(),
                       [&](const graphdef::ReturnEntry& entry) { return entry.key() == output.name(); });
      if (returned == function_.ret().end()) {
        throw Error(ErrorKind::kInvalidInput, fmt::format("function '{}' does not return its output '{}'",
                                                          function_.signature().name(), output.name()));
      }
      results.add_input(outer(returned->value()));
    }
  }

 private:
  std::string outer_name(const std::string& inner) const {
    if (!inner.empty() && inner[0] == '^') return "^" + prefix_ + inner.substr(1);
    const size_t first = inner.find(':');
    const auto argument = arguments_.find(inner.substr(0, first));
    if (argument != arguments_.end()) return argument->second;
    if (first == std::string::npos) return prefix_ + inner;
    const size_t second = inner.find(':', first + 1);
    const std::string output =
        inner.substr(first + 1, second == std::string::npos ? second : second - first - 1);
    const std::string digits = second == std::string::npos ? "" : inner.substr(second + 1);
    const bool is_number =
        !digits.empty() && digits.size() < 6 && digits.find_first_not_of("0123456789") == std::string::npos;
    const std::string node = inner.substr(0, first);
    return fmt::format("{}{}:{}", prefix_, node,
                       first_output(node, output) + (is_number ? std::stoi(digits) : 0));
  }

  int first_output(const std::string& node, const std::string& output) const {
    const auto call = calls_.find(node);
    if (call == calls_.end()) return first_output_of_operator(output);
    const auto& outputs = call->second->signature().output_arg();
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const graphdef::Arg& one) { return one.name() == output; });
    if (found == outputs.end()) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("function '{}' reads output '{}' of function '{}', which has none of that name",
                              function_.signature().name(), output, call->second->signature().name()));
    }
    return int(found - outputs.begin());
  }

  std::string prefix_;
  const graphdef::FunctionDef& function_;
  std::map<std::string, std::string> arguments_;
  Functions calls_;  // of other functions, by the name of the node
};

// False when nothing was called.
bool inline_one_level(graphdef::GraphDef& graph, const Functions& functions, Budget& budget) {
  graphdef::GraphDef result;
  bool has_calls = false;
  for (graphdef::NodeDef& node : *graph.mutable_node()) {
    const std::string name = called_function(node, functions);
    if (name.empty()) {
      result.add_node()->Swap(&node);
      continue;
    }
    const auto function = functions.find(name);
    if (function == functions.end()) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("node '{}' calls function '{}', which is not in the file", node.name(), name));
    }
    has_calls = true;
    Expansion(node, *function->second, functions).append(node, result, budget);
    if (result.node_size() > kMostNodes) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("its functions expand to over {} nodes", kMostNodes));
    }
  }
  graph.mutable_node()->Swap(result.mutable_node());
  return has_calls;
}

}  // namespace

void inline_functions(graphdef::GraphDef& graph) {
  Functions functions;
  for (const graphdef::FunctionDef& function : graph.library().function()) {
    functions[function.signature().name()] = &function;
  }
  Budget budget(kMostInlinedBytes + kMostSharing * int64_t(graph.ByteSizeLong()));
  int levels = 0;
  while (inline_one_level(graph, functions, budget)) {
    if (++levels > kMostLevels) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("its functions call each other over {} levels deep", kMostLevels));
    }
  }
}

}  // namespace tilewright
