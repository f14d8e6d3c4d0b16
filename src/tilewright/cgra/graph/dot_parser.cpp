// Recursive descent over the statements. Defaults apply to what is first mentioned after them, within their
// braces.
#include "tilewright/cgra/graph/dot_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tilewright/base/plain_text.h"

namespace tilewright::cgra {
namespace {

constexpr size_t kMostDotNodes = 200000, kMostDotEdges = 1000000;
constexpr int kMostDepth = 64;

class DotParser {
 public:
  DotParser(const std::string& text, const std::string& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics), tokens_(dot_tokens(text)) {}

  DotGraph run() {
    take_word("strict");
    if (!take_word("digraph")) error("", "'digraph NAME {' is expected");
    if (more() && tokens_[at_].name()) graph_.name = tokens_[at_++].text;
    if (!take("{")) error("", "'{' is expected");
    Defaults defaults;
    while (more() && !too_large() && !take("}")) statement(defaults, 0);
    if (too_large()) error("", fmt::format("more than {} nodes or {} edges", kMostDotNodes, kMostDotEdges));
    return std::move(graph_);
  }

 private:
  using Nodes = std::vector<int>;
  struct Defaults {
    DotAttributes node, edge;
  };

  bool more() const { return at_ < tokens_.size(); }
  bool too_large() const {
    return graph_.nodes.size() > kMostDotNodes || graph_.edges.size() > kMostDotEdges;
  }
  bool take(const char* mark) {
    if (!more() || tokens_[at_].kind != DotToken::Kind::kMark || tokens_[at_].text != mark) return false;
    ++at_;
    return true;
  }
  bool take_word(const char* word) {
    if (!more() || tokens_[at_].kind != DotToken::Kind::kBare || lower_case(tokens_[at_].text) != word)
      return false;
    ++at_;
    return true;
  }
  void report(int line, const std::string& what, std::string message) {
    diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("{}:{}", source_, line), what,
                       std::move(message), "the subset read is in docs/reference/cgra_graphs.md");
  }
  void error(const std::string& what, std::string message) {
    report(tokens_.empty() ? 1 : tokens_[std::min(at_, tokens_.size() - 1)].line, what, std::move(message));
  }

  Nodes statement(Defaults& defaults, int depth);
  bool setting(Defaults& defaults);
  bool endpoint(const Defaults& defaults, int depth, Nodes& nodes);
  Nodes group(Defaults defaults, int depth);
  int node(const DotToken& token, const Defaults& defaults);
  DotAttributes attributes();
  void connect(const std::vector<Nodes>& chain, const Defaults& defaults, DotAttributes given, int line);

  const std::string& source_;
  Diagnostics& diagnostics_;
  std::vector<DotToken> tokens_;
  size_t at_ = 0;
  DotGraph graph_;
  std::unordered_map<std::string, int> nodes_;
};

int DotParser::node(const DotToken& token, const Defaults& defaults) {
  const auto [entry, fresh] = nodes_.try_emplace(token.text, int(graph_.nodes.size()));
  if (fresh) graph_.nodes.push_back({token.text, token.line, defaults.node});
  if (take(":") && more() && tokens_[at_].name()) {  // a port, maybe with a compass point
    ++at_;
    if (take(":") && more() && tokens_[at_].name()) ++at_;
  }
  return entry->second;
}

DotAttributes DotParser::attributes() {
  DotAttributes found;
  while (take("[")) {
    while (more() && !take("]")) {
      if (take(",") || take(";")) continue;
      const DotToken key = tokens_[at_++];
      if (!key.name() || !take("=") || !more() || !tokens_[at_].name()) {
        error(key.text, "'ATTRIBUTE=VALUE' is expected");
        while (more() && !take("]")) ++at_;
        return found;
      }
      found[lower_case(key.text)] = tokens_[at_++];
    }
  }
  return found;
}

// Whether the statement is an attribute of the graph, or sets defaults.
bool DotParser::setting(Defaults& defaults) {
  if (tokens_[at_].name() && at_ + 1 < tokens_.size() && tokens_[at_ + 1].kind == DotToken::Kind::kMark &&
      tokens_[at_ + 1].text == "=") {
    at_ = std::min(at_ + 3, tokens_.size());
    return true;
  }
  DotAttributes* target = nullptr;
  if (take_word("node")) {
    target = &defaults.node;
  } else if (take_word("edge")) {
    target = &defaults.edge;
  } else if (!take_word("graph")) {
    return false;
  }
  for (auto& [key, value] : attributes()) {
    if (target) (*target)[key] = value;
  }
  return true;
}

// The nodes that a node's name or a subgraph stands for. False: neither comes.
bool DotParser::endpoint(const Defaults& defaults, int depth, Nodes& nodes) {
  const bool subgraph = take_word("subgraph");
  if (subgraph && more() && tokens_[at_].name()) ++at_;
  if (take("{")) {
    nodes = group(defaults, depth + 1);
  } else if (!subgraph && more() && tokens_[at_].name()) {
    const DotToken token = tokens_[at_++];
    nodes = {node(token, defaults)};
  } else {
    return false;
  }
  return true;
}

DotParser::Nodes DotParser::group(Defaults defaults, int depth) {
  Nodes all;
  std::unordered_set<int> seen;
  if (depth > kMostDepth) {
    error("subgraph", fmt::format("nested deeper than {}", kMostDepth));
    at_ = tokens_.size();
  }
  while (more() && !too_large() && !take("}")) {
    for (const int node : statement(defaults, depth)) {
      if (seen.insert(node).second) all.push_back(node);
    }
  }
  return all;
}

// The nodes that it mentions.
DotParser::Nodes DotParser::statement(Defaults& defaults, int depth) {
  if (take(";") || setting(defaults)) return {};
  const DotToken first = tokens_[at_];
  std::vector<Nodes> chain(1);
  if (!endpoint(defaults, depth, chain[0])) {
    report(first.line, first.text, "a node's name is expected");
    at_ += at_ < tokens_.size() && first.kind == DotToken::Kind::kMark;
    return {};
  }
  while (more() && (take("->") || take("--"))) {
    const std::string arrow = tokens_[at_ - 1].text;
    if (arrow == "--") error(arrow, "an edge without direction");
    chain.emplace_back();
    if (endpoint(defaults, depth, chain.back())) continue;
    error(arrow, "a node's name is expected");
    chain.pop_back();
    break;
  }
  DotAttributes given = attributes();
  if (chain.size() > 1) {
    connect(chain, defaults, std::move(given), first.line);
  } else if (first.name() && chain[0].size() == 1) {
    for (auto& [key, value] : given) graph_.nodes[size_t(chain[0][0])].attributes[key] = value;
  }
  Nodes all;
  for (const Nodes& nodes : chain) all.insert(all.end(), nodes.begin(), nodes.end());
  return all;
}

void DotParser::connect(const std::vector<Nodes>& chain, const Defaults& defaults, DotAttributes given,
                        int line) {
  given.insert(defaults.edge.begin(), defaults.edge.end());
  const int number = int(graph_.edge_attributes.size());
  graph_.edge_attributes.push_back(std::move(given));
  for (size_t i = 1; i < chain.size(); ++i) {
    for (const int from : chain[i - 1]) {
      for (const int to : chain[i]) {
        if (too_large()) return;
        graph_.edges.push_back({from, to, line, number});
      }
    }
  }
}

}  // namespace

DotGraph parse_dot(const std::string& text, const std::string& source_name, Diagnostics& diagnostics) {
  return DotParser(text, source_name, diagnostics).run();
}

}  // namespace tilewright::cgra
