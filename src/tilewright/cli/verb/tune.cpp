// `tune`: searches schedules for the layers of a bundle, with a line of progress, on threads or workers;
// writes the bundle with the schedules found, the page and the report.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/fleet_options.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/tune/tuning.h"

namespace tilewright::cli {
namespace {

// "layer 3 of 12, conv2_1: 450 of 1000 trials, 250/s, at most 38 s left, best 481203 cycles (1.120x, 93.1 %
// of the bound), ..."
std::string tuning_progress(const NetworkTuneProgress& at, int64_t trials) {
  const TuningProgress& t = at.trials;
  std::string text =
      fmt::format("layer {} of {}, {}: {} of {} trials", at.layer + 1, at.layers, at.name, t.trials, trials);
  if (t.seconds > 0) {
    const double rate = double(t.trials) / t.seconds;
    const double left = double(trials) * double(at.layers - at.layer) - double(t.trials);
    text += fmt::format(", {:.0f}/s", rate);
    if (rate > 0) text += ", at most " + duration_text(left / rate) + " left";
  }
  if (t.best) {
    text += fmt::format(", best {:.0f} cycles ({:.3f}x, {:.1f} % of the bound)", t.best_cost,
                        at.before_cycles / t.best_cost, 100 * at.bound_cycles / t.best_cost);
  }
  if (t.model_error > 0) text += fmt::format(", model wrong on {:.0f} % of pairs", 100 * t.model_error);
  return text;
}

}  // namespace

void tune(const TuneOptions& options, std::ostream& out) {
  const CommandLimits limits(options.limits);
  Bundle bundle = read_bundle(options.timing.bundle, options.timing.hardware, shared_folders());
  NetworkTuneOptions chosen;
  chosen.deadline = &limits.deadline();
  chosen.search = options.search;
  chosen.trials = options.trials;
  chosen.batch = options.batch;
  chosen.seed = options.seed;
  chosen.threads = options.threads;
  chosen.memory = find_memory_model(options.timing.memory);
  chosen.layers = options.layers;
  const auto records = open_tuning_records(options.records);
  chosen.records = records.get();
  const auto workers = make_workers(fleet_request(options.fleet));
  chosen.executor = workers.get();
  NetworkTuning tuning;
  {
    ProgressLine line("tuning");
    tuning = tune_network(std::move(bundle), chosen, [&](const NetworkTuneProgress& at) {
      line.update([&] { return tuning_progress(at, options.trials); });
      return true;
    });
  }
  if (!options.output.empty()) write_bundle(options.output, tuning.bundle);
  write_page(options.page, [&] { return tuning_page(tuning); });
  out << (options.timing.json ? tuning_json(tuning) : to_string(tuning) + limits.note(tuning.ending));
}

}  // namespace tilewright::cli
