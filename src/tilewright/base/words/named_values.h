// Options that name several values at once, "dsp=220,lut=5000".
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tilewright {

struct NamedValue {
  std::string name, value;  // value: empty where there is no equals sign
};

inline std::vector<NamedValue> named_values(const std::string& text) {
  std::vector<NamedValue> all;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    const size_t equals = item.find('=');
    all.push_back({item.substr(0, equals), equals == std::string::npos ? "" : item.substr(equals + 1)});
    at = end + 1;
  }
  return all;
}

}  // namespace tilewright
