// Random programs for fabrics, and functions to map and check them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/cgra/heuristic/sampling_mappers.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra/route/route_places.h"
#include "tilewright/cgra/simulate/execute_mapping.h"

namespace tilewright::cgra {

struct RandomProgramOptions {
  int most_nodes_per_flow = 6, most_flows = 3;
  bool carried = true;       // values of earlier threads
  bool asynchronous = true;  // variables, messages, loads into variables: the fabric has tile memories
};

class RandomProgramMaker {
 public:
  RandomProgramMaker(const RandomProgramOptions& how, Random& random) : how_(how), random_(random) {}

  DataflowGraph run() {
    graph_.name = "random";
    graph_.arrays = {{"in"}};
    const int flows = int(random_.between(1, how_.most_flows));
    for (int flow = 0; flow < flows; ++flow) add_flow(flow);
    return std::move(graph_);
  }

 private:
  static constexpr Opcode kBinary[] = {Opcode::kAdd,     Opcode::kSubtract,   Opcode::kMultiply, Opcode::kXor,
                                       Opcode::kMinimum, Opcode::kShiftRight, Opcode::kLess,     Opcode::kOr};

  void add_flow(int flow) {
    const int first = int(graph_.nodes.size()), count = int(random_.between(1, how_.most_nodes_per_flow));
    for (int i = 0; i < count; ++i) {
      DataflowNode node;
      node.name = fmt::format("f{}n{}", flow, i);
      node.op = kBinary[random_.between(0, 7)];
      const int operands = random_.chance(0.2) ? 3 : 2;
      if (operands == 3) {
        node.op = Opcode::kMultiply;
        node.then = random_.chance(0.5) ? Opcode::kAdd : Opcode::kSubtract;
      }
      for (int k = 0; k < operands; ++k) node.operands.push_back(operand(first, i, count, k == 0 && i > 0));
      graph_.nodes.push_back(node);
      decorate(int(graph_.nodes.size()) - 1, i + 1 == count);
    }
  }

  // The first operand of every node but the flow's first comes from the flow, so that it stays one.
  Operand operand(int first, int i, int count, bool of_flow) {
    if (how_.carried && random_.chance(0.15)) {
      Operand carried{
          OperandKind::kNode, first + int(random_.between(0, count - 1)), int(random_.between(1, 3)), 0, {}};
      for (int64_t k = random_.between(0, carried.distance); k > 0; --k)
        carried.initial.push_back(int32_t(random_.between(-50, 50)));
      return carried;
    }
    if (of_flow || (i > 0 && random_.chance(0.5)))
      return {OperandKind::kNode, first + int(random_.between(0, i - 1)), 0, 0, {}};
    if (how_.asynchronous && random_.chance(0.5)) return {OperandKind::kVariable, variable(), 0, 0, {}};
    if (random_.chance(0.4)) return {OperandKind::kThread, -1, 0, 0, {}};
    return {OperandKind::kConstant, -1, 0, int32_t(random_.between(-100, 100)), {}};
  }

  // A message of an earlier flow, an argument, or one that is read already.
  int variable() {
    if (!read_.empty() && random_.chance(0.15))
      return read_[size_t(random_.between(0, int64_t(read_.size()) - 1))];
    read_.push_back(fresh_variable());
    return read_.back();
  }
  int fresh_variable() {
    if (!messages_.empty() && random_.chance(0.7)) {
      const int made = messages_.back();
      messages_.pop_back();
      return made;
    }
    return add_variable();
  }
  int add_variable() {
    graph_.variables.push_back({fmt::format("v{}", graph_.variables.size()), {}, int(random_.between(1, 8))});
    return int(graph_.variables.size()) - 1;
  }

  void decorate(int index, bool last) {
    DataflowNode& node = graph_.nodes[size_t(index)];
    const bool plain = !node.then;
    if (plain && how_.asynchronous && random_.chance(0.15)) {
      graph_.variables.push_back({fmt::format("t{}", graph_.variables.size()), {3, 1, 4, 1, 5, 9, 2}, 16});
      node.op = Opcode::kLookup;
      node.operands[0].kind == OperandKind::kNode ? std::swap(node.operands[0], node.operands[1]) : void();
      node.operands[0] = {OperandKind::kVariable, int(graph_.variables.size()) - 1, 0, 0, {}};
    } else if (plain && random_.chance(0.15)) {
      node.op = Opcode::kLoad;
      node.array = 0;
    } else if (plain && random_.chance(0.15)) {
      node.op = Opcode::kStore;
      node.array = int(graph_.arrays.size());
      graph_.arrays.push_back({fmt::format("out{}", node.array)});
    }
    if (!how_.asynchronous) return;
    // Only a flow's last node sends: later flows read it, its own flow does not.
    // A load that sends has no other reader.
    const bool read = std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const DataflowNode& other) {
      return std::any_of(other.operands.begin(), other.operands.end(), [&](const Operand& operand) {
        return operand.kind == OperandKind::kNode && operand.index == index;
      });
    });
    if (last && !(read && node.op == Opcode::kLoad) && random_.chance(0.8)) {
      node.sends = add_variable();
      pending_.push_back(node.sends);
    }
    if (last) {
      messages_.insert(messages_.end(), pending_.begin(), pending_.end());
      pending_.clear();
    }
    if (random_.chance(0.1)) {
      node.writes = add_variable();
      graph_.variables.back().entries = 5;
    }
  }

  const RandomProgramOptions& how_;
  Random& random_;
  DataflowGraph graph_;
  std::vector<int> messages_, pending_, read_;
};

// A graph that a fabric can execute.
inline DataflowGraph random_program(const RandomProgramOptions& how, Random& random) {
  return RandomProgramMaker(how, random).run();
}

// The list schedule, else the best of some random placements, routed; nothing where that fails. What comes
// passes check_mapping in the routed tier.
inline std::optional<GraphMapping> quick_mapping(const MappingProblem& problem, uint64_t seed) {
  GraphMapperOptions options;
  options.seed = seed;
  options.limits.evaluations = 20;
  for (const bool listed : {true, false}) {
    MappingResult placed = listed ? map_list(problem, options) : map_random(problem, options);
    if (!placed.mapping) continue;
    RoutingOptions routing;
    routing.conflicts = 500;
    routing.core_conflicts = 0;
    RoutingResult routed = route_places(problem, *placed.mapping, routing);
    if (routed.status != SearchStatus::kFeasible) continue;
    placed.mapping->routes = std::move(routed.routes);
    return placed.mapping;
  }
  return {};
}

}  // namespace tilewright::cgra
