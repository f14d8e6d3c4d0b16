// The time that the execution or the check of a program may take.
#pragma once

#include <optional>

#include "tilewright/search/deadline.h"

namespace tilewright::overlay {

class RunTime {
 public:
  // `deadline` outlives the run; null: no limit.
  void begin(Deadline* deadline) {
    deadline_ = deadline;
    watch_.reset();
    if (deadline != nullptr) watch_.emplace(*deadline);
  }
  bool limited() const { return watch_.has_value(); }
  // Cheap enough for every instruction. Errors (infeasible): the time is over.
  void check() {
    if (watch_ && watch_->expired()) fail();
  }

 private:
  [[noreturn]] void fail() const;

  Deadline* deadline_ = nullptr;
  std::optional<DeadlineWatch> watch_;
};

}  // namespace tilewright::overlay
