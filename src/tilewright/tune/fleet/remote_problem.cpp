// A job's id is the digest of its request, so a batch that is measured again after a crash finds the results
// that its jobs left in the folder.
#include "tilewright/tune/fleet/remote_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/json.h"

namespace tilewright::tune {
namespace {

// Between two looks at whether anything came; nothing depends on it but how soon an error is noticed.
constexpr double kWait_s = 60;
constexpr double kLook_s = 0.1;  // where a deadline may come

[[noreturn]] void bad_reply(const JobResult& result, const std::string& what) {
  throw Error(ErrorKind::kInvalidInput, fmt::format("the reply to job '{}' {}", result.id, what),
              "a worker of another version?");
}

std::vector<nlohmann::json> parse_costs(const JobResult& result, size_t count) {
  const nlohmann::json reply = parse_json(result.reply, "reply to job '" + result.id + "'");
  if (!reply.is_object() || !reply.contains("costs") || !reply["costs"].is_array())
    bad_reply(result, "has no costs");
  std::vector<nlohmann::json> costs = reply["costs"];
  if (costs.size() != count) {
    bad_reply(result, fmt::format("has {} costs for {} points", costs.size(), count));
  }
  return costs;
}

}  // namespace

struct RemoteProblem::Batch {
  std::vector<KnobSpace::Point> points;
  std::vector<Measurement> results;                 // by index into points
  std::map<std::string, std::vector<size_t>> jobs;  // the points of each, by id
  std::string problem;                              // the first that is not about points
};

RemoteProblem::RemoteProblem(TuningProblem& local, JobExecutor& executor, RemoteMeasurement measurement)
    : local_(local), executor_(executor), measurement_(std::move(measurement)) {}

std::vector<Measurement> RemoteProblem::measure(std::span<const KnobSpace::Point> points) {
  std::map<KnobSpace::Point, size_t> place;  // in the batch, each point once
  Batch batch;
  for (const KnobSpace::Point point : points) {
    if (place.emplace(point, batch.points.size()).second) batch.points.push_back(point);
  }
  batch.results.resize(batch.points.size());
  std::vector<std::vector<size_t>> jobs;
  for (size_t i = 0; i < batch.points.size(); ++i) {
    if (i % size_t(std::max(1, measurement_.points_per_job)) == 0) jobs.emplace_back();
    jobs.back().push_back(i);
  }
  submit(batch, std::move(jobs));
  const Deadline deadline(Deadline::kNoLimit, measurement_.deadline);
  while (!batch.jobs.empty()) {
    if (deadline.over()) {
      executor_.cancel();
      break;
    }
    // Also to notice what has no time of its own: an interrupt.
    const double wait_s = measurement_.deadline ? std::min(kLook_s, deadline.left()) : kWait_s;
    for (const JobResult& result : executor_.collect(wait_s)) take(batch, result);
  }
  if (!batch.problem.empty()) throw Error(ErrorKind::kInfeasible, batch.problem);
  std::vector<Measurement> results;
  std::vector<uint8_t> left_out(batch.points.size(), 0);
  for (const auto& [id, indices] : batch.jobs) {
    for (const size_t i : indices) left_out[i] = 1;
  }
  for (const KnobSpace::Point point : points) {
    const size_t at = place.at(point);
    if (!left_out[at]) results.push_back(batch.results[at]);
  }
  return results;
}

void RemoteProblem::submit(Batch& batch, std::vector<std::vector<size_t>> jobs) {
  std::vector<Job> submitted;
  for (std::vector<size_t>& indices : jobs) {
    std::vector<KnobSpace::Point> points;
    for (const size_t i : indices) points.push_back(batch.points[i]);
    Job job;
    job.kind = measurement_.kind;
    job.request = measurement_.request(points);
    job.id = fmt::format("{}-{:016x}", job.kind, fnv1a(job.request));
    job.timeout_s = measurement_.timeout_s * double(points.size());
    batch.jobs[job.id] = std::move(indices);
    submitted.push_back(std::move(job));
  }
  executor_.submit(submitted);
}

void RemoteProblem::take(Batch& batch, const JobResult& result) {
  const auto job = batch.jobs.find(result.id);
  if (job == batch.jobs.end()) return;  // of a batch that an error ended
  const std::vector<size_t> indices = std::move(job->second);
  batch.jobs.erase(job);
  if (result.status == JobStatus::kTimedOut && indices.size() > 1) {
    std::vector<std::vector<size_t>> alone;
    for (const size_t i : indices) alone.push_back({i});
    submit(batch, std::move(alone));
  } else if (result.status == JobStatus::kTimedOut) {
    batch.results[indices[0]] = {batch.points[indices[0]], {}, result.reply};
  } else if (result.status != JobStatus::kDone) {
    if (batch.problem.empty()) batch.problem = fmt::format("job '{}': {}", result.id, result.reply);
  } else {
    const std::vector<nlohmann::json> costs = parse_costs(result, indices.size());
    for (size_t k = 0; k < indices.size(); ++k) {
      Measurement& measured = batch.results[indices[k]];
      measured.point = batch.points[indices[k]];
      if (costs[k].is_number() && costs[k].get<double>() > 0) {
        measured.cost = costs[k].get<double>();
      } else if (costs[k].is_string()) {
        measured.failure = costs[k].get<std::string>();
      } else {
        bad_reply(result, "has a cost that is neither a positive number nor a text");
      }
    }
  }
}

}  // namespace tilewright::tune
