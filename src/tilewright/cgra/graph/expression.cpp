// Statements to operations. Names resolve in the order of the text; a name read before its statement becomes
// a reference to the thread before, which is resolved once everything has been lowered. Scope 0 computes;
// scope n + 1 computes the addresses of the loads that scope n reads, so that a load's flow never contains
// what waits for its value.
#include "tilewright/cgra/graph/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tilewright/cgra/graph/expression_parser.h"
#include "tilewright/cgra/graph/operation.h"

namespace tilewright::cgra {
namespace {

constexpr int kMostScopes = 8;
constexpr size_t kMostOperations = 100000;

class Lowering {
 public:
  Lowering(const std::vector<Statement>& statements, const ExpressionOptions& options,
           Diagnostics& diagnostics)
      : statements_(statements), options_(options), diagnostics_(diagnostics) {}

  DataflowGraph run();

 private:
  // A value of the thread before: of `name`, computed in `scope`. Operands refer to it by index -2 - number.
  struct Before {
    std::string name;
    int scope = 0;
  };
  static bool is_before(const Operand& operand) {
    return operand.kind == OperandKind::kNode && operand.index < -1;
  }

  void collect_names();
  void error(int statement, const std::string& what, std::string message, std::string hint) {
    diagnostics_.error(ErrorKind::kInvalidInput, statements_[statement].where, what, std::move(message),
                       std::move(hint));
  }
  Operand value_of(int statement, int scope);
  Operand lower(const Expression& tree, int statement, int scope);
  Operand name(const std::string& text, int statement, int scope);
  Operand element(const Expression& tree, int statement, int scope);
  Operand argument(const std::string& text, int scope);
  Operand before(const std::string& text, int scope);
  Operand node(DataflowNode made, int scope);
  int copy(const Operand& operand, int scope);
  void store(int statement);
  void results();
  void keep(const std::string& target, const Operand& value);
  void resolve();
  Operand resolved(const Operand& operand);
  void fuse();
  void read_once();
  void compact(const std::vector<uint8_t>& dead);
  int variable(const std::string& text);
  int array(const std::string& text);
  std::string unique(const std::string& text);

  const std::vector<Statement>& statements_;
  ExpressionOptions options_;
  Diagnostics& diagnostics_;
  DataflowGraph graph_;
  std::vector<int> scope_;                            // per node
  std::map<std::string, std::vector<int>> assigned_;  // name -> its statements
  std::map<std::string, int32_t> initial_;
  std::map<std::pair<int, int>, Operand> values_;  // (statement, scope)
  std::map<std::pair<std::string, int>, Operand> arguments_, before_of_;
  std::map<std::string, int> same_;  // computation -> node
  std::map<std::string, int> copies_;
  std::vector<Before> before_;
  std::set<std::string> names_ = {"thread"};
  bool too_deep_ = false;
};

std::string Lowering::unique(const std::string& text) {
  std::string made = text;
  for (int i = 2; !names_.insert(made).second; ++i) made = fmt::format("{}_{}", text, i);
  return made;
}

int Lowering::variable(const std::string& text) {
  graph_.variables.push_back({.name = unique(text)});
  return int(graph_.variables.size()) - 1;
}

int Lowering::array(const std::string& text) {
  for (size_t i = 0; i < graph_.arrays.size(); ++i) {
    if (graph_.arrays[i].name == text) return int(i);
  }
  graph_.arrays.push_back({text});
  return int(graph_.arrays.size()) - 1;
}

void Lowering::collect_names() {
  for (size_t i = 0; i < statements_.size(); ++i) {
    const Statement& statement = statements_[i];
    if (statement.target == "thread")
      error(int(i), "thread", "is the thread number", "assign to another name");
    if (!statement.index && !statement.initial) assigned_[statement.target].push_back(int(i));
  }
  for (size_t i = 0; i < statements_.size(); ++i) {
    const Statement& statement = statements_[i];
    if (!statement.initial) continue;
    const Operand value = lower(*statement.value, int(i), 0);
    if (value.kind != OperandKind::kConstant) {
      error(int(i), statement.target, "its first value is not a constant", "name := number");
    } else if (!assigned_.count(statement.target)) {
      error(int(i), statement.target, "has a first value but no statement",
            "add " + statement.target + " = ...");
    } else if (!initial_.emplace(statement.target, value.value).second) {
      error(int(i), statement.target, "has two first values", "keep one");
    }
  }
}

Operand Lowering::value_of(int statement, int scope) {
  const auto found = values_.find({statement, scope});
  if (found != values_.end()) return found->second;
  const Operand made = lower(*statements_[statement].value, statement, scope);
  values_[{statement, scope}] = made;
  const bool fresh =
      made.kind == OperandKind::kNode && made.index >= 0 && graph_.nodes[made.index].name.empty();
  if (fresh && scope == 0) graph_.nodes[made.index].name = unique(statements_[statement].target);
  return made;
}

Operand Lowering::before(const std::string& text, int scope) {
  const auto [entry, fresh] = before_of_.try_emplace({text, scope});
  if (fresh) {
    entry->second = {.kind = OperandKind::kNode, .index = -2 - int(before_.size()), .distance = 1};
    before_.push_back({text, scope});
  }
  return entry->second;
}

Operand Lowering::argument(const std::string& text, int scope) {
  const auto [entry, fresh] = arguments_.try_emplace({text, scope});
  if (!fresh) return entry->second;
  if (options_.tile_memories) {
    entry->second = {.kind = OperandKind::kVariable,
                     .index = variable(scope == 0 ? text : text + "_address")};
    return entry->second;
  }
  const Operand made = node({.op = Opcode::kInput, .array = array(text)}, scope);
  if (graph_.nodes[made.index].name.empty()) graph_.nodes[made.index].name = unique(text);
  return entry->second = made;
}

Operand Lowering::name(const std::string& text, int statement, int scope) {
  const auto found = assigned_.find(text);
  if (found == assigned_.end()) {
    return text == "thread" || text == "i" ? Operand{.kind = OperandKind::kThread} : argument(text, scope);
  }
  int latest = -1;
  for (const int index : found->second) {
    if (index < statement) latest = index;
  }
  return latest >= 0 ? value_of(latest, scope) : before(text, scope);
}

Operand Lowering::element(const Expression& tree, int statement, int scope) {
  const int address = options_.asynchronous ? scope + 1 : scope;
  if (address > kMostScopes) {
    if (!too_deep_) {
      error(statement, tree.name,
            fmt::format("its address takes more than {} loads one after the other", kMostScopes),
            "an address that depends on its own load needs a fabric whose loads are operations");
    }
    too_deep_ = true;
    return {};
  }
  DataflowNode load{.op = Opcode::kLoad, .operands = {lower(*tree.parts.front(), statement, address)}};
  load.array = array(tree.name);
  const Operand value = node(std::move(load), address);
  if (!options_.asynchronous) return value;
  // The scope belongs to the name: each scope that reads the element has a message of its own.
  DataflowNode& made = graph_.nodes[value.index];
  if (made.sends < 0) made.sends = variable(fmt::format("{}_value", tree.name));
  return {.kind = OperandKind::kVariable, .index = made.sends};
}

Operand Lowering::node(DataflowNode made, int scope) {
  const bool constant = std::all_of(made.operands.begin(), made.operands.end(),
                                    [](const Operand& o) { return o.kind == OperandKind::kConstant; });
  if (constant && !made.operands.empty() && made.array < 0) {
    std::vector<int32_t> values;
    for (const Operand& operand : made.operands) values.push_back(operand.value);
    return {.kind = OperandKind::kConstant, .value = apply_operation(made.op, values)};
  }
  std::string key = fmt::format("{} {} {}", scope, int(made.op), made.array);
  for (const Operand& o : made.operands)
    key += fmt::format(" {}.{}.{}.{}", int(o.kind), o.index, o.distance, o.value);
  const auto [entry, fresh] = same_.try_emplace(key, int(graph_.nodes.size()));
  if (fresh && graph_.nodes.size() < kMostOperations) {
    graph_.nodes.push_back(std::move(made));
    scope_.push_back(scope);
  } else if (fresh) {
    entry->second = 0;
  }
  return {.kind = OperandKind::kNode, .index = entry->second};
}

Operand Lowering::lower(const Expression& tree, int statement, int scope) {
  switch (tree.kind) {
    case Expression::Kind::kNumber:
      return {.kind = OperandKind::kConstant, .value = tree.value};
    case Expression::Kind::kName:
      return name(tree.name, statement, scope);
    case Expression::Kind::kElement:
      return element(tree, statement, scope);
    case Expression::Kind::kOperation:
      break;
  }
  DataflowNode made{.op = tree.op};
  for (const auto& part : tree.parts) made.operands.push_back(lower(*part, statement, scope));
  return node(std::move(made), scope);
}

int Lowering::copy(const Operand& operand, int scope) {
  const std::string key = fmt::format("{} {} {} {}", scope, int(operand.kind), operand.index, operand.value);
  const auto [entry, fresh] = copies_.try_emplace(key, int(graph_.nodes.size()));
  if (fresh) {
    graph_.nodes.push_back({.op = Opcode::kCopy, .operands = {operand}});
    scope_.push_back(scope);
  }
  return entry->second;
}

void Lowering::store(int statement) {
  const Statement& given = statements_[statement];
  DataflowNode made{.op = Opcode::kStore, .operands = {lower(*given.value, statement, 0)}};
  const Operand index = lower(*given.index, statement, 0);
  if (index.kind != OperandKind::kThread) made.operands.push_back(index);
  made.array = array(given.target);
  made.name = unique("store_" + given.target);
  graph_.nodes.push_back(std::move(made));
  scope_.push_back(0);
}

bool reads(const Expression& tree, const std::string& name) {
  if (tree.kind == Expression::Kind::kName && tree.name == name) return true;
  return std::any_of(tree.parts.begin(), tree.parts.end(),
                     [&](const auto& part) { return reads(*part, name); });
}

void Lowering::keep(const std::string& target, const Operand& value) {
  const bool usable = value.kind == OperandKind::kNode && value.index >= 0 && value.distance == 0;
  if (!options_.tile_memories) {
    graph_.nodes.push_back({.name = unique("output_" + target), .op = Opcode::kOutput, .operands = {value}});
    graph_.nodes.back().array = array(target);
    scope_.push_back(0);
    return;
  }
  const int index = usable && graph_.nodes[value.index].writes < 0 ? value.index : copy(value, 0);
  if (graph_.nodes[index].name.empty()) graph_.nodes[index].name = unique(target);
  if (graph_.nodes[index].writes < 0) graph_.nodes[index].writes = variable(target + "_result");
}

void Lowering::results() {
  for (const auto& [target, list] : assigned_) {
    const int last = list.back();
    bool read = false;
    for (size_t i = size_t(last) + 1; i < statements_.size(); ++i) {
      read = read || reads(*statements_[i].value, target) ||
             (statements_[i].index && reads(*statements_[i].index, target));
    }
    if (!read) keep(target, value_of(last, 0));
  }
}

// The node behind a value of the thread before, through names that only pass others on.
Operand Lowering::resolved(const Operand& operand) {
  Operand made = operand;
  std::set<int> seen;
  std::vector<int32_t> initial;
  int distance = 0;
  while (is_before(made)) {
    const int number = -2 - made.index;
    const Before& reference = before_[number];
    const int last = assigned_.at(reference.name).back();
    if (!seen.insert(number).second) {
      error(last, reference.name, "is never computed, only passed on", "give it an operation");
      return {};
    }
    const auto first = initial_.find(reference.name);
    initial.push_back(first == initial_.end() ? 0 : first->second);
    ++distance;
    made = value_of(last, reference.scope);
    if (made.kind != OperandKind::kNode)
      made = {.kind = OperandKind::kNode, .index = copy(made, reference.scope)};
  }
  made.distance = distance;
  while (!initial.empty() && initial.back() == 0) initial.pop_back();
  made.initial = std::move(initial);
  return made;
}

void Lowering::resolve() {
  // Lowering a statement for one reference may make others.
  for (size_t i = 0; i < before_.size(); ++i) {
    const Before reference = before_[i];
    value_of(assigned_.at(reference.name).back(), reference.scope);
  }
  for (size_t node = 0; node < graph_.nodes.size(); ++node) {
    for (size_t i = 0; i < graph_.nodes[node].operands.size(); ++i) {
      if (!is_before(graph_.nodes[node].operands[i])) continue;
      const Operand found = resolved(graph_.nodes[node].operands[i]);
      graph_.nodes[node].operands[i] = found;
    }
  }
}

bool joins(Opcode op) {
  return op == Opcode::kMultiply || op == Opcode::kShiftLeft || op == Opcode::kShiftRight;
}

// Which operands of `op` the product or shift before it may be.
int joining_operands(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kMinimum:
    case Opcode::kMaximum:
    case Opcode::kEqual:
    case Opcode::kNotEqual:
      return 2;
    case Opcode::kSubtract:
    case Opcode::kLess:
    case Opcode::kLessEqual:
    case Opcode::kGreater:
    case Opcode::kGreaterEqual:
      return 1;
    default:
      return 0;
  }
}

void Lowering::fuse() {
  std::vector<int> uses(graph_.nodes.size(), 0);
  for (const DataflowNode& node : graph_.nodes) {
    for (const Operand& operand : node.operands) {
      if (operand.kind == OperandKind::kNode) ++uses[operand.index];
    }
  }
  std::vector<uint8_t> dead(graph_.nodes.size(), 0);
  for (DataflowNode& node : graph_.nodes) {
    if (node.operands.size() != 2 || node.then) continue;
    for (int i = 0; i < joining_operands(node.op); ++i) {
      const Operand& operand = node.operands[size_t(i)];
      if (operand.kind != OperandKind::kNode || operand.distance != 0 || uses[operand.index] != 1) continue;
      const DataflowNode& first = graph_.nodes[operand.index];
      if (!joins(first.op) || first.then || first.operands.size() != 2 || first.writes >= 0) continue;
      dead[operand.index] = 1;
      std::vector<Operand> operands = first.operands;
      operands.push_back(node.operands[size_t(1 - i)]);
      node.then = node.op;
      node.op = first.op;
      node.operands = std::move(operands);
      break;
    }
  }
  compact(dead);
}

void Lowering::compact(const std::vector<uint8_t>& dead) {
  std::vector<int> place(dead.size(), -1), scopes;
  std::vector<DataflowNode> kept;
  for (size_t node = 0; node < dead.size(); ++node) {
    if (dead[node]) continue;
    place[node] = int(kept.size());
    kept.push_back(std::move(graph_.nodes[node]));
    scopes.push_back(scope_[node]);
  }
  for (DataflowNode& node : kept) {
    for (Operand& operand : node.operands) {
      if (operand.kind == OperandKind::kNode) operand.index = place[operand.index];
    }
  }
  graph_.nodes = std::move(kept);
  scope_ = std::move(scopes);
}

// Everything that reads a variable sits on its tile; a copy that spreads the value leaves the others free.
void Lowering::read_once() {
  std::map<std::pair<int, int>, std::set<int>> readers;  // (variable, scope)
  for (size_t node = 0; node < graph_.nodes.size(); ++node) {
    for (const Operand& operand : graph_.nodes[node].operands) {
      if (operand.kind == OperandKind::kVariable) readers[{operand.index, scope_[node]}].insert(int(node));
    }
  }
  for (const auto& [where, nodes] : readers) {
    if (nodes.size() < 2) continue;
    const Operand read{.kind = OperandKind::kVariable, .index = where.first};
    const int spread = int(graph_.nodes.size());
    graph_.nodes.push_back({.op = Opcode::kCopy, .operands = {read}});
    graph_.nodes.back().name = unique("read_" + graph_.variables[where.first].name);
    scope_.push_back(where.second);
    for (const int node : nodes) {
      for (Operand& operand : graph_.nodes[node].operands) {
        if (operand == read) operand = {.kind = OperandKind::kNode, .index = spread};
      }
    }
  }
}

DataflowGraph Lowering::run() {
  graph_.name = "expression";
  collect_names();
  for (size_t i = 0; i < statements_.size(); ++i) {
    if (statements_[i].initial) continue;
    if (statements_[i].index) {
      store(int(i));
    } else {
      value_of(int(i), 0);
    }
  }
  results();
  resolve();
  if (graph_.nodes.size() >= kMostOperations) {
    diagnostics_.error(ErrorKind::kInvalidInput, "expression", "",
                       fmt::format("more than {} operations", kMostOperations));
  }
  if (!diagnostics_.ok()) return std::move(graph_);
  if (options_.fuse) fuse();
  if (options_.tile_memories) read_once();
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (graph_.nodes[i].name.empty()) graph_.nodes[i].name = unique(fmt::format("t{}", i));
  }
  return std::move(graph_);
}

}  // namespace

DataflowGraph parse_expression(const std::string& text, const std::string& source_name,
                               const ExpressionOptions& options, Diagnostics& diagnostics) {
  const std::vector<Statement> statements = parse_statements(text, source_name, diagnostics);
  if (!diagnostics.ok()) return {};
  return Lowering(statements, options, diagnostics).run();
}

}  // namespace tilewright::cgra
