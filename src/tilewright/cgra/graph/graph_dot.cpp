// Meaning for nodes, attributes and edges: what each tool calls an operation, a constant and an operand's
// place.
#include "tilewright/cgra/graph/graph_dot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "tilewright/base/plain_text.h"
#include "tilewright/cgra/graph/dot_parser.h"
#include "tilewright/cgra/graph/kernel_file.h"

namespace tilewright::cgra {
namespace {

constexpr int kMostPosition = 15, kMostDotDistance = 9999;
constexpr int kUnplaced = -1;

// The whole text as a number of 32 bits.
std::optional<int32_t> number_of(const std::string& text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (failed != std::errc() || stop != end || value != int32_t(value)) return {};
  return int32_t(value);
}

class DotBuilder {
 public:
  DotBuilder(const DotGraph& dot, const std::string& source, Diagnostics& diagnostics)
      : dot_(dot),
        source_(source),
        diagnostics_(diagnostics),
        free_(dot.nodes.size()),
        place_(dot.nodes.size(), -1) {}

  DataflowGraph run() {
    graph_.name = dot_.name;
    for (size_t i = 0; i < dot_.nodes.size(); ++i) node(i);
    placed_.resize(graph_.nodes.size());
    for (const DotEdge& edge : dot_.edges) this->edge(edge);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) complete(int(i));
    return std::move(graph_);
  }

 private:
  // An operand on its way to its node, with the place that its edge gives it.
  struct Placed {
    Operand operand;
    int position = kUnplaced;
    int line = 1;
  };

  void report(int line, const std::string& what, std::string message) {
    diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("{}:{}", source_, line), what,
                       std::move(message), "the subset read is in docs/reference/cgra_graphs.md");
  }
  static const DotToken* find(const DotAttributes& attributes, const char* key) {
    const auto found = attributes.find(key);
    return found == attributes.end() ? nullptr : &found->second;
  }

  void node(size_t number);
  static const DotToken* named_operation(const DotAttributes& attributes);
  static std::string kind(const DotAttributes& attributes);
  int32_t constant(const DotNode& node);
  std::optional<Opcode> operation(const DotToken& token);
  void edge(const DotEdge& edge);
  int position(const DotEdge& edge, const DataflowNode& node);
  int distance(const DotEdge& edge);
  void complete(int index);
  int variable(const std::string& name);
  int array(const std::string& name);

  const DotGraph& dot_;
  const std::string& source_;
  Diagnostics& diagnostics_;
  DataflowGraph graph_;
  std::vector<std::optional<Operand>>
      free_;                // per node of the text: the constant or thread number it stands for
  std::vector<int> place_;  // per node of the text: its node of the graph; -1: none
  std::vector<std::vector<Placed>> placed_;  // per node of the graph
  std::unordered_map<std::string, int> variables_, arrays_;
};

const DotToken* DotBuilder::named_operation(const DotAttributes& attributes) {
  for (const char* key : {"op", "opcode", "label"}) {
    if (const DotToken* token = find(attributes, key)) return token;
  }
  return nullptr;
}

// "const", "thread", "input", "output", or what else names the operation; empty: nothing does.
std::string DotBuilder::kind(const DotAttributes& attributes) {
  const DotToken* type = find(attributes, "type");
  const std::string named = type ? lower_case(type->text) : "";
  for (const char* word : {"const", "input", "output"}) {
    if (named == word || (named == "constant" && word == std::string("const"))) return word;
    const DotToken* flag = find(attributes, word);
    if (flag && lower_case(flag->text) != "false") return word;
  }
  const DotToken* token = named_operation(attributes);
  const std::string name = token ? lower_case(token->text) : "";
  return name == "constant" ? "const" : name;
}

std::optional<Opcode> DotBuilder::operation(const DotToken& token) {
  const std::optional<Opcode> op = find_kernel_opcode(token.text);
  if (!op) report(token.line, "op", fmt::format("'{}' is not an operation", token.text));
  return op;
}

// Given as an attribute, by the node's name ("16"), or 1.
int32_t DotBuilder::constant(const DotNode& node) {
  for (const char* key : {"value", "constval", "int", "float", "const"}) {
    const DotToken* token = find(node.attributes, key);
    if (!token) continue;
    const std::optional<int32_t> value = number_of(token->text);
    if (value) return *value;
    if (key == std::string("const")) break;  // "True"
    report(token->line, key, fmt::format("'{}' is not a 32-bit integer", token->text));
    return 0;
  }
  return number_of(node.name).value_or(1);
}

void DotBuilder::node(size_t number) {
  const DotNode& given = dot_.nodes[number];
  const std::string kind = this->kind(given.attributes);
  if (kind == "const") {
    free_[number] = Operand{.kind = OperandKind::kConstant, .value = constant(given)};
    return;
  }
  if (kind == "thread") {
    free_[number] = Operand{.kind = OperandKind::kThread};
    return;
  }
  place_[number] = int(graph_.nodes.size());
  DataflowNode made{.name = given.name};
  if (kind == "input" || kind == "output") {
    made.op = kind == "input" ? Opcode::kInput : Opcode::kOutput;
  } else if (const DotToken* token = named_operation(given.attributes)) {
    made.op = operation(*token).value_or(Opcode::kAdd);
  }
  if (const DotToken* token = find(given.attributes, "then")) made.then = operation(*token);
  if (const DotToken* token = find(given.attributes, "writes")) made.writes = variable(token->text);
  if (const DotToken* token = find(given.attributes, "array")) made.array = array(token->text);
  graph_.nodes.push_back(std::move(made));
}

int DotBuilder::distance(const DotEdge& edge) {
  const DotToken* token = find(dot_.edge_attributes[size_t(edge.attributes)], "distance");
  // A node that reads itself reads its value of the iteration before; nothing else can be meant.
  if (!token) return edge.from == edge.to ? 1 : 0;
  const std::optional<int32_t> value = number_of(token->text);
  if (value && *value >= 0 && *value <= kMostDotDistance) return *value;
  report(token->line, "distance",
         fmt::format("'{}' is not an integer in 0..{}", token->text, kMostDotDistance));
  return 0;
}

int DotBuilder::position(const DotEdge& edge, const DataflowNode& node) {
  const DotToken* token = find(dot_.edge_attributes[size_t(edge.attributes)], "operand");
  if (!token) return kUnplaced;
  const std::string name = lower_case(token->text);
  if (name.starts_with("any")) return kUnplaced;  // "any2input": the tool says that the order is free
  if (name == "left" || name == "lhs" || name == "data") return 0;
  if (name == "right" || name == "rhs") return 1;
  if (name == "addr") return node.op == Opcode::kStore ? 1 : 0;
  const std::optional<int32_t> value = number_of(name);
  if (value && *value >= 0 && *value <= kMostPosition) return *value;
  report(token->line, "operand",
         fmt::format("'{}' is not a place of an operand: 0..{}, left, right, LHS, RHS, addr or data",
                     token->text, kMostPosition));
  return kUnplaced;
}

void DotBuilder::edge(const DotEdge& edge) {
  const int to = place_[size_t(edge.to)];
  if (to < 0) {
    report(edge.line, "->",
           fmt::format("'{}' is a constant and has an operand", dot_.nodes[size_t(edge.to)].name));
    return;
  }
  Placed made{.line = edge.line};
  const int distance = this->distance(edge);
  if (const std::optional<Operand>& free = free_[size_t(edge.from)]) {
    made.operand = *free;
    if (distance > 0) report(edge.line, "distance", "constants are the same in every iteration");
  } else {
    made.operand = {.kind = OperandKind::kNode, .index = place_[size_t(edge.from)], .distance = distance};
  }
  made.position = position(edge, graph_.nodes[size_t(to)]);
  placed_[size_t(to)].push_back(std::move(made));
}

// Operands with a place take it, the others fill the places that are left in their order, then constants do.
void DotBuilder::complete(int index) {
  DataflowNode& node = graph_.nodes[size_t(index)];
  const std::vector<Placed>& given = placed_[size_t(index)];
  size_t count = std::max(given.size(), node.then ? 3 : size_t(opcode_facts(node.op).least_operands));
  for (const Placed& placed : given) count = std::max(count, size_t(placed.position + 1));
  std::vector<const Placed*> places(count, nullptr);
  for (const Placed& placed : given) {
    if (placed.position == kUnplaced) continue;
    if (places[size_t(placed.position)])
      report(placed.line, "operand", fmt::format("'{}' has two operands {}", node.name, placed.position));
    places[size_t(placed.position)] = &placed;
  }
  auto next = places.begin();
  for (const Placed& placed : given) {
    if (placed.position != kUnplaced) continue;
    next = std::find(next, places.end(), nullptr);
    if (next != places.end()) *next = &placed;
  }
  for (const Placed* placed : places)
    node.operands.push_back(placed ? placed->operand : Operand{.kind = OperandKind::kConstant, .value = 1});
  if (given.empty() && count > 0) node.operands[0] = {.kind = OperandKind::kThread};
  if (node.array >= 0) return;
  const bool own = node.op == Opcode::kStore || node.op == Opcode::kInput || node.op == Opcode::kOutput;
  if (node.op == Opcode::kLoad) node.array = array("memory");
  if (own) {
    std::string name = node.name;
    while (name == "memory" || arrays_.count(name)) name += '_';
    node.array = array(name);
  }
}

int numbered(std::unordered_map<std::string, int>& numbers, const std::string& name) {
  return numbers.try_emplace(name, int(numbers.size())).first->second;
}

int DotBuilder::variable(const std::string& name) {
  const int number = numbered(variables_, name);
  if (size_t(number) == graph_.variables.size()) graph_.variables.push_back({.name = name});
  return number;
}

int DotBuilder::array(const std::string& name) {
  const int number = numbered(arrays_, name);
  if (size_t(number) == graph_.arrays.size()) graph_.arrays.push_back({name});
  return number;
}

std::string in_dot_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

// What the label shows of the operands that are no edges.
std::string variables_read(const DataflowGraph& graph, const DataflowNode& node) {
  std::vector<std::string> shown;
  for (const Operand& operand : node.operands) {
    if (operand.kind == OperandKind::kVariable) shown.push_back(graph.variables[operand.index].name);
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

// Edges, and a node for every constant and for the thread number.
std::string print_operands(const DataflowGraph& graph) {
  std::set<std::string> names;
  for (const DataflowNode& node : graph.nodes) names.insert(node.name);
  std::map<std::pair<OperandKind, int32_t>, std::string> free;
  std::string text;
  const auto source = [&](const Operand& operand) {
    if (operand.kind == OperandKind::kNode) return in_dot_quotes(graph.nodes[size_t(operand.index)].name);
    const bool constant = operand.kind == OperandKind::kConstant;
    std::string& name = free[{operand.kind, operand.value}];
    if (!name.empty()) return name;
    std::string plain = constant ? fmt::format("constant {}", operand.value) : "thread number";
    while (names.count(plain)) plain += '\'';
    name = in_dot_quotes(plain);
    text += constant
                ? fmt::format("  {} [op=const, value={}, label={}];\n", name, operand.value, operand.value)
                : fmt::format("  {} [op=thread, label=thread];\n", name);
    return name;
  };
  for (const DataflowNode& node : graph.nodes) {
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Operand& operand = node.operands[i];
      if (operand.kind == OperandKind::kVariable) continue;
      const std::string from = source(operand);
      text += fmt::format("  {} -> {} [operand={}", from, in_dot_quotes(node.name), i);
      if (operand.kind == OperandKind::kNode && operand.distance > 0)
        text += fmt::format(", distance={}, label={}", operand.distance, operand.distance);
      text += "];\n";
    }
  }
  return text;
}

}  // namespace

DataflowGraph parse_graph_dot(const std::string& text, const std::string& source_name,
                              Diagnostics& diagnostics) {
  const DotGraph dot = parse_dot(text, source_name, diagnostics);
  return DotBuilder(dot, source_name, diagnostics).run();
}

std::string print_graph_dot(const DataflowGraph& graph) {
  std::string text = fmt::format("digraph {} {{\n", in_dot_quotes(graph.name));
  for (const DataflowNode& node : graph.nodes) {
    std::string label = fmt::format("{}: {}", node.name, opcode_facts(node.op).name);
    if (node.then) label += fmt::format(" then {}", opcode_facts(*node.then).name);
    const std::string read = variables_read(graph, node);
    if (!read.empty()) label += fmt::format(" ({})", read);
    text += fmt::format("  {} [op={}, label={}", in_dot_quotes(node.name), opcode_facts(node.op).name,
                        in_dot_quotes(label));
    if (node.then) text += fmt::format(", then={}", opcode_facts(*node.then).name);
    if (node.writes >= 0)
      text += fmt::format(", writes={}", in_dot_quotes(graph.variables[node.writes].name));
    if (node.array >= 0) text += fmt::format(", array={}", in_dot_quotes(graph.arrays[node.array].name));
    text += "];\n";
  }
  return text + print_operands(graph) + "}\n";
}

}  // namespace tilewright::cgra
