// A node becomes an instruction of its tile and a start in the spoke entry of its slot; a flow starts with
// its earliest node; a variable gets room on the tile of the nodes that use it, in the order of the graph.
#include "tilewright/cgra/configure/configure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "tilewright/cgra/configure/ways.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra/problem/store_order.h"

namespace tilewright::cgra {
namespace {

constexpr int kMostPeriod = 4096;

class Configurer {
 public:
  Configurer(const MappingProblem& problem, const GraphMapping& mapping)
      : problem_(problem),
        graph_(problem.graph),
        mapping_(mapping),
        edges_(graph_.edges()),
        flow_(graph_.flows()),
        variables_(graph_.variables.size()) {
    tiles_.resize(size_t(problem.fabric.tiles()));
    for (int tile = 0; tile < problem.fabric.tiles(); ++tile) tiles_[size_t(tile)].tile = tile;
  }

  Configuration run() {
    check();
    find_users();
    check_loads();
    make_flows();
    diagnostics_.raise_if_any("graph '" + graph_.name + "' as a configuration");
    make_variables();
    make_tiles();
    Configuration made{graph_.name, problem_.fabric, mapping_.ii, std::move(flows_), {}};
    // Rules of placement are not the device's.
    made.fabric.starters_apart = StarterRule::kOff;
    made.fabric.siblings_apart = false;
    for (TileConfiguration& tile : tiles_) {
      if (!tile.spoke.empty() || !tile.variables.empty()) made.tiles.push_back(std::move(tile));
    }
    made.verify(diagnostics_);
    diagnostics_.raise_if_any("graph '" + graph_.name + "' as a configuration");
    return made;
  }

 private:
  struct VariableUse {
    std::vector<int> readers;  // one entry per operand that reads it
    std::vector<int> writers;  // ascending
    std::vector<int> senders;
  };

  void check() {
    MappingProblem routed = problem_;
    routed.rules.routed = true;
    std::string text;
    for (const Violation& violation : check_mapping(routed, mapping_)) text += "\n  " + violation.text;
    if (!text.empty())
      throw Error(ErrorKind::kInternal, "the mapping of graph '" + graph_.name + "' is invalid:" + text);
    for (const Violation& violation : check_store_order(routed, mapping_))
      diagnostics_.error(ErrorKind::kInvalidInput, "graph '" + graph_.name + "'", rule_name(violation.rule),
                         violation.text, "order_stores moves stores to later clocks");
  }

  void find_users() {
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      const DataflowNode& given = graph_.nodes[node];
      for (const Operand& operand : given.operands) {
        if (operand.kind == OperandKind::kVariable)
          variables_[size_t(operand.index)].readers.push_back(int(node));
      }
      if (given.writes >= 0) variables_[size_t(given.writes)].writers.push_back(int(node));
      if (given.sends >= 0) variables_[size_t(given.sends)].senders.push_back(int(node));
    }
  }

  void check_loads() {
    for (const Edge& edge : edges_) {
      const DataflowNode& from = graph_.nodes[size_t(edge.from)];
      if (from.op != Opcode::kLoad || from.sends < 0 || problem_.fabric.memory_interfaces == 0) continue;
      diagnostics_.error(ErrorKind::kInvalidInput, "node '" + from.name + "'", "load",
                         fmt::format("its value comes as a message at no fixed clock; '{}' cannot read it",
                                     graph_.nodes[size_t(edge.to)].name),
                         "read the variable, in another flow");
    }
  }

  void make_flows() {
    const int count = flow_.empty() ? 0 : *std::max_element(flow_.begin(), flow_.end()) + 1;
    flows_.resize(size_t(count));
    std::vector<int> start(size_t(count), -1), period(size_t(count), 1);
    std::vector<uint8_t> carries(size_t(count), 0);
    for (size_t node = 0; node < flow_.size(); ++node) {
      int& first = start[size_t(flow_[node])];
      first = first < 0 ? mapping_.places[node].time : std::min(first, mapping_.places[node].time);
    }
    for (const Edge& edge : edges_) {
      if (edge.distance == 0) continue;
      const size_t flow = size_t(flow_[size_t(edge.to)]);
      carries[flow] = 1;
      if (period[flow] <= kMostPeriod && edge.distance <= kMostPeriod)
        period[flow] = std::lcm(period[flow], edge.distance);
      else
        period[flow] = kMostPeriod + 1;
    }
    for (size_t i = 0; i < variables_.size(); ++i) {
      if (variables_[i].readers.empty() || !graph_.variables[i].table.empty()) continue;
      const std::string& name = graph_.variables[i].name;
      for (const int reader : variables_[i].readers)
        add(flows_[size_t(flow_[size_t(reader)])].waits_for, name);
      for (const int sender : variables_[i].senders) add(flows_[size_t(flow_[size_t(sender)])].fills, name);
    }
    for (size_t i = 0; i < flows_.size(); ++i) {
      flows_[i].start = start[i];
      // A flow that never waits needs no repeats.
      if (!carries[i] || (flows_[i].waits_for.empty() && flows_[i].fills.empty())) continue;
      flows_[i].period = period[i];
      if (period[i] <= kMostPeriod) continue;
      diagnostics_.error(ErrorKind::kUnsupported, "graph '" + graph_.name + "'", "distances",
                         fmt::format("flow {} repeats after more than {} threads only", i, kMostPeriod),
                         "distances with a smaller common multiple");
    }
  }

  static void add(std::vector<std::string>& names, const std::string& name) {
    if (names.empty() || names.back() != name) names.push_back(name);
  }

  // What nobody reads or writes on a tile has no home: messages to it are not sent.
  int home(size_t variable) const {
    const VariableUse& use = variables_[variable];
    const std::vector<int>& users = use.readers.empty() ? use.writers : use.readers;
    return users.empty() ? -1 : mapping_.places[size_t(users.front())].tile;
  }

  void make_variables() {
    for (size_t i = 0; i < variables_.size(); ++i) {
      const int tile = home(i);
      if (tile < 0) continue;
      const Variable& given = graph_.variables[i];
      MemoryVariable made{given.name, given.size(), given.table, 0, -1};
      if (given.table.empty()) {
        made.reads = int(variables_[i].readers.size());
        if (made.reads > 0 && variables_[i].senders.empty()) made.argument = int(i);
      }
      tiles_[size_t(tile)].variables.push_back(std::move(made));
    }
  }

  FabricInstruction make_instruction(size_t node) const {
    const DataflowNode& given = graph_.nodes[node];
    FabricInstruction made{given.name, given.op, given.then, {}, {}, {}, given.array};
    for (const Operand& operand : given.operands) made.operands.push_back(make_operand(operand));
    if (given.writes >= 0) {
      const std::vector<int>& writers = variables_[size_t(given.writes)].writers;
      const auto at = std::find(writers.begin(), writers.end(), int(node)) - writers.begin();
      made.writes = MemoryWrite{graph_.variables[size_t(given.writes)].name, int(writers.size()), int(at)};
    }
    if (given.sends >= 0 && !variables_[size_t(given.sends)].readers.empty())
      made.sends = MessageTarget{home(size_t(given.sends)), graph_.variables[size_t(given.sends)].name};
    return made;
  }

  InstructionOperand make_operand(const Operand& operand) const {
    InstructionOperand made;
    switch (operand.kind) {
      case OperandKind::kNode:
        made.initial = operand.initial;
        made.initial.resize(size_t(operand.distance), 0);
        break;
      case OperandKind::kConstant:
        made.kind = InstructionOperand::Kind::kConstant;
        made.constant = operand.value;
        break;
      case OperandKind::kVariable:
        made.kind = InstructionOperand::Kind::kVariable;
        made.variable = graph_.variables[size_t(operand.index)].name;
        break;
      case OperandKind::kThread:
        made.kind = InstructionOperand::Kind::kThread;
        break;
    }
    return made;
  }

  void make_tiles() {
    Ways ways = settle_ways(problem_, mapping_);
    std::map<std::pair<int, int>, size_t> starts;  // (tile, slot) -> node
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      const Place& place = mapping_.places[node];
      starts[{place.tile, place.time % mapping_.ii}] = node;
      ways.slots[{place.tile, place.time % mapping_.ii}];
    }
    std::vector<std::vector<ValueSource>> inputs(graph_.nodes.size());
    for (size_t edge = 0; edge < edges_.size(); ++edge)
      inputs[size_t(edges_[edge].to)].push_back(ways.inputs[edge]);
    for (const auto& [where, slot] : ways.slots) {
      TileConfiguration& tile = tiles_[size_t(where.first)];
      SpokeEntry entry;
      entry.slot = where.second;
      for (const auto& [to, from] : slot.outputs) entry.outputs.push_back({to, from});
      for (const auto& [number, from] : slot.registers) entry.registers.push_back({number, from});
      if (const auto start = starts.find(where); start != starts.end()) {
        const size_t node = start->second;
        entry.instruction = int(tile.instructions.size());
        entry.flow = flow_[node];
        entry.clock = mapping_.places[node].time - flows_[size_t(entry.flow)].start;
        entry.inputs = inputs[node];
        tile.instructions.push_back(make_instruction(node));
      }
      tile.spoke.push_back(std::move(entry));
    }
  }

  const MappingProblem& problem_;
  const DataflowGraph& graph_;
  const GraphMapping& mapping_;
  std::vector<Edge> edges_;
  std::vector<int> flow_;
  std::vector<VariableUse> variables_;
  std::vector<TileConfiguration> tiles_;
  std::vector<FlowConfiguration> flows_;
  Diagnostics diagnostics_;
};

}  // namespace

Configuration configure(const MappingProblem& problem, const GraphMapping& mapping) {
  return Configurer(problem, mapping).run();
}

}  // namespace tilewright::cgra
