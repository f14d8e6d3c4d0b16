// The page of `report`, and that of `explain`, which adds what was tried.
#pragma once

#include "tilewright/flow/time/explain.h"
#include "tilewright/report/page.h"

namespace tilewright {

Page timing_page(const NetworkTiming& timing);
Page explanation_page(const Explanation& explanation);

}  // namespace tilewright
