// Mapping a dataflow graph onto a fabric with any of the mappers, at one II or over all relevant IIs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/cgra/learn/policy_mapper.h"
#include "tilewright/cgra/problem/mapper.h"
#include "tilewright/cgra/problem/mapping_file.h"
#include "tilewright/report/page.h"

namespace tilewright {

struct PlaceMethod {
  std::string name;
  std::string description;
  cgra::Mapper map;
  bool routes = false;  // solves routed problems; otherwise its places are routed afterwards
};

// exact, branch-and-bound, large, list, annealing, evolution, random.
const std::vector<PlaceMethod>& place_methods();

// "rl": placing with a trained policy. Errors (invalid input): the file.
PlaceMethod policy_method(const std::filesystem::path& policy, const cgra::PolicySearchOptions& search);

enum class PlaceObjective { kMakespan, kIi };

struct PlaceRequest {
  cgra::MappingProblem problem;  // `ii` is set for every point
  std::vector<int> iis;  // kMakespan: those to map at; empty: from 1 until no larger one can be shorter
  PlaceObjective objective = PlaceObjective::kMakespan;
  PlaceMethod method;  // kIi has its own mapper (kernel/map_kernel.h)
  // For kMakespan, if problem.rules.routed does not demand routes: whether to search for routes nevertheless,
  // for at most 20 s per II, first for the shortest places, then for longer schedules.
  bool wants_routes = true;
  cgra::GraphMapperOptions options;    // limits.seconds is for all points together
  std::filesystem::path proof_folder;  // kMakespan: formulas and proofs of proven points; empty: none
};

// One II's answer.
struct PlacePoint {
  int ii = 1;
  cgra::MappingResult result;
  bool on_front = false;  // mapped, and no smaller II has an equally short schedule
  bool routed = false;    // the mapping carries routes that the checker accepts
  std::string note;       // where not
  std::string proof;      // its file, and what the checker says
};

struct PlaceReport {
  std::vector<PlacePoint> points;  // ascending II
  Ending ending = Ending::kNone;   // what ended the search before it was done
  int best = -1;  // kMakespan: the shortest schedule, then the smallest II; kIi: the smallest II
};

// Every mapping has passed the checker. If the shortest places can be routed, that mapping is also optimal
// with routes; if not, the shortest routed mapping found is returned, and only if none is found, places
// without routes, with the reason in `note`. Errors: the problem's (invalid input), all at once; the
// mapper's.
PlaceReport place(const PlaceRequest& request);

// The error that a report without a mapping ends in.
Error missing_mapping(const PlaceReport& report);

// The best point as a file; its rules say `routed` if it has routes.
cgra::MappedProgram mapped_program(const PlaceRequest& request, const PlacePoint& point);

// For people: a line per II; places, times and waits of the best point.
std::string place_text(const PlaceRequest& request, const PlaceReport& report);
// For machines.
std::string place_json(const PlaceRequest& request, const PlaceReport& report);
// SVG: the grid of tiles and slots, and the time line with the routes of the values.
std::string place_picture(const cgra::MappedProgram& program);
// Tiles and slots, the time line, the ways of the values, and every II that was tried.
Page place_page(const PlaceRequest& request, const PlaceReport& report);

}  // namespace tilewright
