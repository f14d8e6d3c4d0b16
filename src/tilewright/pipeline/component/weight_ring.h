// The task table of weight_ring: for ob < outer, px < repeats, n < words the word ob * words + n of the
// stream from where the task began; with `hold` the next task begins at the same word.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

struct WeightRingRow {
  int64_t outer = 1, repeats = 1, words = 1;
  bool hold = false;
};

MemoryImage encode(const std::vector<WeightRingRow>& rows);
// The rows of the table that the parameters of a weight_ring name. Errors (invalid input): as task_table.
std::vector<WeightRingRow> weight_ring_rows(const netlist::Parameters& parameters,
                                            const MemoryImages& images);

// Words that the ring has to hold at the least.
int64_t least_depth(const std::vector<WeightRingRow>& rows);

}  // namespace tilewright::pipeline
