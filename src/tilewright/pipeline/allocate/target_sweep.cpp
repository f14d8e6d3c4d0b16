// The targets are the cycles of the options themselves: between two of them nothing changes.
#include "tilewright/pipeline/allocate/target_sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tilewright/search/deadline.h"

namespace tilewright::pipeline {
namespace {

constexpr int kRounds = 16;  // of prices, for one target
constexpr double kSteepness = 25;
constexpr size_t kFasterTried = 8;  // targets below the one that bisection ends at
constexpr double kMultiples[] = {1, 1.06, 1.12, 1.25, 1.4, 1.6, 2, 2.8, 4};

// LUT, FF, DSP, BRAM, URAM, multipliers: shares of the budget.
using Shares = std::array<double, 6>;

class Sweep {
 public:
  Sweep(const SweepProblem& problem, const Deadline* deadline) : problem_(problem), deadline_(deadline) {
    fixed_ = problem.judge.shares(problem.fixed, 0);
    for (const std::vector<StageOption>& layer : problem.options) {
      std::vector<Shares>& own = shares_.emplace_back();
      for (const StageOption& option : layer) {
        own.push_back(problem.judge.shares(option.resources, option.multipliers));
        targets_.push_back(option.cycles);
      }
    }
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
  }

  std::vector<std::vector<int>> run() {
    std::vector<std::vector<int>> found;
    std::optional<size_t> best;
    size_t low = 0, high = targets_.size();
    while (low < high && !over()) {
      const size_t middle = (low + high) / 2;
      if (within(targets_[middle])) {
        best = high = middle;
      } else {
        low = middle + 1;
      }
    }
    // Prices are a heuristic: a target just below may do all the same.
    for (size_t tried = 0, at = best.value_or(0); best && at > 0 && tried < kFasterTried && !over();
         ++tried) {
      if (within(targets_[--at])) best = at, tried = 0;
    }
    if (!best) return found;
    for (const double multiple : kMultiples) {
      if (over()) break;
      std::optional<std::vector<int>> own = within(targets_[*best] * multiple);
      if (own && (found.empty() || *own != found.back())) found.push_back(std::move(*own));
    }
    return found;
  }

 private:
  bool over() const { return deadline_ != nullptr && deadline_->over(); }

  // The cheapest options in the order of the layers; nullopt: a layer has none that goes with the others.
  std::optional<std::vector<int>> cheapest(double target, const Shares& prices) const {
    std::vector<int> chosen;
    for (size_t i = 0; i < shares_.size(); ++i) {
      const std::vector<StageOption>& options = problem_.options[i];
      int best = -1;
      double least = 0;
      chosen.push_back(0);
      for (size_t o = 0; o < options.size(); ++o) {
        if (options[o].cycles > target) continue;
        double price = 0;
        for (size_t r = 0; r < prices.size(); ++r) price += prices[r] * shares_[i][o][r];
        if (best >= 0 && price >= least) continue;
        chosen.back() = int(o);
        if (!problem_.meets(chosen)) continue;
        best = int(o);
        least = price;
      }
      if (best < 0) return std::nullopt;
      chosen.back() = best;
    }
    return chosen;
  }

  Shares used_by(const std::vector<int>& chosen) const {
    Shares used = fixed_;
    for (size_t i = 0; i < chosen.size(); ++i) {
      for (size_t r = 0; r < used.size(); ++r) used[r] += shares_[i][size_t(chosen[i])][r];
    }
    return used;
  }

  // Grows steeply with each share, so that the largest counts, but what comes free elsewhere counts as well.
  static double strain(const Shares& used, double room) {
    double sum = 0;
    for (const double share : used) sum += std::exp(kSteepness * (share / room - 1));
    return sum;
  }

  bool meets_all(const std::vector<int>& chosen) const {
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (!problem_.meets({chosen.begin(), chosen.begin() + long(i) + 1})) return false;
    }
    return true;
  }

  // One layer's option at a time, as long as the strain becomes less.
  void relieve(double target, double room, std::vector<int>& chosen) const {
    Shares used = used_by(chosen);
    double least = strain(used, room);
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t i = 0; i < chosen.size(); ++i) {
        for (size_t o = 0; o < shares_[i].size(); ++o) {
          const int before = chosen[i];
          if (int(o) == before || problem_.options[i][o].cycles > target) continue;
          Shares next = used;
          for (size_t r = 0; r < next.size(); ++r)
            next[r] += shares_[i][o][r] - shares_[i][size_t(before)][r];
          const double own = strain(next, room);
          if (own >= least - 1e-9) continue;
          chosen[i] = int(o);
          if (!meets_all(chosen)) {
            chosen[i] = before;
            continue;
          }
          used = next;
          least = own;
          moved = true;
        }
      }
    }
  }

  // A design with stages of at most `target` cycles.
  std::optional<std::vector<int>> within(double target) const {
    Shares prices;
    prices.fill(1);
    double room = 1;  // for the stages alone: converters and queues need some of it
    for (int round = 0; round < kRounds; ++round) {
      std::optional<std::vector<int>> chosen = cheapest(target, prices);
      if (!chosen) return std::nullopt;
      const Shares asked = used_by(*chosen);
      relieve(target, room, *chosen);
      const Shares used = used_by(*chosen);
      if (*std::max_element(used.begin(), used.end()) <= room) {
        const double whole = problem_.pressure(*chosen);
        if (whole <= 1) return chosen;
        room = std::max(0.5, room - 0.7 * (whole - 1));
      }
      const double step = 6.0 / (1 + 0.2 * round);
      for (size_t r = 0; r < used.size(); ++r) {
        prices[r] = std::clamp(prices[r] * std::exp(step * (asked[r] / room - 1)), 1e-3, 1e6);
      }
    }
    return std::nullopt;
  }

  const SweepProblem& problem_;
  const Deadline* const deadline_;
  Shares fixed_{};
  std::vector<std::vector<Shares>> shares_;  // by layer and option
  std::vector<double> targets_;
};

}  // namespace

std::vector<std::vector<int>> target_sweep(const SweepProblem& problem, const Deadline* deadline) {
  return Sweep(problem, deadline).run();
}

}  // namespace tilewright::pipeline
