// Rows whose terms have nothing left in common, added up one by one.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/pipeline/constant/cpu_limit.h"
#include "tilewright/pipeline/constant/graph_builder.h"

namespace tilewright::pipeline {

// The terms as one, of at most that depth if their own depths allow it; nothing where there are none. Pairs
// are joined that cost least for the bits that go or, once the limit is over, as they come.
std::optional<ShiftedNode> sum_terms(GraphBuilder& builder, std::vector<ShiftedNode> terms, int depth,
                                     const CpuLimit& limit);

}  // namespace tilewright::pipeline
