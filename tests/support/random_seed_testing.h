// Seed and number of cases of a test with random inputs. CI draws a seed for each run and prints it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tilewright {

// TILEWRIGHT_SEED, or 1.
inline uint64_t test_seed() {
  const char* text = std::getenv("TILEWRIGHT_SEED");
  return text != nullptr && *text != '\0' ? std::stoull(text) : 1;
}

// TILEWRIGHT_CASES, or `usual`: what fits the fast suite.
inline int64_t test_cases(int64_t usual) {
  const char* text = std::getenv("TILEWRIGHT_CASES");
  return text != nullptr && *text != '\0' ? std::stoll(text) : usual;
}

}  // namespace tilewright
