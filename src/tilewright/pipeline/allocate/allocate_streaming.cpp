// Streaming allocations: branch and bound over the stages in the order of the layers. A node has chosen the
// first few; its bound is the network's time when every other stage has the smallest of each of its times,
// and it is dropped when what it uses and the least that the rest needs exceed the budget. The greedy folding
// rule gives the first solution; annealing goes on where the search had to stop.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tilewright/pipeline/allocate/baselines.h"
#include "tilewright/pipeline/allocate/stage_options.h"
#include "tilewright/pipeline/estimate/resource_model.h"
#include "tilewright/pipeline/simulate/fifo_sizing.h"
#include "tilewright/search/annealing.h"
#include "tilewright/search/branch_and_bound.h"

namespace tilewright::pipeline {
namespace {

using synthesis::Resources;

Resources smaller_of(const Resources& a, const Resources& b) {
  return {std::min(a.lut, b.lut), std::min(a.ff, b.ff),     0,
          std::min(a.dsp, b.dsp), std::min(a.bram, b.bram), std::min(a.uram, b.uram)};
}
StageTiming smaller_of(const StageTiming& a, const StageTiming& b) {
  StageTiming least;
  least.row_cycles = std::min(a.row_cycles, b.row_cycles);
  least.first_words = std::min(a.first_words, b.first_words);
  least.input_row = std::min(a.input_row, b.input_row);
  least.depth = std::min(a.depth, b.depth);
  least.tail = std::min(a.tail, b.tail);
  least.tail_share = std::max(a.tail_share, b.tail_share);
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
        own.timing = smaller_of(own.timing, option.timing);
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
  // Of all that were made.
  const std::optional<AllocationCandidate>& best() const { return best_; }
  Value value(const Estimate& estimate) const {
    return {judge_.cycles(estimate), int64_t(judge_.pressure(estimate) * 1e6)};
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
      const double pressure = judge_.pressure(child.used + least_[depth + 1].resources,
                                              child.multipliers + least_[depth + 1].multipliers);
      if (pressure > 1 || !meets(child.chosen, depth)) continue;
      const Value bound{least_cycles(child.chosen), int64_t(pressure * 1e6)};
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
    const auto whole = candidate(solution);
    if (!whole) return std::nullopt;
    const double pressure = judge_.pressure(whole->estimate);
    if (pressure <= 1) return value(whole->estimate);
    return Value{int64_t(1e12 * std::min(1e5, pressure)), 0};
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
    // What the last stage leaves per cycle is not known yet: as much as the port takes.
    if (chosen.size() < layers())
      a.layers.back().stage.pf = a.port_bytes * 8 / network_.tensors[size_t(network_.output)].bits;
    for (size_t i = 0; i < chosen.size(); ++i) {
      timings[i] = stage_timing(layer_geometry(network_, a, i), input_rate(network_, a, i),
                                residual_rate(network_, a, i));
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

// Throws Expired.
void search_space(const StageSpace& space, const Judge& judge, const AllocateOptions& options,
                  ShapeSearch& result) {
  const auto offer = [&](const StageSpace::Solution& solution) {
    const auto candidate = space.candidate(solution);
    if (candidate && space.legal(candidate->allocation)) result.offer(judge, *candidate);
  };
  offer(space.smallest());
  const StageSpace::Solution folded =
      greedy_folding(space.options(), space.smallest(), [&](const StageSpace::Solution& solution) {
        const auto candidate = space.candidate(solution);
        return candidate && judge.fits(candidate->estimate);
      });
  offer(folded);
  BranchAndBoundOptions<StageSpace::Solution, StageSpace::Value> tree;
  tree.limits.nodes = options.nodes;
  tree.limits.deadline = options.deadline;
  if (result.best && judge.fits(result.best->estimate)) {
    const auto start = space.candidate(folded);
    if (start && judge.fits(start->estimate))
      tree.start = Scored<StageSpace::Solution, StageSpace::Value>{folded, space.value(start->estimate)};
  }
  const auto exact = branch_and_bound(space, tree);
  result.evaluated += exact.end.counts.nodes + exact.end.counts.evaluations;
  if (exact.best) offer(*exact.best);
  const bool complete = exact.status == SearchStatus::kOptimal || exact.status == SearchStatus::kInfeasible;
  result.proven = result.proven && complete;
  if (complete || !exact.best) return;
  AnnealingOptions<StageSpace::Solution, StageSpace::Value> annealing;
  annealing.seed = options.seed;
  annealing.relative = true;
  annealing.limits.evaluations = options.evaluations;
  annealing.limits.deadline = options.deadline;
  annealing.start = Scored<StageSpace::Solution, StageSpace::Value>{*exact.best, *exact.end.value};
  const auto annealed = anneal(space, annealing);
  result.evaluated += annealed.end.counts.evaluations;
  if (annealed.best) offer(*annealed.best);
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

}  // namespace tilewright::pipeline
