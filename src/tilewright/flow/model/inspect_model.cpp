// The table cuts long names in their middle; JSON has them whole.
#include "tilewright/flow/model/inspect_model.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/text/text.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

nlohmann::json statistics_json(const Graph& graph, const GraphStatistics& all) {
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

std::string statistics_text(const Graph& graph, const GraphStatistics& all) {
  std::string text;
  for (ValueId v : graph.inputs)
    text += fmt::format("input   {} {}\n", graph.value(v).name,
                        to_string(graph.value(v).type, graph.value(v).shape));
  for (ValueId v : graph.outputs)
    text += fmt::format("output  {} {}\n", graph.value(v).name,
                        to_string(graph.value(v).type, graph.value(v).shape));
  text += fmt::format("\n{:<32} {:<20} {:<26} {:>13} {:>11} {:>11} {:>8}\n", "node", "operator", "output",
                      "MACs", "parameters", "bytes", "op/byte");
  std::map<std::string, int> count;
  for (const NodeStatistics& s : all.nodes) {
    const Node& node = graph.nodes[size_t(s.node)];
    const ValueId first = node.outputs.empty() ? kNoValue : node.outputs[0];
    const std::string output =
        first == kNoValue ? "-" : to_string(graph.value(first).type, graph.value(first).shape);
    text +=
        fmt::format("{:<32} {:<20} {:<26} {:>13} {:>11} {:>11} {:>8.2f}\n", shortened_middle(node.name, 32),
                    node.op, output, s.macs, s.parameters, s.bytes(), s.operations_per_byte());
    ++count[node.op];
  }
  std::string operators;
  for (const auto& [op, times] : count)
    operators += fmt::format("{}{} {}", operators.empty() ? "" : ", ", times, op);
  text += fmt::format(
      "\n{} nodes: {}\n{} MACs, {} parameters ({} bytes), {:.2f} operations per byte when everything moves "
      "once\n",
      graph.nodes.size(), operators, all.total.macs, all.total.parameters, all.total.parameter_bytes,
      all.total.operations_per_byte());
  return text;
}

}  // namespace

std::string model_text(const Graph& graph) { return print(graph); }

Answer inspect_model(const Graph& graph) {
  const GraphStatistics all = statistics(graph);
  return {statistics_text(graph, all), json_text(statistics_json(graph, all), 2) + "\n"};
}

}  // namespace tilewright
