// The host program of a design: one C++ file that needs nothing but a compiler.
#pragma once

#include <string>

#include "tilewright/pipeline/design/build.h"

namespace tilewright::pipeline {

// `text` of rtl/delivery/host.cpp with the design's constants in place of its mark. Errors (invalid input):
// it has no mark.
std::string host_program(const Design& design, const std::string& text);

}  // namespace tilewright::pipeline
