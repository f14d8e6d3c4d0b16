// Schedules are searched on the surface of their closed-form bound, which lies within a few percent of the
// cycles: nothing has to be learned for the few dozen trials that a candidate is worth.
#include "tilewright/flow/explore/candidate_tuning.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/search/tuning/tuner.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

constexpr double kNearBound = 1.01;
constexpr int kBatch = 8;

// Knows nothing and stays so: a guided search then works on the surface of the bound.
class NoModel : public CostModel {
 public:
  void fit(std::span<const CostSample>) override {}
  void transfer(std::span<const CostSample>) override {}
  bool trained() const override { return false; }
  std::vector<CostPrediction> predict(std::span<const ProgramFeatures* const> programs) const override {
    return std::vector<CostPrediction>(programs.size());
  }
};

CandidateLayer tune_layer(const ExplorationLayer& item, const OverlayHardware& hardware,
                          const MemoryModel& memory, int64_t trials, uint64_t seed,
                          const Deadline* deadline) {
  overlay::ScheduleProblem problem(item.layer, hardware, memory, 1, deadline);
  const overlay::Schedule usual = default_schedule(item.layer, hardware, {.memory = memory});
  NoModel model;
  TuningOptions options;
  options.trials = std::max<int64_t>(1, trials);
  options.batch = kBatch;
  options.chains = 16;
  options.chain_steps = 32;
  options.seed = seed;
  options.deadline = deadline;
  options.model = &model;
  const double bound = forms_bound(problem.schedules().forms(), hardware, memory);
  options.stop_at = kNearBound * bound;
  if (const auto point = problem.schedules().point(usual)) options.start = {*point};
  const TuningResult result = tune_problem(problem, options);
  if (deadline) deadline->check();  // a result of fewer trials would pass for one of all
  CandidateLayer tuned;
  tuned.name = item.names[0];
  tuned.count = item.count;
  tuned.bound_cycles = int64_t(bound);
  tuned.trials = result.end.trials;
  if (!result.end.best) {
    throw Error(ErrorKind::kInfeasible,
                fmt::format("no schedule of '{}' runs: {}", tuned.name, result.trials.at(0).failure));
  }
  tuned.cycles = int64_t(result.end.best_cost);
  tuned.schedule = problem.schedules().schedule(*result.end.best);
  return tuned;
}

}  // namespace

TunedCandidate tune_candidate(const ExplorationNetwork& network, const OverlayHardware& hardware,
                              const MemoryModel& memory, int64_t trials, uint64_t seed,
                              const Deadline* deadline) {
  TunedCandidate tuned;
  for (const ExplorationLayer& item : network.layers) {
    tuned.layers.push_back(tune_layer(item, hardware, memory, trials, seed, deadline));
    tuned.cycles += tuned.layers.back().count * tuned.layers.back().cycles;
    tuned.trials += tuned.layers.back().trials;
  }
  return tuned;
}

std::string print_tuned(const TunedCandidate& tuned) {
  Json layers = Json::array();
  for (const CandidateLayer& layer : tuned.layers) {
    layers.push_back({{"name", layer.name},
                      {"count", layer.count},
                      {"cycles", layer.cycles},
                      {"bound_cycles", layer.bound_cycles},
                      {"trials", layer.trials},
                      {"schedule", print_schedule(layer.schedule)}});
  }
  return json_text(Json{{"cycles", tuned.cycles}, {"trials", tuned.trials}, {"layers", layers}});
}

TunedCandidate parse_tuned(const std::string& text, const std::string& source_name) {
  const Json value = parse_json(text, source_name);
  Diagnostics problems;
  JsonMap fields(value, source_name, problems);
  TunedCandidate tuned;
  tuned.cycles = fields.integer("cycles", 1, INT64_MAX);
  tuned.trials = fields.integer("trials", 0, INT64_MAX);
  if (const Json* layers = fields.list("layers")) {
    for (const Json& item : *layers) {
      JsonMap one(item, source_name + ": layer", problems);
      CandidateLayer layer;
      layer.name = one.text("name");
      layer.count = one.integer("count", 1, INT64_MAX);
      layer.cycles = one.integer("cycles", 1, INT64_MAX);
      layer.bound_cycles = one.integer("bound_cycles", 0, INT64_MAX);
      layer.trials = one.integer("trials", 0, INT64_MAX);
      const std::string schedule = one.text("schedule");
      one.finish();
      if (problems.ok()) layer.schedule = overlay::parse_schedule(schedule, source_name);
      tuned.layers.push_back(std::move(layer));
    }
  }
  fields.finish();
  problems.raise_if_any();
  return tuned;
}

}  // namespace tilewright
