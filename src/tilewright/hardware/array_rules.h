// The rules of an array description, each broken one as data: the reader adds the line of the field.
#pragma once

#include <string>
#include <vector>

#include "tilewright/hardware/array_hardware.h"

namespace tilewright {

struct ArrayProblem {
  int level = -1;  // -1: of the whole array
  std::string field, message, hint;
};

inline constexpr int kMostArrayLevels = 16;
inline constexpr int64_t kMostArrayWords = int64_t{1} << 40;
inline constexpr int64_t kMostArrayInstances = int64_t{1} << 30;
inline constexpr double kMostArrayCost = 1e15;  // energies, areas, bandwidths

std::vector<ArrayProblem> array_problems(const ArrayHardware& hardware);

}  // namespace tilewright
