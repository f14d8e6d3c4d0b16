// Widths are explored one after the other, each with an equal share of the time that is left.
#include "tilewright/flow/explore/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/flow/explore/candidate_tuning.h"
#include "tilewright/flow/explore/overlay_candidates.h"
#include "tilewright/overlay/implement/area_coefficients.h"
#include "tilewright/overlay/implement/clock_model.h"
#include "tilewright/overlay/tuning/hardware_space.h"
#include "tilewright/tune/explore/study.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string width_name(int bits) { return fmt::format("w{0}a{0}", bits); }

ExploredCandidate explored(const OverlayCandidates& backend, const tune::CandidateResult& result) {
  const tune::CandidateFacts facts = backend.judge(result.point);
  const std::vector<tune::ExplorationBackend::Need> needs = backend.needs(result.point);
  ExploredCandidate c;
  c.point = result.point;
  c.hardware = backend.hardware(result.point).name;
  c.values = backend.space().values(result.point);
  c.cycles = result.cycles;
  c.latency_s = double(result.cycles) / (facts.clock_mhz * 1e6);
  c.bound_s = facts.bound_s;
  c.utilisation = facts.utilisation;
  c.clock_mhz = facts.clock_mhz;
  c.peak_gops = facts.peak_gops;
  c.lut = needs[0].need;
  c.ff = needs[1].need;
  c.dsp = needs[2].need;
  c.bram = needs[3].need;
  return c;
}

// Everything of the report that follows from results.
void fill_results(const OverlayCandidates& backend, const std::vector<tune::CandidateResult>& results,
                  WidthReport& report) {
  const tune::ExplorationFront front = tune::front_of(backend, results);
  std::set<KnobSpace::Point> on_front;
  for (const auto& member : front.members()) on_front.insert(member.payload);
  report.candidates.clear();
  report.evaluated = int64_t(results.size());
  report.failed = report.trials = 0;
  report.worker_s = 0;
  report.best_so_far_s.clear();
  double best_s = 0;
  for (const tune::CandidateResult& result : results) {
    report.trials += result.trials;
    report.worker_s += result.worker_s;
    if (result.cycles == 0) {
      ++report.failed;
      report.best_so_far_s.push_back(best_s);
      continue;
    }
    report.candidates.push_back(explored(backend, result));
    report.candidates.back().on_front = on_front.count(result.point) != 0;
    const double latency_s = report.candidates.back().latency_s;
    best_s = best_s == 0 ? latency_s : std::min(best_s, latency_s);
    report.best_so_far_s.push_back(best_s);
  }
  std::stable_sort(report.candidates.begin(), report.candidates.end(),
                   [](const ExploredCandidate& a, const ExploredCandidate& b) {
                     return std::pair(!a.on_front, a.latency_s) < std::pair(!b.on_front, b.latency_s);
                   });
}

// One operand width of a request: its network, its space, its study.
class Width {
 public:
  Width(const ExplorationRequest& request, int bits)
      : request_(request),
        network_(exploration_network(request.network, bits)),
        backend_(network_, {request.device, request.folder / "network.twb", request.rtl_folder,
                            request.memory, request.seed, request.threads}),
        study_(request.folder / width_name(bits), question()) {
    report_.operand_bits = bits;
    report_.macs = network_.macs;
    report_.left_out = network_.left_out;
    for (const Knob& knob : backend_.space().knobs()) report_.knobs.push_back(knob.name);
  }

  const WidthReport& report() const { return report_; }
  bool empty() const { return study_.known().empty(); }

  // What ended the look at all points before it was done; what ends the rest is for the deadline to say.
  Ending explore(tune::JobExecutor& executor, const Deadline& deadline, const ExplorationWatcher& watcher,
                 const std::function<void()>& show) {
    const auto start = Clock::now();
    // What earlier runs found is the result, however little of the space there is time to look at.
    const tune::KnownResults known = tune::unchanged(study_.known(), backend_);
    results_ = with_known({}, known);
    report_.known = int64_t(known.size());
    fill(results_);
    const Deadline half(deadline.limited() ? deadline.left() / 2 : Deadline::kNoLimit, &deadline);
    const tune::Screening screening = tune::screen(backend_, request_.threads, &half);
    if (screening.complete) tune::require_fitting(backend_, screening, request_.device.name);
    report_.points = screening.points;
    report_.valid = screening.valid;
    report_.fitting = int64_t(screening.fitting.size());
    tune::ExplorationOptions options;
    options.trials = request_.trials;
    options.candidates = request_.candidates;
    options.deadline = &deadline;
    options.round = request_.round;
    options.seed = request_.seed;
    options.importance = request_.importance;
    tune::ExplorationHooks hooks;
    hooks.keep = [&](const std::vector<tune::CandidateResult>& fresh) {
      study_.keep(fresh);
      results_.insert(results_.end(), fresh.begin(), fresh.end());
    };
    hooks.progress = [&](const tune::ExplorationProgress& progress) {
      take(progress);
      fill(results_);
      report_.seconds = seconds_since(start);
      show();
      return !watcher.progress || watcher.progress(report_.operand_bits, progress);
    };
    const tune::ExplorationResult result =
        tune::explore(backend_, screening, executor, options, known, hooks);
    take(result.end);
    fill(with_known(result.evaluated, known));
    report_.importance = result.importance;
    report_.exhausted = result.exhausted && screening.complete;
    report_.seconds = seconds_since(start);
    return screening.complete ? Ending::kNone : half.ending();
  }

  void explore_changed(tune::JobExecutor& executor, const ExplorationWatcher& watcher) {
    const auto start = Clock::now();
    const tune::KnownResults kept = tune::unchanged(study_.known(), backend_);
    std::vector<KnobSpace::Point> all;
    for (const auto& entry : study_.known()) all.push_back(entry.first);
    tune::ExplorationHooks hooks;
    tune::ExplorationProgress progress;
    progress.known = int64_t(kept.size());
    hooks.keep = [&](const std::vector<tune::CandidateResult>& fresh) {
      study_.keep(fresh);
      progress.evaluated += int64_t(fresh.size());
      progress.alive = int64_t(all.size() - kept.size()) - progress.evaluated;
      progress.seconds = seconds_since(start);
      if (watcher.progress) watcher.progress(report_.operand_bits, progress);
    };
    const std::vector<tune::CandidateResult> results =
        tune::evaluate_candidates(backend_, executor, all, request_.trials, kept, hooks, request_.deadline);
    fill(results);
    report_.known = int64_t(kept.size());
    report_.seconds = seconds_since(start);
  }

 private:
  std::string question() const {
    return json_text(nlohmann::json{{"model", request_.model_name},
                                    {"network", network_digest(network_)},
                                    {"device", print_device(request_.device)},
                                    {"memory", print_memory_model(request_.memory)},
                                    {"operand_bits", network_.operand_bits},
                                    {"area_model", overlay::area_model_digest()},
                                    {"trials", request_.trials},
                                    {"seed", request_.seed}});
  }

  // `drawn` in its order, then those that are known besides.
  static std::vector<tune::CandidateResult> with_known(std::vector<tune::CandidateResult> drawn,
                                                       const tune::KnownResults& known) {
    std::set<KnobSpace::Point> points;
    for (const tune::CandidateResult& result : drawn) points.insert(result.point);
    for (const auto& [point, result] : known) {
      if (points.count(point) == 0) drawn.push_back(result);
    }
    return drawn;
  }

  void fill(const std::vector<tune::CandidateResult>& results) {
    fill_results(backend_, results, report_);
    if (report_.candidates.empty()) return;
    const KnobSpace::Point fastest = report_.candidates.front().point;
    const auto result = std::find_if(results.begin(), results.end(),
                                     [&](const tune::CandidateResult& r) { return r.point == fastest; });
    if (result->details == fastest_details_) return;
    fastest_details_ = result->details;
    report_.fastest = candidate_roofline(network_, backend_.hardware(fastest), request_.memory,
                                         parse_tuned(result->details, "study"));
  }

  void take(const tune::ExplorationProgress& progress) {
    report_.alive = progress.alive;
    report_.pruned = progress.pruned;
  }

  const ExplorationRequest& request_;
  ExplorationNetwork network_;
  OverlayCandidates backend_;
  tune::Study study_;
  std::vector<tune::CandidateResult> results_;
  WidthReport report_;
  std::string fastest_details_;  // of the candidate in report_.fastest
};

constexpr const char* kFrontMaker = "explore";

// The descriptions of the front's members, and of no others of ours, for `compile --hardware` and `synth`.
void write_front(const fs::path& folder, const WidthReport& width) {
  FolderWriter writer(folder, kFrontMaker);
  for (const ExploredCandidate& c : width.candidates) {
    if (!c.on_front) continue;
    OverlayHardware hardware = overlay::hardware_at(c.values, width.operand_bits);
    hardware.clock_mhz = c.clock_mhz;
    write_text_file(writer.path() / (c.hardware + ".yaml"), print_overlay_hardware(hardware));
  }
  writer.commit();
}

fs::path front_folder(const fs::path& folder, int operand_bits) {
  return folder / width_name(operand_bits) / "front";
}

void write_results(const fs::path& folder, const ExplorationReport& report, const PageOrigin& origin) {
  for (const WidthReport& width : report.widths) {
    if (!width.candidates.empty()) write_front(front_folder(folder, width.operand_bits), width);
  }
  write_text_file(folder / "front.json", to_json(report) + "\n");
  Page page = exploration_page(report);
  page.origin = origin;
  write_text_file(folder / "page.html", page_html(page));
}

ExplorationReport empty_report(const ExplorationRequest& request) {
  ExplorationReport report;
  report.model = request.model_name;
  report.device = request.device.name;
  report.clock_error = overlay::estimated_clock_error();
  return report;
}

// Writes the network where workers find it; what cannot be written at the end is found now.
void place_network(const ExplorationRequest& request) {
  for (const int bits : request.operand_bits)
    check_folder_target(front_folder(request.folder, bits), kFrontMaker);
  create_folder(request.folder);
  const fs::path file = request.folder / "network.twb";
  if (fs::exists(file)) return;
  if (!fs::is_empty(request.folder)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the folder '{}' holds something other than a study", request.folder.string()),
                "give another folder, or empty this one");
  }
  write_bundle(file, request.network);
}

}  // namespace

ExplorationReport explore_overlays(
    const ExplorationRequest& request,
    const std::function<std::unique_ptr<tune::JobExecutor>(const fs::path&)>& make_executor,
    const ExplorationWatcher& watcher) {
  place_network(request);
  ExplorationReport report = empty_report(request);
  const std::unique_ptr<tune::JobExecutor> executor = make_executor(request.folder / "jobs");
  bool stopped = false;
  const Deadline deadline(request.budget_s > 0 ? request.budget_s : Deadline::kNoLimit, request.deadline);
  std::optional<Error> failed;
  for (size_t w = 0; w < request.operand_bits.size() && !stopped; ++w) {
    const Deadline part(deadline.left() / double(request.operand_bits.size() - w), &deadline);
    report.widths.emplace_back();
    report.widths.back().operand_bits = request.operand_bits[w];
    ExplorationWatcher inner;
    inner.progress = [&](int bits, const tune::ExplorationProgress& progress) {
      stopped = watcher.progress && !watcher.progress(bits, progress);
      return !stopped;
    };
    std::optional<Width> width;
    const auto show = [&] {
      report.widths.back() = width->report();
      write_results(request.folder, report, request.origin);
    };
    try {
      finishes(part, [&] {
        width.emplace(request, request.operand_bits[w]);
        const Ending ending = width->explore(*executor, part, inner, show);
        if (ending != Ending::kNone) report.ending = ending;
      });
      if (width) show();
    } catch (const Error& error) {
      // One width for which the device is too small, say, does not take away what others found.
      if (error.kind() != ErrorKind::kInfeasible) throw;
      if (width) report.widths.back() = width->report();
      report.widths.back().failure = error.what();
      if (!failed) failed = error;
    }
    if (part.expired()) report.ending = part.ending();
  }
  const bool any = std::any_of(report.widths.begin(), report.widths.end(),
                               [](const WidthReport& width) { return !width.candidates.empty(); });
  if (failed && !any) throw *failed;
  write_results(request.folder, report, request.origin);
  return report;
}

ExplorationReport explore_changed(
    const ExplorationRequest& request,
    const std::function<std::unique_ptr<tune::JobExecutor>(const fs::path&)>& make_executor,
    const ExplorationWatcher& watcher) {
  const ExplorationReport before = read_exploration(request.folder);
  place_network(request);
  ExplorationReport report = empty_report(request);
  const std::unique_ptr<tune::JobExecutor> executor = make_executor(request.folder / "jobs");
  const std::vector<int>& wanted = request.operand_bits;
  bool any = false;
  for (const WidthReport& old : before.widths) {
    report.widths.push_back(old);  // what only a whole exploration knows stays as it was
    if (std::find(wanted.begin(), wanted.end(), old.operand_bits) == wanted.end()) continue;
    Width width(request, old.operand_bits);
    if (width.empty()) continue;
    any = true;
    width.explore_changed(*executor, watcher);
    WidthReport& now = report.widths.back();
    now = width.report();
    now.points = old.points;
    now.valid = old.valid;
    now.fitting = old.fitting;
    now.alive = old.alive;
    now.pruned = old.pruned;
    now.exhausted = old.exhausted;
    now.failure = old.failure;
    now.importance = old.importance;
    now.best_so_far_s = old.best_so_far_s;
  }
  if (!any) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' holds no candidates of these operand widths", request.folder.string()),
                "explore first, without --changed-only");
  }
  if (request.deadline && request.deadline->expired()) report.ending = request.deadline->ending();
  write_results(request.folder, report, request.origin);
  return report;
}

}  // namespace tilewright
