// The optimum by brute force, for tests: it knows no rules and only uses the checker.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "tilewright/cgra/graph/dataflow_graph.h"
#include "tilewright/cgra/problem/check.h"

namespace tilewright::cgra {

// Places nodes one by one, operands first and long chains before short ones. A partial placement is checked
// as the problem of its nodes alone; a rule that it breaks is also broken by the whole, except for the
// starters (their rule depends on nodes still missing), which count only once all nodes are placed.
class BruteForce {
 public:
  explicit BruteForce(const MappingProblem& problem) : problem_(problem) {
    const std::vector<Edge> edges = problem.graph.edges();
    const size_t nodes = problem.graph.nodes.size();
    std::vector<int> chain(nodes, 0);  // edges below each node
    for (size_t round = 0; round < nodes; ++round) {
      for (const Edge& edge : edges) {
        if (edge.distance == 0) chain[edge.from] = std::max(chain[edge.from], chain[edge.to] + 1);
      }
    }
    // A node's chain is longer than those of its consumers.
    for (int node = 0; node < int(nodes); ++node) order_.push_back(node);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return chain[a] > chain[b]; });
    for (size_t count = 1; count < nodes; ++count) part_.push_back(part(count));
  }

  // A mapping of at most `horizon` clocks; nothing: there is none, or (exhausted() says which) more than
  // `most_checks` partial placements would have to be tried.
  std::optional<GraphMapping> find(int horizon, int64_t most_checks) {
    partial_ = {problem_.ii, {}, {}};
    checks_ = most_checks;
    if (!extend(horizon - problem_.fabric.operation_latency_cycles)) return std::nullopt;
    return whole();
  }
  // A further condition on complete mappings.
  std::function<bool(const GraphMapping&)> accept;
  // Whether the last search ended for lack of checks.
  bool exhausted() const { return checks_ <= 0; }

 private:
  MappingProblem part(size_t count) const {
    MappingProblem made = problem_;
    made.graph.nodes.clear();
    made.fixed_tiles.clear();
    made.fixed_times.clear();
    std::vector<int> index(problem_.graph.nodes.size(), -1);
    for (size_t i = 0; i < count; ++i) index[order_[i]] = int(i);
    for (size_t i = 0; i < count; ++i) {
      DataflowNode node = problem_.graph.nodes[order_[i]];
      for (Operand& operand : node.operands) {
        if (operand.kind != OperandKind::kNode) continue;
        operand.index = index[operand.index];
        if (operand.index < 0) operand = {.kind = OperandKind::kConstant};
      }
      made.graph.nodes.push_back(std::move(node));
      if (!problem_.fixed_tiles.empty()) made.fixed_tiles.push_back(problem_.fixed_tiles[order_[i]]);
      if (!problem_.fixed_times.empty()) made.fixed_times.push_back(problem_.fixed_times[order_[i]]);
    }
    return made;
  }

  GraphMapping whole() const {
    GraphMapping made{problem_.ii, std::vector<Place>(order_.size()), {}};
    for (size_t i = 0; i < order_.size(); ++i) made.places[order_[i]] = partial_.places[i];
    return made;
  }

  bool holds() const {
    if (partial_.places.size() == order_.size()) return check_mapping(problem_, whole()).empty();
    for (const Violation& one : check_mapping(part_[partial_.places.size() - 1], partial_)) {
      if (one.rule != Rule::kStarters) return false;
    }
    return true;
  }

  bool extend(int last_start) {
    if (partial_.places.size() == order_.size()) return !accept || accept(whole());
    for (int time = 0; time <= last_start; ++time) {
      for (int tile = 0; tile < problem_.fabric.tiles() && --checks_ > 0; ++tile) {
        partial_.places.push_back({tile, time});
        if (holds() && extend(last_start)) return true;
        partial_.places.pop_back();
      }
    }
    return false;
  }

  const MappingProblem& problem_;
  std::vector<int> order_;
  std::vector<MappingProblem> part_;  // of the first 1, 2, ... nodes
  GraphMapping partial_;
  int64_t checks_ = 0;  // left
};

}  // namespace tilewright::cgra
