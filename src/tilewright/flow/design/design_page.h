// The report of a generated design as a page: its use of the device, what each engine works on and when, its
// roofline, its layers and queues.
#pragma once

#include "tilewright/flow/design/design_report.h"
#include "tilewright/report/page.h"

namespace tilewright {

Page design_page(const DesignReport& report);

}  // namespace tilewright
