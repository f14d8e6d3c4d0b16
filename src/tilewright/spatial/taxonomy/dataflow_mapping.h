// The loop nest that an instance of a dataflow's variables represents, as a nest/mapping.h mapping.
#pragma once

#include "tilewright/nest/mapping.h"
#include "tilewright/spatial/taxonomy/dataflow_search.h"

namespace tilewright::study {

// Fills in the dataflow's `mapping` section for a convolution (conv2d_workload and its relatives; `layer` is
// its layer_shape). Factors are taken from the innermost loop outwards and cut to what remains of their
// dimension; `rest` is all that remains. Where a buffer's tile is no multiple of the tile below it (m filters
// in groups of p t), the nest's tile is rounded up to one. Errors (invalid input): the file has no mapping,
// a wrong number of variables, a factor that is no whole number of at least 1, a dimension that the loops do
// not cover.
Mapping dataflow_mapping(const Dataflow& dataflow, const LayerShape& layer, const StudyMachine& machine,
                         const Storage& storage, const std::vector<int64_t>& variables,
                         const Workload& workload);

}  // namespace tilewright::study
