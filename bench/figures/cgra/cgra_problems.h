// What the figures of module cgra share: a problem with a fabric's usual rules, and CPU time.
#pragma once

#include <ctime>
#include <filesystem>
#include <string>

#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

inline MappingProblem usual_problem(DataflowGraph graph, const std::string& fabric, int ii) {
  MappingProblem problem;
  problem.graph = std::move(graph);
  problem.fabric = find_fabric(fabric, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  problem.ii = ii;
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

// Of the process: the figures' machines are shared, wall time says nothing.
inline double cpu_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace tilewright::cgra
