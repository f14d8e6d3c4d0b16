// The rules of a graph's form. Undefined references are left out of the later checks, so that one run reports
// every independent problem.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "tilewright/cgra/graph/dataflow_graph.h"
#include "tilewright/cgra/graph/meeting_stores.h"

namespace tilewright::cgra {
namespace {

constexpr int kMostElements = 1 << 20;
constexpr int kMostStores = 1000;  // to one array: they are compared in pairs

class GraphChecker {
 public:
  GraphChecker(const DataflowGraph& graph, int most_operands, Diagnostics& diagnostics)
      : graph_(graph), most_operands_(most_operands), diagnostics_(diagnostics) {}

  void run() {
    if (graph_.nodes.empty()) graph_error("nodes", "is empty", "a graph has at least one operation");
    names();
    for (const Variable& variable : graph_.variables) entries(variable);
    for (const DataflowNode& node : graph_.nodes) {
      operands(node);
      operation(node);
      memory(node);
    }
    arrays();
    if (!sound_) {
      drop_undefined();
      cycles(reduced_);
      return;
    }
    variables();
    if (cycles(graph_)) stores();
  }

 private:
  void graph_error(const char* field, std::string message, std::string hint = {}) {
    diagnostics_.error(ErrorKind::kInvalidInput, "graph '" + graph_.name + "'", field, std::move(message),
                       std::move(hint));
  }
  void error(const DataflowNode& node, std::string message, std::string hint) {
    diagnostics_.error(ErrorKind::kInvalidInput, "node '" + node.name + "'",
                       std::string(opcode_facts(node.op).name), std::move(message), std::move(hint));
  }
  static bool exists(int index, size_t count) { return index >= 0 && index < int(count); }
  const Variable& variable(int index) const { return graph_.variables[index]; }

  void names();
  void entries(const Variable& variable);
  void operands(const DataflowNode& node);
  void operation(const DataflowNode& node);
  void memory(const DataflowNode& node);
  void arrays();
  void variables();
  void messages(const std::vector<int>& flow);
  void drop_undefined();
  bool cycles(const DataflowGraph& graph);
  void stores();

  const DataflowGraph& graph_;
  int most_operands_;
  Diagnostics& diagnostics_;
  bool sound_ = true;  // every reference leads somewhere
  bool few_stores_ = true;
  DataflowGraph reduced_;
};

void GraphChecker::names() {
  std::set<std::string> values, arrays;
  const auto check = [&](std::set<std::string>& seen, const std::string& name, const char* what) {
    if (name.empty()) {
      graph_error(what, "one has no name", "every node, variable and array has one");
    } else if (!seen.insert(name).second) {
      graph_error(what, fmt::format("the name '{}' is taken", name),
                  "nodes and variables have different names");
    }
  };
  values.insert("thread");  // operands name the thread number so
  for (const DataflowNode& node : graph_.nodes) check(values, node.name, "nodes");
  for (const Variable& variable : graph_.variables) check(values, variable.name, "variables");
  for (const ExternalArray& array : graph_.arrays) check(arrays, array.name, "arrays");
}

void GraphChecker::entries(const Variable& variable) {
  if (variable.size() >= 1 && variable.size() <= kMostElements) return;
  graph_error("variables", fmt::format("'{}' has {} entries", variable.name, variable.size()),
              fmt::format("1..{}", kMostElements));
}

void GraphChecker::operands(const DataflowNode& node) {
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Operand& operand = node.operands[i];
    const bool node_gone = operand.kind == OperandKind::kNode && !exists(operand.index, graph_.nodes.size());
    const bool variable_gone =
        operand.kind == OperandKind::kVariable && !exists(operand.index, graph_.variables.size());
    if (node_gone || variable_gone) {
      sound_ = false;
      error(node, fmt::format("operand {} is undefined", i), "name a node, a variable or a constant");
      continue;
    }
    if (operand.distance < 0)
      error(node, fmt::format("operand {} comes from a later iteration", i), "distance >= 0");
    if (int(operand.initial.size()) > std::max(0, operand.distance)) {
      error(node, fmt::format("operand {} has {} initial values", i, operand.initial.size()),
            "at most one per iteration of its distance");
    }
    const bool table = operand.kind == OperandKind::kVariable && !variable(operand.index).table.empty();
    const bool looked_up = node.op == Opcode::kLookup && i == 0;
    if (table != looked_up) {
      error(node, looked_up ? "operand 0 is not a table" : fmt::format("operand {} is a table", i),
            "tables are read by lookup, whose first operand is one");
    }
  }
}

bool may_follow(Opcode op) {
  const OpcodeFacts& facts = opcode_facts(op);
  return op == Opcode::kAdd || op == Opcode::kSubtract || op == Opcode::kAnd || op == Opcode::kOr ||
         op == Opcode::kXor || op == Opcode::kMinimum || op == Opcode::kMaximum ||
         (op >= Opcode::kEqual && op <= Opcode::kGreaterEqual && facts.most_operands == 2);
}

void GraphChecker::operation(const DataflowNode& node) {
  const OpcodeFacts& facts = opcode_facts(node.op);
  const int count = int(node.operands.size());
  if (count > most_operands_) {
    error(node, fmt::format("{} operands, an instruction takes {}", count, most_operands_),
          "split the operation");
  } else if (node.then) {
    const bool first = node.op == Opcode::kMultiply || node.op == Opcode::kShiftLeft ||
                       node.op == Opcode::kShiftRight || node.op == Opcode::kShiftRightLogical;
    if (!first || !may_follow(*node.then)) {
      error(node, fmt::format("'{}' cannot follow it in one instruction", opcode_facts(*node.then).name),
            "a product or shift, then a sum, a logic operation or a comparison");
    } else if (count != 3) {
      error(node, fmt::format("{} operands, (a op b) then c takes 3", count), "give three operands");
    }
  } else if (count > facts.most_operands) {
    error(node, fmt::format("{} operands, it takes {}..{}", count, facts.least_operands, facts.most_operands),
          "see the table of operations");
  }
}

void GraphChecker::memory(const DataflowNode& node) {
  const bool needs = opcode_facts(node.op).memory;
  const bool may = needs || node.op == Opcode::kInput || node.op == Opcode::kOutput;
  if (node.array >= int(graph_.arrays.size()) || (needs && node.array < 0)) {
    error(node, "its array is undefined", "list it under arrays");
  } else if (node.array >= 0 && !may) {
    error(node, "has an array", "only loads, stores, inputs and outputs have one");
  }
  for (const int target : {node.writes, node.sends}) {
    if (target >= int(graph_.variables.size())) {
      sound_ = false;
      error(node, "writes a variable that does not exist", "list it under variables");
    } else if (target >= 0 && !variable(target).table.empty()) {
      error(node, fmt::format("writes '{}', which is a table", variable(target).name), "tables are constant");
    }
  }
}

void GraphChecker::arrays() {
  std::vector<int> loaded(graph_.arrays.size(), 0), stored(graph_.arrays.size(), 0);
  for (const DataflowNode& node : graph_.nodes) {
    if (!exists(node.array, graph_.arrays.size())) continue;
    const bool reads = node.op == Opcode::kLoad || node.op == Opcode::kInput;
    ++(reads ? loaded : stored)[node.array];
  }
  for (size_t array = 0; array < graph_.arrays.size(); ++array) {
    if (stored[array] > kMostStores) {
      graph_error("arrays", fmt::format("{} nodes store to '{}'", stored[array], graph_.arrays[array].name),
                  fmt::format("at most {}; store to several arrays", kMostStores));
      few_stores_ = false;
    }
    if (loaded[array] && stored[array]) {
      graph_error("arrays", fmt::format("'{}' is loaded and stored", graph_.arrays[array].name),
                  "nothing orders overlapped iterations; store to another array");
    }
  }
}

// Who fills a variable: one sender, or the host; synchronous writers only for variables nobody reads.
void GraphChecker::variables() {
  const std::vector<int> flow = graph_.flows();
  std::vector<std::vector<int>> senders(graph_.variables.size()), writers = senders, readers = senders;
  for (size_t node = 0; node < graph_.nodes.size(); ++node) {
    const DataflowNode& given = graph_.nodes[node];
    if (given.sends >= 0) senders[given.sends].push_back(int(node));
    if (given.writes >= 0) writers[given.writes].push_back(int(node));
    for (const Operand& operand : given.operands) {
      if (operand.kind == OperandKind::kVariable) readers[operand.index].push_back(int(node));
    }
  }
  for (size_t index = 0; index < graph_.variables.size(); ++index) {
    const std::string& name = variable(int(index)).name;
    if (senders[index].size() > 1 || (!senders[index].empty() && !writers[index].empty())) {
      graph_error("variables", fmt::format("'{}' is filled by several nodes", name),
                  "one message fills a variable; give each its own");
    }
    if (int(writers[index].size()) > variable(int(index)).size()) {
      graph_error("variables",
                  fmt::format("'{}' has {} writers and {} entries", name, writers[index].size(),
                              variable(int(index)).size()),
                  "each writer needs an entry of its own");
    }
    if (!writers[index].empty() && !readers[index].empty()) {
      graph_error(
          "variables",
          fmt::format("'{}' is written by '{}' and read by '{}' on the same tile", name,
                      graph_.nodes[writers[index].front()].name, graph_.nodes[readers[index].front()].name),
          "nothing orders the two: name the node as operand, or send a message");
    }
    for (const int sender : senders[index]) {
      for (const int reader : readers[index]) {
        if (flow[sender] != flow[reader]) continue;
        graph_error("variables",
                    fmt::format("'{}' is sent by '{}' to '{}' of the same flow", name,
                                graph_.nodes[sender].name, graph_.nodes[reader].name),
                    "within a flow, name the node as operand");
      }
    }
  }
  messages(flow);
}

// Flows that wait for each other's messages of the same thread never start.
void GraphChecker::messages(const std::vector<int>& flow) {
  const int flows = flow.empty() ? 0 : 1 + *std::max_element(flow.begin(), flow.end());
  std::map<int, int> sender_flow;
  for (size_t node = 0; node < graph_.nodes.size(); ++node) {
    if (graph_.nodes[node].sends >= 0) sender_flow[graph_.nodes[node].sends] = flow[node];
  }
  std::vector<std::set<int>> next(flows);
  std::vector<int> waiting(flows, 0), ready;
  for (size_t node = 0; node < graph_.nodes.size(); ++node) {
    for (const Operand& operand : graph_.nodes[node].operands) {
      const auto from =
          operand.kind == OperandKind::kVariable ? sender_flow.find(operand.index) : sender_flow.end();
      if (from == sender_flow.end() || from->second == flow[node]) continue;
      if (next[from->second].insert(flow[node]).second) ++waiting[flow[node]];
    }
  }
  for (int i = 0; i < flows; ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  for (size_t i = 0; i < ready.size(); ++i) {
    for (const int to : next[ready[i]]) {
      if (--waiting[to] == 0) ready.push_back(to);
    }
  }
  if (int(ready.size()) == flows) return;
  std::vector<std::string> names;
  for (size_t node = 0; node < graph_.nodes.size(); ++node) {
    const DataflowNode& given = graph_.nodes[node];
    if (given.sends >= 0 && std::find(ready.begin(), ready.end(), flow[node]) == ready.end())
      names.push_back(given.name);
  }
  graph_error("variables", fmt::format("flows wait for each other's messages ({})", fmt::join(names, ", ")),
              "break the cycle with a loop-carried operand");
}

void GraphChecker::drop_undefined() {
  reduced_ = graph_;
  for (DataflowNode& node : reduced_.nodes) {
    std::erase_if(node.operands, [&](const Operand& operand) {
      return operand.kind == OperandKind::kNode && !exists(operand.index, graph_.nodes.size());
    });
  }
}

// Stores that may meet need flows that keep fixed distances in time; then a mapping can order them.
void GraphChecker::stores() {
  if (!few_stores_) return;
  const std::vector<int> flow = graph_.flows();
  const std::vector<uint8_t> waits = waiting_flows(graph_);
  for (const StorePair& pair : meeting_stores(graph_)) {
    const int first = flow[pair.first], second = flow[pair.second];
    if (first == second || (!waits[first] && !waits[second])) continue;
    graph_error(
        "arrays",
        fmt::format("'{}' and '{}' may store the same element of '{}', and nothing orders their flows",
                    graph_.nodes[pair.first].name, graph_.nodes[pair.second].name,
                    graph_.arrays[graph_.nodes[pair.first].array].name),
        "store to another array, or let one value reach both");
  }
}

// Whether there are none.
bool GraphChecker::cycles(const DataflowGraph& graph) {
  const std::vector<int> order = topological_order(graph);
  if (order.size() == graph.nodes.size()) return true;
  std::vector<uint8_t> done(graph.nodes.size(), 0);
  for (const int node : order) done[node] = 1;
  std::vector<std::string> names;
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    if (!done[node]) names.push_back(graph.nodes[node].name);
  }
  graph_error("edges", fmt::format("a cycle without distance among (or before) {}", fmt::join(names, ", ")),
              "give the edge that closes a loop a distance of at least 1");
  return false;
}

}  // namespace

void DataflowGraph::verify(int most_operands, Diagnostics& diagnostics) const {
  GraphChecker(*this, most_operands, diagnostics).run();
}

}  // namespace tilewright::cgra
