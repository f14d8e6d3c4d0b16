// One order serves all threads: operands of the same thread first, and senders before those who read what
// they send.
#include "tilewright/cgra/graph/evaluate.h"

#include <algorithm>

namespace tilewright::cgra {
namespace {

// Kahn's order over operands of distance 0 and messages. A verified graph has one: flows do not wait for each
// other in circles.
std::vector<int> evaluation_order(const DataflowGraph& graph, const std::vector<int>& sender) {
  const size_t count = graph.nodes.size();
  std::vector<std::vector<int>> next(count);
  std::vector<int> waiting(count, 0), order;
  for (size_t node = 0; node < count; ++node) {
    for (const Operand& operand : graph.nodes[node].operands) {
      int from = -1;
      if (operand.kind == OperandKind::kNode && operand.distance == 0) from = operand.index;
      if (operand.kind == OperandKind::kVariable) from = sender[operand.index];
      if (from < 0) continue;
      next[from].push_back(int(node));
      ++waiting[node];
    }
  }
  for (size_t node = 0; node < count; ++node) {
    if (waiting[node] == 0) order.push_back(int(node));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const int to : next[order[i]]) {
      if (--waiting[to] == 0) order.push_back(to);
    }
  }
  TILEWRIGHT_CHECK(order.size() == count, "the graph has not been verified: it waits for itself");
  return order;
}

class Evaluator {
 public:
  Evaluator(const DataflowGraph& graph, const Inputs& inputs, int threads)
      : graph_(graph), inputs_(inputs), threads_(threads), sender_(graph.variables.size(), -1) {
    for (size_t node = 0; node < graph.nodes.size(); ++node) {
      if (graph.nodes[node].sends >= 0) sender_[graph.nodes[node].sends] = int(node);
    }
  }

  Evaluation run() {
    const std::vector<int> order = evaluation_order(graph_, sender_);
    result_.values.assign(graph_.nodes.size(), std::vector<int32_t>(size_t(threads_)));
    for (int thread = 0; thread < threads_; ++thread) {
      for (const int node : order) step(node, thread);
    }
    keep_variables();
    return std::move(result_);
  }

 private:
  int32_t read(const Operand& operand, int thread) const {
    switch (operand.kind) {
      case OperandKind::kConstant:
        return operand.value;
      case OperandKind::kThread:
        return thread;
      case OperandKind::kVariable:
        return variable_value(operand.index, thread);
      case OperandKind::kNode:
        break;
    }
    if (thread >= operand.distance) return result_.values[operand.index][size_t(thread - operand.distance)];
    return size_t(thread) < operand.initial.size() ? operand.initial[size_t(thread)] : 0;
  }
  int32_t variable_value(int variable, int thread) const {
    const int from = sender_[variable];
    return from >= 0 ? result_.values[from][size_t(thread)] : argument_value(inputs_, variable, thread);
  }
  void step(int index, int thread);
  void keep_variables();

  const DataflowGraph& graph_;
  const Inputs& inputs_;
  int threads_;
  std::vector<int> sender_;
  std::vector<int32_t> operands_;
  Evaluation result_;
};

void Evaluator::step(int index, int thread) {
  const Node& node = graph_.nodes[index];
  const bool lookup = node.op == Opcode::kLookup;
  operands_.clear();
  for (size_t i = lookup ? 1 : 0; i < node.operands.size(); ++i)
    operands_.push_back(read(node.operands[i], thread));
  const size_t least = node.then ? 3 : size_t(opcode_facts(node.op).least_operands) - (lookup ? 1 : 0);
  if (operands_.size() < least) operands_.resize(least, 0);
  int32_t& value = result_.values[index][size_t(thread)];
  if (lookup) {
    const std::vector<int32_t>& table = graph_.variables[node.operands.front().index].table;
    value = table[table_index(operands_.front(), table.size())];
    return;
  }
  value = operation_value(node.op, node.then, operands_, thread, node.array, inputs_);
  if (node.op == Opcode::kStore || node.op == Opcode::kOutput)
    result_.stores[index].push_back(store_record(node.op, operands_, thread));
}

void Evaluator::keep_variables() {
  std::vector<std::vector<int>> writers(graph_.variables.size());
  for (size_t node = 0; node < graph_.nodes.size(); ++node) {
    if (graph_.nodes[node].writes >= 0) writers[graph_.nodes[node].writes].push_back(int(node));
  }
  for (size_t index = 0; index < graph_.variables.size(); ++index) {
    const Variable& variable = graph_.variables[index];
    std::vector<int32_t>& entries = result_.variables.emplace_back(variable.table);
    if (!entries.empty()) continue;
    entries.assign(size_t(variable.entries), 0);
    const int width = std::max(1, int(writers[index].size()));
    const int records = variable.entries / width;
    for (int thread = 0; thread < threads_ && records > 0; ++thread) {
      const size_t at = size_t(thread % records * width);
      if (writers[index].empty()) entries[at] = variable_value(int(index), thread);
      for (size_t j = 0; j < writers[index].size(); ++j)
        entries[at + j] = result_.values[writers[index][j]][size_t(thread)];
    }
  }
}

}  // namespace

Evaluation evaluate_graph(const DataflowGraph& graph, const Inputs& inputs, int threads) {
  return Evaluator(graph, inputs, threads).run();
}

std::map<int, std::map<int32_t, int32_t>> stored_arrays(const DataflowGraph& graph,
                                                        const Evaluation& evaluation) {
  std::map<int, std::map<int32_t, int32_t>> arrays;
  size_t threads = 0;
  for (const auto& [node, records] : evaluation.stores) threads = std::max(threads, records.size());
  for (size_t thread = 0; thread < threads; ++thread) {
    for (const auto& [node, records] : evaluation.stores) {
      const int array = graph.nodes[node].array;
      if (array >= 0 && thread < records.size()) arrays[array][records[thread].index] = records[thread].value;
    }
  }
  return arrays;
}

}  // namespace tilewright::cgra
