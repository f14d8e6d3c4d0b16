// The host programs of a design: one C++ file that needs nothing but a compiler, one Python file that needs
// numpy.
#pragma once

#include <string>

#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/network/model_values.h"

namespace tilewright::pipeline {

// `text` of rtl/delivery/host.cpp, or driver.py, with the design's constants in place of its mark. `values`
// are those of the network, `ip` the name that block designs know the design by. Errors (invalid input): it
// has no mark.
std::string host_program(const Design& design, const Network& network, const ModelValues& values,
                         const std::string& text);
std::string python_driver(const Design& design, const Network& network, const ModelValues& values,
                          const std::string& ip, const std::string& text);

// `text` with `constants` in place of the line `mark`. Errors (invalid input): it has none, naming `file`.
std::string with_constants(const std::string& text, const std::string& mark, const std::string& constants,
                           const std::string& file);

}  // namespace tilewright::pipeline
