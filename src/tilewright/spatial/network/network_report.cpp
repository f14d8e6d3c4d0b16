// Sums over a network.
#include "tilewright/spatial/network/network_report.h"

#include <fmt/format.h>

namespace tilewright {

const char* name(LayerStatus status) {
  switch (status) {
    case LayerStatus::kProven:
      return "optimal";
    case LayerStatus::kStopped:
      return "stopped";
    case LayerStatus::kEvaluated:
      return "evaluated";
    case LayerStatus::kInfeasible:
      return "infeasible";
    case LayerStatus::kUnsupported:
      return "unsupported";
  }
  return "";
}

RunTotals NetworkReport::totals(const DataflowRun& run) const {
  RunTotals sum;
  sum.parts.resize(run.places.size());
  for (const NetworkLayer& layer : network.layers) {
    const LayerCost& c = cost(run, layer);
    if (!c.has_cost()) {
      ++sum.missing;
      sum.proven = false;
      continue;
    }
    ++sum.layers;
    sum.energy += c.energy;
    sum.arithmetic_energy += c.arithmetic_energy;
    sum.cycles += c.cycles;
    sum.lower_bound += c.lower_bound;
    sum.macs += network.workload(layer).operation_count();
    sum.proven = sum.proven && c.status == LayerStatus::kProven;
    for (size_t p = 0; p < c.parts.size(); ++p) {
      for (size_t r = 0; r < size_t(kDataRoles); ++r) sum.parts[p][r] += c.parts[p][r];
    }
  }
  return sum;
}

double NetworkReport::role_energy(const std::vector<std::array<double, kDataRoles>>& parts, DataRole role) {
  double sum = 0;
  for (const auto& part : parts) sum += part[size_t(role)];
  return sum;
}

std::string batch_text(const NetworkReport& report) {
  return report.batch > 0 ? fmt::format("batch {}", report.batch) : "batches of several sizes";
}

}  // namespace tilewright
