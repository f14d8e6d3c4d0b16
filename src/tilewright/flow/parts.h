// The optional parts of this build of Tilewright, to show what is missing.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

struct BuiltInPart {
  std::string name, gives;
  std::string package;  // Debian package that brings it; "-": none
  std::string detail;   // which of its kind
};
std::vector<BuiltInPart> built_in_parts();

}  // namespace tilewright
