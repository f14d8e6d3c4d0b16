// Best-first branch and bound on boxes.
#include "tilewright/spatial/formula/box_search.h"

#include <algorithm>
#include <limits>

#include "tilewright/spatial/formula/box.h"

namespace tilewright::study {
namespace {

constexpr int kRounds = 4;

struct Node {
  Box box;
  double bound = 0;
  int64_t number = 0;  // order of creation
};

// For a heap with the lowest bound on top; among equal ones the newest, which is the deepest.
bool later(const Node& a, const Node& b) {
  return a.bound != b.bound ? a.bound > b.bound : a.number < b.number;
}

class Search {
 public:
  Search(const BoxProblem& problem, const BoxSearchOptions& options)
      : problem_(problem),
        options_(options),
        watch_(options.deadline),
        narrower_(problem),
        variables_(problem.upper.size()) {
    exact_values_.resize(problem.exact_graph.nodes().size());
  }

  BoxSearchResult run() {
    Box root{};
    for (size_t v = 0; v < variables_; ++v) root[v] = {1, problem_.upper[v]};
    add(root);
    while (!queue_.empty() && !done()) {
      if (result_.nodes >= options_.most_nodes || watch_.expired()) {
        result_.status = BoxSearchStatus::kStopped;
        result_.bound = std::min(queue_.front().bound, result_.has_point ? result_.value : kInfinity);
        return result_;
      }
      std::pop_heap(queue_.begin(), queue_.end(), later);
      const Node node = queue_.back();
      queue_.pop_back();
      visit(node);
    }
    result_.status = result_.has_point ? BoxSearchStatus::kOptimal : BoxSearchStatus::kInfeasible;
    result_.bound = result_.has_point ? result_.value : kInfinity;
    return result_;
  }

 private:
  bool done() const { return result_.has_point && (options_.first_point || queue_.front().bound > cut_); }

  bool is_point(const Box& box) const {
    return std::all_of(box.begin(), box.begin() + int64_t(variables_),
                       [](const Interval& x) { return x.low == x.high; });
  }

  // Narrows a box, tries points of it and queues it unless it is settled.
  void add(Box box) {
    if (!narrower_.narrow(box, cut_, kRounds)) {
      ++result_.pruned;
      return;
    }
    Node node{box, narrower_.objective_bound(box), created_++};
    try_corner(box, true);
    if (is_point(box)) return;
    try_corner(box, false);
    if (node.bound > cut_) {
      ++result_.pruned;
      return;
    }
    queue_.push_back(node);
    std::push_heap(queue_.begin(), queue_.end(), later);
  }

  void visit(const Node& node) {
    ++result_.nodes;
    if (node.bound > cut_) {
      ++result_.pruned;
      return;
    }
    // Early on every box sends a dive for a good first point; later ones only now and then.
    if (result_.nodes <= 32 || result_.nodes % 16 == 0) dive(node.box);
    const size_t v = split_variable(node.box);
    // In the middle of the logarithms: most bounds fall as 1/x.
    const Interval range = node.box[v];
    const double middle =
        std::clamp(std::floor(std::sqrt(range.low * range.high)), range.low, range.high - 1);
    Box low = node.box, high = node.box;
    low[v].high = middle;
    high[v].low = middle + 1;
    add(low);
    add(high);
  }

  // The variable whose range spreads the objective most: the spread of each term is shared out among the
  // variables in it by the width of their ranges.
  size_t split_variable(const Box& box) {
    const std::span<const Interval> atoms = narrower_.atom_bounds(box);
    std::array<double, kMostVariables> score{}, width{};
    for (size_t v = 0; v < variables_; ++v) width[v] = std::log(box[v].high / box[v].low);
    share_spread(problem_.objective.back(), atoms, width, score);
    size_t best = widest(score, width);
    if (score[best] > 0) return best;
    for (const PolynomialLimit& row : problem_.hold) share_spread(row.polynomial, atoms, width, score);
    best = widest(score, width);
    return score[best] > 0 ? best : widest(width, width);
  }

  size_t widest(const std::array<double, kMostVariables>& score,
                const std::array<double, kMostVariables>& width) const {
    size_t best = variables_;
    for (size_t v = 0; v < variables_; ++v) {
      if (width[v] > 0 && (best == variables_ || score[v] > score[best])) best = v;
    }
    return best;
  }

  void share_spread(const Polynomial& polynomial, std::span<const Interval> atoms,
                    const std::array<double, kMostVariables>& width,
                    std::array<double, kMostVariables>& score) {
    for (const Term& term : polynomial.terms) {
      const Interval bounds = term_bounds(term, atoms);
      const double spread = std::min(bounds.high - bounds.low, 1e300);
      if (!(spread > 0)) continue;
      double total = 0;
      const uint32_t used = variables_of(term);
      for (size_t v = 0; v < variables_; ++v) total += (used >> v & 1u) != 0 ? width[v] : 0;
      if (total <= 0) continue;
      for (size_t v = 0; v < variables_; ++v) {
        if ((used >> v & 1u) != 0) score[v] += spread * width[v] / total;
      }
    }
  }

  uint32_t variables_of(const Term& term) {
    if (atom_variables_.empty()) find_atom_variables();
    uint32_t used = 0;
    for (const Factor& factor : term.factors) used |= atom_variables_[size_t(factor.atom)];
    return used;
  }

  void find_atom_variables() {
    const std::vector<ExpressionNode>& nodes = problem_.atom_graph.nodes();
    std::vector<uint32_t> used(nodes.size(), 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].operation == FormulaOperation::kConstant) continue;
      if (nodes[i].operation == FormulaOperation::kSymbol) {
        used[i] = 1u << nodes[i].a;
        continue;
      }
      used[i] = used[size_t(nodes[i].a)] | (nodes[i].b < 0 ? 0 : used[size_t(nodes[i].b)]);
    }
    for (const int atom : problem_.atoms) atom_variables_.push_back(used[size_t(atom)]);
  }

  void try_corner(const Box& box, bool high) {
    std::array<double, kMostVariables> point{};
    for (size_t v = 0; v < variables_; ++v) point[v] = high ? box[v].high : box[v].low;
    try_point(std::span(point.data(), variables_));
  }

  // Fixes one variable after the other at the better end of what the constraints leave it; each dive begins
  // with another variable.
  void dive(Box box) {
    for (size_t k = 0; k < variables_; ++k) {
      const size_t v = (k + size_t(result_.nodes)) % variables_;
      if (box[v].low == box[v].high) continue;
      Box low = box, high = box;
      low[v].high = box[v].low;
      high[v].low = box[v].high;
      const double at_low = narrower_.objective_bound(low);
      const double at_high = narrower_.objective_bound(high);
      box = at_high <= at_low ? high : low;
      if (!narrower_.narrow(box, cut_, 2)) return;
    }
    try_corner(box, true);
  }

  void try_point(std::span<const double> point) {
    evaluate(problem_.exact_graph, point, exact_values_);
    for (const Comparison& c : problem_.exact) {
      if (!holds(c.relation, exact_values_[size_t(c.left)], exact_values_[size_t(c.right)])) return;
    }
    const double value = exact_values_[size_t(problem_.exact_objective)];
    if (!std::isfinite(value) || value > cut_) return;
    result_.has_point = true;
    result_.value = value;
    result_.point.assign(point.begin(), point.end());
    cut_ = value - std::max(kRelativeTie * std::abs(value), std::numeric_limits<double>::min());
  }

  const BoxProblem& problem_;
  const BoxSearchOptions& options_;
  DeadlineWatch watch_;
  BoxNarrower narrower_;
  size_t variables_;
  std::vector<double> exact_values_;
  std::vector<uint32_t> atom_variables_;
  std::vector<Node> queue_;
  BoxSearchResult result_;
  double cut_ = kInfinity;  // only points at or below it are of interest
  int64_t created_ = 0;
};

}  // namespace

BoxSearchResult minimise(const BoxProblem& problem, const BoxSearchOptions& options) {
  return Search(problem, options).run();
}

}  // namespace tilewright::study
