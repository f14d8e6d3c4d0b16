// Within a thread, nodes are computed in an order in which operands of the same thread and senders of
// variables come first; values of earlier threads are there already.
#include "tilewright/cgra/graph/evaluate.h"

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright::cgra {
namespace {

class Evaluator {
 public:
  Evaluator(const DataflowGraph& graph, const Inputs& inputs, int threads)
      : graph_(graph), inputs_(inputs), threads_(threads), sender_(graph.variables.size(), -1) {
    for (size_t node = 0; node < graph.nodes.size(); ++node) {
      if (graph.nodes[node].sends >= 0) sender_[size_t(graph.nodes[node].sends)] = int(node);
    }
  }

  Evaluation run() {
    prepare();
    const std::vector<int> order = this->order();
    for (int thread = 0; thread < threads_; ++thread) {
      for (const int node : order) compute(node, thread);
      for (size_t node = 0; node < graph_.nodes.size(); ++node) store(int(node), thread);
    }
    return std::move(result_);
  }

 private:
  void prepare() {
    result_.values.assign(graph_.nodes.size(), std::vector<int32_t>(size_t(threads_), 0));
    result_.stores.resize(graph_.nodes.size());
    result_.memory.resize(graph_.variables.size());
    result_.arrays.resize(graph_.arrays.size());
    writers_.assign(graph_.variables.size(), 0);
    writer_.assign(graph_.nodes.size(), 0);
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      const int variable = graph_.nodes[node].writes;
      if (variable < 0) continue;
      writer_[node] = writers_[size_t(variable)]++;
      result_.memory[size_t(variable)].resize(size_t(graph_.variables[size_t(variable)].entries), 0);
    }
  }

  std::vector<int> order() const {
    std::vector<std::vector<int>> next(graph_.nodes.size());
    std::vector<int> waiting(graph_.nodes.size(), 0), order;
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      for (const Operand& operand : graph_.nodes[node].operands) {
        int from = -1;
        if (operand.kind == OperandKind::kNode && operand.distance == 0) from = operand.index;
        if (operand.kind == OperandKind::kVariable) from = sender_[size_t(operand.index)];
        if (from < 0) continue;
        next[size_t(from)].push_back(int(node));
        ++waiting[node];
      }
    }
    for (size_t node = 0; node < waiting.size(); ++node) {
      if (waiting[node] == 0) order.push_back(int(node));
    }
    for (size_t i = 0; i < order.size(); ++i) {
      for (const int to : next[size_t(order[i])]) {
        if (--waiting[size_t(to)] == 0) order.push_back(to);
      }
    }
    TILEWRIGHT_CHECK(order.size() == graph_.nodes.size(), "a graph that waits for itself is evaluated");
    return order;
  }

  int32_t operand(const Operand& operand, int thread) const {
    switch (operand.kind) {
      case OperandKind::kConstant:
        return operand.value;
      case OperandKind::kThread:
        return thread;
      case OperandKind::kVariable: {
        const int sender = sender_[size_t(operand.index)];
        return sender >= 0 ? result_.values[size_t(sender)][size_t(thread)]
                           : argument_value(inputs_, operand.index, thread);
      }
      case OperandKind::kNode:
        break;
    }
    if (thread >= operand.distance)
      return result_.values[size_t(operand.index)][size_t(thread - operand.distance)];
    return size_t(thread) < operand.initial.size() ? operand.initial[size_t(thread)] : 0;
  }

  void compute(int node, int thread) {
    const DataflowNode& given = graph_.nodes[size_t(node)];
    const bool lookup = given.op == Opcode::kLookup;
    operands_.clear();
    for (size_t i = lookup ? 1 : 0; i < given.operands.size(); ++i)
      operands_.push_back(operand(given.operands[i], thread));
    int32_t& value = result_.values[size_t(node)][size_t(thread)];
    if (lookup) {
      const std::vector<int32_t>& table = graph_.variables[size_t(given.operands[0].index)].table;
      value = table[table_index(operands_[0], table.size())];
    } else {
      value = operation_value(given.op, given.then, operands_, thread, given.array, inputs_);
    }
    if (given.writes >= 0) {
      std::vector<int32_t>& cells = result_.memory[size_t(given.writes)];
      const size_t width = size_t(writers_[size_t(given.writes)]), records = cells.size() / width;
      cells[size_t(thread) % records * width + size_t(writer_[size_t(node)])] = value;
    }
    if (given.op == Opcode::kStore || given.op == Opcode::kOutput)
      result_.stores[size_t(node)].push_back(store_record(given.op, operands_, thread));
  }

  void store(int node, int thread) {
    const DataflowNode& given = graph_.nodes[size_t(node)];
    if ((given.op != Opcode::kStore && given.op != Opcode::kOutput) || given.array < 0) return;
    const StoreRecord& record = result_.stores[size_t(node)][size_t(thread)];
    result_.arrays[size_t(given.array)][record.index] = record.value;
  }

  const DataflowGraph& graph_;
  const Inputs& inputs_;
  int threads_ = 0;
  std::vector<int> sender_;   // per variable: the node whose message fills it; -1: none
  std::vector<int> writers_;  // per variable
  std::vector<int> writer_;   // per node: its rank among the writers of its variable
  std::vector<int32_t> operands_;
  Evaluation result_;
};

}  // namespace

Evaluation evaluate_graph(const DataflowGraph& graph, const Inputs& inputs, int threads) {
  return Evaluator(graph, inputs, threads).run();
}

}  // namespace tilewright::cgra
