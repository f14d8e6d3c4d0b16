// Names that stand in a model file, checked by every reader.
#pragma once

#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

// Reports (invalid input) a name that is not UTF-8, which no report in JSON and no ONNX file could carry.
// `what` says whose it is: "node".
void check_name(const char* what, const std::string& name, Diagnostics& diagnostics);

}  // namespace tilewright
