// Learning curves of the placement policy: the effect of masks, the reward and the form of the network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/cgra/learn/training.h"
#include "tilewright/flow/place/place_bench.h"

namespace tilewright {

// One way to train; everything else is TrainingOptions' defaults.
struct CurveVariant {
  std::string name;
  cgra::EnvironmentOptions environment;
  cgra::PolicyForm form = cgra::PolicyForm::kGraph;
  bool imitation = true;  // of the shortest episodes, which brings in the true objective indirectly
};

// Variants that are drawn in one plot.
struct CurveComparison {
  std::string name, title;
  std::vector<std::string> variants;
};

const std::vector<CurveVariant>& curve_variants();
const std::vector<CurveComparison>& curve_comparisons();  // masks, rewards, networks

struct PlaceCurvesRequest {
  std::vector<BenchGraph> graphs;  // one policy for all; equal fabrics
  cgra::PolicyTrainer* trainer = nullptr;
  int64_t episodes = 5000;  // of all graphs together
  int seeds = 5;
};

struct CurveRun {
  std::string variant;
  uint64_t seed = 0;
  std::vector<cgra::TrainingPoint> points;  // makespans are relative to the graphs' longest chains
  double best = 0;  // mean over graphs of the shortest placement, so relative; NaN: a graph has none
};

// Every best placement has passed the checker. Errors (unsupported): a graph that cannot be learned.
std::vector<CurveRun> learning_curves(const PlaceCurvesRequest& request);

// For people: the first and the last update of every variant, means over seeds. For machines: the same. One
// line per update.
std::string curves_text(const std::vector<CurveRun>& runs);
std::string curves_json(const std::vector<CurveRun>& runs);
std::string curves_csv(const std::vector<CurveRun>& runs);
// Seeds as thin lines, their mean thick; on the right the share of episodes that placed every node.
std::string curves_picture(const std::vector<CurveRun>& runs, const CurveComparison& comparison);

}  // namespace tilewright
