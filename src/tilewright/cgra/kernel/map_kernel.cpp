// The search over II and horizon. At each II, formulas (window_formula.h) of growing makespan are solved
// under a budget of conflicts that grows from round to round, cheap ones before dear ones: a corner of the
// array before the whole, one link a clock before several. An answer "no" of the whole array with all its
// links refutes that makespan; with the makespan that suffices for every mapping refuted, the II is.
#include "tilewright/cgra/kernel/map_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/cgra/kernel/start_windows.h"
#include "tilewright/cgra/kernel/sub_array.h"
#include "tilewright/cgra/kernel/window_formula.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {
namespace {

constexpr int kWidestWindow = 8;  // of a node, where the schedule is given more than kExact
constexpr int kExactSlack = 4;    // clocks beyond the least makespan tried with full windows
constexpr int kSlacks[] = {0, 1, 2, 3, 4, 6, 9, 13, 18};
constexpr int64_t kFirstConflicts = 4000;
constexpr int kRounds = 4, kRoundGrowth = 6;
constexpr int64_t kShorteningConflicts = 100000;

// One formula to solve.
struct Attempt {
  int makespan = 0;
  int width = 0;  // of the windows; 0: full
  int64_t conflicts = 0;
};

class KernelMapper {
 public:
  KernelMapper(MappingProblem problem, const KernelOptions& options)
      : problem_(std::move(problem)), options_(options), deadline_(options.seconds) {}

  KernelResult run();

 private:
  bool map_at(int ii);
  bool round_at(int64_t conflicts);
  void shorten();
  Satisfiable solve(const Fabric& array, Attempt attempt);
  double left() const { return std::max(0.0, end_of_ii_ - deadline_.seconds()); }

  MappingProblem problem_;
  KernelOptions options_;
  Deadline deadline_;
  double end_of_ii_ = 0;  // seconds; later ones belong to the next II
  int least_ = 0;         // makespan, at this II: all smaller ones are refuted
  KernelResult result_;
};

// Any answer but kNo of a cut or restricted formula says nothing about the problem.
Satisfiable KernelMapper::solve(const Fabric& array, Attempt attempt) {
  MappingProblem part = problem_;
  part.fabric = array;
  PlacementModel model = compile_model(part);
  std::optional<StartWindows> windows = start_windows(model, attempt.makespan);
  if (windows && attempt.width > 0) windows = narrow_windows(model, *windows, attempt.width);
  if (!windows) return Satisfiable::kNo;
  const std::vector<int> tiles = representative_tiles(array, model.allowed);
  int hub = 0;
  for (int node = 0; node < model.nodes; ++node) {
    if (model.outgoing[node].size() > model.outgoing[hub].size()) hub = node;
  }
  for (int tile = 0; model.nodes > 0 && tile < model.tiles; ++tile) {
    if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) model.allowed[hub][tile] = 0;
  }
  const WindowFormula formula(array, model, *windows);
  SatSolver solver;
  solver.option("seed", int(options_.seed % 2000000000));
  solver.add(formula.cnf());
  ++result_.counts.evaluations;
  const Satisfiable answer = solver.solve({}, {.seconds = left(), .conflicts = attempt.conflicts});
  if (answer == Satisfiable::kYes) {
    ++result_.counts.valid;
    result_.mapping = embed_mapping(formula.read(solver), array, problem_.fabric);
    result_.makespan = makespan_cycles(*result_.mapping, model.latency_cycles);
  }
  return answer;
}

bool KernelMapper::round_at(int64_t conflicts) {
  const bool free = problem_.fixed_tiles.empty();
  const std::vector<Fabric> arrays =
      free ? growing_arrays(problem_.fabric, int(problem_.graph.nodes.size()), problem_.ii)
           : std::vector<Fabric>{problem_.fabric};
  const int first = least_;
  for (const int slack : kSlacks) {
    const int makespan = first + slack, width = slack > kExactSlack ? kWidestWindow : 0;
    if (makespan < least_) continue;
    for (const Fabric& array : arrays) {
      std::vector<int> hops{array.hops_per_cycle};
      if (array.hops_per_cycle > 1) hops.insert(hops.begin(), 1);
      for (const int most : hops) {
        if (left() <= 0) return false;
        Fabric used = array;
        used.hops_per_cycle = most;
        const Satisfiable answer = solve(used, {makespan, width, conflicts});
        if (answer == Satisfiable::kYes) return true;
        const bool whole = used == problem_.fabric && width == 0;
        if (answer == Satisfiable::kNo && whole && makespan == least_) least_ = makespan + 1;
      }
    }
  }
  return false;
}

bool KernelMapper::map_at(int ii) {
  problem_.ii = ii;
  PlacementModel model = compile_model(problem_);
  const std::optional<int> least = least_makespan_cycles(model);
  if (!least) {
    result_.refuted.push_back({ii, "the times of a cycle (or fixed times) contradict this II"});
    return false;
  }
  least_ = *least;
  int64_t conflicts = kFirstConflicts;
  for (int round = 0; round < kRounds && left() > 0; ++round, conflicts *= kRoundGrowth) {
    if (round_at(conflicts)) return true;
    if (least_ > sufficient_makespan_cycles(model, problem_.fabric.delay_registers)) {
      result_.refuted.push_back(
          {ii, fmt::format("no schedule of up to {} clocks, and none needs more", least_ - 1)});
      return false;
    }
  }
  return false;
}

void KernelMapper::shorten() {
  end_of_ii_ = options_.seconds;
  while (least_ < result_.makespan && left() > 0) {
    const Satisfiable answer = solve(problem_.fabric, {least_, 0, kShorteningConflicts});
    if (answer == Satisfiable::kUnknown) break;
    if (answer == Satisfiable::kNo) ++least_;
  }
}

KernelResult KernelMapper::run() {
  result_.bound = minimum_ii(problem_);
  result_.least_ii = result_.bound.value();
  const int most = options_.most_ii > 0 ? options_.most_ii : problem_.fabric.max_ii;
  for (int ii = result_.least_ii; ii <= most && !deadline_.expired(); ++ii) {
    end_of_ii_ = (deadline_.seconds() + options_.seconds) / 2;
    if (map_at(ii)) break;
    if (result_.least_ii == ii && !result_.refuted.empty() && result_.refuted.back().ii == ii)
      result_.least_ii = ii + 1;
    if (deadline_.seconds() > options_.seconds) break;
  }
  if (result_.mapping) {
    if (options_.shortest) shorten();
    result_.least_makespan = least_;
    result_.status =
        result_.mapping->ii == result_.least_ii ? SearchStatus::kOptimal : SearchStatus::kFeasible;
  } else if (result_.least_ii > most) {
    result_.status = SearchStatus::kInfeasible;
  }
  result_.seconds = deadline_.seconds();
  return std::move(result_);
}

}  // namespace

KernelResult map_kernel(MappingProblem problem, const KernelOptions& options) {
  problem.rules.routed = true;
  const MinimumIi bound = minimum_ii(problem);
  problem.ii = std::min(bound.value(), problem.fabric.max_ii);
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  if (problem.fabric.cycles_per_distance > 0) {
    diagnostics.error(ErrorKind::kUnsupported, "fabric '" + problem.fabric.name + "'", "cycles_per_distance",
                      "loop kernels are mapped onto arrays whose links take no clock",
                      "a mesh, torus or hycube; for this one, the exact mapper with a given II");
  }
  diagnostics.raise_if_any();
  return KernelMapper(std::move(problem), options).run();
}

}  // namespace tilewright::cgra
