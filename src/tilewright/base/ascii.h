// Letters of ASCII, whatever the locale says.
#pragma once

#include <string>

namespace tilewright {

// With a to z for A to Z.
inline std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  }
  return text;
}

}  // namespace tilewright
