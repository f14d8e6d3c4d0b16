// What a function of the flow has to say.
#pragma once

#include <string>

namespace tilewright {

// The same facts for people and for machines, both as they are printed.
struct Answer {
  std::string text, json;
};

}  // namespace tilewright
