// A tuning problem with records: recorded points are not measured again, and measured ones are recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/search/tuning/tuning_problem.h"
#include "tilewright/tune/records/records.h"

namespace tilewright::tune {

// What all points of a problem have in common: a TrialKey without its schedule.
struct RecordedTexts {
  std::string workload, hardware, tool;
  uint64_t seed = 0;
};

// A failure that the inner problem answers with is recorded like a cost: it must be a property of the point.
// What says nothing about the point (a lost worker, a full disk) leaves measure() as an Error, and none of
// its batch is recorded.
class RecordedProblem final : public TuningProblem {
 public:
  using ScheduleText = std::function<std::string(KnobSpace::Point)>;
  // The seconds since 1970, for Record::unix_time_s.
  using Clock = std::function<int64_t()>;

  // `inner` and `store` outlive it. `schedule_text` gives equal texts to points that are the same trial.
  RecordedProblem(TuningProblem& inner, RecordedTexts texts, ScheduleText schedule_text, RecordStore& store,
                  Clock clock);

  const KnobSpace& space() const override { return inner_.space(); }
  ProgramFeatures features(KnobSpace::Point point) const override { return inner_.features(point); }
  double bound(KnobSpace::Point point) const override { return inner_.bound(point); }
  // One result per point, in their order. What is not in the store is given to the inner problem at once,
  // each trial once, and recorded in one transaction; its seconds are the batch's, divided equally. Errors:
  // those of the inner problem and of RecordStore::add.
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override;

 private:
  TrialKey key(const std::string& schedule) const;
  std::vector<Record> measure_and_record(const std::vector<KnobSpace::Point>& points);

  TuningProblem& inner_;
  RecordedTexts texts_;
  ScheduleText schedule_text_;
  RecordStore& store_;
  Clock clock_;
};

}  // namespace tilewright::tune
