// Ranges of activations by what they do to the layers that read them.
#pragma once

#include "tilewright/quantize/calibrate/range_selection.h"
#include "tilewright/quantize/prepared_network.h"

namespace tilewright {

// The quantisation of one group of values that gives its readers the smallest error relative to their
// results. Numbers beyond the range of one row are clipped in the same direction, so that their errors add up
// in the reader's sums, which the squared error of the value itself does not see; how much they do is
// measured on the rows. A group that no layer reads keeps all that was seen: of
// last scores, for example, the largest decide.
Quantization select_by_layers(const PreparedNetwork& network, const SampleStatistics& statistics, int group,
                              const NumberForm& form);

}  // namespace tilewright
