// The timing of every layer with the changes that help it most, then every trial.
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/flow/time/explain.h"
#include "tilewright/flow/time/timing_json.h"

namespace tilewright {
namespace {

constexpr size_t kChangesPerLayer = 4;

}  // namespace

std::string to_json(const Explanation& explanation) {
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
  return json_text(result, 2) + "\n";
}

}  // namespace tilewright
