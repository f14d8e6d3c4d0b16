// What a build of Tilewright holds, for people who ask what is missing.
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
