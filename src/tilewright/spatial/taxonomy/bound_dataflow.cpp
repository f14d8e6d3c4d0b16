// Substitution of the layer and the machine, and the forms that the box search takes.
#include "tilewright/spatial/taxonomy/bound_dataflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tilewright::study {
namespace {

constexpr double kMostUpper = 0x1.0p40;

std::vector<int> identity(size_t count) {
  std::vector<int> numbers(count);
  for (size_t k = 0; k < count; ++k) numbers[k] = int(k);
  return numbers;
}

// The part of `graph`, whose symbols stay, that `nodes` need; `nodes` are renumbered.
ExpressionGraph part_of(const ExpressionGraph& graph, std::vector<int*> nodes, size_t symbols) {
  return substitute(graph, std::vector<std::optional<double>>(symbols), identity(symbols), nodes);
}

// The node of the energy that the search charges.
int energy_node(BoundDataflow& bound, const AccessEnergy& energy) {
  const double cost[kLevels] = {energy.dram, energy.buffer, energy.array, energy.register_file};
  int sum = bound.graph.constant(0);
  for (size_t level = 0; level < kLevels; ++level) {
    const int weight = bound.graph.constant(cost[level]);
    for (const int node : bound.objective[level]) {
      sum = bound.graph.apply(FormulaOperation::kAdd, sum,
                              bound.graph.apply(FormulaOperation::kMultiply, weight, node));
    }
  }
  return sum;
}

// Whether two forms of one expression are the same sum.
bool same(const Polynomial& a, const Polynomial& b) {
  return std::equal(
      a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
      [](const Term& x, const Term& y) { return x.coefficient == y.coefficient && x.factors == y.factors; });
}

std::vector<Polynomial> both_forms(Expander& expander, int node) {
  std::vector<Polynomial> forms = {expander.expand(node, Form::kDistributed),
                                   expander.expand(node, Form::kFactored)};
  if (same(forms[0], forms[1])) forms.pop_back();
  return forms;
}

// left - right <= 0, or the other way round, or both.
void add_rows(const Comparison& comparison, ExpressionGraph& graph, std::vector<int>& rows) {
  const Relation r = comparison.relation;
  if (r != Relation::kGreaterEqual && r != Relation::kGreater) {
    rows.push_back(graph.apply(FormulaOperation::kSubtract, comparison.left, comparison.right));
  }
  if (r != Relation::kLessEqual && r != Relation::kLess) {
    rows.push_back(graph.apply(FormulaOperation::kSubtract, comparison.right, comparison.left));
  }
}

// The problem of minimising node `objective` under `constraints`.
BoxProblem box_problem(const BoundDataflow& bound, const std::vector<Comparison>& constraints,
                       int objective) {
  BoxProblem problem;
  problem.upper = bound.upper;
  ExpressionGraph graph = bound.graph;
  std::vector<int> variables;
  for (size_t v = 0; v < bound.upper.size(); ++v) variables.push_back(graph.symbol(int(v)));
  std::vector<int> rows;
  for (const Comparison& c : constraints) add_rows(c, graph, rows);
  Expander expander(graph);
  for (const int variable : variables) expander.atom(variable);
  problem.objective = both_forms(expander, objective);
  for (const int row : rows) {
    for (Polynomial& form : both_forms(expander, row)) problem.hold.push_back({std::move(form), 0});
  }
  problem.atoms = expander.atoms();
  problem.atom_sums = expander.atom_sums();
  std::vector<int*> nodes;
  for (int& atom : problem.atoms) nodes.push_back(&atom);
  problem.atom_graph = part_of(graph, nodes, variables.size());

  problem.exact = constraints;
  problem.exact_objective = objective;
  nodes = {&problem.exact_objective};
  for (Comparison& c : problem.exact) {
    nodes.push_back(&c.left);
    nodes.push_back(&c.right);
  }
  problem.exact_graph = part_of(graph, nodes, variables.size());
  return problem;
}

std::string reason(const DataflowConstraint& constraint, Interval left, Interval right) {
  const Relation r = constraint.comparison.relation;
  const std::string head = fmt::format("{} ({}): ", constraint.name, constraint.text);
  if ((r == Relation::kLessEqual || r == Relation::kLess) && left.low >= right.high) {
    return head + fmt::format("needs at least {:.15g}, has at most {:.15g}", left.low, right.high);
  }
  if ((r == Relation::kGreaterEqual || r == Relation::kGreater) && left.high <= right.low) {
    return head + fmt::format("reaches at most {:.15g}, must be at least {:.15g}", left.high, right.low);
  }
  return head + fmt::format("the sides range over {:.15g}..{:.15g} and {:.15g}..{:.15g}", left.low, left.high,
                            right.low, right.high);
}

bool cannot_hold(Relation relation, Interval left, Interval right) {
  switch (relation) {
    case Relation::kLessEqual:
      return left.low > right.high;
    case Relation::kLess:
      return left.low >= right.high;
    case Relation::kGreaterEqual:
      return left.high < right.low;
    case Relation::kGreater:
      return left.high <= right.low;
    case Relation::kEqual:
      return left.low > right.high || left.high < right.low;
  }
  return false;
}

}  // namespace

std::vector<std::optional<double>> symbol_values(const Dataflow& dataflow, const LayerShape& layer,
                                                 const StudyMachine& machine, const Storage& storage) {
  const double fixed[] = {double(layer.G),
                          double(layer.N),
                          double(layer.C),
                          double(layer.M),
                          double(layer.H),
                          double(layer.W),
                          double(layer.R),
                          double(layer.S),
                          double(layer.E),
                          double(layer.F),
                          double(layer.U),
                          double(layer.input_words()),
                          double(layer.weight_words()),
                          double(layer.output_words()),
                          double(layer.macs()),
                          double(machine.pes),
                          double(storage.buffer_words),
                          double(storage.register_file_words)};
  static_assert(std::size(fixed) == kFixedSymbols.size());
  std::vector<std::optional<double>> values(std::begin(fixed), std::end(fixed));
  for (const DataflowParameter& parameter : dataflow.parameters) values.emplace_back(parameter.value);
  return values;
}

BoundDataflow bind_dataflow(const Dataflow& dataflow, const LayerShape& layer, const StudyMachine& machine,
                            const Storage& storage, const SearchOptions& options) {
  Diagnostics diagnostics;
  layer.verify(diagnostics);
  diagnostics.raise_if_any();
  std::vector<std::optional<double>> values = symbol_values(dataflow, layer, machine, storage);
  values.resize(values.size() + dataflow.variables.size());
  std::vector<int> renumber(values.size(), -1);
  for (size_t v = 0; v < dataflow.variables.size(); ++v) {
    renumber[size_t(dataflow.first_variable_symbol()) + v] = int(v);
  }
  BoundDataflow bound;
  bound.reported = dataflow.reported;
  bound.objective = options.reported_objective ? dataflow.reported : dataflow.objective;
  bound.active_pes = dataflow.active_pes;
  std::vector<int> uppers;
  for (const DataflowVariable& variable : dataflow.variables) uppers.push_back(variable.upper);
  std::vector<int*> nodes = {&bound.active_pes};
  for (AccessNodes* table : {&bound.reported, &bound.objective}) {
    for (auto& row : *table) {
      for (int& node : row) nodes.push_back(&node);
    }
  }
  for (int& upper : uppers) nodes.push_back(&upper);
  for (const DataflowConstraint& constraint : dataflow.constraints) {
    bound.constraints.push_back(constraint.comparison);
  }
  for (Comparison& comparison : bound.constraints) {
    nodes.push_back(&comparison.left);
    nodes.push_back(&comparison.right);
  }
  bound.graph = substitute(dataflow.graph, values, renumber, nodes);
  for (size_t v = 0; v < uppers.size(); ++v) {
    const std::optional<double> upper = bound.graph.constant_value(uppers[v]);
    if (!upper || !(*upper < kMostUpper)) {
      diagnostics.error(
          ErrorKind::kInvalidInput, fmt::format("dataflow '{}', layer '{}'", dataflow.name, layer.name),
          "variables." + dataflow.variables[v].name, "the upper bound is not a number below 2^40");
    }
    bound.upper.push_back(std::floor(upper.value_or(1)));
  }
  diagnostics.raise_if_any();
  return bound;
}

BoxProblem energy_problem(const BoundDataflow& original, const AccessEnergy& energy, double idle_below) {
  BoundDataflow bound = original;
  const int objective = energy_node(bound, energy);
  std::vector<Comparison> constraints = bound.constraints;
  if (idle_below > 0)
    constraints.push_back({bound.active_pes, bound.graph.constant(idle_below), Relation::kGreater});
  return box_problem(bound, constraints, objective);
}

BoxProblem active_pes_problem(const BoundDataflow& original, const AccessEnergy& energy,
                              std::optional<double> highest_energy) {
  BoundDataflow bound = original;
  std::vector<Comparison> constraints = bound.constraints;
  if (highest_energy) {
    const int limit = bound.graph.constant(*highest_energy + kRelativeTie * std::abs(*highest_energy));
    constraints.push_back({energy_node(bound, energy), limit, Relation::kLessEqual});
  }
  const int fewest =
      bound.graph.apply(FormulaOperation::kSubtract, bound.graph.constant(0), bound.active_pes);
  return box_problem(bound, constraints, fewest);
}

std::vector<std::string> infeasibility(const Dataflow& dataflow, const BoundDataflow& original,
                                       const BoxSearchOptions& limits) {
  BoundDataflow bound = original;
  const int zero = bound.graph.constant(0);
  std::vector<std::string> reasons;
  for (size_t v = 0; v < bound.upper.size(); ++v) {
    if (bound.upper[v] >= 1) continue;
    reasons.push_back(fmt::format("variable {}: its upper bound {:.15g} is below 1",
                                  dataflow.variables[v].name, bound.upper[v]));
  }
  if (!reasons.empty()) return reasons;
  std::vector<Interval> box, values(bound.graph.nodes().size());
  for (const double upper : bound.upper) box.push_back({1, upper});
  evaluate(bound.graph, box, values);
  const auto sides = [&](size_t k) {
    const Comparison& c = bound.constraints[k];
    return std::pair(values[size_t(c.left)], values[size_t(c.right)]);
  };
  for (size_t k = 0; k < bound.constraints.size(); ++k) {
    const auto both = sides(k);
    if (!cannot_hold(bound.constraints[k].relation, both.first, both.second)) continue;
    reasons.push_back(reason(dataflow.constraints[k], both.first, both.second));
  }
  if (!reasons.empty()) return reasons;
  // None fails alone: leave out, one by one, what is not needed for the contradiction.
  std::vector<size_t> needed(bound.constraints.size());
  for (size_t k = 0; k < needed.size(); ++k) needed[k] = k;
  BoxSearchOptions feasibility = limits;
  feasibility.first_point = true;
  for (size_t k = bound.constraints.size(); k-- > 0;) {
    std::vector<Comparison> rest;
    for (const size_t other : needed) {
      if (other != k) rest.push_back(bound.constraints[other]);
    }
    const BoxProblem problem = box_problem(bound, rest, zero);
    if (minimise(problem, feasibility).status != BoxSearchStatus::kInfeasible) continue;
    needed.erase(std::find(needed.begin(), needed.end(), k));
  }
  for (const size_t k : needed) {
    const auto both = sides(k);
    reasons.push_back(reason(dataflow.constraints[k], both.first, both.second));
  }
  return reasons;
}

}  // namespace tilewright::study
