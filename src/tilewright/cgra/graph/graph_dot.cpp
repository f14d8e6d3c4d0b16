// A tokeniser and a statement loop for the subset of the GraphViz language that states a graph.
#include "tilewright/cgra/graph/graph_dot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <unordered_map>

#include "tilewright/cgra/graph/kernel_file.h"

namespace tilewright::cgra {
namespace {

constexpr size_t kMostNodes = 200000;

struct Token {
  std::string text;
  int line = 1;
  bool name = false;  // a bare or quoted name; otherwise punctuation
};

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> tokens;
  int line = 1;
  size_t i = 0;
  const auto skip_to = [&](const char* end, size_t length) {
    const size_t found = text.find(end, i);
    const size_t stop = found == std::string::npos ? text.size() : found + length;
    for (; i < stop; ++i) line += text[i] == '\n';
  };
  while (i < text.size()) {
    const char c = text[i];
    if (c == '#' || text.compare(i, 2, "//") == 0) {
      skip_to("\n", 1);
    } else if (text.compare(i, 2, "/*") == 0) {
      skip_to("*/", 2);
    } else if (c == '"') {
      Token token{.line = line, .name = true};
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        line += text[i] == '\n';
        token.text += text[i];
      }
      ++i;
      tokens.push_back(std::move(token));
    } else if (name_character(c) ||
               (c == '-' && i + 1 < text.size() && text[i + 1] != '>' && text[i + 1] != '-')) {
      Token token{.text = std::string(1, c), .line = line, .name = true};
      for (++i; i < text.size() && name_character(text[i]); ++i) token.text += text[i];
      tokens.push_back(std::move(token));
    } else if (text.compare(i, 2, "->") == 0) {
      tokens.push_back({"->", line, false});
      i += 2;
    } else {
      if (c == '\n') ++line;
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') tokens.push_back({std::string(1, c), line, false});
      ++i;
    }
  }
  return tokens;
}

class DotReader {
 public:
  DotReader(const std::string& text, const std::string& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics), tokens_(tokens_of(text)) {}

  DataflowGraph run() {
    take("strict");
    if (!take("digraph")) error("", "'digraph NAME {' is expected");
    graph_.name = more() && tokens_[at_].name ? tokens_[at_++].text : "graph";
    if (!take("{")) error("", "'{' is expected");
    while (more() && !take("}") && graph_.nodes.size() <= kMostNodes) statement();
    if (graph_.nodes.size() > kMostNodes) error("", fmt::format("more than {} nodes", kMostNodes));
    complete();
    return std::move(graph_);
  }

 private:
  using Attributes = std::map<std::string, Token>;

  bool more() const { return at_ < tokens_.size(); }
  bool take(const char* text) {
    if (!more() || tokens_[at_].text != text) return false;
    ++at_;
    return true;
  }
  void error(const std::string& what, std::string message) {
    const size_t last = tokens_.empty() ? 0 : std::min(at_, tokens_.size() - 1);
    report(tokens_.empty() ? 1 : tokens_[last].line, what, std::move(message));
  }
  void report(int line, const std::string& what, std::string message) {
    diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("{}:{}", source_, line), what,
                       std::move(message), "the subset read is in docs/cgra_graphs.md");
  }
  void statement();
  Attributes attributes();
  int node(const std::string& name);
  void apply(Node& node, const Attributes& attributes);
  int variable(const std::string& name);
  int array(const std::string& name);
  void complete();

  const std::string& source_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  DataflowGraph graph_;
  std::unordered_map<std::string, int> nodes_;
};

int DotReader::node(const std::string& name) {
  const auto [entry, fresh] = nodes_.try_emplace(name, int(graph_.nodes.size()));
  if (fresh) graph_.nodes.push_back({.name = name});
  return entry->second;
}

DotReader::Attributes DotReader::attributes() {
  Attributes found;
  while (take("[")) {
    while (more() && !take("]")) {
      if (take(",") || take(";")) continue;
      const Token key = tokens_[at_++];
      if (!key.name || !take("=") || !more() || !tokens_[at_].name) {
        error(key.text, "'ATTRIBUTE=VALUE' is expected");
        while (more() && !take("]")) ++at_;
        return found;
      }
      found[key.text] = tokens_[at_++];
    }
  }
  return found;
}

void DotReader::statement() {
  if (take(";")) return;
  const Token first = tokens_[at_++];
  if (!first.name) {
    report(first.line, first.text, "a node's name is expected");
    return;
  }
  if (take("=")) {
    if (more()) ++at_;
    return;
  }
  if (first.text == "graph" || first.text == "node" || first.text == "edge") {
    attributes();
    return;
  }
  if (first.text == "subgraph") {
    report(first.line, first.text, "subgraphs are not read");
    return;
  }
  std::vector<int> chain = {node(first.text)};
  while (take("->")) {
    if (!more() || !tokens_[at_].name) {
      error("->", "a node's name is expected");
      return;
    }
    chain.push_back(node(tokens_[at_++].text));
  }
  const Attributes given = attributes();
  if (chain.size() == 1) return apply(graph_.nodes[chain.front()], given);
  int distance = 0;
  if (const auto found = given.find("distance"); found != given.end()) {
    const std::string& digits = found->second.text;
    const bool sound =
        !digits.empty() && digits.size() <= 4 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (sound) distance = std::stoi(digits);
    if (!sound)
      report(found->second.line, "distance", fmt::format("'{}' is not an integer in 0..9999", digits));
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    graph_.nodes[chain[i]].operands.push_back(
        {.kind = OperandKind::kNode, .index = chain[i - 1], .distance = distance});
  }
}

int DotReader::variable(const std::string& name) {
  for (size_t i = 0; i < graph_.variables.size(); ++i) {
    if (graph_.variables[i].name == name) return int(i);
  }
  graph_.variables.push_back({.name = name});
  return int(graph_.variables.size()) - 1;
}

int DotReader::array(const std::string& name) {
  for (size_t i = 0; i < graph_.arrays.size(); ++i) {
    if (graph_.arrays[i].name == name) return int(i);
  }
  graph_.arrays.push_back({name});
  return int(graph_.arrays.size()) - 1;
}

void DotReader::apply(Node& node, const Attributes& attributes) {
  const auto operation = [&](const Token& token) {
    const std::optional<Opcode> op = find_kernel_opcode(token.text);
    if (!op) report(token.line, "op", fmt::format("'{}' is no operation", token.text));
    return op;
  };
  for (const char* key : {"op", "opcode", "label"}) {
    const auto found = attributes.find(key);
    if (found == attributes.end()) continue;
    node.op = operation(found->second).value_or(Opcode::kAdd);
    break;
  }
  for (const auto& [key, token] : attributes) {
    if (key == "then") node.then = operation(token);
    if (key == "writes") node.writes = variable(token.text);
    if (key == "array") node.array = array(token.text);
  }
}

void DotReader::complete() {
  for (Node& node : graph_.nodes) {
    const size_t least = node.then ? 3 : size_t(opcode_facts(node.op).least_operands);
    if (node.operands.empty() && least > 0) node.operands.push_back({.kind = OperandKind::kThread});
    while (node.operands.size() < least)
      node.operands.push_back({.kind = OperandKind::kConstant, .value = 1});
    if (node.array < 0 && node.op == Opcode::kLoad) node.array = array("memory");
    if (node.array < 0 && node.op == Opcode::kStore) node.array = array("results");
  }
}

std::string in_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

// What the label shows of the operands that are no edges.
std::string free_operands(const DataflowGraph& graph, const Node& node) {
  std::vector<std::string> shown;
  for (const Operand& operand : node.operands) {
    if (operand.kind == OperandKind::kConstant) shown.push_back(std::to_string(operand.value));
    if (operand.kind == OperandKind::kThread) shown.emplace_back("thread");
    if (operand.kind == OperandKind::kVariable) shown.push_back(graph.variables[operand.index].name);
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

DataflowGraph parse_graph_dot(const std::string& text, const std::string& source_name,
                              Diagnostics& diagnostics) {
  return DotReader(text, source_name, diagnostics).run();
}

std::string print_graph_dot(const DataflowGraph& graph) {
  std::string text = fmt::format("digraph {} {{\n", in_quotes(graph.name));
  for (const Node& node : graph.nodes) {
    std::string label = fmt::format("{}: {}", node.name, opcode_facts(node.op).name);
    if (node.then) label += fmt::format(" then {}", opcode_facts(*node.then).name);
    const std::string free = free_operands(graph, node);
    if (!free.empty()) label += fmt::format(" ({})", free);
    text += fmt::format("  {} [op={}, label={}", in_quotes(node.name), opcode_facts(node.op).name,
                        in_quotes(label));
    if (node.then) text += fmt::format(", then={}", opcode_facts(*node.then).name);
    if (node.writes >= 0) text += fmt::format(", writes={}", in_quotes(graph.variables[node.writes].name));
    if (node.array >= 0) text += fmt::format(", array={}", in_quotes(graph.arrays[node.array].name));
    text += "];\n";
  }
  for (const Edge& edge : graph.edges()) {
    text += fmt::format("  {} -> {}", in_quotes(graph.nodes[edge.from].name),
                        in_quotes(graph.nodes[edge.to].name));
    text +=
        edge.distance > 0 ? fmt::format(" [distance={}, label={}];\n", edge.distance, edge.distance) : ";\n";
  }
  return text + "}\n";
}

}  // namespace tilewright::cgra
