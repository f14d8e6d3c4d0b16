// The schedules of one layer on one overlay behind one memory, as a problem for tuning: a trial is the
// layer's program in the cycle simulator, without data, and its cost the cycles.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tilewright/overlay/tuning/layer_bound.h"
#include "tilewright/overlay/tuning/schedule_space.h"
#include "tilewright/search/deadline.h"
#include "tilewright/search/tuning/tuning_problem.h"

namespace tilewright::overlay {

// The measuring tool, for the keys of records: its number changes whenever the cycles of a program may
// change.
inline constexpr const char* kTimingTool = "cycle-simulator 1";
// Throws an InterruptedError if a request for `tool` reached a worker with another version.
void require_timing_tool(const std::string& tool);

// Everything of a layer that its cycles depend on, in one line of ASCII, equal for equal shapes: no names, no
// values of weights.
std::string workload_text(const OverlayLayer& layer);
// The same of the machine.
std::string hardware_text(const OverlayHardware& hardware, const MemoryModel& memory);

class ScheduleTimer;

class ScheduleProblem : public TuningProblem {
 public:
  // Trials run on up to `threads` threads; those that `deadline`, if any, stops are left out. Errors
  // (infeasible): not even the smallest tile fits; names the scratchpad.
  ScheduleProblem(const OverlayLayer& layer, const OverlayHardware& hardware, const MemoryModel& memory = {},
                  int threads = 1, const Deadline* deadline = nullptr);

  const KnobSpace& space() const override { return space_.knobs(); }
  ProgramFeatures features(KnobSpace::Point point) const override;
  double bound(KnobSpace::Point point) const override;
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override;

  const ScheduleSpace& schedules() const { return space_; }
  const OverlayHardware& hardware() const { return space_.hardware(); }
  const MemoryModel& memory() const { return memory_; }
  // A lower bound for any schedule of the layer as it is (not folded).
  const LayerBound& layer_bound() const { return bound_; }

 private:
  Measurement trial(KnobSpace::Point point, ScheduleTimer& timer) const;

  ScheduleSpace space_;
  MemoryModel memory_;
  LayerBound bound_;
  int threads_ = 1;
  const Deadline* deadline_;
};

}  // namespace tilewright::overlay
