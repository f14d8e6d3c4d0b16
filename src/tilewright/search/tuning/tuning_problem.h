// What tuning works on: a space of knobs, features that a learned model may judge a point by, a closed-form
// bound, and a measurement that costs time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/search/knobs/knob_space.h"
#include "tilewright/search/models/program_features.h"

namespace tilewright {

struct Measurement {
  KnobSpace::Point point = 0;
  std::optional<double> cost;  // positive, minimised; nothing: the point failed
  std::string failure;         // why
  bool cached = false;         // known from an earlier run, not measured now
};

class TuningProblem {
 public:
  virtual ~TuningProblem() = default;
  virtual const KnobSpace& space() const = 0;
  // Called by several threads at once, as is bound().
  virtual ProgramFeatures features(KnobSpace::Point point) const = 0;
  // At most the cost that a measurement of `point` can give.
  virtual double bound(KnobSpace::Point point) const = 0;
  // Measures each point once; results in any order. A problem ended by a deadline leaves out what it could
  // not measure in time. Called by one thread at a time.
  virtual std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) = 0;
};

}  // namespace tilewright
