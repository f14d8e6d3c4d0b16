// A hash of text that is the same on every platform: for names of files and for drawing lots by content, not
// for security.
#pragma once

#include <cstdint>
#include <string_view>

namespace tilewright {

// FNV-1a, 64 bits (Fowler, Noll, Vo 1991).
inline uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ uint64_t(uint8_t(c))) * 0x100000001b3u;
  return hash;
}

}  // namespace tilewright
