// Structure first; only a sound structure is worth inferring shapes on.
#include "tilewright/graph/inference/verifier.h"

#include <fmt/format.h>

#include <unordered_set>

#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/graph/operators/node_rules.h"

namespace tilewright {
namespace {

class StructureCheck {
 public:
  StructureCheck(const Graph& graph, Diagnostics& diagnostics)
      : graph_(graph), diagnostics_(diagnostics), sources_(graph.values.size(), 0) {}

  void run() {
    check_values();
    check_sources();
    check_nodes();
    for (ValueId id : graph_.outputs) {
      if (!valid(id)) {
        report("graph outputs", "", fmt::format("refer to value {} of {}", id, graph_.values.size()));
      } else if (sources_[size_t(id)] == 0) {
        report(fmt::format("graph output '{}'", graph_.value(id).name), "", "is produced by nothing");
      }
    }
  }

 private:
  bool valid(ValueId id) const { return id >= 0 && id < ValueId(graph_.values.size()); }

  void report(std::string place, std::string op, std::string message, std::string hint = {}) {
    diagnostics_.error(ErrorKind::kInvalidInput, std::move(place), std::move(op), std::move(message),
                       std::move(hint));
  }

  void check_values() {
    std::unordered_set<std::string_view> names;
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      const Value& value = graph_.values[id];
      if (value.name.empty()) report(fmt::format("value {}", id), "", "has no name");
      if (!value.name.empty() && !names.insert(value.name).second) {
        report(fmt::format("value '{}'", value.name), "", "is a name used twice");
      }
      if (!value.constant) continue;
      sources_[id] = 1;
      if (value.constant->type() != value.type || value.constant->shape() != value.shape) {
        report(fmt::format("constant '{}'", value.name), "",
               fmt::format("is declared as {}, but holds {}", to_string(value.type, value.shape),
                           to_string(value.constant->type(), value.constant->shape())));
      }
    }
  }

  void add_source(ValueId id, const std::string& place, const std::string& op) {
    if (++sources_[size_t(id)] == 2) {
      report(place, op, fmt::format("produces '{}', which has another source", graph_.value(id).name),
             "a value is a graph input, a constant or one output of one node");
    }
  }

  void check_sources() {
    for (ValueId id : graph_.inputs) {
      if (!valid(id)) {
        report("graph inputs", "", fmt::format("refer to value {} of {}", id, graph_.values.size()));
      } else {
        add_source(id, "the list of graph inputs", "");
      }
    }
    for (const Node& node : graph_.nodes) {
      for (ValueId id : node.outputs) {
        if (valid(id)) add_source(id, where(node), node.op);
      }
    }
  }

  void check_nodes() {
    std::unordered_set<std::string_view> names;
    std::vector<bool> produced(graph_.values.size(), false);
    for (ValueId id : graph_.inputs) {
      if (valid(id)) produced[size_t(id)] = true;
    }
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      if (graph_.values[v].constant) produced[v] = true;
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (node.name.empty()) report(fmt::format("node {}", n), node.op, "has no name");
      if (!node.name.empty() && !names.insert(node.name).second) {
        report(where(node), node.op, "is a name used twice");
      }
      for (ValueId id : node.inputs) check_read(node, id, produced);
      for (ValueId id : node.outputs) {
        if (id != kNoValue && !valid(id)) report_id(node, id);
        if (valid(id)) produced[size_t(id)] = true;
      }
    }
  }

  void check_read(const Node& node, ValueId id, const std::vector<bool>& produced) {
    if (id == kNoValue) return;
    if (!valid(id)) return report_id(node, id);
    if (produced[size_t(id)]) return;
    if (sources_[size_t(id)] == 0) {
      report(where(node), node.op, fmt::format("reads '{}', which nothing produces", graph_.value(id).name));
    } else {
      report(where(node), node.op, fmt::format("reads '{}' before it is produced", graph_.value(id).name),
             "nodes must be in topological order");
    }
  }

  void report_id(const Node& node, ValueId id) {
    report(where(node), node.op, fmt::format("refers to value {} of {}", id, graph_.values.size()));
  }

  const Graph& graph_;
  Diagnostics& diagnostics_;
  std::vector<int> sources_;  // per value
};

}  // namespace

void verify(const Graph& graph, Diagnostics& diagnostics) {
  const size_t before = diagnostics.errors().size();
  StructureCheck(graph, diagnostics).run();
  if (diagnostics.errors().size() != before) {
    // Operators and attributes can be judged all the same.
    for (const Node& node : graph.nodes) check_node(node, diagnostics);
    return;
  }
  Graph inferred = graph;  // constants are shared
  Diagnostics found;
  infer_shapes(inferred, found, Declared::kReplace);
  for (const Diagnostic& problem : found.errors()) diagnostics.add(problem);
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const TypedShape have{graph.value(id).type, graph.value(id).shape};
      const TypedShape want{inferred.value(id).type, inferred.value(id).shape};
      if (have == want) continue;
      diagnostics.error(ErrorKind::kInvalidInput, where(node), node.op,
                        fmt::format("output '{}' is declared as {}, but is {}", graph.value(id).name,
                                    to_string(have), to_string(want)));
    }
  }
}

}  // namespace tilewright
