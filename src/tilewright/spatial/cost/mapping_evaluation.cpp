// A mapping's cost from its closed-form counts.
#include "tilewright/spatial/cost/cost.h"

namespace tilewright {

Cost evaluate_mapping(const Workload& workload, const ArrayHardware& hardware, const Mapping& mapping,
                      const CostRules& rules) {
  const std::vector<CountingNetwork> networks = counting_networks(hardware);
  return cost_of_counts(workload, hardware, count_accesses(workload, mapping, networks, rules.accounting),
                        rules);
}

}  // namespace tilewright
