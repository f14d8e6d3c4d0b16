// What came out of a run, shown: the best classes of the first inputs, or the first values of every output.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/flow/target/target.h"

namespace tilewright {

// Lines of text and the JSON object {"outputs": [...], "top": [...]}. `labels` (of the inputs; may be empty)
// stand beside the classes. Scores that are no class vector give "outputs" alone.
Answer output_preview(const RunReport& report, const std::vector<int64_t>& labels);

}  // namespace tilewright
