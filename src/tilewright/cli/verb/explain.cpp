// `explain`: what bounds each layer of a bundle, and what helps.
#include "tilewright/flow/time/explain.h"

#include <ostream>

#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"

namespace tilewright::cli {

void explain(const ExplainVerbOptions& options, std::ostream& out) {
  const Bundle bundle = read_bundle(options.timing.bundle, options.timing.hardware, shared_folders());
  ExplainOptions chosen;
  chosen.threads = options.threads;
  chosen.try_hardware = chosen.try_schedules = !options.no_trials;
  const Explanation explanation =
      tilewright::explain(bundle, find_memory_model(options.timing.memory), chosen);
  out << (options.timing.json ? to_json(explanation) : to_string(explanation));
}

}  // namespace tilewright::cli
