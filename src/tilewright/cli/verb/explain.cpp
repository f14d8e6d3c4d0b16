// `explain`: the options, and the explanation as JSON: the timing of every layer with the changes that help
// it most, then every trial.
#include "tilewright/flow/time/explain.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/timing_json.h"
#include "tilewright/cli/options/verbs.h"

namespace tilewright::cli {
namespace {

constexpr size_t kChangesPerLayer = 4;

nlohmann::json explanation_json(const Explanation& explanation) {
  nlohmann::json result = timing_json(explanation.base);
  for (size_t l = 0; l < explanation.base.layers.size(); ++l) {
    nlohmann::json helps = nlohmann::json::array();
    for (const Trial* trial : explanation.best(l, kChangesPerLayer)) {
      helps.push_back({{"change", trial->details.empty() ? trial->change : trial->details[l]},
                       {"of", trial->of_hardware ? "hardware" : "schedule"},
                       {"cycles", trial->cycles[l]},
                       {"saved", explanation.saved(*trial, l)}});
    }
    result["layers"][l]["helps"] = std::move(helps);
  }
  nlohmann::json trials = nlohmann::json::array();
  for (const Trial& trial : explanation.trials) {
    nlohmann::json entry = {{"change", trial.change}, {"of", trial.of_hardware ? "hardware" : "schedule"}};
    if (trial.refused.empty()) {
      entry["saved"] = explanation.saved(trial);
    } else {
      entry["not_possible"] = trial.refused;
    }
    trials.push_back(std::move(entry));
  }
  result["trials"] = std::move(trials);
  result["saved_by_schedules"] = explanation.saved_by_schedules();
  return result;
}

}  // namespace

void explain(const ExplainVerbOptions& options, std::ostream& out) {
  const Bundle bundle = read_for_timing(options.timing);
  ExplainOptions chosen;
  chosen.threads = options.threads;
  chosen.try_hardware = chosen.try_schedules = !options.no_trials;
  const Explanation explanation =
      tilewright::explain(bundle, find_memory_model(options.timing.memory), chosen);
  out << (options.timing.json ? json_text(explanation_json(explanation), 2) + "\n" : to_string(explanation));
}

}  // namespace tilewright::cli
