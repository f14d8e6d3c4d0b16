// Random problems of at most 6 nodes on at most 4 tiles, with every rule, delay mode, distances and fixed
// places: the exact mapper against trying everything.
#pragma once

#include <cstdint>

#include "tilewright/base/random.h"
#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

struct Tally {
  int optimal = 0;           // nothing shorter exists
  int infeasible = 0;        // nothing of up to 8 clocks or more exists,
  int infeasible_to_24 = 0;  // of them up to 24 or more
  int undecided = 0;         // too much to try
};

// A verified problem.
MappingProblem small_problem(Random& random);

// What the exact mapper says holds by trying up to `most_checks` partial placements (GoogleTest
// expectations). A proof of impossibility holds for every length; tried are those that fit.
void compare(const MappingProblem& problem, int64_t most_checks, Tally& tally);

}  // namespace tilewright::cgra
