// The text form of an affine index: "4*P + R - 2", "M", "0".
#pragma once

#include <string>

#include "tilewright/nest/workload.h"

namespace tilewright {

// Fills offset and terms of `rank`. False, with the problem, if the text is not a sum of INTEGER, NAME and
// INTEGER*NAME with dimensions of the workload.
bool parse_affine(const std::string& text, const Workload& workload, Rank& rank, std::string& problem);

// parse_affine(print_affine(r)) gives the same offset and terms.
std::string print_affine(const Rank& rank, const Workload& workload);

}  // namespace tilewright
