// Candidates as jobs. A job that failed is a result: the candidate cannot run the network. One that took too
// long counts as failed in this run and is tried again by the next. A worker that was lost says nothing of
// the candidate, so that ends the exploration, which may be taken up again.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/tune/explore/exploration.h"

namespace tilewright::tune {
namespace {

constexpr double kPoll_s = 0.2;

CandidateResult read_result(const ExplorationBackend& backend, const JobResult& done) {
  CandidateResult result;
  switch (done.status) {
    case JobStatus::kDone:
      result = backend.read_reply(done.reply);
      break;
    case JobStatus::kFailed:
      result.failure = done.reply;
      break;
    case JobStatus::kTimedOut:
      result.failure = fmt::format("took more than {:.0f} s", done.seconds);
      break;
    case JobStatus::kNotStored:
      throw Error(ErrorKind::kInvalidInput, done.reply, "run the same command again to continue");
    case JobStatus::kLost:
      throw Error(ErrorKind::kInternal,
                  fmt::format("job '{}' was lost {} times: {}", done.id, done.attempts, done.reply),
                  "run the same command again to continue; the job's log is in its folder");
  }
  result.worker_s = done.seconds;
  return result;
}

}  // namespace

std::vector<CandidateResult> evaluate_candidates(const ExplorationBackend& backend, JobExecutor& executor,
                                                 const std::vector<KnobSpace::Point>& points, int64_t trials,
                                                 const KnownResults& known, const ExplorationHooks& hooks,
                                                 const Deadline* whole) {
  const Deadline deadline(Deadline::kNoLimit, whole);
  std::map<KnobSpace::Point, CandidateResult> found;
  std::map<std::string, KnobSpace::Point> point_of;
  std::vector<Job> jobs;
  for (const KnobSpace::Point point : points) {
    if (const auto entry = known.find(point); entry != known.end()) {
      found.insert(*entry);
      continue;
    }
    jobs.push_back(backend.job(point, trials));
    point_of.emplace(jobs.back().id, point);
  }
  if (!jobs.empty()) executor.submit(jobs);
  std::vector<CandidateResult> fresh;
  while (fresh.size() < jobs.size()) {
    if (deadline.over()) {
      executor.cancel();
      break;
    }
    for (const JobResult& done : executor.collect(std::min(kPoll_s, deadline.left()))) {
      const auto point = point_of.find(done.id);
      if (point == point_of.end()) continue;                             // of a round that was interrupted
      if (done.status == JobStatus::kLost && deadline.over()) continue;  // it noticed that first
      CandidateResult result = read_result(backend, done);
      result.point = point->second;
      result.content = backend.content(result.point);
      fresh.push_back(result);
      found[result.point] = std::move(result);
      if (hooks.keep && done.status != JobStatus::kTimedOut) hooks.keep({fresh.back()});
    }
  }
  std::vector<CandidateResult> results;
  for (const KnobSpace::Point point : points) {
    if (const auto result = found.find(point); result != found.end()) results.push_back(result->second);
  }
  return results;
}

ExplorationFront front_of(const ExplorationBackend& backend, const std::vector<CandidateResult>& results) {
  ExplorationFront front;
  for (const CandidateResult& result : results) {
    if (result.cycles == 0) continue;
    const CandidateFacts facts = backend.judge(result.point);
    front.insert({double(result.cycles) / (facts.clock_mhz * 1e6), facts.utilisation},
                 [&] { return result.point; });
  }
  return front;
}

}  // namespace tilewright::tune
