// What exploration has learned: how far tuned latency lies above a candidate's bound, by its knobs, and how
// much each knob matters for that. Boosted trees on the logarithm of the ratio: the bound already knows the
// size of the array and the width of the port; the rest is due to scratchpads that are too small and queues
// that are too short.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/search/knobs/knob_space.h"
#include "tilewright/search/models/gradient_boosted.h"

namespace tilewright::tune {

class CandidateModel {
 public:
  // `prior`: importance by knob that holds until there is something to learn from; empty: all the same.
  CandidateModel(const KnobSpace& space, std::vector<double> prior);

  // Latencies and bounds, in seconds.
  void add(KnobSpace::Point point, double latency_s, double bound_s);
  // Learns from all that was added.
  void fit();
  // Expected latency of a candidate with this bound; never below the bound.
  double predict(KnobSpace::Point point, double bound_s) const;
  // By knob, adds up to 1: half of it what was known before, half what the trees gained, with a floor so that
  // every knob is changed now and then.
  std::vector<double> importance() const;
  // What the trees gained alone; the prior before there are any.
  std::vector<double> learned_importance() const;

 private:
  std::vector<float> row(KnobSpace::Point point) const;

  const KnobSpace& space_;
  std::vector<double> prior_;
  std::vector<float> rows_, labels_;
  double mean_ = 0;
  GradientBoosting trees_;
};

}  // namespace tilewright::tune
