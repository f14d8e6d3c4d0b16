// Every trial is a program of its own, and every part of a batch has its own timer: nothing is shared between
// threads.
#include "tilewright/overlay/tuning/schedule_problem.h"

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/overlay/measure/schedule_timer.h"
#include "tilewright/overlay/tuning/schedule_features.h"

namespace tilewright::overlay {

void require_timing_tool(const std::string& tool) {
  if (tool == kTimingTool) return;
  throw InterruptedError("the request is for '" + tool + "', this worker has '" + kTimingTool + "'",
                         "start workers with the coordinator's version");
}

ScheduleProblem::ScheduleProblem(const OverlayLayer& layer, const OverlayHardware& hardware,
                                 const MemoryModel& memory, int threads, const Deadline* deadline)
    : space_(layer, hardware),
      memory_(memory),
      bound_(overlay::layer_bound(layer, hardware, memory)),
      threads_(threads),
      deadline_(deadline) {
  require_tile(layer, hardware);
}

ProgramFeatures ScheduleProblem::features(KnobSpace::Point point) const {
  return schedule_features(space_.tiling(point), hardware(), memory_, bound_);
}

double ScheduleProblem::bound(KnobSpace::Point point) const {
  return schedule_bound(space_.tiling(point), hardware(), memory_);
}

std::vector<Measurement> ScheduleProblem::measure(std::span<const KnobSpace::Point> points) {
  std::vector<Measurement> results(points.size());
  std::vector<uint8_t> done(points.size(), 0);
  const Deadline none;
  finishes(deadline_ ? *deadline_ : none, [&] {
    parallel_for(threads_, int64_t(points.size()), [&](int64_t begin, int64_t end) {
      ScheduleTimer timer(hardware(), memory_, deadline_);
      for (int64_t i = begin; i < end; ++i) {
        if (deadline_) deadline_->check();
        results[size_t(i)] = trial(points[size_t(i)], timer);
        done[size_t(i)] = 1;
      }
    });
  });
  std::vector<Measurement> measured;
  for (size_t i = 0; i < points.size(); ++i) {
    if (done[i]) measured.push_back(std::move(results[i]));
  }
  return measured;
}

Measurement ScheduleProblem::trial(KnobSpace::Point point, ScheduleTimer& timer) const {
  Measurement result;
  result.point = point;
  try {
    result.cost = double(timer.cycles(space_.tiling(point)));
  } catch (const Error& error) {
    result.failure = error.what();
  }
  return result;
}

}  // namespace tilewright::overlay
