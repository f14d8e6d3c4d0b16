// The answer of `map` in its forms.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/flow/map/map_question.h"
#include "tilewright/spatial/network/network_files.h"
#include "tilewright/spatial/network/network_plots.h"
#include "tilewright/spatial/network/network_table.h"

namespace tilewright {

std::string map_text(const MapAnswer& answer, bool mappings) {
  return network_table(answer.report, {mappings}) + answer.more;
}

std::string map_json(const MapAnswer& answer) { return report_json(answer.report, answer.sections); }

std::string map_csv(const MapAnswer& answer) { return report_csv(answer.report); }

std::string map_svg(const MapAnswer& answer) {
  return answer.fronts ? front_svg(*answer.fronts, answer.report) : report_svg(answer.report);
}

std::string map_mappings(const MapAnswer& answer) { return print_mapping_file(answer.report); }

std::optional<Error> missing_layers(const MapAnswer& answer) {
  const NetworkReport& report = answer.report;
  int least = int(report.network.layers.size());
  for (const DataflowRun& run : report.runs) least = std::min(least, report.totals(run).missing);
  if (least == 0) return {};
  std::string reason;
  for (const DataflowRun& run : report.runs) {
    for (const LayerCost& cost : run.costs) {
      if (reason.empty() && !cost.has_cost()) reason = cost.reason;
    }
  }
  return Error(ErrorKind::kInfeasible,
               fmt::format("{} of {} layers have no mapping{}", least, report.network.layers.size(),
                           report.runs.size() > 1 ? " under the best of the dataflows" : ""),
               reason);
}

}  // namespace tilewright
