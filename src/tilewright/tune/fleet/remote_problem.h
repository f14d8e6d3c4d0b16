// A tuning problem whose points are measured by the workers of an executor, a few points to a job.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/search/deadline.h"
#include "tilewright/search/tuning/tuning_problem.h"
#include "tilewright/tune/fleet/executor.h"

namespace tilewright::tune {

struct RemoteMeasurement {
  std::string kind = "measure";  // of the jobs
  // Of the points of one job, in their order; equal points give equal texts. The reply to it is
  // {"costs": [...]}: for each point a positive number, or a text that says why the point failed.
  std::function<std::string(const std::vector<KnobSpace::Point>&)> request;
  int points_per_job = 8;
  double timeout_s = 600;              // of one point; of a job as many times
  const Deadline* deadline = nullptr;  // points that it stops are left out
};

class RemoteProblem final : public TuningProblem {
 public:
  // `local` answers everything but measure(); it and `executor` outlive this.
  RemoteProblem(TuningProblem& local, JobExecutor& executor, RemoteMeasurement measurement);

  const KnobSpace& space() const override { return local_.space(); }
  ProgramFeatures features(KnobSpace::Point point) const override { return local_.features(point); }
  double bound(KnobSpace::Point point) const override { return local_.bound(point); }
  // One result per point, in their order. A job that does not end in time, however often, is tried again one
  // point at a time; a point that does not finish alone has failed. Errors: those of the executor; what says
  // nothing about the points (a lost worker, a full disk, a refused request), after the others are done.
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override;

 private:
  struct Batch;
  void submit(Batch& batch, std::vector<std::vector<size_t>> jobs);
  void take(Batch& batch, const JobResult& result);

  TuningProblem& local_;
  JobExecutor& executor_;
  RemoteMeasurement measurement_;
};

}  // namespace tilewright::tune
