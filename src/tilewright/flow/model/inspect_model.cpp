// The table cuts long names in their middle; JSON has them whole.
#include "tilewright/flow/model/inspect_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/text/text.h"
#include "tilewright/report/text_table.h"
#include "tilewright/transform/attention.h"
#include "tilewright/transform/fold/fold_constants.h"

namespace tilewright {
namespace {

// A network's attentions, in `graph`: the given one with the numbers computed that it computes from
// constants, as scales often are.
struct Attentions {
  explicit Attentions(const Graph& given) {
    if (std::ranges::none_of(given.nodes, [](const Node& node) { return node.is("Softmax"); })) return;
    graph = folded(given);
    all = find_attention(graph);
  }
  Graph graph;
  std::vector<Attention> all;

 private:
  // Numbers and small lists alone; a node that the host refuses is no reason to say nothing.
  static Graph folded(const Graph& given) {
    try {
      return fold_constants(given, {.result_bytes = 4096, .growth = 0, .weight_bytes = 0});
    } catch (const Error&) {
      return given;
    }
  }
};

const char* name_of(AttentionMask mask) {
  return mask == AttentionMask::kAdded ? "added" : mask == AttentionMask::kSelected ? "selected" : "none";
}

nlohmann::json attention_json(const Attentions& attentions) {
  nlohmann::json list = nlohmann::json::array();
  const auto name = [&](ValueId id) { return attentions.graph.value(id).name; };
  for (const Attention& a : attentions.all) {
    nlohmann::json entry = {{"softmax", attentions.graph.nodes[size_t(a.softmax)].name},
                            {"recognised", a.reason.empty()}};
    if (!a.reason.empty()) {
      entry["reason"] = a.reason;
      list.push_back(std::move(entry));
      continue;
    }
    entry.update({{"q", name(a.q)},
                  {"k", name(a.k)},
                  {"v", name(a.v)},
                  {"scale", a.scale},
                  {"heads", a.heads},
                  {"width", a.width},
                  {"queries", a.queries},
                  {"keys", a.keys},
                  {"mask", name_of(a.mask_kind)}});
    list.push_back(std::move(entry));
  }
  return list;
}

// "attention: 12 of 12 recognised: 12 x 1 head of 64, 99 queries by 99 keys", and a line for each that is
// not.
std::string attention_text(const Attentions& attentions) {
  if (attentions.all.empty()) return "";
  std::map<std::string, int> forms;
  std::string problems;
  int recognised = 0;
  for (const Attention& a : attentions.all) {
    if (!a.reason.empty()) {
      problems += fmt::format("  {}: {}\n", where(attentions.graph.nodes[size_t(a.softmax)]), a.reason);
      continue;
    }
    ++recognised;
    const std::string mask =
        a.mask_kind == AttentionMask::kNone ? "" : fmt::format(", mask {}", name_of(a.mask_kind));
    ++forms[fmt::format("{} head{} of {}, {} queries by {} keys{}", a.heads, a.heads == 1 ? "" : "s", a.width,
                        a.queries, a.keys, mask)];
  }
  std::string list;
  for (const auto& [form, times] : forms)
    list += fmt::format("{}{} x {}", list.empty() ? ": " : "; ", times, form);
  return fmt::format("attention: {} of {} recognised{}\n{}", recognised, attentions.all.size(), list,
                     problems);
}

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
  const Attentions attentions(graph);
  nlohmann::json json = statistics_json(graph, all);
  if (!attentions.all.empty()) json["attention"] = attention_json(attentions);
  return {statistics_text(graph, all) + attention_text(attentions), json_text(json, 2) + "\n"};
}

}  // namespace tilewright
