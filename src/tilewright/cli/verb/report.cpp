// `report`: the cycles of a bundle's layers against their roofline.
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/time/roofline.h"
#include "tilewright/flow/time/timing_page.h"

namespace tilewright::cli {

void report(const ReportOptions& options, std::ostream& out) {
  const Bundle bundle = read_bundle(options.timing.bundle, options.timing.hardware, shared_folders());
  const NetworkTiming timing = with_progress("timing " + options.timing.bundle, [&] {
    return time_network(bundle, find_memory_model(options.timing.memory));
  });
  if (!options.svg.empty()) write_text_file(options.svg, roofline_svg(timing));
  write_page(options.page, [&] { return timing_page(timing); });
  out << (options.timing.json ? to_json(timing) : to_string(timing));
}

}  // namespace tilewright::cli
