// `explain`: what bounds each layer of a bundle, and what helps.
#include "tilewright/flow/time/explain.h"

#include <ostream>

#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/time/timing_page.h"

namespace tilewright::cli {

void explain(const ExplainVerbOptions& options, std::ostream& out) {
  const Bundle bundle = read_bundle(options.timing.bundle, options.timing.hardware, shared_folders());
  ExplainOptions chosen;
  chosen.threads = options.threads;
  chosen.try_hardware = chosen.try_schedules = !options.no_trials;
  const Explanation explanation = with_progress("explaining " + options.timing.bundle, [&] {
    return tilewright::explain(bundle, find_memory_model(options.timing.memory), chosen);
  });
  write_page(options.page, [&] { return explanation_page(explanation); });
  out << (options.timing.json ? to_json(explanation) : to_string(explanation));
}

}  // namespace tilewright::cli
