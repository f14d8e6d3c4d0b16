// The search over II and horizon. At each II, formulas (window_formula.h) of growing makespan are solved
// under a budget of conflicts that grows from round to round, cheap ones first: a corner of the array before
// the whole, one link per clock before several. If the whole array with all its links has no solution, that
// makespan is refuted. An II is refuted by the makespan that suffices for every mapping, where that formula
// is small, or by the relaxation without times (any_length_formula.h).
#include "tilewright/cgra/kernel/map_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tilewright/cgra/kernel/any_length_formula.h"
#include "tilewright/cgra/kernel/start_windows.h"
#include "tilewright/cgra/kernel/sub_array.h"
#include "tilewright/cgra/kernel/window_formula.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {
namespace {

constexpr int kWidestWindow = 8;  // of a node, where the schedule is given more than kExactSlack
constexpr int kExactSlack = 4;    // clocks beyond the least makespan tried with full windows
// Clocks beyond the least makespan, in the order of trial: often the least will do; where it does not, a
// little room helps most. Shortening comes later.
constexpr int kSlacks[] = {0, 3, 1, 2, 4, 6, 9, 13};
constexpr int64_t kKernelConflicts = 4000;
constexpr int kRounds = 4, kRoundGrowth = 6;
constexpr int64_t kShorteningConflicts = 30000;
constexpr int64_t kMostPlaces = 40000;  // nodes x clocks x tiles x hops of a formula that decides an II

constexpr int kFollowedSlots = 2;  // multiples of II for which the relaxation follows a value

// One formula to solve.
struct Attempt {
  int makespan = 0;
  int width = 0;  // of the windows; 0: full
  int64_t conflicts = 0;
  bool refute = false;  // tune the solver for the answer "no"
};

// Keeps the node with the most consumers on one tile of each class of symmetric ones. Refuting becomes
// cheaper, finding does not.
void break_symmetry(const Fabric& array, PlacementModel& model) {
  const std::vector<int> tiles = representative_tiles(array, model.allowed, model.deadline);
  int hub = 0;
  for (int node = 0; node < model.nodes; ++node) {
    if (model.outgoing[node].size() > model.outgoing[hub].size()) hub = node;
  }
  for (int tile = 0; model.nodes > 0 && tile < model.tiles; ++tile) {
    if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) model.allowed[hub][tile] = 0;
  }
}

class KernelMapper {
 public:
  KernelMapper(MappingProblem problem, const KernelOptions& options)
      : problem_(std::move(problem)), options_(options), deadline_(options.seconds, options.deadline) {}

  KernelResult run();

 private:
  void map();
  bool map_at(int ii);
  bool round_at(int64_t conflicts);
  std::vector<Fabric> restrictions() const;
  Satisfiable decide(const PlacementModel& model, int64_t conflicts);
  bool refute_every_length(PlacementModel model, int64_t conflicts);
  void shorten();
  int most_ii() const {
    const int limit = problem_.fabric.max_ii;
    return options_.most_ii > 0 ? std::min(limit, options_.most_ii) : limit;
  }
  Satisfiable solve(const Fabric& array, Attempt attempt);
  Satisfiable solve_part(const Fabric& array, Attempt attempt, const Deadline& deadline);
  bool over() const { return share_ == nullptr || share_->over(); }
  // Builds and solves one formula, on a part of the time of its own, since it may need too much memory alone.
  template <typename Ask>
  Satisfiable ask(const Ask& ask);

  MappingProblem problem_;
  KernelOptions options_;
  Deadline deadline_;
  std::unique_ptr<Deadline> share_;  // of the II at hand; later seconds belong to the next one
  int least_ = 0;                    // makespan, at this II: all smaller ones are refuted
  bool too_large_ = false;           // a formula did not fit into the memory
  KernelResult result_;
};

template <typename Ask>
Satisfiable KernelMapper::ask(const Ask& ask) {
  const Deadline part(Deadline::kNoLimit, share_.get());
  Satisfiable answer = Satisfiable::kUnknown;
  finishes(part, [&] { answer = ask(part); });
  if (part.ending() == Ending::kMemory) too_large_ = true;
  return answer;
}

// Any answer but kNo of a cut or restricted formula says nothing about the problem.
Satisfiable KernelMapper::solve(const Fabric& array, Attempt attempt) {
  return ask([&](const Deadline& part) { return solve_part(array, attempt, part); });
}

Satisfiable KernelMapper::solve_part(const Fabric& array, Attempt attempt, const Deadline& deadline) {
  MappingProblem part = problem_;
  part.fabric = array;
  PlacementModel model = compile_model(part, &deadline);
  std::optional<StartWindows> windows = start_windows(model, attempt.makespan);
  if (windows && attempt.width > 0) windows = narrow_windows(model, *windows, attempt.width);
  if (!windows) return Satisfiable::kNo;
  if (attempt.refute) break_symmetry(array, model);
  const WindowFormula formula(array, model, *windows);
  SatSolver solver;
  solver.option("seed", int(options_.seed % 2000000000));
  if (!attempt.refute) solver.option("stabilizeonly", 1);  // stable phases find models, the others refute
  solver.add(formula.cnf(), &deadline);
  ++result_.counts.evaluations;
  const Satisfiable answer = solver.solve({}, {.deadline = &deadline, .conflicts = attempt.conflicts});
  if (answer == Satisfiable::kYes) {
    ++result_.counts.valid;
    result_.mapping = embed_mapping(formula.read(solver), array, problem_.fabric);
    result_.makespan = makespan_cycles(*result_.mapping, model.latency_cycles);
  }
  return answer;
}

// Corners before the whole, and all of them with one link a clock before several: where the restricted
// problem has a mapping, it is found sooner.
std::vector<Fabric> KernelMapper::restrictions() const {
  std::vector<Fabric> arrays{problem_.fabric};
  if (problem_.fixed_tiles.empty())
    arrays = growing_arrays(problem_.fabric, int(problem_.graph.nodes.size()), problem_.ii);
  if (problem_.fabric.hops_per_cycle == 1) return arrays;
  std::vector<Fabric> single = arrays;
  for (Fabric& array : single) array.hops_per_cycle = 1;
  single.insert(single.end(), arrays.begin(), arrays.end());
  return single;
}

bool KernelMapper::round_at(int64_t conflicts) {
  const int first = least_;
  for (const Fabric& array : restrictions()) {
    for (const int slack : kSlacks) {
      const int makespan = first + slack, width = slack > kExactSlack ? kWidestWindow : 0;
      if (makespan < least_) continue;
      if (over()) return false;
      const Satisfiable answer = solve(array, {makespan, width, conflicts});
      if (answer == Satisfiable::kYes) return true;
      const bool whole = array == problem_.fabric && width == 0;
      if (answer == Satisfiable::kNo && whole && makespan == least_) least_ = makespan + 1;
    }
  }
  return false;
}

bool KernelMapper::map_at(int ii) {
  problem_.ii = ii;
  PlacementModel model = compile_model(problem_, share_.get());
  const std::optional<int> least = least_makespan_cycles(model);
  if (!least) {
    result_.refuted.push_back({ii, "the times of a cycle (or fixed times) contradict this II"});
    return false;
  }
  least_ = *least;
  int64_t conflicts = kKernelConflicts;
  for (int round = 0; round < kRounds && !over(); ++round, conflicts *= kRoundGrowth) {
    if (round_at(conflicts)) return true;
    const Satisfiable answer = decide(model, conflicts);
    if (answer != Satisfiable::kUnknown) return answer == Satisfiable::kYes;
    if (refute_every_length(model, conflicts)) return false;
  }
  return false;
}

// By the relaxation without times, where it has no model.
bool KernelMapper::refute_every_length(PlacementModel model, int64_t conflicts) {
  break_symmetry(problem_.fabric, model);
  const Satisfiable answer = ask([&](const Deadline& part) {
    model.deadline = &part;
    SatSolver solver;
    solver.add(any_length_formula(problem_.fabric, model, kFollowedSlots * model.ii), &part);
    ++result_.counts.evaluations;
    return solver.solve({}, {.deadline = &part, .conflicts = conflicts});
  });
  if (answer != Satisfiable::kNo) return false;
  result_.refuted.push_back({model.ii,
                             "places and routes contradict each other even if operations have slots but no "
                             "times, so a longer schedule does not help"});
  return true;
}

// The whole question in one formula, where that is small enough to hope for an answer.
Satisfiable KernelMapper::decide(const PlacementModel& model, int64_t conflicts) {
  const int enough = sufficient_makespan_cycles(model, problem_.fabric.delay_registers);
  const int64_t places = int64_t(model.nodes) * enough * model.tiles * problem_.fabric.hops_per_cycle;
  if (places > kMostPlaces) return Satisfiable::kUnknown;
  const Satisfiable answer = solve(problem_.fabric, {enough, 0, conflicts, true});
  if (answer == Satisfiable::kNo) {
    result_.refuted.push_back(
        {model.ii,
         fmt::format(
             "no schedule of up to {} clocks, and if a longer one exists, one of this length does, too",
             enough)});
  }
  return answer;
}

void KernelMapper::shorten() {
  share_ = std::make_unique<Deadline>(Deadline::kNoLimit, &deadline_);
  const int found = result_.makespan;
  for (int makespan = least_; makespan < found && !over(); ++makespan) {
    const Satisfiable answer = solve(problem_.fabric, {makespan, 0, kShorteningConflicts, true});
    if (answer == Satisfiable::kYes) return;
    if (answer == Satisfiable::kNo && makespan == least_) least_ = makespan + 1;
  }
}

// II after II, each on half of the time that is left.
void KernelMapper::map() {
  result_.bound = minimum_ii(problem_, &deadline_);
  result_.least_ii = result_.bound.value();
  for (int ii = result_.least_ii; ii <= most_ii() && !deadline_.over(); ++ii) {
    share_ = std::make_unique<Deadline>(deadline_.left() / 2, &deadline_);
    bool found = false;
    finishes(*share_, [&] { found = map_at(ii); });
    if (found) break;
    if (result_.least_ii == ii && !result_.refuted.empty() && result_.refuted.back().ii == ii)
      result_.least_ii = ii + 1;
  }
  if (result_.mapping && options_.shortest) shorten();
}

KernelResult KernelMapper::run() {
  const int most = most_ii();
  finishes(deadline_, [&] { map(); });
  if (result_.mapping) {
    result_.least_makespan = least_;
    result_.status =
        result_.mapping->ii == result_.least_ii ? SearchStatus::kOptimal : SearchStatus::kFeasible;
  } else if (result_.least_ii > most) {
    result_.status = SearchStatus::kInfeasible;
  }
  result_.seconds = deadline_.seconds();
  result_.ending = deadline_.ending();
  if (result_.ending == Ending::kNone && too_large_) result_.ending = Ending::kMemory;
  return std::move(result_);
}

}  // namespace

KernelResult map_kernel(MappingProblem problem, const KernelOptions& options) {
  problem.rules.routed = true;
  problem.ii = 1;
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  const std::string where = "fabric '" + problem.fabric.name + "'";
  if (problem.fabric.cycles_per_distance > 0) {
    diagnostics.error(ErrorKind::kUnsupported, where, "cycles_per_distance",
                      "loop kernels are mapped onto arrays whose links take no clock",
                      "a mesh, torus or hycube; for this one, the exact mapper with a given II");
  }
  int entries = 0;
  for (const Variable& variable : problem.graph.variables) entries += variable.size();
  if (entries > problem.fabric.tile_memories * problem.fabric.tile_memory_entries) {
    diagnostics.error(ErrorKind::kUnsupported, where, "tile_memory_entries",
                      fmt::format("{} entries of variables could meet on one tile", entries),
                      "tile memories that hold all variables of the kernel");
  }
  diagnostics.raise_if_any();
  return KernelMapper(std::move(problem), options).run();
}

}  // namespace tilewright::cgra
