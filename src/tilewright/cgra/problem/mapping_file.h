// Mapped programs as files: the graph, the fabric, the rules, the II, and where and when everything happens.
// Format: docs/reference/cgra_graphs.md.
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/problem/problem.h"

namespace tilewright::cgra {

struct MappedProgram {
  MappingProblem problem;
  GraphMapping mapping;
  int lower_bound_cycles = 0;  // no valid mapping at this II is shorter; the makespan where that is proven
};

std::string print_mapped_program(const MappedProgram& program);

// Errors (invalid input): no JSON, every problem of its fields, every rule that the mapping breaks
// (check.h, store_order.h), a makespan that is not the mapping's, a bound above it.
MappedProgram parse_mapped_program(const std::string& text, const std::string& source_name);
MappedProgram read_mapped_program(const std::filesystem::path& path);
// Whether a JSON text is meant as one ("kind": "mapped program").
bool is_mapped_program(const std::string& text);

}  // namespace tilewright::cgra
