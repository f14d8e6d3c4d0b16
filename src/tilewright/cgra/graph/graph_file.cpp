// The JSON form of graphs: names become indices in a second pass, so that operands may name later nodes.
#include "tilewright/cgra/graph/graph_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/cgra/graph/graph_dot.h"
#include "tilewright/cgra/graph/kernel_file.h"

namespace tilewright::cgra {
namespace {

using Json = nlohmann::json;
constexpr size_t kMostEntries = 200000;  // of any list in a file
constexpr size_t kMostGraphBytes = size_t{1} << 26;
constexpr int kMostGraphTiles = 1 << 16, kMostGraphTime = 1 << 24, kMostGraphDistance = 1 << 16;
constexpr int64_t kLeastValue = std::numeric_limits<int32_t>::min(),
                  kMostValue = std::numeric_limits<int32_t>::max();

class GraphReader {
 public:
  GraphReader(const Json& document, const std::string& source, Diagnostics& diagnostics)
      : document_(document), source_(source), diagnostics_(diagnostics) {}

  GraphFile run() {
    JsonMap map(document_, source_, diagnostics_);
    graph().name = map.text("name", "graph");
    graph().description = map.text("description", "");
    for (const Json* entry : entries(map, "arrays")) array(map, *entry);
    const std::vector<const Json*> variables = entries(map, "variables"), nodes = entries(map, "nodes");
    for (const Json* entry : variables) variable(*entry);
    if (!map.has("nodes")) map.error("nodes", "missing field", "a list of operations");
    map.finish();
    for (const Json* entry : nodes) name_node(*entry);
    for (size_t i = 0; i < nodes.size(); ++i) node(*nodes[i], int(i));
    fix_variables();
    return std::move(file_);
  }

 private:
  DataflowGraph& graph() { return file_.graph; }
  std::vector<const Json*> entries(JsonMap& map, const char* field);
  std::vector<int32_t> values(JsonMap& map, const char* field);
  void array(JsonMap& map, const Json& entry);
  void variable(const Json& entry);
  void name_node(const Json& entry);
  void node(const Json& entry, int index);
  Operand operand(JsonMap& map, const Json& entry, size_t position);
  Operand named(JsonMap& map, const std::string& name, size_t position);
  int find(JsonMap& map, const std::unordered_map<std::string, int>& names, const char* field);
  std::optional<Opcode> operation(JsonMap& map, const char* field);
  void fix_variables();

  const Json& document_;
  const std::string& source_;
  Diagnostics& diagnostics_;
  GraphFile file_;
  std::unordered_map<std::string, int> arrays_, variables_, nodes_;
  std::map<int, int> variable_tiles_;
};

std::vector<const Json*> GraphReader::entries(JsonMap& map, const char* field) {
  std::vector<const Json*> found;
  const Json* list = map.list(field);
  if (list && list->size() > kMostEntries) {
    map.error(field, fmt::format("{} entries, at most {} are read", list->size(), kMostEntries));
    return found;
  }
  for (size_t i = 0; list && i < list->size(); ++i) found.push_back(&(*list)[i]);
  return found;
}

std::vector<int32_t> GraphReader::values(JsonMap& map, const char* field) {
  std::vector<int32_t> numbers;
  for (const Json* entry : entries(map, field)) {
    const std::optional<int64_t> value = json_integer(*entry, kLeastValue, kMostValue);
    if (!value) map.error(field, fmt::format("entry {} is not a 32-bit integer", numbers.size()));
    numbers.push_back(int32_t(value.value_or(0)));
  }
  return numbers;
}

void GraphReader::array(JsonMap& map, const Json& entry) {
  if (!entry.is_string()) map.error("arrays", fmt::format("entry {} is not a name", graph().arrays.size()));
  graph().arrays.push_back({entry.is_string() ? entry.get<std::string>() : "?"});
  arrays_.try_emplace(graph().arrays.back().name, int(graph().arrays.size()) - 1);
}

void GraphReader::variable(const Json& entry) {
  const int index = int(graph().variables.size());
  JsonMap map(entry, fmt::format("{}: variable {}", source_, index), diagnostics_);
  Variable made{.name = map.text("name")};
  made.entries = int(map.integer("entries", 1, 1 << 20, made.entries));
  made.table = values(map, "table");
  if (map.has("table") && made.table.empty()) map.error("table", "is empty");
  if (map.has("table") && map.has("entries")) map.error("entries", "a table has as many entries as it lists");
  if (map.has("tile")) variable_tiles_[index] = int(map.integer("tile", 0, kMostGraphTiles));
  map.finish();
  variables_.try_emplace(made.name, index);
  graph().variables.push_back(std::move(made));
}

void GraphReader::name_node(const Json& entry) {
  const int index = int(graph().nodes.size());
  const bool given = entry.is_object() && entry.contains("name") && entry["name"].is_string();
  graph().nodes.push_back({.name = given ? entry["name"].get<std::string>() : fmt::format("node{}", index)});
  nodes_.try_emplace(graph().nodes.back().name, index);
}

int GraphReader::find(JsonMap& map, const std::unordered_map<std::string, int>& names, const char* field) {
  if (!map.has(field)) return -1;
  const std::string name = map.text(field, "");
  const auto found = names.find(name);
  if (found != names.end()) return found->second;
  if (!name.empty()) map.error(field, fmt::format("'{}' is not defined", name));
  return -1;
}

std::optional<Opcode> GraphReader::operation(JsonMap& map, const char* field) {
  const std::string name = map.text(field);
  const std::optional<Opcode> op = find_opcode(name);
  if (!op && !name.empty())
    map.error(field, fmt::format("'{}' is not an operation", name), "see docs/reference/cgra_graphs.md");
  return op;
}

Operand GraphReader::named(JsonMap& map, const std::string& name, size_t position) {
  if (name == "thread") return {.kind = OperandKind::kThread};
  if (const auto node = nodes_.find(name); node != nodes_.end())
    return {.kind = OperandKind::kNode, .index = node->second};
  if (const auto variable = variables_.find(name); variable != variables_.end())
    return {.kind = OperandKind::kVariable, .index = variable->second};
  map.error("operands", fmt::format("operand {}: '{}' is not defined", position, name),
            "name a node or a variable, or 'thread'");
  return {};
}

Operand GraphReader::operand(JsonMap& map, const Json& entry, size_t position) {
  if (entry.is_string()) return named(map, entry.get<std::string>(), position);
  if (entry.is_object()) {
    JsonMap carried(entry, fmt::format("{}: node '{}', operand {}", source_, map.text("name", ""), position),
                    diagnostics_);
    const std::string name = carried.text("node");
    Operand made = name.empty() ? Operand{} : named(map, name, position);
    made.distance = int(carried.integer("distance", 0, kMostGraphDistance, 0));
    made.initial = values(carried, "initial");
    carried.finish();
    if (made.kind == OperandKind::kNode) return made;
    if (!name.empty() && (nodes_.count(name) || variables_.count(name) || name == "thread"))
      carried.error("node", fmt::format("'{}' is not a node", name));
    return {};
  }
  if (const std::optional<int64_t> value = json_integer(entry, kLeastValue, kMostValue))
    return {.kind = OperandKind::kConstant, .value = int32_t(*value)};
  map.error("operands",
            fmt::format("operand {} is not a name, 32-bit integer or {{\"node\": ..}}", position));
  return {};
}

void GraphReader::node(const Json& entry, int index) {
  DataflowNode& made = graph().nodes[index];
  JsonMap map(entry, fmt::format("{}: node '{}'", source_, made.name), diagnostics_);
  if (!entry.is_object()) return;
  map.text("name", "");
  made.op = operation(map, "op").value_or(Opcode::kAdd);
  if (map.has("then")) made.then = operation(map, "then");
  const std::vector<const Json*> list = entries(map, "operands");
  for (size_t i = 0; i < list.size(); ++i) made.operands.push_back(operand(map, *list[i], i));
  if (const int least = opcode_facts(made.op).least_operands; int(list.size()) < least) {
    map.error("operands", fmt::format("{} operands, {} takes at least {}", list.size(),
                                      opcode_facts(made.op).name, least));
  }
  made.array = find(map, arrays_, "array");
  made.writes = find(map, variables_, "writes");
  const bool into = map.has("into");
  if (into && map.has("sends"))
    map.error("into", "cannot be combined with 'sends'", "a node sends one message");
  if (into && made.op != Opcode::kLoad) map.error("into", "is for loads", "other operations write 'sends'");
  made.sends = into ? find(map, variables_, "into") : find(map, variables_, "sends");
  const auto fix = [&](const char* field, int most, std::vector<std::optional<int>>& fixed) {
    if (!map.has(field)) return;
    fixed.resize(graph().nodes.size());
    fixed[index] = int(map.integer(field, 0, most));
  };
  fix("tile", kMostGraphTiles, file_.fixed_tiles);
  fix("time", kMostGraphTime, file_.fixed_times);
  map.finish();
}

// A variable's tile is that of everything that reads or writes it there.
void GraphReader::fix_variables() {
  for (size_t index = 0; index < graph().nodes.size(); ++index) {
    const DataflowNode& node = graph().nodes[index];
    std::vector<int> used;
    if (node.writes >= 0) used.push_back(node.writes);
    for (const Operand& operand : node.operands) {
      if (operand.kind == OperandKind::kVariable) used.push_back(operand.index);
    }
    if (used.empty() || (file_.fixed_tiles.empty() && variable_tiles_.empty())) continue;
    file_.fixed_tiles.resize(graph().nodes.size());
    std::optional<int>& fixed = file_.fixed_tiles[index];
    for (const int variable : used) {
      const auto bound = variable_tiles_.find(variable);
      if (fixed && bound != variable_tiles_.end() && bound->second != *fixed) {
        diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("{}: node '{}'", source_, node.name), "tile",
                           fmt::format("variable '{}' is bound to tiles {} and {}",
                                       graph().variables[variable].name, bound->second, *fixed),
                           "a variable lives on one tile");
        continue;
      }
      if (!fixed && bound != variable_tiles_.end()) fixed = bound->second;
    }
    for (const int variable : used) {
      if (fixed) variable_tiles_.try_emplace(variable, *fixed);
    }
  }
}

std::string print_operand(const DataflowGraph& graph, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kConstant:
      return std::to_string(operand.value);
    case OperandKind::kThread:
      return "\"thread\"";
    case OperandKind::kVariable:
      return ascii_json_quoted(graph.variables[operand.index].name);
    case OperandKind::kNode:
      break;
  }
  const std::string name = ascii_json_quoted(graph.nodes[operand.index].name);
  if (operand.distance == 0) return name;
  std::string text = fmt::format("{{\"node\": {}, \"distance\": {}", name, operand.distance);
  if (!operand.initial.empty()) text += fmt::format(", \"initial\": [{}]", fmt::join(operand.initial, ", "));
  return text + "}";
}

std::string print_node(const GraphFile& file, size_t index) {
  const DataflowGraph& graph = file.graph;
  const DataflowNode& node = graph.nodes[index];
  std::string text =
      fmt::format("{{\"name\": {}, \"op\": \"{}\"", ascii_json_quoted(node.name), opcode_facts(node.op).name);
  if (node.then) text += fmt::format(", \"then\": \"{}\"", opcode_facts(*node.then).name);
  std::vector<std::string> operands;
  for (const Operand& operand : node.operands) operands.push_back(print_operand(graph, operand));
  if (!operands.empty()) text += fmt::format(", \"operands\": [{}]", fmt::join(operands, ", "));
  if (node.array >= 0)
    text += fmt::format(", \"array\": {}", ascii_json_quoted(graph.arrays[node.array].name));
  if (node.writes >= 0)
    text += fmt::format(", \"writes\": {}", ascii_json_quoted(graph.variables[node.writes].name));
  if (node.sends >= 0) {
    text += fmt::format(", \"{}\": {}", node.op == Opcode::kLoad ? "into" : "sends",
                        ascii_json_quoted(graph.variables[node.sends].name));
  }
  if (!file.fixed_tiles.empty() && file.fixed_tiles[index])
    text += fmt::format(", \"tile\": {}", *file.fixed_tiles[index]);
  if (!file.fixed_times.empty() && file.fixed_times[index])
    text += fmt::format(", \"time\": {}", *file.fixed_times[index]);
  return text + "}";
}

void print_list(std::string& text, const char* field, const std::vector<std::string>& entries,
                const char* end) {
  text += fmt::format("  \"{}\": [\n    {}\n  ]{}\n", field, fmt::join(entries, ",\n    "), end);
}

std::vector<std::optional<int>> none_if_free(std::vector<std::optional<int>> fixed) {
  if (std::none_of(fixed.begin(), fixed.end(), [](const std::optional<int>& f) { return f.has_value(); }))
    fixed.clear();
  return fixed;
}

}  // namespace

GraphFile parse_graph_json(const std::string& text, const std::string& source_name, int most_operands,
                           Diagnostics& diagnostics) {
  const Json document = parse_json(text, source_name);
  GraphFile file = GraphReader(document, source_name, diagnostics).run();
  file.graph.verify(most_operands, diagnostics);
  file.fixed_tiles = none_if_free(std::move(file.fixed_tiles));
  return file;
}

std::string print_graph_json(const GraphFile& file) {
  const DataflowGraph& graph = file.graph;
  std::string text = fmt::format("{{\n  \"name\": {},\n", ascii_json_quoted(graph.name));
  if (!graph.description.empty())
    text += fmt::format("  \"description\": {},\n", ascii_json_quoted(graph.description));
  std::vector<std::string> lines;
  for (const ExternalArray& array : graph.arrays) lines.push_back(ascii_json_quoted(array.name));
  if (!lines.empty()) text += fmt::format("  \"arrays\": [{}],\n", fmt::join(lines, ", "));
  lines.clear();
  for (const Variable& variable : graph.variables) {
    std::string line = fmt::format("{{\"name\": {}", ascii_json_quoted(variable.name));
    if (!variable.table.empty()) line += fmt::format(", \"table\": [{}]", fmt::join(variable.table, ", "));
    if (variable.table.empty() && variable.entries != Variable{}.entries)
      line += fmt::format(", \"entries\": {}", variable.entries);
    lines.push_back(line + "}");
  }
  if (!lines.empty()) print_list(text, "variables", lines, ",");
  lines.clear();
  for (size_t index = 0; index < graph.nodes.size(); ++index) lines.push_back(print_node(file, index));
  print_list(text, "nodes", lines, "");
  return text + "}\n";
}

GraphFile read_graph_file(const std::filesystem::path& path, int most_operands, Diagnostics& diagnostics) {
  const std::string text = read_text_file(path, kMostGraphBytes), source = path.string();
  if (path.extension() == ".dot" || path.extension() == ".gv") {
    GraphFile file{.graph = parse_graph_dot(text, source, diagnostics)};
    file.graph.verify(most_operands, diagnostics);
    return file;
  }
  const Json document = parse_json(text, source);
  if (document.is_object() && document.contains("same_tile_groups"))
    return {.graph = parse_synthetic_file(text, source).graph};
  if (document.is_object() && document.contains("edges"))
    return {.graph = parse_kernel_file(text, source).graph};
  return parse_graph_json(text, source, most_operands, diagnostics);
}

GraphFile read_graph_file(const std::filesystem::path& path, int most_operands) {
  Diagnostics diagnostics;
  GraphFile file = read_graph_file(path, most_operands, diagnostics);
  diagnostics.raise_if_any();
  return file;
}

}  // namespace tilewright::cgra
