// Streaming allocations: branch and bound over the stages in the order of the layers. A node has chosen the
// first few; its bound is the network's time when every other stage has the smallest of each of its times,
// and it is dropped when what it uses and the least that the rest needs exceed the budget. Greedy folding and
// a sweep over target paces (target_sweep.h) give the first solutions; the best of them are improved layer by
// layer. Annealing goes on where the search had to stop.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "tilewright/pipeline/allocate/baselines.h"
#include "tilewright/pipeline/allocate/stage_options.h"
#include "tilewright/pipeline/allocate/target_sweep.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/estimate/resource_model.h"
#include "tilewright/pipeline/simulate/fifo_sizing.h"
#include "tilewright/search/annealing.h"
#include "tilewright/search/branch_and_bound.h"

namespace tilewright::pipeline {
namespace {

using synthesis::Resources;

StageTiming least_of(const StageTiming& a, const StageTiming& b) {
  StageTiming least;
  least.row_cycles = std::min(a.row_cycles, b.row_cycles);
  least.first_words = std::min(a.first_words, b.first_words);
  least.input_row = std::min(a.input_row, b.input_row);
  least.entry = std::min(a.entry, b.entry);
  least.first_beats = std::min(a.first_beats, b.first_beats);
  least.gathered = std::min(a.gathered, b.gathered);
  least.first_share = std::max(a.first_share, b.first_share);
  least.last_words = std::min(a.last_words, b.last_words);
  least.other_entry = std::min(a.other_entry, b.other_entry);
  least.depth = std::min(a.depth, b.depth);
  least.drain = std::min(a.drain, b.drain);
  least.tail = std::min(a.tail, b.tail);
  least.tail_share = std::max(a.tail_share, b.tail_share);
  least.span = std::min(a.span, b.span);
  least.longest_span = std::max(a.longest_span, b.longest_span);
  least.pace = std::min(a.pace, b.pace);
  return least;
}

// The options of all layers, with and without unrolling; the trees and spaces below work on one of these.
class StageSpace {
 public:
  using Value = Lexicographic<int64_t, int64_t>;  // cycles, then pressure in millionths
  using Solution = std::vector<int>;              // option by layer
  struct Node {
    Solution chosen;
    Resources used;
    int64_t multipliers = 0;
  };

  // Throws Expired.
  StageSpace(const Network& network, const Estimator& estimator, const Judge& judge, bool unroll,
             const AllocateOptions& options)
      : network_(network),
        estimator_(estimator),
        judge_(judge),
        deadline_(options.deadline),
        frame_(blank_stages(network, judge.budget(), unroll)) {
    fixed_ = bill_resources(frame_bill(network, frame_), judge.budget().family);
    for (size_t i = 0; i < network.layers.size(); ++i) {
      if (options.over()) throw Expired();
      options_.push_back(
          stage_options(network, estimator.facts(), frame_, i, judge, options.lut_multipliers));
      geometries_.push_back(layer_geometry(network, frame_, i));
      if (!options_.back().empty()) continue;
      without_stage(i);
      return;
    }
    least_.resize(options_.size() + 1);
    for (size_t i = options_.size(); i-- > 0;) {
      Least own{options_[i][0].timing, options_[i][0].resources, options_[i][0].multipliers};
      for (const StageOption& option : options_[i]) {
        own.timing = least_of(own.timing, option.timing);
        own.resources = smaller_of(own.resources, option.resources);
        own.multipliers = std::min(own.multipliers, option.multipliers);
      }
      least_timings_.insert(least_timings_.begin(), own.timing);
      least_[i] = {own.timing, own.resources + least_[i + 1].resources,
                   own.multipliers + least_[i + 1].multipliers};
    }
  }

  // Why there is no such design: a layer that no stage computes. Empty: there is.
  const std::string& obstacle() const { return obstacle_; }
  bool legal(const Allocation& allocation) const {
    Diagnostics diagnostics;
    allocation.verify(network_, diagnostics);
    return diagnostics.ok();
  }
  size_t layers() const { return options_.size(); }
  const std::vector<std::vector<StageOption>>& options() const { return options_; }

  Allocation allocation(const Solution& solution) const {
    Allocation a = frame_;
    for (size_t i = 0; i < solution.size(); ++i) a.layers[i].stage = options_[i][size_t(solution[i])].stage;
    return a;
  }
  // With its queues; nothing if neighbours' widths do not go together. Throws Expired.
  std::optional<AllocationCandidate> candidate(const Solution& solution) const {
    for (size_t i = 0; i < solution.size(); ++i) {
      if (!meets(solution, i)) return std::nullopt;
    }
    AllocationCandidate result{allocation(solution), {}};
    size_fifos(network_, result.allocation, deadline_);
    const CycleEstimate cycles = streaming_cycles(network_, result.allocation, judge_.budget().port);
    result.estimate.latency_cycles = cycles.latency_cycles;
    result.estimate.interval_cycles = cycles.interval_cycles;
    result.estimate.resources = fixed_ + border(result.allocation);
    for (size_t i = 0; i < solution.size(); ++i) {
      result.estimate.resources = result.estimate.resources + stage_area(result.allocation, solution, i);
      result.estimate.multipliers += options_[i][size_t(solution[i])].multipliers;
    }
    judge_.keep(best_, result);
    return result;
  }
  bool fits(const Solution& solution) const {
    const auto whole = candidate(solution);
    return whole && judge_.fits(whole->estimate);
  }
  // By the needs of the stages chosen, of the first ones only, converters between them included and queues
  // not, and the least of the others.
  bool may_lead_to_fitting(const Solution& chosen) const {
    if (!meets(chosen, chosen.size() - 1)) return false;
    const Allocation a = allocation(chosen);
    Resources need = fixed_ + least_[chosen.size()].resources;
    int64_t multipliers = least_[chosen.size()].multipliers;
    for (size_t i = 0; i < chosen.size(); ++i) {
      need = need + stage_area(a, chosen, i);
      multipliers += options_[i][size_t(chosen[i])].multipliers;
    }
    return judge_.pressure(need, multipliers) <= 1;
  }
  // Of stages and border, without converters.
  Resources least_needs() const { return fixed_ + least_[0].resources; }
  // Of all that were made.
  const std::optional<AllocationCandidate>& best() const { return best_; }
  // Designs that fit, by pace.
  std::vector<Solution> swept() const {
    return target_sweep({options_, fixed_, judge_,
                         [this](const Solution& chosen) { return meets(chosen, chosen.size() - 1); },
                         [this](const Solution& chosen) {
                           const auto whole = candidate(chosen);
                           return whole ? judge_.pressure(whole->estimate) : 1e6;
                         }},
                        deadline_);
  }
  // One layer's option at a time, the quicker ones first; a quicker one that does not fit, for another
  // layer's smaller one; then all others: again and again, as long as that helps. Uses up `evaluations`.
  Solution improved(Solution solution, int64_t& evaluations) const {
    std::optional<Value> best = cost(solution);
    if (!best) return solution;
    const auto better = [&](const Solution& trial) {
      if (--evaluations < 0 || (deadline_ != nullptr && deadline_->over())) return false;
      const std::optional<Value> own = cost(trial);
      if (!own || !(*own < *best)) return false;
      best = own;
      solution = trial;
      return true;
    };
    const auto changed = [&](auto&& tried) {
      bool moved = false;
      for (size_t i = 0; i < layers(); ++i) {
        for (size_t o = 0; o < options_[i].size() && evaluations >= 0; ++o) {
          if (int(o) == solution[i] || slower(options_[i][o], *best)) continue;
          Solution trial = solution;
          trial[i] = int(o);
          moved |= tried(trial, i, quicker(options_[i][o], options_[i][size_t(solution[i])]));
        }
      }
      return moved;
    };
    const auto fits = [&](const Solution& trial) {
      return best->primary >= kAboveBudget || least_pressure(trial) <= 1;
    };
    const auto single = [&](bool wanted) {
      return changed([&, wanted](const Solution& trial, size_t, bool quick) {
        return quick == wanted && fits(trial) && better(trial);
      });
    };
    const auto paid = [&](const Solution& trial, size_t layer, bool quick) {
      if (!quick || fits(trial)) return false;
      for (const Solution& payment : payments(trial, layer)) {
        if (better(payment)) return true;
      }
      return false;
    };
    while (evaluations >= 0 && (single(true) || changed(paid) || single(false))) {
    }
    return solution;
  }
  Value value(const Estimate& estimate) const {
    return {judge_.cycles(estimate), int64_t(judge_.cost(estimate.resources, estimate.multipliers) * 1e6)};
  }

  // For branch_and_bound.
  template <typename Sink>
  void roots(Sink& sink) const {
    sink.branch(Value{0, 0}, [&] { return Node{{}, fixed_, 0}; });
  }
  template <typename Sink>
  void expand(const Node& node, Sink& sink) const {
    const size_t depth = node.chosen.size();
    for (size_t o = 0; o < options_[depth].size(); ++o) {
      const StageOption& option = options_[depth][o];
      Node child{node.chosen, node.used + option.resources, node.multipliers + option.multipliers};
      child.chosen.push_back(int(o));
      const Resources need = child.used + least_[depth + 1].resources;
      const int64_t multipliers = child.multipliers + least_[depth + 1].multipliers;
      if (judge_.pressure(need, multipliers) > 1 || !meets(child.chosen, depth)) continue;
      const Value bound{judge_.counted(least_cycles(child.chosen)),
                        int64_t(judge_.cost(need, multipliers) * 1e6)};
      if (sink.prunes(bound)) continue;
      if (depth + 1 < layers()) {
        sink.branch(bound, [&] { return std::move(child); });
      } else if (const auto whole = candidate(child.chosen); whole && judge_.fits(whole->estimate)) {
        sink.leaf(value(whole->estimate), [&] { return child.chosen; });
      }
    }
  }

  // For anneal: what does not fit is measured by how much it is over.
  Solution sample(Random& random) const {
    Solution solution;
    for (size_t i = 0; i < layers(); ++i) solution.push_back(any(i, random));
    return solution;
  }
  Solution neighbour(Solution solution, Random& random) const {
    const size_t layer = size_t(random.between(0, int64_t(layers()) - 1));
    solution[layer] = any(layer, random);
    if (random.chance(0.3)) {
      const size_t other = size_t(random.between(0, int64_t(layers()) - 1));
      solution[other] = any(other, random);
    }
    return solution;
  }
  std::optional<Value> cost(const Solution& solution) const {
    // Where something fits, nobody asks how nearly something else does.
    if (best_ && judge_.fits(best_->estimate)) {
      const double least = least_pressure(solution);
      if (least > 1) return above_budget(least);
    }
    const auto whole = candidate(solution);
    if (!whole) return std::nullopt;
    const double pressure = judge_.pressure(whole->estimate);
    if (pressure > 1) return above_budget(pressure);
    // What is not the largest share leaves room for changes.
    const std::array<double, 6> shares =
        judge_.shares(whole->estimate.resources, whole->estimate.multipliers);
    Value own = value(whole->estimate);
    own.secondary += int64_t(1e3 * std::accumulate(shares.begin(), shares.end(), 0.0));
    return own;
  }

  // The least of everything: where the network fits at all.
  Solution smallest() const {
    Solution solution;
    for (size_t i = 0; i < layers(); ++i) {
      std::optional<size_t> best;
      const auto pressure = [&](size_t o) {
        return judge_.pressure(options_[i][o].resources, options_[i][o].multipliers);
      };
      for (size_t o = 0; o < options_[i].size(); ++o) {
        Solution trial = solution;
        trial.push_back(int(o));
        if (meets(trial, i) && (!best || pressure(o) < pressure(*best))) best = o;
      }
      solution.push_back(int(best.value_or(0)));
    }
    return solution;
  }

 private:
  static constexpr int64_t kAboveBudget = 1'000'000'000'000;
  static Value above_budget(double pressure) {
    return {int64_t(double(kAboveBudget) * std::min(1e5, pressure)), 0};
  }
  // Without converters and queues.
  double least_pressure(const Solution& solution) const {
    Resources need = fixed_;
    int64_t multipliers = 0;
    for (size_t i = 0; i < solution.size(); ++i) {
      need = need + options_[i][size_t(solution[i])].resources;
      multipliers += options_[i][size_t(solution[i])].multipliers;
    }
    return judge_.pressure(need, multipliers);
  }
  static bool quicker(const StageOption& a, const StageOption& b) {
    const StageTiming &x = a.timing, &y = b.timing;
    return x.pace < y.pace || x.tail + x.first_words + x.drain < y.tail + y.first_words + y.drain;
  }
  // What is over the budget, back within it by one other layer's option: of each layer, the fastest one that
  // does.
  std::vector<Solution> payments(const Solution& solution, size_t kept) const {
    std::vector<Solution> result;
    for (size_t i = 0; i < layers(); ++i) {
      if (i == kept) continue;
      Solution trial = solution;
      for (size_t o = 0; o < options_[i].size(); ++o) {  // by rising cycles
        trial[i] = int(o);
        if (least_pressure(trial) > 1) continue;
        result.push_back(trial);
        break;
      }
    }
    return result;
  }
  // Whether no design with this stage comes up to `best`.
  bool slower(const StageOption& option, const Value& best) const {
    return judge_.objective() == Objective::kThroughput && option.cycles > double(best.primary) + 1;
  }

  void without_stage(size_t layer) {
    const LayerGeometry g = layer_geometry(network_, frame_, layer);
    const char* const why = window_obstacle(g, true);
    obstacle_ = fmt::format("; as stages, layer '{}' {}", network_.layers[layer].name,
                            why != nullptr ? why : "has none");
  }

  struct Least {
    StageTiming timing;
    Resources resources;  // of this layer and all after it
    int64_t multipliers = 0;
  };

  // A stage's components depend on its own option, on its neighbours' widths and on its queues.
  const Resources& stage_area(const Allocation& a, const Solution& solution, size_t layer) const {
    const Layer& own = network_.layers[layer];
    std::vector<int64_t> key = {int64_t(layer), solution[layer], a.layers[layer].input_fifo,
                                a.layers[layer].residual_fifo};
    for (size_t i = 0; i < layer; ++i) {
      if (network_.layers[i].output == own.input) key.push_back(a.layers[i].stage.pf);
      if (own.add && network_.layers[i].output == own.add->tensor) key.push_back(-a.layers[i].stage.pf);
    }
    const auto [known, fresh] = areas_.try_emplace(std::move(key));
    if (fresh) {
      known->second =
          bill_resources(stage_bill(network_, estimator_.facts(), a, layer), judge_.budget().family);
    }
    return known->second;
  }
  // Frames and converters at the memory port: they depend on the last stage's width alone.
  const Resources& border(const Allocation& a) const {
    const auto [known, fresh] = areas_.try_emplace({-1, a.layers.back().stage.pf});
    if (fresh)
      known->second = bill_resources(border_bill(network_, estimator_.facts(), a), judge_.budget().family);
    return known->second;
  }

  int any(size_t layer, Random& random) const {
    return int(random.between(0, int64_t(options_[layer].size()) - 1));
  }

  // Whether the widths of a stage and of those in front of it go together.
  bool meets(const Solution& chosen, size_t layer) const {
    const ArrayShape& stage = options_[layer][size_t(chosen[layer])].stage;
    const Layer& own = network_.layers[layer];
    for (size_t i = 0; i < layer; ++i) {
      const int64_t width = options_[i][size_t(chosen[i])].stage.pf;
      const auto divides = [&](int64_t other) { return width % other == 0 || other % width == 0; };
      if (network_.layers[i].output == own.input && !divides(stage.pi)) return false;
      if (own.add && network_.layers[i].output == own.add->tensor && !divides(stage.pf)) return false;
    }
    return true;
  }

  int64_t least_cycles(const Solution& chosen) const {
    std::vector<StageTiming> timings = least_timings_;
    Allocation a = allocation(chosen);
    // What the last stage leaves per cycle is not known yet: as much as the frame takes.
    if (chosen.size() < layers()) {
      const NetworkTensor& output = network_.tensors[size_t(network_.output)];
      a.layers.back().stage.pf = border_frame(output.shape.elements(), a.port_bytes * 8 / output.bits).step;
    }
    for (size_t i = 0; i < chosen.size(); ++i) {
      timings[i] = stage_timing(layer_geometry(network_, a, i), input_path(network_, a, i),
                                residual_path(network_, a, i));
    }
    // Nor are the queues: long enough.
    for (LayerAllocation& layer : a.layers) layer.input_fifo = int64_t{1} << 40;
    const StreamTimes times = stream_times(network_, a, judge_.budget().port, geometries_, timings);
    return std::llround(judge_.objective() == Objective::kLatency ? times.latency_cycles
                                                                  : times.interval_cycles);
  }

  const Network& network_;
  const Estimator& estimator_;
  const Judge& judge_;
  const Deadline* const deadline_;
  Allocation frame_;
  Resources fixed_;
  std::vector<std::vector<StageOption>> options_;
  std::vector<LayerGeometry> geometries_;
  std::vector<Least> least_;  // by layer, and one more
  std::vector<StageTiming> least_timings_;
  std::string obstacle_;
  mutable std::map<std::vector<int64_t>, Resources> areas_;  // the searches here use one thread
  mutable std::optional<AllocationCandidate> best_;
};

// Any stages that fit, whatever their cycles: for branch_and_bound.
class FittingStages {
 public:
  using Value = StageSpace::Value;
  using Node = StageSpace::Solution;
  using Solution = StageSpace::Solution;
  explicit FittingStages(const StageSpace& space) : space_(space) {}
  template <typename Sink>
  void roots(Sink& sink) const {
    sink.branch(Value{0, 0}, [] { return StageSpace::Solution{}; });
  }
  template <typename Sink>
  void expand(const StageSpace::Solution& chosen, Sink& sink) const {
    const size_t depth = chosen.size();
    for (size_t o = 0; o < space_.options()[depth].size(); ++o) {
      StageSpace::Solution child = chosen;
      child.push_back(int(o));
      if (!space_.may_lead_to_fitting(child)) continue;
      if (depth + 1 < space_.layers()) {
        sink.branch(Value{0, 0}, [&] { return std::move(child); });
      } else if (space_.fits(child)) {
        sink.leaf(Value{0, 0}, [&] { return child; });
      }
    }
  }

 private:
  const StageSpace& space_;
};

constexpr int64_t kProofNodes = 20'000;
constexpr size_t kImproved = 3;  // of the first solutions
constexpr int64_t kStagesOfBudget = 12;
constexpr uint64_t kAnnealedStages = 72, kMostRuns = 12;
constexpr int64_t kUnlimited = int64_t{1} << 40;

using ScoredStages = Scored<StageSpace::Solution, StageSpace::Value>;

void anneal_stages(const StageSpace& space, const AllocateOptions& options, int64_t evaluations,
                   ScoredStages best, const std::vector<ScoredStages>& others,
                   const std::function<void(const StageSpace::Solution&)>& offer, ShapeSearch& result) {
  AnnealingOptions<StageSpace::Solution, StageSpace::Value> annealing;
  annealing.relative = true;
  annealing.limits.evaluations = evaluations;
  annealing.limits.deadline = options.deadline;
  // Few stages are estimated in no time: again, from other starts, then from the best so far.
  const uint64_t runs = std::clamp<uint64_t>(kAnnealedStages / space.layers(), 1, kMostRuns);
  for (uint64_t run = 0; run < runs; ++run) {
    annealing.seed = options.seed + run;
    const bool elsewhere = run > 0 && run <= others.size() && run + 1 < runs;
    annealing.start = elsewhere ? others[run - 1] : best;
    const auto annealed = anneal(space, annealing);
    result.evaluated += annealed.end.counts.evaluations;
    if (!annealed.best) break;
    offer(*annealed.best);
    if (*annealed.end.value < best.value) best = {*annealed.best, *annealed.end.value};
  }
}

// Throws Expired.
void search_space(const StageSpace& space, const Judge& judge, const AllocateOptions& options,
                  ShapeSearch& result) {
  const auto offer = [&](const StageSpace::Solution& solution) {
    const auto candidate = space.candidate(solution);
    if (candidate && space.legal(candidate->allocation)) result.offer(judge, *candidate);
  };
  offer(space.smallest());
  bool fast_enough = false;
  const StageSpace::Solution folded =
      greedy_folding(space.options(), space.smallest(), [&](const StageSpace::Solution& solution) {
        if (fast_enough) return false;
        const auto candidate = space.candidate(solution);
        const bool fits = candidate && judge.fits(candidate->estimate);
        fast_enough = fits && judge.cycles(candidate->estimate) == judge.counted(0);
        return fits;
      });
  offer(folded);
  std::vector<StageSpace::Solution> starts = space.swept();
  for (const StageSpace::Solution& start : starts) offer(start);
  starts.push_back(folded);
  // The most promising ones first.
  std::vector<std::pair<StageSpace::Value, size_t>> order;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (const auto cost = space.cost(starts[i])) order.emplace_back(*cost, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<ScoredStages> improved;
  // More stages have more neighbours.
  const int64_t budget = options.evaluations * ceil_div(int64_t(space.layers()), kStagesOfBudget);
  int64_t evaluations = budget;
  for (size_t i = 0; i < std::min(order.size(), kImproved); ++i) {
    int64_t own = evaluations / int64_t(kImproved - i);
    evaluations -= own;
    StageSpace::Solution better = space.improved(starts[order[i].second], own);
    evaluations += std::max<int64_t>(own, 0);
    offer(better);
    if (const auto cost = space.cost(better)) improved.push_back({std::move(better), *cost});
  }
  std::ranges::sort(improved, {}, &ScoredStages::value);
  BranchAndBoundOptions<StageSpace::Solution, StageSpace::Value> tree;
  tree.limits.nodes = options.nodes;
  tree.limits.deadline = options.deadline;
  if (!improved.empty()) {
    const auto start = space.candidate(improved[0].solution);
    if (start && judge.fits(start->estimate)) {
      improved[0].value = space.value(start->estimate);
      tree.start = improved[0];
    }
    improved.erase(improved.begin());
  }
  const auto exact = branch_and_bound(space, tree);
  result.evaluated += exact.end.counts.nodes + exact.end.counts.evaluations;
  if (exact.best) offer(*exact.best);
  const bool complete = exact.status == SearchStatus::kOptimal || exact.status == SearchStatus::kInfeasible;
  result.proven = result.proven && complete;
  if (complete || !exact.best) return;
  anneal_stages(space, options, budget, {*exact.best, *exact.end.value}, improved, offer, result);
}

// Whether stages may fit: there are some, or too many to look at. Throws Expired.
bool may_fit(const Network& network, const Estimator& estimator, const Judge& judge, bool unroll,
             const AllocateOptions& options) {
  const StageSpace space(network, estimator, judge, unroll, options);
  if (!space.obstacle().empty()) return false;
  BranchAndBoundOptions<StageSpace::Solution, StageSpace::Value> tree;
  tree.limits.nodes = kProofNodes;
  tree.limits.deadline = options.deadline;
  return branch_and_bound(FittingStages(space), tree).status != SearchStatus::kInfeasible;
}

}  // namespace

ShapeSearch search_stages(const Network& network, const Estimator& estimator, const Judge& judge,
                          const AllocateOptions& options) {
  ShapeSearch result;
  result.proven = true;
  for (const NetworkTensor& tensor : network.tensors) {
    if (!tensor.part) continue;
    result.obstacle = "; as stages, parts of tensor '" + network.tensors[size_t(tensor.part->whole)].name +
                      "' are written or read by themselves, which streams cannot (--form processors can)";
    return result;
  }
  const Deadline deadline(Deadline::kNoLimit, options.deadline);
  for (const bool unroll : {false, true}) {
    if (unroll && !can_unroll(network)) continue;
    std::optional<StageSpace> space;
    const bool whole = finishes(deadline, [&] {
      space.emplace(network, estimator, judge, unroll, options);
      if (space->obstacle().empty()) {
        search_space(*space, judge, options, result);
      } else if (!result.best) {
        result.obstacle = space->obstacle();
      }
    });
    if (whole) continue;
    result.proven = false;
    if (space && space->best() && space->legal(space->best()->allocation))
      result.offer(judge, *space->best());
    break;
  }
  return result;
}

ShapeLimits stage_limits(const Network& network, const Estimator& estimator, const Budget& budget,
                         const AllocateOptions& options) {
  for (const NetworkTensor& tensor : network.tensors) {
    if (tensor.part) return {};
  }
  Budget all = budget;
  all.resources = {kUnlimited, kUnlimited, kUnlimited, kUnlimited, kUnlimited, kUnlimited};
  all.multipliers = 0;
  const Judge unlimited(all, Objective::kLatency), judge(budget, Objective::kLatency);
  ShapeLimits result;
  bool fits = false;
  const Deadline deadline(Deadline::kNoLimit, options.deadline);
  const bool whole = finishes(deadline, [&] {
    for (const bool unroll : {false, true}) {
      if (unroll && !can_unroll(network)) continue;
      const StageSpace space(network, estimator, unlimited, unroll, options);
      if (!space.obstacle().empty()) continue;
      result.least = result.least ? smaller_of(*result.least, space.least_needs()) : space.least_needs();
      fits = fits || may_fit(network, estimator, judge, unroll, options);
    }
  });
  if (!whole) return {};
  result.none_fits = result.least && !fits;
  return result;
}

}  // namespace tilewright::pipeline
