// The error of a run whose time is over, out of line so that check() stays cheap.
#include "tilewright/overlay/execute/run_time.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"

namespace tilewright::overlay {

void RunTime::fail() const {
  throw Error(ErrorKind::kInfeasible,
              fmt::format("the program has not ended within {:.4g} s", deadline_->limit()),
              "allow more time (--time)");
}

}  // namespace tilewright::overlay
