// A layer as JSON text, for processes that time its schedules: everything that its programs depend on, except
// the values of its weights, on which no timing depends.
#pragma once

#include <string>

#include "tilewright/overlay/schedule/layer.h"

namespace tilewright {

std::string print_layer(const overlay::OverlayLayer& layer);
// The layer again, with weights of zero. Errors (invalid input): a field that is missing, of the wrong type
// or in contradiction to others.
overlay::OverlayLayer parse_layer(const std::string& text, const std::string& source_name);

}  // namespace tilewright
