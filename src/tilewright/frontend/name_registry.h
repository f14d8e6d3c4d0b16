// Names that are unique within one graph.
#pragma once

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace tilewright {

// Unique names in constant time, however often a name is requested.
class NameRegistry {
 public:
  void reserve(const std::string& name) { taken_.insert(name); }
  std::string unique(const std::string& wanted) {
    if (taken_.insert(wanted).second) return wanted;
    for (int& suffix = last_suffix_[wanted];;) {
      std::string candidate = fmt::format("{}_{}", wanted, ++suffix);
      if (taken_.insert(candidate).second) return candidate;
    }
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> last_suffix_;
};

}  // namespace tilewright
