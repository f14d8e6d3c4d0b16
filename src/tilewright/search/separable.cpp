// Tables map values of their variables to fronts. Eliminating a variable adds up the tables that read it,
// front by front, and then takes all of its values together. How a point came about is kept as a tree.
#include "tilewright/search/separable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

using Needs = SeparableProblem::Needs;

struct FrontPoint {
  double loss = 0;
  Needs needs{};
  int trace = -1;             // of a point that is kept
  int left = -1, right = -1;  // traces that a new point adds up
};
using FrontPoints = std::vector<FrontPoint>;

// A sum of two others, or an option of a term.
struct FrontTrace {
  int left = -1, right = -1;
  int term = -1, cell = 0, option = 0;
};

struct FrontTable {
  std::vector<int> variables;      // ascending
  std::vector<FrontPoints> cells;  // the first variable's values counting fastest
};

Needs sum_of_needs(const Needs& a, const Needs& b) {
  Needs sum;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

bool covers_point(const FrontPoint& a, const FrontPoint& b) {
  if (a.loss > b.loss) return false;
  for (size_t i = 0; i < a.needs.size(); ++i) {
    if (a.needs[i] > b.needs[i]) return false;
  }
  return true;
}

class FrontElimination {
 public:
  FrontElimination(const SeparableProblem& problem, size_t most_kept, const Deadline* deadline)
      : problem_(problem), most_kept_(most_kept), watch_(deadline) {}

  SeparableFront run() {
    for (size_t t = 0; t < problem_.terms.size(); ++t) tables_.push_back(table_of(t));
    while (const std::optional<int> variable = next_variable()) eliminate(*variable);
    FrontTable all = constant();
    for (FrontTable& table : tables_) all = added(all, table, Needs{});
    SeparableFront front;
    front.exact = exact_;
    for (const FrontPoint& point : all.cells[0]) front.solutions.push_back(solution_of(point));
    return front;
  }

 private:
  int64_t values(int variable) const { return problem_.values[size_t(variable)]; }
  int64_t cells_of(const std::vector<int>& variables) const {
    int64_t count = 1;
    for (const int v : variables) count *= values(v);
    return count;
  }
  // Of `part`, whose variables are among those of `whole`.
  int64_t part_cell(const std::vector<int>& part, const std::vector<int>& whole, int64_t cell) const {
    int64_t result = 0, stride = 1;
    for (const int v : whole) {
      const int64_t value = cell % values(v);
      cell /= values(v);
      const auto place = std::find(part.begin(), part.end(), v);
      if (place == part.end()) continue;
      stride = 1;
      for (auto before = part.begin(); before != place; ++before) stride *= values(*before);
      result += value * stride;
    }
    return result;
  }

  FrontTable constant() {
    traces_.push_back({});
    FrontTable table;
    FrontPoint nothing;
    nothing.trace = int(traces_.size()) - 1;
    table.cells = {{nothing}};
    return table;
  }

  FrontTable table_of(size_t t) {
    const SeparableProblem::Term& term = problem_.terms[t];
    FrontTable table;
    table.variables = term.variables;
    std::sort(table.variables.begin(), table.variables.end());
    const int64_t count = cells_of(table.variables);
    TILEWRIGHT_CHECK(int64_t(term.options.size()) == count, "options for all values of a term's variables");
    for (int64_t cell = 0; cell < count; ++cell) {
      const int64_t own = part_cell(term.variables, table.variables, cell);
      FrontPoints points;
      for (size_t o = 0; o < term.options[size_t(own)].size(); ++o) {
        const SeparableProblem::Option& option = term.options[size_t(own)][o];
        FrontPoint point{option.loss, option.needs, int(traces_.size()), -1, -1};
        traces_.push_back({-1, -1, int(t), int(own), int(o)});
        points.push_back(point);
      }
      keep_front(points);
      table.cells.push_back(std::move(points));
    }
    return table;
  }

  // The one whose elimination makes the smallest table.
  std::optional<int> next_variable() const {
    std::optional<int> best;
    int64_t smallest = 0;
    for (int v = 0; v < int(problem_.values.size()); ++v) {
      std::vector<int> all;
      bool read = false;
      for (const FrontTable& table : tables_) {
        if (std::find(table.variables.begin(), table.variables.end(), v) == table.variables.end()) continue;
        read = true;
        all = union_of(all, table.variables);
      }
      if (read && (!best || cells_of(all) < smallest)) best = v, smallest = cells_of(all);
    }
    return best;
  }

  static std::vector<int> union_of(const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<int> all;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
  }

  void eliminate(int variable) {
    std::vector<FrontTable> reading, others;
    for (FrontTable& table : tables_) {
      const bool reads =
          std::find(table.variables.begin(), table.variables.end(), variable) != table.variables.end();
      (reads ? reading : others).push_back(std::move(table));
    }
    std::sort(reading.begin(), reading.end(),
              [](const FrontTable& a, const FrontTable& b) { return a.cells.size() < b.cells.size(); });
    Needs rest{};  // at least, of the tables that are not added up here
    for (const FrontTable& table : others) rest = sum_of_needs(rest, least_needs(table));
    FrontTable sum = std::move(reading[0]);
    for (size_t i = 1; i < reading.size(); ++i) {
      Needs later = rest;
      for (size_t j = i + 1; j < reading.size(); ++j) later = sum_of_needs(later, least_needs(reading[j]));
      sum = added(sum, reading[i], later);
    }
    others.push_back(without(std::move(sum), variable));
    tables_ = std::move(others);
  }

  Needs least_needs(const FrontTable& table) const {
    Needs least;
    least.fill(std::numeric_limits<double>::infinity());
    for (const FrontPoints& points : table.cells) {
      for (const FrontPoint& point : points) {
        for (size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], point.needs[i]);
      }
    }
    return least;
  }

  // All pairs of points within the limits, when everything else needs `rest`.
  FrontTable added(const FrontTable& a, const FrontTable& b, const Needs& rest) {
    FrontTable sum;
    sum.variables = union_of(a.variables, b.variables);
    const int64_t count = cells_of(sum.variables);
    for (int64_t cell = 0; cell < count; ++cell) {
      const FrontPoints& left = a.cells[size_t(part_cell(a.variables, sum.variables, cell))];
      const FrontPoints& right = b.cells[size_t(part_cell(b.variables, sum.variables, cell))];
      FrontPoints points;
      for (const FrontPoint& l : left) {
        watch_.check();
        for (const FrontPoint& r : right) {
          FrontPoint point{l.loss + r.loss, sum_of_needs(l.needs, r.needs), -1, l.trace, r.trace};
          if (within(sum_of_needs(point.needs, rest))) points.push_back(point);
        }
        if (points.size() > 64 * most_kept_) thin(points);
      }
      keep_front(points);
      sum.cells.push_back(std::move(points));
    }
    return sum;
  }

  FrontTable without(FrontTable table, int variable) {
    FrontTable result;
    result.variables = table.variables;
    std::erase(result.variables, variable);
    result.cells.resize(size_t(cells_of(result.variables)));
    for (size_t cell = 0; cell < table.cells.size(); ++cell) {
      FrontPoints& points = result.cells[size_t(part_cell(result.variables, table.variables, int64_t(cell)))];
      points.insert(points.end(), table.cells[cell].begin(), table.cells[cell].end());
    }
    for (FrontPoints& points : result.cells) keep_front(points);
    return result;
  }

  bool within(const Needs& needs) const {
    for (size_t i = 0; i < problem_.limits.size(); ++i) {
      if (needs[i] > problem_.limits[i]) return false;
    }
    return true;
  }

  void keep_front(FrontPoints& points) {
    if (points.size() > 4 * most_kept_) thin(points);
    std::sort(points.begin(), points.end(), [](const FrontPoint& a, const FrontPoint& b) {
      return a.loss != b.loss ? a.loss < b.loss : a.needs < b.needs;
    });
    FrontPoints kept;
    for (const FrontPoint& point : points) {
      const bool covered = std::any_of(kept.rbegin(), kept.rend(),
                                       [&](const FrontPoint& k) { return covers_point(k, point); });
      if (!covered) kept.push_back(point);
    }
    points = std::move(kept);
    if (points.size() > most_kept_) thin(points);
    for (FrontPoint& point : points) {
      if (point.trace >= 0) continue;
      point.trace = int(traces_.size());
      traces_.push_back({point.left, point.right});
    }
  }

  // One point for each cell of a grid over the needs, coarse enough for at most `most_kept_` points: the one
  // with the least loss.
  void thin(FrontPoints& points) {
    for (double steps = 4096; points.size() > most_kept_; steps /= 2) {
      std::map<std::array<int64_t, SeparableProblem::kMostNeeds>, FrontPoint> grid;
      for (const FrontPoint& point : points) {
        std::array<int64_t, SeparableProblem::kMostNeeds> key{};
        for (size_t i = 0; i < problem_.limits.size(); ++i) {
          key[i] = std::llround(std::floor(point.needs[i] * steps / std::max(problem_.limits[i], 1e-9)));
        }
        const auto [known, fresh] = grid.try_emplace(key, point);
        if (fresh || known->second.loss <= point.loss) continue;
        known->second = point;
      }
      if (grid.size() < points.size()) exact_ = false;
      points.clear();
      for (const auto& [key, point] : grid) points.push_back(point);
    }
  }

  SeparableSolution solution_of(const FrontPoint& point) const {
    SeparableSolution solution{point.loss, point.needs, std::vector<int>(problem_.values.size(), 0),
                               std::vector<int>(problem_.terms.size(), 0)};
    std::vector<int> open = {point.trace};
    while (!open.empty()) {
      const FrontTrace& trace = traces_[size_t(open.back())];
      open.pop_back();
      if (trace.left >= 0) open.push_back(trace.left);
      if (trace.right >= 0) open.push_back(trace.right);
      if (trace.term < 0) continue;
      solution.options[size_t(trace.term)] = trace.option;
      int64_t cell = trace.cell;
      for (const int v : problem_.terms[size_t(trace.term)].variables) {
        solution.values[size_t(v)] = int(cell % values(v));
        cell /= values(v);
      }
    }
    return solution;
  }

  const SeparableProblem& problem_;
  const size_t most_kept_;
  DeadlineWatch watch_;
  bool exact_ = true;
  std::vector<FrontTable> tables_;
  std::vector<FrontTrace> traces_;
};

}  // namespace

SeparableFront solve_separable(const SeparableProblem& problem, size_t most_kept, const Deadline* deadline) {
  TILEWRIGHT_CHECK(!problem.limits.empty() && problem.limits.size() <= SeparableProblem::kMostNeeds,
                   "between one and four limits");
  return FrontElimination(problem, std::max<size_t>(most_kept, 2), deadline).run();
}

}  // namespace tilewright
