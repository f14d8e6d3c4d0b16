// Growing graphs node by node; every draw comes from one stream, so that a seed is a graph.
#include "support/cgra/generated_graphs_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tilewright/base/integer_math.h"
#include "tilewright/base/random.h"

namespace tilewright::cgra {
namespace {

Operand from_node(int index, int distance = 0) {
  return {.kind = OperandKind::kNode, .index = index, .distance = distance};
}

// An operation that suits the number of operands; constants and the thread number fill up to two.
void draw_operation(DataflowNode& node, Random& random) {
  constexpr std::array kTwo = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kXor,
                               Opcode::kMaximum};
  constexpr std::array kThen = {Opcode::kAdd, Opcode::kSubtract, Opcode::kXor};
  const auto pick = [&](const auto& list) {
    return list[size_t(random.between(0, int64_t(list.size()) - 1))];
  };
  if (node.operands.empty()) node.operands.push_back({.kind = OperandKind::kThread});
  if (node.operands.size() == 1)
    node.operands.push_back({.kind = OperandKind::kConstant, .value = int32_t(random.between(-9, 9))});
  node.op = node.operands.size() == 3  ? Opcode::kMultiply
            : node.operands.size() > 3 ? Opcode::kAdd
                                       : pick(kTwo);
  if (node.operands.size() == 3) node.then = pick(kThen);
}

bool are_siblings(const DataflowGraph& graph, int a, int b) {
  for (const Operand& left : graph.nodes[a].operands) {
    for (const Operand& right : graph.nodes[b].operands) {
      if (left.kind == OperandKind::kNode && right.kind == OperandKind::kNode && left.index == right.index)
        return true;
    }
  }
  return false;
}

// Pairs of starters cannot share a tile either: the rules of the fabric would leave no mapping.
void share_variables(DataflowGraph& graph, int pairs, const std::vector<int>& starters, Random& random) {
  const int nodes = int(graph.nodes.size());
  for (int tries = 0; int(graph.variables.size()) < pairs && tries < 1000; ++tries) {
    const int a = int(random.between(0, nodes - 1)), b = int(random.between(0, nodes - 1));
    const auto starts = [&](int node) {
      return std::find(starters.begin(), starters.end(), node) != starters.end();
    };
    if (a == b || graph.nodes[a].writes >= 0 || graph.nodes[b].writes >= 0) continue;
    if (are_siblings(graph, a, b) || (starts(a) && starts(b))) continue;
    graph.nodes[a].writes = graph.nodes[b].writes = int(graph.variables.size());
    graph.variables.push_back({.name = fmt::format("shared{}", graph.variables.size())});
  }
}

}  // namespace

GeneratedGraph generate_flow_graph(int nodes, int tiles, uint64_t seed) {
  constexpr int kWindow = 6, kMostConsumers = 4;
  Random random(seed);
  GeneratedGraph made;
  DataflowGraph& graph = made.graph;
  graph.name = fmt::format("flow_n{}_s{}", nodes, seed);
  const int flows = std::clamp(nodes / 8, 1, 4);
  std::vector<int> consumers(size_t(nodes), 0), starters;
  for (int node = 0; node < nodes; ++node) {
    graph.nodes.push_back({.name = fmt::format("n{}", node)});
    const auto flow_of = [&](int index) { return int64_t(index) * flows / nodes; };
    int start = node;
    while (start > 0 && flow_of(start - 1) == flow_of(node)) --start;
    if (start == node) {
      starters.push_back(node);
      continue;
    }
    std::vector<int> open;
    for (int from = std::max(start, node - kWindow); from < node; ++from) {
      if (consumers[from] < kMostConsumers) open.push_back(from);
    }
    const double draw = random.uniform();
    const int wanted = draw < 0.67 ? 1 : draw < 0.95 ? 2 : 3;
    for (int i = 0; i < wanted && !open.empty(); ++i) {
      const size_t at = size_t(random.between(0, int64_t(open.size()) - 1));
      graph.nodes[node].operands.push_back(from_node(open[at]));
      ++consumers[open[at]];
      open.erase(open.begin() + std::ptrdiff_t(at));
    }
  }
  share_variables(graph, std::max(1, nodes / 6), starters, random);
  for (DataflowNode& node : graph.nodes) draw_operation(node, random);
  const int least = ceil_div(nodes, tiles) + 1;
  made.ii = int(random.between(least, std::max(6, least)));
  return made;
}

DataflowGraph generate_wide_graph(int nodes, uint64_t seed) {
  Random random(seed);
  // Drawing from the list of all ends of edges is drawing in proportion to the degree.
  std::vector<int> ends;
  std::vector<std::pair<int, int>> edges;
  std::vector<uint8_t> fed(size_t(nodes), 0);
  for (int node = 1; node < nodes; ++node) {
    const int target = node == 1 ? 0 : ends[size_t(random.between(0, int64_t(ends.size()) - 1))];
    edges.emplace_back(node, target);
    ends.push_back(node);
    ends.push_back(target);
    fed[target] = 1;
  }
  int source = -1;
  for (int node = 0; node < nodes; ++node) {
    if (fed[node]) continue;
    if (source >= 0) edges.emplace_back(source, node);
    if (source < 0) source = node;
  }
  DataflowGraph drawn;
  drawn.nodes.resize(size_t(nodes));
  for (const auto& [from, to] : edges) drawn.nodes[to].operands.push_back(from_node(from));
  const std::vector<int> order = topological_order(drawn);
  std::vector<int> place(static_cast<size_t>(nodes));
  for (int i = 0; i < nodes; ++i) place[order[i]] = i;
  DataflowGraph graph;
  graph.name = fmt::format("wide_n{}_s{}", nodes, seed);
  for (int i = 0; i < nodes; ++i) {
    DataflowNode& node = graph.nodes.emplace_back(drawn.nodes[order[i]]);
    node.name = fmt::format("n{}", i);
    for (Operand& operand : node.operands) operand.index = place[operand.index];
    draw_operation(node, random);
  }
  return graph;
}

namespace {

class RandomGraph {
 public:
  RandomGraph(const RandomGraphOptions& options, uint64_t seed) : options_(options), random_(seed) {
    graph_.name = fmt::format("random_n{}_s{}", options.nodes, seed);
    graph_.arrays = {{"source"}};
    graph_.variables = {{.name = "argument"}, {.name = "table", .table = {3, -1, 4, 1, -5}}};
  }

  DataflowGraph run() {
    for (int node = 0; node < options_.nodes; ++node) {
      if (node > 0 && random_.chance(options_.new_flow)) start_ = node;
      flow_start_.push_back(start_);
      add(node);
    }
    for (int node = 0; node < options_.nodes; ++node) carry(node);
    drop_unused();
    return std::move(graph_);
  }

 private:
  int draw(int low, int high) { return int(random_.between(low, high)); }
  Operand operand(int node);
  void add(int node);
  void memory(DataflowNode& node);
  void write(DataflowNode& node);
  void carry(int node);
  void drop_unused();

  RandomGraphOptions options_;
  Random random_;
  DataflowGraph graph_;
  int start_ = 0;
  std::vector<int> flow_start_;
};

Operand RandomGraph::operand(int node) {
  if (node > start_ && random_.chance(options_.operand)) return from_node(draw(start_, node - 1));
  if (start_ > 0 && random_.chance(options_.sends)) {
    DataflowNode& sender = graph_.nodes[draw(0, start_ - 1)];
    if (sender.sends < 0) {
      sender.sends = int(graph_.variables.size());
      graph_.variables.push_back({.name = fmt::format("message{}", graph_.variables.size())});
    }
    return {.kind = OperandKind::kVariable, .index = sender.sends};
  }
  const int kind = draw(0, 5);
  if (kind == 0) return {.kind = OperandKind::kThread};
  if (kind == 1) return {.kind = OperandKind::kVariable, .index = 0};
  return {.kind = OperandKind::kConstant, .value = draw(-100, 100)};
}

void RandomGraph::memory(DataflowNode& node) {
  constexpr std::array kOps = {Opcode::kLoad, Opcode::kLookup, Opcode::kStore, Opcode::kInput,
                               Opcode::kOutput};
  node.op = kOps[size_t(draw(0, int(kOps.size()) - 1))];
  const int most = std::min(opcode_facts(node.op).most_operands, options_.most_operands);
  if (int(node.operands.size()) > most) node.operands.resize(size_t(most));
  if (node.op == Opcode::kLookup) {
    node.operands.resize(1);
    node.operands.insert(node.operands.begin(), {.kind = OperandKind::kVariable, .index = 1});
  } else if (node.op == Opcode::kStore || node.op == Opcode::kOutput) {
    node.array = int(graph_.arrays.size());  // of its own: stores that may meet need an order
    graph_.arrays.push_back({fmt::format("target{}", node.array)});
  } else {
    node.array = 0;
  }
}

void RandomGraph::write(DataflowNode& node) {
  std::vector<int> written;
  for (const DataflowNode& other : graph_.nodes) {
    if (other.writes >= 0) written.push_back(other.writes);
  }
  if (!written.empty() && random_.chance(0.5)) {
    node.writes = written[size_t(draw(0, int(written.size()) - 1))];
    return;
  }
  node.writes = int(graph_.variables.size());
  graph_.variables.push_back({.name = fmt::format("kept{}", graph_.variables.size())});
}

void RandomGraph::add(int index) {
  DataflowNode node{.name = fmt::format("n{}", index)};
  for (int count = draw(1, options_.most_operands); count > 0; --count)
    node.operands.push_back(operand(index));
  if (random_.chance(options_.memory)) {
    memory(node);
  } else if (node.operands.size() == 1) {
    constexpr std::array kOne = {Opcode::kCopy, Opcode::kNot, Opcode::kNegate, Opcode::kAbsolute,
                                 Opcode::kSignExtend};
    node.op = kOne[size_t(draw(0, int(kOne.size()) - 1))];
  } else if (node.operands.size() == 3 && random_.chance(0.3)) {
    node.op = Opcode::kSelect;
  } else {
    draw_operation(node, random_);
  }
  if (random_.chance(options_.writes)) write(node);
  graph_.nodes.push_back(std::move(node));
}

// Some operands that are nodes come from earlier threads instead, then from anywhere in the flow.
void RandomGraph::carry(int node) {
  const int start = flow_start_[node];
  int end = node;
  while (end + 1 < options_.nodes && flow_start_[end + 1] == start) ++end;
  for (Operand& operand : graph_.nodes[node].operands) {
    const bool free = operand.kind == OperandKind::kNode || operand.kind == OperandKind::kConstant;
    if (!free || !random_.chance(options_.carried)) continue;
    operand = from_node(draw(start, end), draw(1, 3));
    for (int i = draw(0, operand.distance); i > 0; --i) operand.initial.push_back(draw(-50, 50));
  }
}

// The argument and the table bind their readers to one tile, so they are there only where read.
void RandomGraph::drop_unused() {
  std::vector<int> place(graph_.variables.size(), -1);
  const auto use = [&](int variable) {
    if (variable >= 0) place[variable] = 0;
  };
  for (const DataflowNode& node : graph_.nodes) {
    use(node.writes);
    use(node.sends);
    for (const Operand& operand : node.operands) {
      if (operand.kind == OperandKind::kVariable) use(operand.index);
    }
  }
  std::vector<Variable> kept;
  for (size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0) continue;
    place[i] = int(kept.size());
    kept.push_back(std::move(graph_.variables[i]));
  }
  graph_.variables = std::move(kept);
  for (DataflowNode& node : graph_.nodes) {
    if (node.writes >= 0) node.writes = place[node.writes];
    if (node.sends >= 0) node.sends = place[node.sends];
    for (Operand& operand : node.operands) {
      if (operand.kind == OperandKind::kVariable) operand.index = place[operand.index];
    }
  }
}

}  // namespace

DataflowGraph generate_random_graph(const RandomGraphOptions& options, uint64_t seed) {
  return RandomGraph(options, seed).run();
}

}  // namespace tilewright::cgra
