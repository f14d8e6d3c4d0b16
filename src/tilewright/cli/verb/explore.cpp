// `explore`: makes the request from the options, runs the study on threads or workers with a line of
// progress, and prints the front. A study that a limit ends before its first candidate is tuned fails.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <thread>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/fleet_options.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/explore/explore_question.h"

namespace tilewright::cli {
namespace {

ExploreQuestion question_of(const ExploreOptions& options, const Deadline& deadline) {
  return {.model = model_file(options.model),
          .device = options.device,
          .memory = options.memory,
          .precision = options.precision,
          .folder = options.output,
          .trials = options.trials,
          .candidates = options.candidates,
          .seed = options.seed,
          .threads = int(std::max(1u, std::thread::hardware_concurrency())),
          .changed_only = options.changed_only,
          .fleet = fleet_request(options.fleet),
          .deadline = &deadline,
          .origin = options.page.origin(),
          .folders = shared_folders()};
}

std::string exploration_progress(const ExploreOptions& options, int bits,
                                 const tune::ExplorationProgress& p) {
  const int64_t fresh = p.evaluated - p.known;
  const double rate = p.seconds > 0 ? double(fresh) / p.seconds : 0;
  std::string text = fmt::format("w{0}a{0}: best {1:.3f} ms, {2} tuned ({3:.2f}/s), {4} alive, {5} excluded",
                                 bits, 1e3 * p.best_s, p.evaluated, rate, p.alive, p.pruned);
  if (p.model_error > 0) text += fmt::format(", model {:.1f} % off", 100 * p.model_error);
  if (options.candidates > 0 && rate > 0) {
    text += ", " + duration_text(double(options.candidates - p.evaluated) / rate) + " left";
  } else if (options.limits.time_s > 0) {
    const double share = options.limits.time_s / double(options.precision.size());
    text += ", at most " + duration_text(std::max(0.0, share - p.seconds)) + " left";
  }
  return text;
}

// What there is has been printed; the exit code says that there is no front.
void fail_without_candidates(const ExplorationReport& report, const CommandLimits& limits) {
  for (const WidthReport& width : report.widths) {
    if (!width.candidates.empty()) return;
  }
  if (report.ending == Ending::kNone) return;
  throw Error(ErrorKind::kInfeasible, "no candidate was tuned: " + limits.reason(report.ending),
              "run the same command again with more to go on");
}

}  // namespace

void explore(const ExploreOptions& options, std::ostream& out) {
  const CommandLimits limits(options.limits);
  const ExploreQuestion question = question_of(options, limits.deadline());
  ExplorationReport report;
  {
    ProgressLine line("exploring");
    ExplorationWatcher watcher;
    watcher.progress = [&](int bits, const tune::ExplorationProgress& progress) {
      line.update([&] { return exploration_progress(options, bits, progress); });
      return true;
    };
    report = answer_explore(question, watcher);
  }
  write_page(options.page, [&] { return exploration_page(report); });
  out << (options.json ? to_json(report) + "\n" : to_string(report));
  fail_without_candidates(report, limits);
  if (options.json) return;
  out << limits.note(report.ending);
  if (options.changed_only) {
    for (const WidthReport& w : report.widths) {
      const std::vector<int>& asked = options.precision;
      if (std::find(asked.begin(), asked.end(), w.operand_bits) == asked.end()) continue;
      out << fmt::format("w{0}a{0}: {1} of {2} candidates had changed and were tuned again\n", w.operand_bits,
                         w.evaluated - w.known, w.evaluated);
    }
  }
  out << "\nthe study is in " << options.output << " (page.html, front.json)\n";
}

}  // namespace tilewright::cli
