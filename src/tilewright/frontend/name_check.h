// Names in a model file, checked by every reader.
#pragma once

#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

// Reports (invalid input) a name that is not UTF-8, which neither a JSON report nor an ONNX file could hold.
// `what` says what it names: "node".
void check_name(const char* what, const std::string& name, Diagnostics& diagnostics);

}  // namespace tilewright
