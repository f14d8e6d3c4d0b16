// How fast one streaming stage alone takes image after image.
#pragma once

#include "tilewright/pipeline/estimate/estimate_cycles.h"

namespace tilewright::pipeline {

// Cycles from image to image when the queue in front of the stage is never empty and what it makes is taken
// at once. Where the window memory has no room for it, the next image's first rows come only when the last
// windows of this one are done. `timing`: all of it but its pace.
double image_pace(const LayerGeometry& geometry, const StageTiming& timing);
// Of the windows of a row, row by row through a sliding window: `input_row` cycles for the words of a row.
double sliding_row(const LayerGeometry& geometry, double input_row);

}  // namespace tilewright::pipeline
