// `inspect`: inputs, outputs and, for each operator, shape, multiply-accumulates, parameters, bytes and
// arithmetic intensity, as a table or as JSON.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/text/text.h"
#include "tilewright/report/text_table.h"

namespace tilewright::cli {
namespace {

nlohmann::json as_json(const Graph& graph, const GraphStatistics& all) {
  const auto value = [&](ValueId id) {
    const Value& v = graph.value(id);
    return nlohmann::json{{"name", v.name}, {"type", name(v.type)}, {"shape", v.shape.dims()}};
  };
  const auto numbers = [](const NodeStatistics& s) {
    return nlohmann::json{{"macs", s.macs},
                          {"parameters", s.parameters},
                          {"bytes", s.bytes()},
                          {"operations_per_byte", s.operations_per_byte()}};
  };
  nlohmann::json result = {{"name", graph.name}, {"total", numbers(all.total)}};
  for (ValueId v : graph.inputs) result["inputs"].push_back(value(v));
  for (ValueId v : graph.outputs) result["outputs"].push_back(value(v));
  result["nodes"] = nlohmann::json::array();
  for (const NodeStatistics& s : all.nodes) {
    const Node& node = graph.nodes[size_t(s.node)];
    nlohmann::json entry = numbers(s);
    entry["name"] = node.name;
    entry["op"] = node.op;
    for (ValueId v : node.outputs) {
      if (v != kNoValue) entry["outputs"].push_back(value(v));
    }
    result["nodes"].push_back(std::move(entry));
  }
  return result;
}

}  // namespace

void inspect(const InspectOptions& options, std::ostream& out) {
  const Graph graph = read_model(options.model, true);
  if (options.text) {
    out << print(graph);
    return;
  }
  const GraphStatistics all = statistics(graph);
  if (options.json) {
    out << json_text(as_json(graph, all), 2) << "\n";
    return;
  }
  for (ValueId v : graph.inputs)
    out << fmt::format("input   {} {}\n", graph.value(v).name,
                       to_string(graph.value(v).type, graph.value(v).shape));
  for (ValueId v : graph.outputs)
    out << fmt::format("output  {} {}\n", graph.value(v).name,
                       to_string(graph.value(v).type, graph.value(v).shape));
  out << fmt::format("\n{:<32} {:<20} {:<26} {:>13} {:>11} {:>11} {:>8}\n", "node", "operator", "output",
                     "MACs", "parameters", "bytes", "op/byte");
  std::map<std::string, int> count;
  for (const NodeStatistics& s : all.nodes) {
    const Node& node = graph.nodes[size_t(s.node)];
    const ValueId first = node.outputs.empty() ? kNoValue : node.outputs[0];
    const std::string output =
        first == kNoValue ? "-" : to_string(graph.value(first).type, graph.value(first).shape);
    out << fmt::format("{:<32} {:<20} {:<26} {:>13} {:>11} {:>11} {:>8.2f}\n",
                       shortened_middle(node.name, 32), node.op, output, s.macs, s.parameters, s.bytes(),
                       s.operations_per_byte());
    ++count[node.op];
  }
  std::string operators;
  for (const auto& [op, times] : count)
    operators += fmt::format("{}{} {}", operators.empty() ? "" : ", ", times, op);
  out << fmt::format(
      "\n{} nodes: {}\n{} MACs, {} parameters ({} bytes), {:.2f} operations per byte when everything moves "
      "once\n",
      graph.nodes.size(), operators, all.total.macs, all.total.parameters, all.total.parameter_bytes,
      all.total.operations_per_byte());
}

}  // namespace tilewright::cli
