// The stride between two clock reads doubles while steps are short and shrinks as soon as they are long.
#include "tilewright/search/deadline.h"

#include <algorithm>

namespace tilewright {

bool DeadlineWatch::look() {
  const double now = deadline_->seconds();
  used_ = std::min(1.0, now / deadline_->limit());
  if (now >= deadline_->limit()) deadline_->expire();
  if (deadline_->expired()) return true;
  const double since = now - last_seconds_;
  if (since < 1e-4) stride_ = std::min<int64_t>(stride_ * 2, 1024);
  if (since > 1e-3) stride_ = std::max<int64_t>(stride_ / 4, 1);
  last_seconds_ = now;
  steps_left_ = stride_;
  return false;
}

}  // namespace tilewright
